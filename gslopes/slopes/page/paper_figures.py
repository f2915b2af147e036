"""What Figures 1 to 3 of Joo & Kärkkäinen (2020) show of a run, and their files in the report.

Figure 1: the walk of one photo.  Figure 2: one label, a curve for each classifier.  Figure 3: the scores of every
classifier's labels under each picture of two photos.  Figures 2 and 3 come once for each attribute, and Figure 2 once
for each label that a reader asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core import placebo, runfolder, tables
from gslopes.core.arrays import Array, centre_of
from gslopes.core.errors import UnknownName
from gslopes.report import charts, fonts, numbers, words
from gslopes.report.charts import (
    LIGHT,
    MARKERS,
    fitted_line,
    new_figure,
    new_sheet,
    sweep_axis,
    sweep_heads,
    text,
)
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.page import answers as matrix
from gslopes.slopes.page import loading, paper, pictures
from gslopes.slopes.page.loading import PAPER, Corners, Finding, RunTables
from gslopes.stats.rounding import exceeds, places, ranked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture = NDArray[np.uint8] | None
PHOTOS = 2
LABELS = 6  # photos of Figure 3, and labels under each picture for each classifier
_TIGHT = 1.5  # faces wide: the edits in Figure 1
_GAP = 0.06
ENDS = LIGHT.negative[1], LIGHT.positive[1]
PRINTED_ENDS = (
    "#c00000",
    "#0000ff",
)  # of the paper's Figure 3, which is about gender: red feminine, blue masculine


class Photo(NamedTuple):
    """What the run knows of a photo: its name, box and (n, 2) points in the photo frame, and (width, height)."""

    name: str
    box: Corners | None = None
    points: Array = np.empty((0, 2))
    size: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One classifier's curve of a label.

    ratio: (K,) z_k = y_k / y_c.  intercept, slope: of the paper's line through them.
    """

    classifier: str
    ratio: Array
    intercept: float
    slope: float


@dataclass(frozen=True, slots=True)
class LabelCell:
    """One label under one picture.

    side: -1 or 1 if it is missing under some picture of its photo, else 0.  score: 0 if it was not returned.
    """

    label: str
    side: int
    plain: bool = False
    score: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """One photo: its K pictures, and for each classifier the labels under each of them and how many more there are."""

    name: str
    pictures: Sequence[Picture]
    labels: Sequence[tuple[str, Sequence[tuple[Sequence[LabelCell], int]]]]


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """The walk of one photo.

    photo: (S, S, 3) uint8 RGB, or None.  box: (4,) and points: (5, 2), in [0, 1] of that picture; none: not drawn.
    faces, pictures: K each.  classifier: who was asked.  label, scores: of one label, (K,), NaN if not returned.
    """

    photo: Picture
    box: Sequence[float]
    points: Array
    faces: Sequence[Picture]
    pictures: Sequence[Picture]
    classifier: str
    label: str
    scores: Array


def write(
    report: Path, source: RunTables, *, pictures: bool, labels: Sequence[str] = ()
) -> list[str]:
    """Draw what can be drawn of a run; the names of the files without ending.

    pictures: whether photos may be shown; without, only Figure 2 is drawn.  labels: of Figures 2 and 3, any case;
    without, those that ``common_label`` and ``labels_of`` choose.

    Raises: StorageError, TableError.
    """
    drawn: dict[str, Figure] = {}
    plain = paper.plain_concepts(source.run)
    published = bool((source.manifest.get("config") or {}).get("as_published"))
    attributes = sorted({finding.attribute for finding in source.findings if len(finding.values)})
    for attribute in attributes:
        findings = along(source, attribute)
        suffix = f"-{runfolder.slug(attribute)}" if len(attributes) > 1 else ""
        for number, label in enumerate(labels or [common_label(findings, plain)]):
            curves = lines(source.run, findings, label) if label else []
            if curves:
                name = (
                    f"figure2{suffix}" if not number else f"figure2{suffix}-{runfolder.slug(label)}"
                )
                drawn[name] = label_figure(
                    curves, findings[0].values, label=label, attribute=attribute
                )
        photos = answered(source.run, findings, plain, labels) if pictures else []
        if photos:
            ends = PRINTED_ENDS if published and attribute == "gender" else ENDS
            drawn[f"figure3{suffix}"] = answers_figure(
                photos, findings[0].values, attribute=attribute, ends=ends
            )
        walked = pipeline(source.run, findings) if pictures and "figure1" not in drawn else None
        if walked is not None:
            given = placebo.of_a_set(source.manifest)
            drawn["figure1"] = pipeline_figure(
                walked, findings[0].values, attribute=attribute, given=given
            )
    for name, figure in drawn.items():
        charts.save(figure, report, name)
    return sorted(drawn)


