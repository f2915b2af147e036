"""What Figures 1 to 3 of Joo & Kärkkäinen (2020) show of a run, and their files in the report.

Figure 1: the walk of one photo.  Figure 2: one label, a curve for each classifier.  Figure 3: the scores of every
classifier's labels under each picture of two photos.  Figures 2 and 3 come once for each attribute, and Figure 2 once
for each label that a reader asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.report import charts, words
from gslopes.slopes.report import answers as matrix
from gslopes.slopes.report import loading, paper, pictures
from gslopes.slopes.report.loading import PAPER, Finding, Source
from gslopes.slopes.report.paper_drawing import (
    Answered,
    LabelCell,
    Line,
    Pipeline,
    answers_figure,
    label_figure,
    pipeline_figure,
)

Array = NDArray[np.float64]
PHOTOS, LABELS = 2, 6  # photos of Figure 3, and labels under each picture for each classifier
_TIGHT = 1.5  # faces wide: the edits in Figure 1


def write(report: Path, source: Source, *, pictures: bool, labels: Sequence[str] = ()) -> list[str]:
    """Draw what can be drawn of a run; the names of the files without ending.

    pictures: whether photos may be shown; without, there is Figure 2 alone.  labels: of Figures 2 and 3, any case;
    without, those that ``common_label`` and ``labels_of`` choose.

    Raises: StorageError, TableError.
    """
    drawn: dict[str, Figure] = {}
    plain = paper.plain_concepts(source.run)
    several = len({finding.attribute for finding in source.findings if len(finding.values)}) > 1
    for attribute in sorted({finding.attribute for finding in source.findings if len(finding.values)}):
        here = [finding for finding in source.findings if finding.attribute == attribute]
        suffix = f"-{runfolder.slug(attribute)}" if several else ""
        for place, label in enumerate(labels or [common_label(here, plain)]):
            found = lines(source.run, here, label) if label else []
            if found:
                name = f"figure2{suffix}" if not place else f"figure2{suffix}-{runfolder.slug(label)}"
                drawn[name] = label_figure(found, here[0].values, label=label, attribute=attribute)
        photos = answered(source.run, here, plain, labels) if pictures else []
        if photos:
            drawn[f"figure3{suffix}"] = answers_figure(photos, here[0].values, attribute=attribute)
        walked = pipeline(source.run, here) if pictures and "figure1" not in drawn else None
        if walked is not None:
            drawn["figure1"] = pipeline_figure(walked, here[0].values, attribute=attribute)
    for name, figure in drawn.items():
        charts.save(figure, report, name)
    return sorted(drawn)


def check_labels(source: Source, labels: Sequence[str]) -> None:
    """Raises: UsageError, naming the nearest, for a label that no classifier of the run has a slope of."""
    known: dict[str, str] = {}
    for finding in source.findings:
        rows = finding.of(PAPER)
        known |= {str(label).casefold(): str(label) for label in rows.loc[rows["slope"].notna(), "label"]}
    for label in labels:
        if label.casefold() not in known:
            near = [known[key] for key in get_close_matches(label.casefold(), list(known), n=3, cutoff=0.4)]
            hint = (
                f"Nearest: {', '.join(map(words.printable, near))}." if near else "RUN/slopes.parquet names them all."
            )
            raise UsageError(f"No classifier of the run has a slope of the label {label!r}.", hint)


# -- Figure 2 ---------------------------------------------------------------------------------------------------------


def common_label(here: Sequence[Finding], plain: frozenset[str]) -> str:
    """The label that most classifiers have a slope of, and among these the one that moves most; empty if there is none.

    here: of one attribute.  Upper and lower case are one.  Moves: in shares of the photos, so that a rare label is not
    taken for its ratio.  A plain concept is taken only where there is no other label.
    """
    rows = [finding.of(PAPER)[["label", "slope", "y_centre"]].assign(name=finding.classifier) for finding in here]
    frame = pd.concat(rows).dropna(subset=["slope"])
    frame = frame[frame["y_centre"] > 0]
    if frame.empty:
        return ""
    frame = frame.assign(key=frame["label"].str.casefold(), steep=frame["slope"].abs() * frame["y_centre"])
    by_label = frame.groupby("key").agg(many=("name", "nunique"), steep=("steep", "mean"), label=("label", "first"))
    by_label = by_label.assign(plain=[paper.is_plain(key, plain) for key in by_label.index]).reset_index()
    order = by_label.sort_values(["plain", "many", "steep", "key"], ascending=[True, False, False, True])
    return str(order["label"].iloc[0])


def lines(run: Path, here: Sequence[Finding], label: str) -> list[Line]:
    """Every classifier's curve of a label, where it has a slope of it."""
    found = []
    for finding in here:
        rows = finding.of(PAPER)
        rows = rows[(rows["label"].str.casefold() == label.casefold()) & rows["slope"].notna()]
        if rows.empty:
            continue
        row = rows.iloc[0]
        answers = matrix.read(run, finding.classifier, finding.attribute, finding.values)
        if row["label"] not in answers.labels:
            continue
        shares = matrix.curves(answers)[0][answers.labels.index(row["label"])]
        ratio = shares / float(row["y_centre"])
        found.append(Line(finding.classifier, ratio, float(row["intercept"]), float(row["slope"])))
    return found


