"""What the page's scripts read: columns of numbers, one small file for each finding, its groups, and a few photos.

Below: what crossing two attributes adds: interactions, grids of photos, a heat map a finding, its slopes.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from pandas import DataFrame, Series

from gslopes.core import Facts, frozen_identity, placebo, runfolder, tables
from gslopes.core.crossed import Grid, grid_of, split
from gslopes.core.records import Array
from gslopes.frame.page import Content
from gslopes.report import inline, numbers, units, words
from gslopes.slopes.measures.answers import Answers, of_pair
from gslopes.slopes.measures.crossed import views
from gslopes.slopes.measures.reach import HALF
from gslopes.slopes.page import answers as matrix, decisions, lead, loading, pictures
from gslopes.slopes.page.pictures import ID
from gslopes.stats.rounding import ranked

Places = Mapping[str, int]
Cells = list[list[Any]]
BY_MEASURE = "by its measure"
PER_REACH = ", per unit of reach"
PHOTOS_A_FILE = 20
_NUMBERS = ("slope", "ci_low", "ci_high", "p", "p_test", "q")
_FLOOR = ("placebo_slope", "low", "high", "difference", "ci_low", "ci_high")
_DRAWING = ["drawing", "ci_low", "ci_high", "sweep", "q"]


def write_script(report: Path, name: str, content: Any) -> None:
    """Write a file that hands its content to the page: read by a script element, which works from a disk as well.

    The content is JSON in ASCII; the page shows texts in it only as text.  Raises: StorageError.
    """
    text = f"gslopes({json.dumps(name)},{json.dumps(content, separators=(',', ':'))});\n"
    runfolder.write_bytes(report / "data" / f"{name}.js", text.encode("ascii"))


def finding(
    finding: loading.Finding,
    answers: Answers,
    index: Places,
    decided: Mapping[str, decisions.Decision],
) -> Content:
    """Everything about one classifier along one attribute but its groups.

    answers: of the classifier.  decided: label to decision, see ``decisions.decide``.
    index: photo to its place in the explorer's list.

    Lists of labels are as long as ``labels`` and in that order.
    """
    slopes = finding.rows
    labels = sorted(set(slopes["label"]))
    records = {row["label"]: row for row in finding.read.to_dict("records")}
    by_number = {label for label, row in records.items() if units.measure_of(row) != "presence"}
    first = _by_label(slopes, labels)
    every = [decided.get(label, decisions.Decision(decisions.UNJUDGED, "")) for label in labels]
    content: Content = {
        "labels": list(map(words.label, labels)),
        "n": first["n"].tolist(),
        "active": first["active"].tolist(),
        "centre": numbers.rounded(first["y_centre"]),
        "estimators": _estimators(slopes, labels),
        "units": [units.unit_of(records.get(label, {})) for label in labels],
        "floor": {
            str(kind): _columns(rows, labels, _FLOOR)
            for kind, rows in finding.placebo.groupby("placebo", sort=True)
        },
        "decision": [decision.code for decision in every],
        "why": [decision.why for decision in every],
        "expected": [decision.expected for decision in every],
        "cut": decisions.cut(slopes),
        "moved": _varying_photos(answers, labels, index),
        **_curves(answers, labels, by_number),
    }
    if finding.drawn:
        drawn = _by_label(DataFrame([*finding.drawn.values()]), labels)
        content["drawing"] = list(map(numbers.rounded, drawn[_DRAWING].to_numpy(float)))
    return content


def _by_label(rows: DataFrame, labels: list[str]) -> DataFrame:
    """The first row of each label, in this order."""
    return rows.drop_duplicates("label").set_index("label").reindex(labels)


def _columns(rows: DataFrame, labels: list[str], names: Sequence[str]) -> Content:
    """Columns with a number for each label."""
    by_label = _by_label(rows, labels)[list(names)].astype(float)
    return {name: numbers.rounded(by_label[name], 8) for name in names}


def _estimators(slopes: DataFrame, labels: list[str]) -> Content:
    """Name to columns; the rows to read come first, as “by its measure”, if labels are judged by several."""
    by_estimator = {
        str(name): _estimator(rows, labels) for name, rows in slopes.groupby("estimator", sort=True)
    }
    if by_estimator.pop(tables.MEASURED, None):
        read = _estimator(tables.reading(slopes), labels)
        return {BY_MEASURE: {**read, "unit": "the unit of its measure"}, **by_estimator}
    return by_estimator


def _estimator(rows: DataFrame, labels: list[str]) -> Content:
    is_paper = rows["estimator"] == loading.PAPER
    rows = rows.assign(p_test=rows["p_test"].mask(is_paper, rows["p"]))  # which its q adjusts
    texts = _by_label(rows, labels)[["note", "p_source"]].fillna("").astype(str)
    return {
        **_columns(rows, labels, _NUMBERS),
        "unit": next(iter(rows["unit"].dropna()), ""),
        "note": texts["note"].tolist(),
        "source": texts["p_source"].tolist(),
    }


def _curves(answers: Answers, labels: list[str], by_number: Collection[str]) -> Content:
    """Shares of photos with each label or, of labels that are judged by their number, its means; with intervals."""
    if not len(answers.values):
        return {"share": [None for _ in labels], "low": [], "high": [], "line": []}
    index = {label: number for number, label in enumerate(answers.labels)}
    columns = zip(("share", "low", "high", "line"), matrix.heights(answers, by_number), strict=True)
    return {
        name: [numbers.rounded(rows[index[label]]) if label in index else None for label in labels]
        for name, rows in columns
    }


def _varying_photos(
    answers: Answers, labels: list[str], index: Places
) -> list[list[list[float | int | None]]]:
    """For each label: place of the photo, slope of its score, and its K scores in thousandths (null: not returned)."""
    if not len(answers.values):
        return [[] for _ in labels]
    slopes = matrix.slopes(answers)
    scores = matrix.scores(answers)
    photos = answers.photos[answers.photo]
    by_label = dict(zip(answers.labels, matrix.movers(answers), strict=True))
    return [
        [
            [index[photos[row]], round(float(slopes[row]), 4), *_thousandths(scores[row])]
            for row in by_label.get(label, [])
            if photos[row] in index
        ]
        for label in labels
    ]


def _thousandths(scores: Array) -> list[float | None]:
    """Whole ones, or with two digits more if the scores differ by little.  scores: (K,)."""
    numbers = scores.tolist()
    known = [number for number in numbers if number == number]
    digits = 2 if max(known) - min(known) < 0.02 else None
    return [round(1000 * number, digits) if number == number else None for number in numbers]


# -- groups, differences between them ---------------------------------------------------------------------------------


def write_comparisons(report: Path, run: Path, finding: loading.Finding) -> Content:
    """Write the data files with groups and differences of one finding, as far as its tables have rows.

    Returns what the page must know of them: names of files (empty without one), and sentences about reach.

    Raises: TableError if a table is damaged; StorageError.
    """
    attribute = finding.attribute
    labels = sorted(set(finding.rows["label"]))
    pair = of_pair(finding.classifier, attribute)
    pair &= pc.field("estimator").isin([tables.READING, tables.MEASURED])
    groups = by_measure(tables.read_rows(tables.GROUPS, run, None, pair))
    rows = by_measure(tables.read_rows(tables.DIFFERENCES, run, None, pair))
    reach = tables.read_rows(tables.REACH, run, None, pair & (pc.field("reading") == attribute))
    uneven = rows.loc[rows["reach_share"] < HALF, "column"].unique()
    contents = {
        "groups": by_group(_per_reach(groups, reach, groups["column"].isin(uneven)), labels),
        "differences": differences(rows, labels),
    }
    files = {kind: f"{finding.key}-{kind}" if rows else "" for kind, rows in contents.items()}
    for kind, name in files.items():
        if name:
            write_script(report, name, contents[kind])
    span = float(np.ptp(finding.values)) if len(finding.values) else 1.0
    return {
        "reach": reaches(reach, uneven, attribute, span) if len(rows) else [],
        **files,
    }


def by_measure(rows: DataFrame) -> DataFrame:
    """Of labels that have rows by their measure, only those."""
    is_measured = rows["estimator"] == tables.MEASURED
    return rows[is_measured | ~rows["label"].isin(rows.loc[is_measured, "label"])]


def by_group(groups: DataFrame, labels: Sequence[str]) -> dict[str, Cells]:
    """Place of the label to rows of column, group, n, slope, interval, p, q.

    groups: rows of one classifier and attribute, one estimator.  labels: sorted, as in the finding.
    """
    content: dict[str, Cells] = {}
    for row in groups.query("label in @labels").to_dict("records"):
        texts = [words.printable(row[name]) for name in ("column", "group")]
        figures = numbers.rounded([row[name] for name in ("slope", "ci_low", "ci_high", "p", "q")])
        place = str(labels.index(row["label"]))
        content.setdefault(place, []).append([*texts, row["n"], *figures])
    return content


def differences(frame: DataFrame, labels: Sequence[str]) -> Cells:
    """Rows of place of the label, column, group, other, difference, interval, p, q, note; none without an interval.

    frame: of core.tables.DIFFERENCES, one classifier, attribute and estimator.  labels: sorted, as in the finding.
    """
    columns = ["difference", "ci_low", "ci_high"]
    per_reach = frame[["per_reach", "per_reach_low", "per_reach_high"]].set_axis(columns, axis=1)
    is_uneven = frame["reach_share"] < HALF
    frame = frame.query("ci_low == ci_low and label in @labels")
    frame = frame.assign(
        **frame[columns].mask(is_uneven, per_reach),
        column=frame["column"].map(words.printable) + is_uneven.map({True: PER_REACH, False: ""}),
    )
    content = []
    for row in frame.to_dict("records"):
        q = np.fmax(row["q"], row["q_placebo"])
        figures = numbers.rounded([*(row[name] for name in (*columns, "p_test")), q])
        if figures[1] is not None:
            texts = [words.printable(row[name]) for name in ("group", "other")]
            note = words.printable(row["note"] or "")
            content.append([labels.index(row["label"]), row["column"], *texts, *figures, note])
    return content


def _per_reach(groups: DataFrame, reach: DataFrame, uneven: Series) -> DataFrame:
    """The groups' rows, the uneven ones per unit of reach, without a test.  reach: rows of REACH."""
    both = groups.merge(
        reach, how="left", on=["estimator", "column", "group", "label"], suffixes=("", "_seen")
    )
    for name, ratio in {"slope": "ratio", "ci_low": "ratio_low", "ci_high": "ratio_high"}.items():
        both[name] = both[name].mask(uneven, both[ratio])
    tests = {name: both[name].mask(uneven) for name in ("p", "q")}
    return both.assign(**tests, column=both["column"].mask(uneven, both["column"] + PER_REACH))