def along(source: RunTables, attribute: str) -> list[Finding]:
    """The findings of one attribute, the paper's services as it prints them, then others by name."""
    findings = [finding for finding in source.findings if finding.attribute == attribute]
    return sorted(findings, key=lambda finding: paper.printed_place(finding.classifier))


def check_labels(source: RunTables, labels: Sequence[str]) -> None:
    """Raises: UnknownName for a label that no classifier of the run has a slope of."""
    by_key: dict[str, str] = {}
    for finding in source.findings:
        rows = finding.of(PAPER)
        by_key |= {
            str(label).casefold(): str(label) for label in rows.loc[rows["slope"].notna(), "label"]
        }
    for label in labels:
        if label.casefold() not in by_key:
            raise UnknownName("label", label, by_key.values(), "The run")


# -- Figure 2 ---------------------------------------------------------------------------------------------------------


def common_label(findings: Sequence[Finding], plain: frozenset[str]) -> str:
    """The label that most classifiers have a slope of, and among these the one that moves most; empty without a label.

    findings: of one attribute.  Upper and lower case are one.  Moves: in shares of the photos, so that a rare label is
    not taken for its ratio.  A plain concept is taken only if no other label is left.
    """
    rows = [
        finding.of(PAPER)[["label", "slope", "y_centre"]].assign(name=finding.classifier)
        for finding in findings
    ]
    frame = pd.concat(rows).dropna(subset=["slope"])
    frame = frame[frame["y_centre"] > 0]
    if frame.empty:
        return ""
    frame = frame.assign(
        key=frame["label"].str.casefold(), steep=frame["slope"].abs() * frame["y_centre"]
    )
    by_label = frame.groupby("key").agg(
        many=("name", "nunique"), steep=("steep", "mean"), label=("label", "first")
    )
    by_label = by_label.assign(
        plain=[paper.is_plain(key, plain) for key in by_label.index]
    ).reset_index()
    order = ranked(by_label, "plain", -by_label["many"], -by_label["steep"], "key")
    return str(order["label"].iloc[0])


def lines(run: Path, findings: Sequence[Finding], label: str) -> list[Line]:
    """Every classifier's curve of a label, if it has a slope of it."""
    curves = []
    for finding in findings:
        rows = finding.of(PAPER)
        rows = rows[(rows["label"].str.casefold() == label.casefold()) & rows["slope"].notna()]
        if rows.empty:
            continue
        row = rows.iloc[0]
        answers = matrix.read(run, finding.classifier, finding.attribute, finding.values)
        if row["label"] not in answers.labels:
            continue
        shares = matrix.curves(answers)[0][answers.labels == row["label"]][0]
        ratio = shares / float(row["y_centre"])
        curves.append(Line(finding.classifier, ratio, float(row["intercept"]), float(row["slope"])))
    return curves


# -- Figure 3 ---------------------------------------------------------------------------------------------------------


def answered(
    run: Path, findings: Sequence[Finding], plain: frozenset[str], asked_for: Sequence[str] = ()
) -> list[Answered]:
    """A few photos that every classifier answered at every value, spread evenly, with the answers about them.

    asked_for: labels, any case; without, ``labels_of`` chooses.
    """
    values = findings[0].values
    attribute = findings[0].attribute
    by_classifier = {
        finding.classifier: matrix.read(run, finding.classifier, attribute, values)
        for finding in findings
    }
    common = sorted(set.intersection(*(set(sweep.photos) for sweep in by_classifier.values())))
    positions = (
        np.linspace(0, len(common) - 1, PHOTOS + 2).round().astype(int)[1:-1].tolist()
        if common
        else []
    )
    chosen = [common[position] for position in dict.fromkeys(positions)]
    edits = _edits(run, attribute, chosen)
    about_photos = _photos(run, chosen)
    shown_photos = []
    for photo in chosen:
        files = edits.get(photo, [])
        if len(files) != len(values):
            continue
        about = about_photos.get(photo, Photo(photo[:16]))
        by_name = [
            (classifier, labels_of(sweep, photo, plain, asked_for))
            for classifier, sweep in by_classifier.items()
        ]
        shown_photos.append(
            Answered(
                about.name, [pictures.picture(file, about.box, run) for file in files], by_name
            )
        )
    return shown_photos