# -- Figure 3 ---------------------------------------------------------------------------------------------------------


def answered(run: Path, here: Sequence[Finding], plain: frozenset[str], wanted: Sequence[str] = ()) -> list[Answered]:
    """A few photos that every classifier answered at every value, spread evenly, with what was said of them.

    wanted: labels, any case; without, those of ``labels_of``.
    """
    values, attribute = here[0].values, here[0].attribute
    said = {finding.classifier: matrix.read(run, finding.classifier, attribute, values) for finding in here}
    whole = [{photo for photo, known in zip(one.photos, one.complete, strict=True) if known} for one in said.values()]
    common = sorted(set.intersection(*whole))
    positions = np.linspace(0, len(common) - 1, PHOTOS + 2).round().astype(int)[1:-1].tolist() if common else []
    chosen = [common[place] for place in dict.fromkeys(positions)]
    edits, known = _edits(run, attribute, chosen), _photos(run, chosen)
    found = []
    for photo in chosen:
        files = edits.get(photo, [])
        if len(files) != len(values):
            continue
        name, box, _ = known.get(photo, (photo[:16], None, None))
        by_name = [(classifier, labels_of(one, photo, plain, wanted)) for classifier, one in said.items()]
        found.append(Answered(name, [pictures.picture(file, box, run) for file in files], by_name))
    return found


def labels_of(
    answers: matrix.Answers, photo: str, plain: frozenset[str], wanted: Sequence[str] = ()
) -> list[tuple[list[LabelCell], int]]:
    """For each picture of a photo the scores of its labels, and how many other labels it has.

    The labels are the same under every picture: those wanted, any case; else first those that are not under every
    picture, the steepest first, and then the highest.
    """
    rows = np.flatnonzero(answers.photo == answers.photos.index(photo))
    names = [answers.labels[place] for place in answers.label[rows].tolist()]
    there = ~np.isnan(answers.scores[rows])
    table = np.nan_to_num(answers.scores[rows])
    slopes, changing = table @ (answers.values - answers.values.mean()), ~there.all(axis=1)
    side = np.where(changing, np.sign(slopes), 0).astype(int)
    first = np.lexsort((np.array(names, str), -table.mean(axis=1), np.where(changing, -np.abs(slopes), 0), ~changing))
    chosen = [(names[row], row) for row in first[:LABELS].tolist()]
    if wanted:
        place = {name.casefold(): row for row, name in enumerate(names)}
        chosen = [(label, place.get(label.casefold(), -1)) for label in wanted]
    drawn = sorted({row for _, row in chosen if row >= 0})
    found = []
    for step in range(len(answers.values)):
        cells = [
            LabelCell(name, int(side[row]), paper.is_plain(name, plain), float(table[row, step]))
            if row >= 0
            else LabelCell(name, 0, paper.is_plain(name, plain))
            for name, row in chosen
        ]
        found.append((cells, int(there[:, step].sum()) - int(there[drawn, step].sum())))
    return found