def reaches(reach: DataFrame, uneven: Collection[str], attribute: str, span: float) -> list[str]:
    """A sentence for each column of groups: how far the edit moves the reader in each.

    reach: rows of REACH.  uneven: columns with groups of which one is reached less than half as far as another.
    span: from the sweep's first value to its last.
    """
    ends = ["reach", "reach_low", "reach_high"]
    rows = reach.query("column != ''").drop_duplicates(["column", "group"])
    shown = {"rows": rows.assign(**span * rows[ends]).to_dict("records"), "uneven": uneven}
    told = inline.plain("reaches.txt.j2", decisions.HOUSE, attribute=attribute, **shown)
    return told.splitlines()


def clusters(run: Path, classifier: str, attribute: str) -> list[int]:
    """How many photos a fit with clusters used, and how many units they make; empty if each photo was one unit.

    Raises: TableError if the table is damaged.
    """
    pair = of_pair(classifier, attribute)
    rows = tables.read_rows(tables.BALANCE, run, ["used", "units"], pair)
    return rows.query("units < used").head(1).astype(int).to_numpy().ravel().tolist()


# -- the explorer's photos --------------------------------------------------------------------------------------------


@frozen_identity
class Album:
    """The photos of the explorer.

    photos: ids in the order of their paths.  names: as shown.  index: id to place.
    files: (photo, attribute) to the strip relative to the report.
    """

    photos: list[str]
    names: list[str]
    index: Places
    files: Mapping[tuple[str, str], str]


