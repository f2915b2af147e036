"""From a run folder to its report folder: reads the tables, draws the figures, writes the files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.report import answers as matrix
from gslopes.report import (
    comparisons,
    credit,
    explorer,
    figures,
    findings,
    page,
    pictures,
    planted,
    provenance,
    sheets,
    tally,
    validity,
    words,
)
from gslopes.report import paper as paper_tables
from gslopes.report.tables import pulled


def write(run: Path, *, p: float, slope: float, embed: pictures.Embed) -> Path:
    """See ``gslopes.report.write_report``."""
    if not (0 < p <= 1 and slope >= 0 and math.isfinite(slope)):
        raise ConfigError(
            f"The thresholds p < {p:g} and |slope| > {slope:g} are out of range.", "0 < p <= 1, slope >= 0."
        )
    if embed not in pictures.MODES:
        raise UnknownName("way to embed pictures", embed, pictures.MODES)
    manifest = runfolder.read_manifest(run)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    photos = tally.read(tables.PHOTOS, run, ["path", "status", "reason", "faces"])

    report = run / "report"
    with runfolder.storage(report):
        report.mkdir(exist_ok=True)
        clear(report)
    real = slopes[~findings.is_placebo(slopes["attribute"])]
    paper = real[real["estimator"] == findings.PAPER]
    negative, positive = pulled(paper, p=p, slope=slope)
    for name, frame in (("slopes", slopes), ("pulled_negative", negative), ("pulled_positive", positive)):
        runfolder.write_bytes(report / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n").encode())
    with runfolder.storage(report):
        papers = paper_tables.write(report, run, paper, p=p, slope=slope)

    values = {name: sweep_values(run, manifest, name) for name in sorted(set(real["attribute"]))}
    with runfolder.storage(report):
        own = explorer.album(run, report, {name: len(v) for name, v in values.items() if len(v)}, embed)
    known = credit.read(run) if embed != "none" else {}
    names = dict(zip(own.photos, own.names, strict=True))
    statuses = tally.statuses(run)
    sections, listed, scores = [], [], {}
    groups = list(real.groupby(["classifier", "attribute"], sort=True))
    for place, (pair, rows) in enumerate(groups):
        classifier, attribute = map(str, pair)
        one = rows[rows["estimator"] == findings.PAPER]
        suffix = "" if len(groups) == 1 else f"-{runfolder.slug(attribute)[:-9]}-{runfolder.slug(classifier)}"
        drawn = _figures(run, report, one, values[attribute], suffix, p, slope, embed) if len(one) else {}
        key = f"f{place}"
        entry, scores[key] = _data(run, report, key, rows, slopes, values[attribute], own)
        listed.append(entry)
        reading = rows[rows["estimator"] == findings.READING]
        about = statuses.get((classifier, attribute), {})
        shown = one if len(one) else reading if len(reading) else rows.drop_duplicates("label")
        made = page.section(shown, values[attribute], about, drawn, p=p, slope=slope, reading=reading, key=key)
        on_sheet = (
            tally.sheet(run, classifier, attribute, len(values[attribute])) if known and "sweeps" in drawn else []
        )
        sections.append(replace(made, credits=tuple((names[one], known[one]) for one in on_sheet if one in known)))
    _explorer_files(run, report, own, values, scores, bool(_dropped(run, manifest)), known)

    index = report / "index.html"
    seen = _photos(photos, _dropped(run, manifest))
    if embed == "none":
        seen = replace(seen, skipped=())
    extras = _extras(run, manifest, slopes, values, listed, own, embed, p, slope)
    extras = replace(extras, papers=papers, prints=sorted(path.name for path in report.glob("*.[ps][dv][fg]")))
    html = page.render(manifest, seen, sections, p=p, slope=slope, extras=extras)
    runfolder.write_bytes(index, html.encode("utf-8", "backslashreplace"))
    runfolder.settle(sorted(path for path in report.iterdir() if path.is_file()))
    return index


def clear(report: Path) -> None:
    """Remove what an earlier report drew and handed to its page: it may show photos that this one may not."""
    for old in [*report.glob("curves*.*"), *report.glob("sweeps*.*"), *report.glob("data/*.js")]:
        old.unlink()
    (report / "data").mkdir(exist_ok=True)


def _data(
    run: Path,
    report: Path,
    key: str,
    rows: pd.DataFrame,
    slopes: pd.DataFrame,
    values: NDArray[np.float64],
    own: explorer.Album,
) -> tuple[dict[str, Any], dict[str, list[list[Any]]]]:
    """Write the data files of one finding; (what the page must know of it, its scores photo by photo)."""
    classifier, attribute = str(rows["classifier"].iloc[0]), str(rows["attribute"].iloc[0])
    answers = matrix.read(run, classifier, attribute, values)
    fake = (slopes["classifier"] == classifier) & slopes["attribute"].isin(placebo.names(attribute))
    floor = slopes[fake & (slopes["estimator"] == findings.READING)]
    content = findings.finding(rows, floor, answers, own.index)
    labels = sorted(set(rows["label"]))
    content["shape"] = comparisons.shape(run, classifier, attribute, labels)
    runfolder.write_bytes(report / "data" / f"{key}.js", findings.script(key, content))
    entry = {
        "key": key,
        "classifier": words.printable(classifier),
        "attribute": attribute,
        "ends": words.ends(attribute),
        "values": values.tolist(),
        "perceived": words.perceived(attribute),
        "labels": len(labels),
        "clusters": comparisons.clusters(run, classifier, attribute),
        **comparisons.write(report, run, key, classifier, attribute, labels),
    }
    return entry, findings.photo_scores(answers) if len(values) else {}


def _explorer_files(
    run: Path,
    report: Path,
    own: explorer.Album,
    values: Mapping[str, NDArray[np.float64]],
    scores: Mapping[str, Mapping[str, list[list[Any]]]],
    gated: bool,
    known: Mapping[str, credit.Credit],
) -> None:
    attributes = [name for name, numbers in values.items() if len(numbers)]
    verdicts = tally.read(tables.VERDICTS, run, ["photo", "attribute", "kept", "reason"])
    out = verdicts[~verdicts["kept"].astype(bool)] if gated else verdicts[:0]
    why = zip(out["photo"], out["attribute"], out["reason"], strict=True)
    content = explorer.listing(own, attributes, why, known)
    runfolder.write_bytes(report / "data" / "photos.js", findings.script("photos", content))
    for place, chunk in enumerate(explorer.scores_files(own, scores)):
        name = f"scores-{place}"
        runfolder.write_bytes(report / "data" / f"{name}.js", findings.script(name, chunk))


def _extras(
    run: Path,
    manifest: Mapping[str, Any],
    slopes: pd.DataFrame,
    values: Mapping[str, NDArray[np.float64]],
    listed: list[dict[str, Any]],
    own: explorer.Album,
    embed: pictures.Embed,
    p: float,
    slope: float,
) -> page.Extras:
    sweeps = validity.sweeps(run, {name: numbers.tolist() for name, numbers in values.items()})
    attributes = {
        name: {
            "values": numbers.tolist(),
            "perceived": words.perceived(name),
            "ends": words.ends(name),
            "middle": explorer.middle(numbers.tolist()),
        }
        for name, numbers in values.items()
        if len(numbers)
    }
    data = {
        "sections": listed,
        "attributes": attributes,
        "perFile": findings.PHOTOS_A_FILE,
        "embed": embed,
        "p": p,
        "slope": slope,
        "readings": [{name: entry[name] for name in ("values", "curves", "likeness")} for entry in sweeps],
    }
    return page.Extras(
        data=data,
        sweeps=sweeps,
        floors=validity.floors(slopes[slopes["estimator"] == findings.READING]),
        dropped=validity.dropped(run, names=embed != "none"),
        calibration=planted.read(run),
        commands=provenance.commands(manifest, p, slope),
        cards=provenance.cards(manifest),
        album=len(own.photos) if attributes else 0,
        embed=embed,
    )


def sweep_values(run: Path, manifest: Mapping[str, Any], attribute: str) -> NDArray[np.float64]:
    """The K values of an attribute, (K,) float64: from run.json, else from the tables; none if unknown."""
    listed = manifest.get("values")
    values = listed.get(attribute) if isinstance(listed, Mapping) else None
    if isinstance(values, list) and len(values) >= 3 and all(isinstance(value, (int, float)) for value in values):
        return np.array(values, dtype=np.float64)
    for table in (tables.EDITS, tables.SCORES):
        rows = tally.read(table, run, ["step", "value"], pc.field("attribute") == attribute)
        pairs = rows.drop_duplicates("step").sort_values("step")
        if len(pairs) >= 3 and pairs["step"].tolist() == list(range(len(pairs))):
            return pairs["value"].to_numpy(np.float64)
    return np.empty(0)


def _figures(
    run: Path,
    report: Path,
    rows: pd.DataFrame,
    values: NDArray[np.float64],
    suffix: str,
    p: float,
    slope: float,
    embed: pictures.Embed,
) -> dict[str, str]:
    """Draw what can be drawn of one classifier and attribute, for the page and for print; kind to file name."""
    classifier, attribute = str(rows["classifier"].iloc[0]), str(rows["attribute"].iloc[0])
    if not len(values):
        return {}
    drawn = {}
    chosen = figures.steepest(rows, p=p, slope=slope)
    shares = tally.shares(run, classifier, attribute, chosen["label"].tolist(), len(values))
    if len(chosen) and shares[:, len(values) // 2].all():
        relative = shares / shares[:, [len(values) // 2]]
        pairs = zip(chosen.iterrows(), relative, strict=True)
        curves = [figures.Curve(row, z, bool(row["past"])) for (_, row), z in pairs]
        figure = figures.curves_figure(curves, values, classifier=classifier, attribute=attribute)
        drawn["curves"] = _save(report, f"curves{suffix}", figure)
    sweeps = tally.sweeps(run, classifier, attribute, values) if embed != "none" else []
    if sweeps:
        drawn["sweeps"] = _save(
            report, f"sweeps{suffix}", sheets.sweeps_figure(sweeps, values, attribute=attribute, run=run)
        )
    return drawn


def _save(report: Path, name: str, figure: Figure) -> str:
    """Write a figure in all forms; the name of the one that the page shows."""
    for form in figures.FORMS:
        runfolder.write_bytes(report / f"{name}.{form}", figures.render(figure, form))
    return f"{name}.png"


def _dropped(run: Path, manifest: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Why the gate kept sweeps from the classifiers, the most frequent reason first; none if it was off."""
    gate = manifest.get("gate")
    if not isinstance(gate, Mapping) or not gate.get("applied"):
        return ()
    verdicts = tally.read(tables.VERDICTS, run, ["kept", "reason"])
    return tuple(Counter(_kind(reason) for reason in verdicts.loc[~verdicts["kept"], "reason"]).most_common())


def _photos(photos: pd.DataFrame, dropped: tuple[tuple[str, int], ...] = ()) -> page.Photos:
    skipped = photos[photos["status"] == "skipped"]
    used = photos[photos["status"] == "used"]
    reasons = Counter(_kind(reason) for reason in skipped["reason"])
    return page.Photos(
        found=len(photos),
        used=len(used),
        several=int((used["faces"] > 1).sum()),
        reasons=tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        skipped=tuple(sorted(zip(skipped["path"], skipped["reason"], strict=True))),
        dropped=dropped,
    )


def _kind(reason: str) -> str:
    """A reason without what is particular to one photo, so that equal ones can be counted."""
    return "same bytes as another photo" if reason.startswith("same bytes as ") else reason.split(" (")[0]
