"""What crossing two attributes adds to the page: interactions, grids of photos, a heat map a finding, its slopes."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.core.crossed import Grid, grid_of, split
from gslopes.frame.page import Content
from gslopes.report import numbers, units, words
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.crossed import views
from gslopes.slopes.page import answers as matrix
from gslopes.slopes.page import decisions, lead, loading
from gslopes.slopes.page.page_data import Album, value_names
from gslopes.stats.rounding import ranked

MAPS = 6  # heat maps of a classifier
PHOTOS = 12  # whose grids are shown


def panels(
    source: loading.RunTables, album: Album, credited: Mapping[str, Any]
) -> list[SimpleNamespace]:
    """A part of the page for each classifier; none for a run of plain sweeps.

    credited: photo to credit.

    Raises: TableError.
    """
    if (grid := grid_of(source.manifest["values"])) is None:
        return []
    drawn = []
    crossings = [view for view in views(grid) if split(view)[2] or view in grid.contrasts]
    interactions = [view for view in views(grid) if split(view)[1] and not split(view)[2]]
    pictures = [
        (album.files[photo, grid.name], credited.get(photo))
        for photo in album.photos
        if (photo, grid.name) in album.files
    ]
    for name, rows in tables.reading(source.real).groupby("classifier", sort=True):
        part = rows.query("attribute == @interactions[0]")
        answers = matrix.read(source.run, str(name), grid.name, source.values[grid.name])
        moving = rows.query("decision in ['finding', 'open'] and label in @answers.labels")
        order = ranked(
            moving, "expected", ~moving["attribute"].isin(interactions), -moving["t"].abs(), "label"
        )
        drawn.append(
            SimpleNamespace(
                classifier=words.printable(name),
                attribute=grid.name,
                grid=grid,
                headline=lead.headline(part, decisions.decide(part), interactions[0]),
                photos=pictures[:PHOTOS],
                values=[
                    value_names(grid.names[0], grid.values[0]),
                    grid.levels or value_names(grid.names[1], grid.values[1]),
                ],
                at=crossings,
                maps=[
                    _heat(answers, rows[rows["label"] == label], grid)
                    for label in order["label"].unique()[:MAPS]
                ],
            )
        )
    return drawn


def _heat(answers: Answers, rows: pd.DataFrame, grid: Grid) -> Content:
    """A label at every pair of values, and its slopes at both ends of one attribute.

    rows: of the label.

    row, by_view: the one that it is decided by, and that of each view.
    cells: a text, a shade in [0, 1], and both ends of the mean's 95 % interval, of each step.
    """
    by_view = {row["attribute"]: row for _, row in rows.iterrows()}
    row = by_view.get(grid.name, rows.iloc[0])
    label = row["label"]
    measure = units.measure_of(row)
    by_number = measure != "presence"
    place = answers.labels.tolist().index(label)
    heights = matrix.heights(answers, {label} if by_number else ())
    shares, *ends = (columns[place] for columns in heights[:3])
    low, high = (float(np.nanmin(shares)), float(np.nanmax(shares))) if by_number else (0.0, 1.0)
    levels, counted = units.levels(row, *shares)
    texts = numbers.apart(levels) if by_number else [f"{level:.0f}" for level in levels]
    bounds = (units.levels(row, *end)[0] for end in ends)
    around = [" to ".join(numbers.change(*pair)) for pair in zip(*bounds, strict=True)]
    shades = np.nan_to_num((shares - low) / ((high - low) or 1)).round(3).tolist()
    return {
        "row": row,
        "unit": {"log-odds": "mean score", "value": "mean"}.get(measure, counted),
        "slope": lead.slope_of(row),
        "decision": decisions.SHOWN.get(row["decision"], ""),
        "cells": list(zip(texts, shades, around, strict=True)),
        "by_view": by_view,
    }