def count_sweeps(run: Path, attributes: Places) -> int:
    """How many sweeps ``build_album`` goes through."""
    return len(_edits(run, attributes, ["photo", "attribute"]).drop_duplicates())


def _edits(run: Path, attributes: Places, columns: list[str]) -> DataFrame:
    where = pc.field("attribute").isin(list(attributes) or [""])
    return tables.read_rows(tables.EDITS, run, columns, where)


def build_album(
    run: Path,
    report: Path,
    attributes: Places,
    embed: loading.Embed,
    tick: Callable[[int], None],
) -> Album:
    """Write the pictures of all photos that have sweeps, see ``embed``.

    attributes: name to K, real sweeps only.  With ``none`` a photo is named by its id: names may tell who is on it.
    tick: called with 1 for every sweep whose pictures exist.
    """
    by = ["attribute", "photo", "step"]
    edits = _edits(run, attributes, [*by, "file"]).sort_values(by)
    photos = tables.read_rows(tables.PHOTOS, run, ["photo", "path", "box", "status"])
    photos = photos.query("status == 'used'").drop_duplicates("photo").set_index("photo")
    paths = {photo: photo[:16] for photo in edits["photo"]} | photos["path"].to_dict()
    order = sorted(paths, key=lambda photo: (paths[photo], photo))
    names = [photo[:12] if embed == "none" else words.printable(paths[photo]) for photo in order]
    boxes = photos["box"].map(loading.face_box)
    sweeps = []
    for attribute, rows in edits.groupby("attribute", sort=True):
        once = rows.drop_duplicates(["photo", "step"])
        wide = once.pivot(index="photo", columns="step", values="file")
        full = wide.reindex(columns=range(attributes[str(attribute)])).dropna()
        for photo, *steps in full.itertuples(name=None):
            wanted = pictures.Wanted(photo, str(attribute), boxes.get(photo), tuple(steps))
            sweeps.append(wanted)
    files = pictures.write(report, run, sweeps, embed, tick)
    return Album(order, names, {photo: index for index, photo in enumerate(order)}, files)


