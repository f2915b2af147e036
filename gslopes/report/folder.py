"""From a run folder to its report folder: reads the tables, draws the figures, writes the files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import ConfigError
from gslopes.report import figures, page, sheets, tally
from gslopes.report.tables import pulled


def write(run: Path, *, p: float, slope: float) -> Path:
    """See ``gslopes.report.write_report``."""
    if not (0 < p <= 1 and slope >= 0 and math.isfinite(slope)):
        raise ConfigError(
            f"The thresholds p < {p:g} and |slope| > {slope:g} are out of range.", "0 < p <= 1, slope >= 0."
        )
    manifest = runfolder.read_manifest(run)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    photos = tally.read(tables.PHOTOS, run, ["path", "status", "reason", "faces"])

    report = run / "report"
    with runfolder.storage(report):
        report.mkdir(exist_ok=True)
    paper = slopes[slopes["estimator"] == "paper"]
    negative, positive = pulled(paper, p=p, slope=slope)
    for name, frame in (("slopes", slopes), ("pulled_negative", negative), ("pulled_positive", positive)):
        runfolder.write_bytes(report / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n").encode())

    statuses = tally.statuses(run)
    real = ~paper["attribute"].map(lambda name: bool(placebo.split(name)[1])).astype(bool)
    groups = list(paper[real].groupby(["classifier", "attribute"], sort=True))
    sections = []
    for _, rows in groups:
        classifier, attribute = str(rows["classifier"].iloc[0]), str(rows["attribute"].iloc[0])
        suffix = "" if len(groups) == 1 else f"-{runfolder.slug(attribute)[:-9]}-{runfolder.slug(classifier)}"
        values = sweep_values(run, manifest, attribute)
        drawn = _figures(run, report, rows, values, suffix, p, slope)
        sections.append(page.section(rows, values, statuses.get((classifier, attribute), {}), drawn, p=p, slope=slope))

    index = report / "index.html"
    html = page.render(manifest, _photos(photos, _dropped(run, manifest)), sections, p=p, slope=slope)
    runfolder.write_bytes(index, html.encode("utf-8", "backslashreplace"))
    runfolder.settle(sorted(path for path in report.iterdir() if path.is_file()))
    return index


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
    run: Path, report: Path, rows: pd.DataFrame, values: NDArray[np.float64], suffix: str, p: float, slope: float
) -> dict[str, str]:
    """Draw what can be drawn of one classifier and attribute; kind of figure to file name."""
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
        drawn["curves"] = f"curves{suffix}.png"
        png = figures.draw_curves(curves, values, classifier=classifier, attribute=attribute)
        runfolder.write_bytes(report / drawn["curves"], png)
    sweeps = tally.sweeps(run, classifier, attribute, values)
    if sweeps:
        drawn["sweeps"] = f"sweeps{suffix}.png"
        runfolder.write_bytes(
            report / drawn["sweeps"], sheets.draw_sweeps(sweeps, values, attribute=attribute, run=run)
        )
    return drawn


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