def labels_of(
    answers: Answers, photo: str, plain: frozenset[str], asked_for: Sequence[str] = ()
) -> list[tuple[list[LabelCell], int]]:
    """For each picture of a photo the scores of its labels, and how many other labels it has.

    The labels are the same under every picture: those wanted, any case; else first those that are not under every
    picture, the steepest first, and then the highest.
    """
    rows = np.flatnonzero(answers.photos[answers.photo] == photo)
    names = answers.labels[answers.label[rows]].tolist()
    present = answers.present[rows]
    table = answers.score[rows].astype(np.float64)
    slopes = table @ (answers.values - answers.values.mean())
    changing = ~present.all(axis=1)
    side = np.where(changing, np.sign(slopes), 0).astype(int)
    first = np.lexsort(
        (
            np.array(names, str),
            -table.mean(axis=1),
            np.where(changing, -np.abs(slopes), 0),
            ~changing,
        )
    )
    chosen = [(names[row], row) for row in first[:LABELS].tolist()]
    if asked_for:
        row_of = {name.casefold(): row for row, name in enumerate(names)}
        chosen = [(label, row_of.get(label.casefold(), -1)) for label in asked_for]
    drawn = sorted({row for _, row in chosen if row >= 0})
    others = present.sum(axis=0) - present[drawn].sum(axis=0)
    table = np.pad(table, ((0, 1), (0, 0)))
    side = np.append(side, 0)  # the last row: never returned for this photo
    cells = [(name, row, int(side[row]), paper.is_plain(name, plain)) for name, row in chosen]
    return [
        (
            [
                LabelCell(name, towards, pale, float(table[row, step]))
                for name, row, towards, pale in cells
            ],
            more,
        )
        for step, more in enumerate(others.tolist())
    ]


# -- Figure 1 ---------------------------------------------------------------------------------------------------------


def pipeline(run: Path, findings: Sequence[Finding]) -> Pipeline | None:
    """The walk of the first photo that a classifier answered at every value and a label of which moved; None without.

    findings: of one attribute.  The unedited photo is its copy among the placebo sweeps, or else the central picture.
    """
    for finding in findings:
        answers = matrix.read(run, finding.classifier, finding.attribute, finding.values)
        picked = (
            np.linspace(0, len(answers.photos) - 1, 4 if len(answers.photos) else 0)
            .round()
            .astype(int)
        )
        chosen = answers.photos[np.unique(picked)].tolist()
        edits = _edits(run, finding.attribute, chosen)
        about_photos = _photos(run, chosen)
        slopes = matrix.slopes(answers)
        for name in chosen:
            files = edits.get(name, [])
            rows = np.flatnonzero(answers.photos[answers.photo] == name)
            steepest = rows[np.lexsort((-slopes[rows], places(-np.abs(slopes[rows]))))[:1]]
            # less than a hundredth over the whole sweep could not be seen in two decimals
            moved = ~exceeds(0.01, np.abs(slopes[steepest]) * np.ptp(finding.values))
            if len(files) != len(finding.values) or not moved.any():
                continue
            about = about_photos.get(name, Photo(""))
            box = about.box
            same = _edits(run, placebo.name(finding.attribute, "same"), [name]).get(name, [])
            unedited = same[0] if same else files[centre_of(finding.values)]
            pixels = pictures.picture(unedited, box, run, 520)
            left, top, right, _ = pictures.window(about.size, box)
            square = (
                []
                if box is None
                else ((np.reshape(box, (2, 2)) - (left, top)) / (right - left)).ravel().tolist()
            )
            dots = (about.points - (left, top)) / (right - left)
            tight = None if box is None else _around(box)
            row = int(steepest[0])
            return Pipeline(
                pixels,
                square,
                dots,
                [pictures.picture(file, tight, run) for file in files],
                [pictures.picture(file, box, run) for file in files],
                finding.classifier,
                answers.labels[answers.label[row]],
                matrix.scores(answers)[row],
            )
    return None


def _around(box: Corners) -> Corners:
    """A box whose window in ``pictures.picture``, which is four times as wide, shows little but the face."""
    x0, y0, x1, y1 = box
    half = max(x1 - x0, y1 - y0) * _TIGHT / 8
    x = (x0 + x1) / 2
    y = (y0 + y1) / 2
    return x - half, y - half, x + half, y + half


# -- tables -----------------------------------------------------------------------------------------------------------


def _edits(run: Path, attribute: str, photos: Sequence[str]) -> dict[str, list[Path]]:
    """Photo to its K pictures in order."""
    where = (pc.field("attribute") == attribute) & pc.field("photo").isin(list(photos) or [""])
    rows = tables.read_rows(tables.EDITS, run, ["photo", "step", "file"], where).drop_duplicates(
        ["photo", "step"]
    )
    ordered = rows.sort_values(["photo", "step"])
    return {
        str(photo): [run / file for file in group["file"]]
        for photo, group in ordered.groupby("photo")
    }