def value_names(attribute: str, values: Iterable[float]) -> Sequence[str]:
    """The values of a sweep as people read them: the ends if they have names, else numbers with their sign."""
    if placebo.ends_of(attribute):
        return words.ends(attribute)
    return [numbers.value(value, sign=True) for value in values]


def photo_listing(
    album: Album,
    attributes: Sequence[str],
    why: Iterable[tuple[str, str, str]],
    credited: Mapping[str, dict[str, str]],
) -> Content:
    """The file with the list: names, and by attribute the folder of the strips, in which they have the names of ids.

    why: (photo, attribute, reason) of the sweeps that the gate dropped.  credited: photo to credit.
    """
    strips = {}
    for name in attributes:
        have = [(photo, name) in album.files for photo in album.photos]
        if any(have):
            without = np.flatnonzero(~np.array(have)).tolist()
            strips[name] = {"folder": pictures.folder(name), "without": without}
    dropped: dict[str, dict[int, str]] = {name: {} for name in attributes}
    for photo, attribute, reason in why:
        if attribute in dropped and photo in album.index:
            dropped[attribute][album.index[photo]] = words.printable(reason)
    by_place = {
        index: credited[photo] for index, photo in enumerate(album.photos) if photo in credited
    }
    ids = [photo[:ID] for photo in album.photos] if strips else []
    lists = {"names": album.names, "ids": ids}
    return {**lists, "strips": strips, "dropped": dropped, "credits": by_place}


def scores_files(album: Album, sweeps: Mapping[str, Answers]) -> Iterator[Content]:
    """The scores of a few photos a file, in the order of the list: label, slope of its score per unit, K scores in
    thousandths (null: not returned).

    Of each photo the labels whose scores move most, and then the strongest; see ``answers.strongest``.

    sweeps: key of a finding (``f0``) to its answers.
    """
    sorted_rows = {}
    for key, answers in sweeps.items():
        if len(answers.label):
            rows = matrix.strongest(answers)
            place = np.array([album.index.get(photo, -1) for photo in answers.photos])
            rows = rows[np.argsort(place[answers.photo[rows]], kind="stable")]
            labels = [words.readable(label) for label in answers.labels]
            columns = answers.label, matrix.slopes(answers), matrix.scores(answers)
            sorted_rows[key] = place[answers.photo[rows]], rows, labels, columns
    for start in range(0, len(album.photos), PHOTOS_A_FILE):
        photos: list[dict[str, Cells]] = [{} for _ in album.photos[start : start + PHOTOS_A_FILE]]
        for key, (place, rows, labels, columns) in sorted_rows.items():
            part = slice(*np.searchsorted(place, [start, start + PHOTOS_A_FILE]))
            of_part = (column[rows[part]] for column in columns)
            for photo, label, slope, scores in zip(place[part], *of_part, strict=True):
                row = [labels[label], round(float(slope), 4), _thousandths(scores)]
                photos[photo - start].setdefault(key, []).append(row)
        yield {"start": start, "photos": photos}


# -- crossed attributes ------------------------------------------------------------------------------------------------

MAPS = 6  # heat maps of a classifier
GRIDS = 12  # photos whose grids are shown


def crossed_panels(
    source: loading.RunTables, album: Album, credited: Facts
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
    grids = [
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
                photos=grids[:GRIDS],
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
