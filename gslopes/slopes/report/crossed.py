"""What crossing two attributes adds to terminal and page: interactions, one photo's grid, and a heat map a finding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from gslopes.core import runfolder, tables
from gslopes.core.crossed import Grid, grid_of
from gslopes.report import numbers, units, words
from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.crossed import at_end
from gslopes.slopes.report import answers as matrix
from gslopes.slopes.report import decisions, loading, pictures

MAPS = 6  # heat maps of a classifier


def with_interactions(slopes: pd.DataFrame, run: Path) -> pd.DataFrame:
    """The table of slopes and, of a crossed run, its interactions, with the columns at_low and at_high: how far a label
    goes from end to end of the first attribute, at both ends of the second.
    """
    grid = grid_of(runfolder.read_manifest(run)) if (run / runfolder.MANIFEST).is_file() else None
    if grid is None or (frame := loading.read_rows(tables.CROSSED, run, tables.CROSSED.columns)).empty:
        return slopes
    keys = ["classifier", "label", "estimator"]
    own = loading.with_units(frame[frame["attribute"] == grid.name], run)
    for name, end in (("at_low", 0), ("at_high", -1)):
        ends = frame[frame["attribute"] == at_end(*grid.names, grid.values[1][end])].set_index(keys)
        own = own.join((ends["y_last"] - ends["y_first"]).rename(name), on=keys)
    return pd.concat([slopes, own.assign(unit=own["unit"] + " of both")], ignore_index=True)


def panels(run: Path, slopes: pd.DataFrame, report: Path | None, known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A part of the page for each classifier; none for a run of plain sweeps.

    slopes: main slopes.  report: where pictures go; None for none.  known: photo to credit.

    Raises: TableError, StorageError.
    """
    rows, made = tables.reading(with_interactions(slopes, run)), []
    for classifier, attribute, part, _ in decisions.by_pair(rows):
        if "+" not in attribute or (grid := grid_of(runfolder.read_manifest(run))) is None:
            continue
        said, own = decisions.headline(part, decisions.decide(part), grid.name), rows[rows["classifier"] == classifier]
        answers = matrix.read(run, classifier, grid.name, np.array(grid.steps))
        found = own[own["decision"].isin([decisions.FINDING, decisions.OPEN])]
        rank = found.assign(_main=found["attribute"] != grid.name, _size=-found["t"].abs())
        chosen = list(dict.fromkeys(rank.sort_values(["expected", "_main", "_size", "label"])["label"].astype(str)))
        row = matrix.typical(answers, said.strongest or (chosen or [""])[0])
        photo = str(answers.photos[0 if row is None else answers.photo[row]]) if len(answers.photos) else ""
        measures = {str(one["label"]): one for one in part.to_dict("records")}
        made.append(
            {
                "classifier": words.printable(classifier),
                "sentence": said.sentence,
                "pictures": _pictures(run, report, grid, photo) if report and photo else [],
                "credit": known.get(photo),
                "names": [words.perceived(name) for name in grid.names],
                "ends": [words.ends(name) for name in grid.names],
                "values": [[numbers.value(value, sign=True) for value in values] for values in grid.values],
                "maps": [_heat(answers, measures[label], grid) for label in chosen[:MAPS]],
            }
        )
    return made


def _pictures(run: Path, report: Path, grid: Grid, photo: str) -> list[str]:
    """Write one photo's grid, a strip for each value of the second attribute, from the last to the first."""
    where = pc.field("photo") == photo
    edits = loading.read_rows(tables.EDITS, run, ["attribute", "step", "file"], where)
    files = [run / file for file in edits[edits["attribute"] == grid.name].sort_values("step")["file"]]
    boxes, count = loading.read_rows(tables.PHOTOS, run, ["box", "status"], where), len(grid.values[1])
    box = loading.face_box(boxes[boxes["status"] == "used"]["box"].iloc[0])
    strips = [pictures.Wanted(photo, f"{grid.name}-{at}", box, tuple(files[at::count])) for at in range(count)]
    for strip in strips:
        runfolder.make_folder(report / pictures.FOLDER / runfolder.slug(strip.attribute))
    return [file for strip in strips[::-1] if (file := pictures.make(report, run, strip))]


def _heat(answers: Answers, row: Mapping[Any, Any], grid: Grid) -> dict[str, Any]:
    """A label at every pair of values.  row: its interaction.

    rows: of the second attribute's values, from the last to the first: (value, cells of a text and a shade in [0, 1]).
    """
    label, measure = str(row["label"]), units.measure_of(row)
    by_number = measure != "presence"
    shares = matrix.heights(answers, {label} if by_number else ())[0][answers.labels.tolist().index(label)]
    low, high = (float(np.nanmin(shares)), float(np.nanmax(shares))) if by_number else (0.0, 1.0)
    texts = numbers.apart(shares) if by_number else [f"{100 * share:.0f}" for share in shares]
    shades = np.nan_to_num((shares - low) / ((high - low) or 1)).round(3).tolist()
    cells, count = list(zip(texts, shades, strict=True)), len(grid.values[1])
    rows = [(numbers.value(value, sign=True), cells[at::count]) for at, value in enumerate(grid.values[1])][::-1]
    unit = {"presence": "of 100 photos", "log-odds": "mean score"}.get(measure, "mean")
    spoken = "; ".join(f"{value}: {', '.join(text for text, _ in own)}" for value, own in rows)
    decision = decisions.SHOWN.get(str(row["decision"]), "")
    return {"label": words.readable(label), "unit": unit, "decision": decision, "rows": rows, "spoken": spoken}