def _photos(run: Path, photos: Sequence[str]) -> dict[str, Photo]:
    where = pc.field("photo").isin(list(photos) or [""])
    columns = ["photo", "path", "box", "points", "width", "height"]
    by_photo = {}
    for row in (
        tables.read_rows(tables.PHOTOS, run, columns, where)
        .drop_duplicates("photo")
        .to_dict("records")
    ):
        points = (
            np.empty((0, 2))
            if row["points"] is None
            else np.asarray(row["points"], float).reshape(-1, 2)
        )
        size = int(row["width"]), int(row["height"])
        by_photo[row["photo"]] = Photo(
            words.printable(row["path"]), loading.face_box(row["box"]), points, size
        )
    return by_photo


# -- drawing ----------------------------------------------------------------------------------------------------------


def label_figure(lines: Sequence[Line], values: Array, *, label: str, attribute: str) -> Figure:
    """Figure 2: how often each classifier returns one label, relative to the centre, along the sweep.

    lines: one a classifier.  values: (K,).
    """
    figure = new_figure(7.0, 3.4, dpi=200)
    axes = figure.add_axes((0.09, 0.17, 0.6, 0.7))
    _style(axes, values, values, attribute)
    axes.axhline(1, color=LIGHT.faint, linewidth=0.6, zorder=1)
    for line, colour, marker in zip(lines, cycle(LIGHT.series), cycle(MARKERS), strict=False):
        name = (
            f"{words.shorten(words.printable(line.classifier), 30)}\n{numbers.signed(line.slope)}"
        )
        axes.plot(
            values,
            line.ratio,
            color=colour,
            marker=marker,
            markersize=3.5,
            linewidth=1.2,
            zorder=4,
            label=name,
        )
        fitted_line(axes, values, line.intercept, line.slope, colour)
    axes.set_ylabel("presence / presence at 0", fontsize=8, color=LIGHT.ink)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=6.8)
    for entry, colour in zip(legend.get_texts(), cycle(LIGHT.series), strict=False):
        entry.set(color=colour, parse_math=False)
    title = f"“{fonts.isolated(words.shorten(words.label(label), 40))}” along {words.perceived(attribute)}"
    figure.text(0.09, 0.93, title, fontsize=9, weight="bold", color=LIGHT.ink, parse_math=False)
    return figure


def answers_figure(
    photos: Sequence[Answered], values: Array, *, attribute: str, ends: tuple[str, str] = ENDS
) -> Figure:
    """Figure 3: every classifier's labels and their scores under each picture; 0: not returned.

    Coloured: not under every picture of the photo.  photos: with K pictures each.  values: (K,).  Pale: plain concepts.
    ends: colours of labels whose score rises to the negative and to the positive end.
    """
    line = 0.115
    head = 0.42
    left = 0.1
    lists = [
        [max(len(labels) + (more > 0) for labels, more in steps) for _, steps in photo.labels]
        for photo in photos
    ]
    tall = [1.3 + sum(0.2 + line * max(rows, 1) for rows in heights) for heights in lists]
    across = 2 * left + len(values) * (1 + _GAP)
    down = head + sum(tall)
    figure, axes = new_sheet(across, down, 1.45)
    lefts = [left + step * (1 + _GAP) for step in range(len(values))]
    sweep_heads(axes, values, attribute, [x + 0.5 for x in lefts])
    top = head
    for photo, height, rows in zip(photos, tall, lists, strict=True):
        for x, pixels in zip(lefts, photo.pictures, strict=True):
            charts.picture(axes, pixels, x, top)
        text(
            axes,
            left,
            top + 1.05,
            words.shorten(words.printable(photo.name), 60),
            size=6.5,
            colour=LIGHT.faint,
        )
        below = top + 1.17
        for (classifier, by_step), longest in zip(photo.labels, rows, strict=True):
            text(
                axes,
                left,
                below,
                words.shorten(words.printable(classifier), 60),
                size=8,
                weight="bold",
            )
            below += 0.13
            for x, (labels, more) in zip(lefts, by_step, strict=True):
                for row, cell in enumerate(labels):
                    _label(axes, x, below + row * line, cell, ends)
                if more:
                    text(
                        axes,
                        x,
                        below + len(labels) * line,
                        f"and {more} more",
                        size=6,
                        colour=LIGHT.faint,
                    )
            below += 0.07 + line * max(longest, 1)
        top += height
    return figure


