"""From a run folder to its report folder: load its findings, draw them, write the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from gslopes.core import runfolder, tables
from gslopes.core.files import csv_bytes
from gslopes.core.reasons import explained
from gslopes.report import answers as matrix
from gslopes.report import (
    comparisons,
    credit,
    explorer,
    figures,
    findings,
    page,
    planted,
    provenance,
    sheets,
    tally,
    validity,
    words,
)
from gslopes.report import paper as paper_tables
from gslopes.report.loading import Finding, ReportOptions, Source, load
from gslopes.report.tables import pulled


def write(run: Path, options: ReportOptions) -> Path:
    """See ``gslopes.report.write_report``."""
    options.check()
    source = load(run)
    report = run / "report"
    with runfolder.storage(report):
        report.mkdir(exist_ok=True)
        clear(report)
        papers = _write_tables(report, source, options)
        album = explorer.build_album(run, report, _steps(source), options.embed)
    known = credit.read(run) if options.embed != "none" else {}
    sections, entries, scores = [], [], {}
    for finding in source.findings:
        drawn = _draw(report, source, finding, options)
        entry, scores[finding.key] = _write_data(report, run, finding, album)
        entries.append(entry)
        credited = _credits(run, finding, album, known, drawn)
        sections.append(replace(page.section(finding, drawn, options), credits=credited))
    _write_explorer(report, source, album, scores, known)
    extras = _extras(source, entries, album, options)
    extras = replace(extras, papers=papers, prints=sorted(path.name for path in report.glob("*.[ps][dv][fg]")))
    html = page.render(source.manifest, _photos(source, options), sections, options=options, extras=extras)
    index = report / "index.html"
    runfolder.write_bytes(index, html.encode("utf-8", "backslashreplace"))
    runfolder.settle(sorted(path for path in report.iterdir() if path.is_file()))
    return index


def clear(report: Path) -> None:
    """Remove what an earlier report drew and handed to its page: it may show photos that this one may not."""
    for old in [*report.glob("curves*.*"), *report.glob("sweeps*.*"), *report.glob("data/*.js")]:
        old.unlink()
    (report / "data").mkdir(exist_ok=True)


def _steps(source: Source) -> dict[str, int]:
    """Attribute to K, where the values are known."""
    return {name: len(values) for name, values in source.values.items() if len(values)}


# -- tables and figures -----------------------------------------------------------------------------------------------


def _write_tables(report: Path, source: Source, options: ReportOptions) -> list[str]:
    """Write the slopes as CSV and the paper's tables; the names of the latter."""
    paper = source.real[source.real["estimator"] == findings.PAPER]
    negative, positive = pulled(paper, p=options.p, slope=options.slope)
    for name, frame in (("slopes", source.slopes), ("pulled_negative", negative), ("pulled_positive", positive)):
        runfolder.write_bytes(report / f"{name}.csv", csv_bytes(frame))
    return paper_tables.write(report, source.run, paper, p=options.p, slope=options.slope)


