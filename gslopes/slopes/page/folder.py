"""From a run folder to its report folder: load its findings, draw them, write the page."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import placebo, runfolder, tables
from gslopes.core.files import csv_bytes
from gslopes.core.progress import Tick, Watch, counted
from gslopes.core.reasons import explained, listed
from gslopes.report import choices, words
from gslopes.report.quote import of_findings, write_card
from gslopes.slopes import method
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.page import (
    ReportConfig,
    crossed,
    decisions,
    loading,
    observed,
    occupations,
    page_data,
    paper,
    paper_figures,
    screen,
    sections,
    switches,
    tasks,
    validity,
)
from gslopes.slopes.page import answers as matrix
from gslopes.slopes.page.loading import PAPER, Finding, Source, load

_STEPS = 20  # of progress: a finding takes about as long as the pictures of this many sweeps


def write(run: Path, options: ReportConfig, watch: Watch | None = None) -> Path:
    """See ``slopes.page.write_report``."""
    source = load(run)
    paper_figures.check_labels(source, options.labels)
    sweeps = 0 if options.embed == "none" else page_data.count_sweeps(run, _steps(source))
    with (watch or counted(None, "report", "steps"))(
        sweeps + _STEPS * len(source.findings)
    ) as tick:
        return _write(run, source, options, tick)


def _write(run: Path, source: Source, options: ReportConfig, tick: Tick) -> Path:
    report = run / "report"
    pictured = options.embed != "none"
    with runfolder.storage(report):
        report.mkdir(exist_ok=True)
        clear(report)
        papers, findings = _write_tables(report, source, options)
        album = page_data.build_album(run, report, _steps(source), options.embed, tick)
    credited = loading.read_credits(run) if pictured else {}
    is_set = placebo.of_a_set(source.manifest)
    funnels = {(funnel.classifier, funnel.attribute): funnel for funnel in loading.funnels(run)}
    screens = []
    entries = {}
    scores = {}
    for finding in source.findings:
        decided = decisions.decide(finding.read)
        answers = matrix.read(run, finding.classifier, finding.attribute, finding.values)
        entries[finding.key] = _write_data(report, run, finding, album, decided, answers)
        scores[finding.key] = page_data.photo_scores(answers) if len(finding.values) else {}
        counted = funnels.get((words.printable(finding.classifier), finding.attribute))
        scale = tasks.scale_of(finding, decided, source.manifest)
        screens.append(
            screen.screen(finding, decided, answers, album, counted, credited, scale, is_set)
        )
        tick(_STEPS)
    _write_explorer(report, source, album, scores, credited)
    differs = [] if is_set else method.of_run(run, (options.p, options.slope))
    numbered = paper_figures.write(report, source, pictures=pictured, labels=options.labels)
    if differs:
        runfolder.write_bytes(report / "method.md", choices.to_markdown(differs).encode())
    screens = _ranked(screens)
    quoted = None
    if screens:
        first = screens[0]
        attributes = list(dict.fromkeys(screen.attribute for screen in screens))
        lead = f"{first.classifier}: {first.headline.sentence}"
        about = screen.about(source.manifest, attributes)
        rows = decisions.summary_rows(findings)
        label = first.headline.strongest
        leading = (rows["model"].map(words.printable) == first.classifier) & (
            rows["contrast"] == first.attribute
        )
        leading &= (rows["label"] == label) | (label == "")
        quoted = of_findings(run, rows, lead, about, leading)
    write_card(report, quoted)
    sweeps = validity.sweeps(run, source.manifest.get("values", {}), is_set)
    html = sections.render(
        source.manifest if pictured else sections.anonymous(source.manifest),
        _photos(source, options),
        screens,
        options=options,
        data={
            "sections": [entries[screen.key] for screen in screens],
            "perFile": page_data.PHOTOS_A_FILE,
            "decisions": {
                code: {"word": decisions.SHOWN[code], "about": decisions.ABOUT[code]}
                for code in decisions.CODES
            },
            "p": options.p,
            "slope": options.slope,
            "readings": [{name: entry[name] for name in ("values", "curves")} for entry in sweeps],
        },
        sweeps=sweeps,
        tasks=tasks.sentences([screen.scale for screen in screens]),
        pairs=is_set,
        explained=validity.explained(run, tables.reading(source.real)),
        crossed=crossed.panels(source, album, credited),
        switches=switches.write(report, run, source.findings),
        occupations=occupations.panels(report, source),
        errors=observed.error_panels(run),
        observed=observed.panels(run),
        album=len(album.photos) if any(len(finding.values) for finding in source.findings) else 0,
        method=differs,
        numbered=numbered,
        papers=papers,
        prints=sorted(path.name for path in report.glob("*.pdf")),
        unanswered=[*loading.unanswered(run), *loading.cautions(run), *loading.notes(run)],
        quote=quoted,
    )
    index = report / "index.html"
    runfolder.write_bytes(index, html.encode("utf-8", "backslashreplace"))
    runfolder.settle(sorted(path for path in report.iterdir() if path.is_file()))
    return index


def clear(report: Path) -> None:
    """Remove what an earlier report drew and handed to its page: it may show photos that this one may not."""
    for old in [*report.glob("figure[123]*.*"), *report.glob("data/*.js")]:
        old.unlink()
    (report / "data").mkdir(exist_ok=True)


def _steps(source: Source) -> dict[str, int]:
    """Attribute to K, where the values are known."""
    return {name: len(values) for name, values in source.values.items() if len(values)}


def _write_tables(
    report: Path, source: Source, options: ReportConfig
) -> tuple[list[str], pd.DataFrame]:
    """Write the findings, the slopes and the paper's tables; the names of the latter, and the findings."""
    wrong = tables.read_rows(tables.ERROR_SLOPES, source.run)
    findings = decisions.write_findings(report, source.slopes, wrong)
    runfolder.write_bytes(
        report / "slopes.csv", csv_bytes(source.slopes.reindex(columns=list(decisions.TIDY)))
    )
    slopes = source.real[source.real["estimator"] == PAPER]
    return paper.write(
        report, source.run, slopes, findings, p=options.p, slope=options.slope
    ), findings