# -- Figure 1 ---------------------------------------------------------------------------------------------------------


def pipeline(run: Path, here: Sequence[Finding], photo: Path | None = None) -> Pipeline | None:
    """The walk of the first photo that a classifier answered at every value and a label of which moved; None without.

    here: of one attribute.  photo: the file of the unedited photo; without it, its copy among the placebo sweeps, or
    the picture at the centre.
    """
    for finding in here:
        answers = matrix.read(run, finding.classifier, finding.attribute, finding.values)
        complete = [name for name, whole in zip(answers.photos, answers.complete, strict=True) if whole]
        places = np.unique(np.linspace(0, len(complete) - 1, 4).round().astype(int)).tolist() if complete else []
        chosen = [complete[place] for place in places]
        edits, known = _edits(run, finding.attribute, chosen), _photos(run, chosen)
        slopes = answers.slopes()
        for name in chosen:
            files = edits.get(name, [])
            rows = np.flatnonzero(answers.photo == answers.photos.index(name))
            steepest = rows[np.lexsort((-slopes[rows], -np.abs(slopes[rows])))[:1]]
            # less than a hundredth over the whole sweep could not be seen in two decimals
            moved = np.abs(slopes[steepest]) * np.ptp(finding.values) >= 0.01
            if len(files) != len(finding.values) or not moved.any():
                continue
            _, box, points = known.get(name, ("", None, None))
            same = _edits(run, placebo.name(finding.attribute, "same"), [name]).get(name, [])
            unedited = photo or (same[0] if same else files[len(files) // 2])
            pixels = pictures.picture(unedited, box, unedited.parent if photo else run, 520)
            left, top, right, _ = pictures.window(_size(run, name), box)
            square = [] if box is None else ((np.reshape(box, (2, 2)) - (left, top)) / (right - left)).ravel().tolist()
            dots = np.empty((0, 2)) if points is None else (points - (left, top)) / (right - left)
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
                answers.scores[row],
            )
    return None


def _around(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """A box whose window in ``pictures.picture``, which is four times as wide, shows little but the face."""
    x0, y0, x1, y1 = box
    half = max(x1 - x0, y1 - y0) * _TIGHT / 8
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return x - half, y - half, x + half, y + half


# -- tables -----------------------------------------------------------------------------------------------------------


def _edits(run: Path, attribute: str, photos: Sequence[str]) -> dict[str, list[Path]]:
    """Photo to its K pictures in order."""
    where = (pc.field("attribute") == attribute) & pc.field("photo").isin(list(photos) or [""])
    rows = loading.read_rows(tables.EDITS, run, ["photo", "step", "file"], where).drop_duplicates(["photo", "step"])
    ordered = rows.sort_values(["photo", "step"])
    return {str(photo): [run / file for file in group["file"]] for photo, group in ordered.groupby("photo")}


def _photos(
    run: Path, photos: Sequence[str]
) -> dict[str, tuple[str, tuple[float, float, float, float] | None, Array | None]]:
    """Photo to its name, box and (5, 2) points, both in the photo frame."""
    where = pc.field("photo").isin(list(photos) or [""])
    rows = loading.read_rows(tables.PHOTOS, run, ["photo", "path", "box", "points"], where).drop_duplicates("photo")
    found = {}
    for row in rows.to_dict("records"):
        points = None if row["points"] is None else np.asarray(row["points"], float).reshape(-1, 2)
        found[str(row["photo"])] = (words.printable(row["path"]), loading.face_box(row["box"]), points)
    return found


def _size(run: Path, photo: str) -> tuple[int, int]:
    """Width and height; (1, 1) if the run does not know the photo."""
    rows = loading.read_rows(tables.PHOTOS, run, ["width", "height"], pc.field("photo") == photo)
    return (1, 1) if rows.empty else (int(rows["width"].iloc[0]), int(rows["height"].iloc[0]))