def _draw(report: Path, source: Source, finding: Finding, options: ReportOptions) -> dict[str, str]:
    """Draw what can be drawn of a finding, for the page and for print; kind to file name."""
    rows, values, run = finding.of(findings.PAPER), finding.values, source.run
    if not len(values) or rows.empty:
        return {}
    drawn = {}
    chosen = figures.steepest(rows, p=options.p, slope=options.slope)
    shares = tally.shares(run, finding.classifier, finding.attribute, chosen["label"].tolist(), len(values))
    if len(chosen) and shares[:, len(values) // 2].all():
        relative = shares / shares[:, [len(values) // 2]]
        pairs = zip(chosen.iterrows(), relative, strict=True)
        curves = [figures.Curve(row, z, bool(row["past"])) for (_, row), z in pairs]
        figure = figures.curves_figure(curves, values, classifier=finding.classifier, attribute=finding.attribute)
        drawn["curves"] = _save(report, f"curves{finding.suffix}", figure)
    sweeps = tally.sweeps(run, finding.classifier, finding.attribute, values) if options.embed != "none" else []
    if sweeps:
        sheet = sheets.sweeps_figure(sweeps, values, attribute=finding.attribute, run=run)
        drawn["sweeps"] = _save(report, f"sweeps{finding.suffix}", sheet)
    return drawn


def _save(report: Path, name: str, figure: Figure) -> str:
    """Write a figure in all forms; the name of the one that the page shows."""
    for form in figures.FORMS:
        runfolder.write_bytes(report / f"{name}.{form}", figures.render(figure, form))
    return f"{name}.png"


# -- data of the page's scripts ---------------------------------------------------------------------------------------


def _write_data(
    report: Path, run: Path, finding: Finding, album: explorer.Album
) -> tuple[dict[str, Any], dict[str, list[list[Any]]]]:
    """Write the data files of one finding; (what the page must know of it, its scores photo by photo)."""
    answers = matrix.read(run, finding.classifier, finding.attribute, finding.values)
    content = findings.finding(finding.rows, finding.placebo, answers, album.index)
    labels = sorted(set(finding.rows["label"]))
    content["shape"] = comparisons.shape(run, finding.classifier, finding.attribute, labels)
    runfolder.write_bytes(report / "data" / f"{finding.key}.js", findings.script(finding.key, content))
    entry = {
        "key": finding.key,
        "classifier": words.printable(finding.classifier),
        "attribute": finding.attribute,
        "ends": words.ends(finding.attribute),
        "values": finding.values.tolist(),
        "perceived": words.perceived(finding.attribute),
        "labels": len(labels),
        "clusters": comparisons.clusters(run, finding.classifier, finding.attribute),
        **comparisons.write(report, run, finding.key, finding.classifier, finding.attribute, labels),
    }
    return entry, findings.photo_scores(answers) if len(finding.values) else {}


def _write_explorer(
    report: Path,
    source: Source,
    album: explorer.Album,
    scores: Mapping[str, Mapping[str, list[list[Any]]]],
    known: Mapping[str, credit.Credit],
) -> None:
    verdicts = tally.read(tables.VERDICTS, source.run, ["photo", "attribute", "kept", "reason", "detail"])
    out = verdicts[~verdicts["kept"].astype(bool)] if source.gated else verdicts[:0]
    why = zip(out["photo"], out["attribute"], map(explained, out["reason"], out["detail"]), strict=True)
    content = explorer.listing(album, list(_steps(source)), why, known)
    runfolder.write_bytes(report / "data" / "photos.js", findings.script("photos", content))
    for place, chunk in enumerate(explorer.scores_files(album, scores)):
        name = f"scores-{place}"
        runfolder.write_bytes(report / "data" / f"{name}.js", findings.script(name, chunk))


def _credits(
    run: Path,
    finding: Finding,
    album: explorer.Album,
    known: Mapping[str, credit.Credit],
    drawn: Mapping[str, str],
) -> tuple[tuple[str, credit.Credit], ...]:
    """Name and credit of each photo in the drawn sheet of sweeps."""
    if not known or "sweeps" not in drawn:
        return ()
    names = dict(zip(album.photos, album.names, strict=True))
    photos = tally.sheet(run, finding.classifier, finding.attribute, len(finding.values))
    return tuple((names[photo], known[photo]) for photo in photos if photo in known)


# -- what else the page shows -----------------------------------------------------------------------------------------


def _extras(
    source: Source, entries: list[dict[str, Any]], album: explorer.Album, options: ReportOptions
) -> page.Extras:
    values = {name: numbers.tolist() for name, numbers in source.values.items()}
    sweeps = validity.sweeps(source.run, values)
    attributes = {
        name: {
            "values": numbers,
            "perceived": words.perceived(name),
            "ends": words.ends(name),
            "middle": explorer.middle(numbers),
        }
        for name, numbers in values.items()
        if numbers
    }
    data = {
        "sections": entries,
        "attributes": attributes,
        "perFile": findings.PHOTOS_A_FILE,
        "embed": options.embed,
        "p": options.p,
        "slope": options.slope,
        "readings": [{name: entry[name] for name in ("values", "curves", "likeness")} for entry in sweeps],
    }
    return page.Extras(
        data=data,
        sweeps=sweeps,
        floors=validity.floors(source.slopes[source.slopes["estimator"] == findings.READING]),
        dropped=validity.dropped(source.run, names=options.embed != "none"),
        calibration=planted.read(source.run),
        commands=provenance.commands(source.manifest, options.p, options.slope),
        cards=provenance.cards(source.manifest),
        album=len(album.photos) if attributes else 0,
        embed=options.embed,
    )


def _dropped(source: Source) -> tuple[tuple[str, int], ...]:
    """Why the gate kept sweeps from the classifiers, the most frequent reason first; none if it was off."""
    if not source.gated:
        return ()
    verdicts = tally.read(tables.VERDICTS, source.run, ["kept", "reason"])
    return tuple(Counter(verdicts.loc[~verdicts["kept"], "reason"]).most_common())


def _photos(source: Source, options: ReportOptions) -> page.Photos:
    photos: pd.DataFrame = tally.read(tables.PHOTOS, source.run, ["path", "status", "reason", "detail", "faces"])
    skipped = photos[photos["status"] == "skipped"]
    used = photos[photos["status"] == "used"]
    reasons = Counter(skipped["reason"])
    whys = map(explained, skipped["reason"], skipped["detail"])
    named = sorted(zip(skipped["path"], whys, strict=True)) if options.embed != "none" else []
    return page.Photos(
        found=len(photos),
        used=len(used),
        several=int((used["faces"] > 1).sum()),
        reasons=tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        skipped=tuple(named),
        dropped=_dropped(source),
    )