def pipeline_figure(
    walk: Pipeline, values: Array, *, attribute: str, given: bool = False
) -> Figure:
    """Figure 1: find, edit, compose, score and fit on one photo.

    values: (K,).  given: others made the pictures.
    """
    side = 2.16
    lefts = [side + 0.55 + step * (1 + _GAP) for step in range(len(values))]
    right = lefts[-1] + 1.35
    across = right + 2.71
    down = 2.9
    figure, axes = new_sheet(across, down, 1.05, dpi=200)
    charts.picture(axes, walk.photo, 0.1, 0.42, side)
    _face(axes, walk, 0.1, 0.42, side)
    for left, face, composed, value, score in zip(
        lefts, walk.faces, walk.pictures, values, walk.scores, strict=True
    ):
        charts.picture(axes, face, left, 0.42)
        charts.picture(axes, composed, left, 1.58)
        text(axes, left + 0.5, 1.5, numbers.value(value), size=8, align="center", weight="bold")
        text(axes, left + 0.5, 2.7, numbers.decimal(score), size=8, align="center")
    editing = ("2  edit it, above, and 3  compose it into the photo, below", "2  edit, 3  compose")[
        len(lefts) < 4
    ]
    heads = {0.1: "1  find the face", lefts[0]: "pictures as given" if given else editing}
    for left, title in (
        heads | {right: "2  score and 3  fit" if given else "4  score and 5  fit"}
    ).items():
        text(axes, left, 0.22, title, size=9, weight="bold")
    arrow = {"arrowstyle": "-|>", "color": LIGHT.ink, "linewidth": 1.2}
    for start in (side + 0.16, lefts[-1] + 1.06):
        axes.annotate("", (start + 0.24, 1.5), (start, 1.5), arrowprops=arrow)
    box = ((right + 0.32) / across, 0.2, 1.42 / across, 0.6)
    _scores(figure.add_axes(box), walk, values, attribute)
    return figure


def _scores(axes: Axes, walk: Pipeline, values: Array, attribute: str) -> None:
    """The answers about one photo, and the line through them; a label that was not returned counts as 0."""
    scores = np.nan_to_num(walk.scores)
    slope, intercept = np.polyfit(values, scores, 1)
    _style(axes, values, values[:: max(1, (len(values) - 1) // 2)], attribute)
    axes.plot(values, scores, "o", color=LIGHT.ink, markersize=3)
    ends = np.array([values[0], values[-1]])
    axes.plot(ends, intercept + slope * ends, color=ENDS[int(slope > 0)], linewidth=1.4)
    label = words.shorten(words.label(walk.label), 20)
    title = f"“{label}”\n{words.shorten(words.printable(walk.classifier), 24)}"
    axes.set_title(title, fontsize=7, loc="left", parse_math=False)
    if scores.min() >= 0 and scores.max() <= 1:  # no number in another unit
        axes.set_ylim(-0.03, 1.03)


def _style(axes: Axes, values: Array, ticks: Array, attribute: str) -> None:
    charts.tidy(axes, size=6.5)
    sweep_axis(axes, values, ticks)
    negative, positive = words.ends(attribute)
    axes.set_xlabel(
        f"← {negative}    {positive} →", fontsize=7, color=LIGHT.faint, parse_math=False
    )


def _label(axes: Axes, left: float, middle: float, cell: LabelCell, ends: tuple[str, str]) -> None:
    colour = LIGHT.faint if cell.plain else LIGHT.ink
    weight = "normal"
    if cell.side and not cell.plain:
        colour = ends[int(cell.side > 0)]
        weight = "bold"
    name = words.shorten(words.label(cell.label), 18)
    score = numbers.decimal(cell.score) if cell.score else "0"
    text(axes, left, middle, name, size=6.5, colour=colour, weight=weight)
    text(axes, left + 1, middle, score, size=6.5, align="right", colour=colour, weight=weight)


def _face(axes: Axes, walk: Pipeline, left: float, top: float, side: float) -> None:
    from matplotlib.patches import Rectangle

    if len(walk.box) == 4 and walk.photo is not None:
        x0, y0, x1, y1 = walk.box
        corner = left + side * x0, top + side * y0
        width = side * (x1 - x0)
        height = side * (y1 - y0)
        axes.add_patch(
            Rectangle(corner, width, height, fill=False, edgecolor="white", linewidth=1.5)
        )
        axes.plot(
            left + side * walk.points[:, 0],
            top + side * walk.points[:, 1],
            "o",
            color="white",
            markersize=2.5,
        )