# -- data of the page's scripts ---------------------------------------------------------------------------------------


def _write_data(
    report: Path,
    run: Path,
    finding: Finding,
    album: page_data.Album,
    decided: Mapping[str, decisions.Decision],
    answers: Answers,
) -> dict[str, Any]:
    """Write the data files of one finding; what the page must know of it."""
    content = page_data.finding(
        finding.rows, finding.placebo, answers, album.index, decided, finding.drawn
    )
    labels = sorted(set(finding.rows["label"]))
    runfolder.write_bytes(
        report / "data" / f"{finding.key}.js", page_data.script(finding.key, content)
    )
    return {
        "key": finding.key,
        "classifier": words.printable(finding.classifier),
        "attribute": finding.attribute,
        "ends": words.ends(finding.attribute),
        "named": placebo.ends_of(finding.attribute) is not None,
        "values": finding.values.tolist(),
        "perceived": words.perceived(finding.attribute),
        "labels": len(labels),
        "clusters": page_data.clusters(run, finding.classifier, finding.attribute),
        **page_data.write_comparisons(report, run, finding, labels),
    }


def _ranked(screens: list[screen.Screen]) -> list[screen.Screen]:
    """The classifier with most labels that move first, then whose label goes furthest; expected ones aside."""

    def rank(one: screen.Screen) -> tuple[int, float, str]:
        far = max(
            (abs(row.last - row.first) for row in one.chart if not row.decision.expected),
            default=0.0,
        )
        return one.headline.expected - one.headline.moves, -far, one.key

    return sorted(screens, key=rank)


def _write_explorer(
    report: Path,
    source: Source,
    album: page_data.Album,
    scores: Mapping[str, Mapping[str, list[list[Any]]]],
    known: Mapping[str, dict[str, str]],
) -> None:
    verdicts = tables.read_rows(
        tables.VERDICTS, source.run, ["photo", "attribute", "kept", "reason", "detail"]
    )
    out = (
        verdicts[~verdicts["kept"].astype(bool)] if runfolder.is_gated(source.run) else verdicts[:0]
    )
    why = zip(
        out["photo"], out["attribute"], map(explained, out["reason"], out["detail"]), strict=True
    )
    content = page_data.photo_listing(album, list(_steps(source)), why, known)
    runfolder.write_bytes(report / "data" / "photos.js", page_data.script("photos", content))
    for number, chunk in enumerate(page_data.scores_files(album, scores)):
        name = f"scores-{number}"
        runfolder.write_bytes(report / "data" / f"{name}.js", page_data.script(name, chunk))


def _photos(source: Source, options: ReportConfig) -> sections.Photos:
    photos: pd.DataFrame = tables.read_rows(
        tables.PHOTOS, source.run, ["path", "status", "reason", "detail", "faces"]
    )
    kept = tables.read_rows(tables.VERDICTS, source.run, ["kept"])["kept"].astype(bool)
    skipped = photos[photos["status"] == "skipped"]
    used = photos[photos["status"] == "used"]
    reasons = Counter(map(listed, skipped["reason"], skipped["detail"]))
    whys = map(explained, skipped["reason"], skipped["detail"])
    named = sorted(zip(skipped["path"], whys, strict=True)) if options.embed != "none" else []
    return sections.Photos(
        found=len(photos),
        used=len(used),
        several=int((used["faces"] > 1).sum()),
        reasons=tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        skipped=tuple(named),
        dropped=int((~kept).sum()) if runfolder.is_gated(source.run) else 0,
    )
