"""What Figures 1 to 3 of Joo & Kärkkäinen (2020) show of a run, and their files in the report.

Figure 1: the walk of one photo.  Figure 2: one label, a curve for each classifier.  Figure 3: the scores of every
classifier's labels under each picture of two photos.  Figures 2 and 3 come once for each attribute, and Figure 2 once
for each label that a reader asks for.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from gslopes.core import UnknownName, placebo, runfolder, tables
from gslopes.core.records import Array, centre_of, doubles
from gslopes.core.tables import records
from gslopes.report import charts, words
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.page import answers as matrix, loading, paper, pictures
from gslopes.slopes.page.loading import Corners, Finding, RunTables
from gslopes.slopes.page.paper_sheets import (
    ENDS,
    Answered,
    LabelCell,
    Line,
    Pipeline,
    answers_figure,
    label_figure,
    pipeline_figure,
)
from gslopes.stats.rounding import exceeds, places, ranked

PHOTOS = 2
LABELS = 6  # photos of Figure 3, and labels under each picture for each classifier
_TIGHT = 1.5  # faces wide: the edits in Figure 1
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


def write(
    report: Path, source: RunTables, *, pictures: bool, labels: Sequence[str] = ()
) -> list[str]:
    """Draw what can be drawn of a run; the names of the files without ending.

    pictures: whether photos may be shown; without, only Figure 2 is drawn.  labels: of Figures 2 and 3, any case;
    without, those that ``common_label`` and ``labels_of`` choose.

    Raises: StorageError, TableError.
    """
    drawn = {}
    plain = paper.plain_concepts(source.run)
    published = bool(source.manifest["config"].get("as_published"))
    given = placebo.of_a_set(source.manifest)
    attributes = sorted({finding.attribute for finding in source.findings if len(finding.values)})
    for attribute in attributes:
        findings = along(source, attribute)
        values = source.values[attribute]
        suffix = f"-{runfolder.slug(attribute)}" if len(attributes) > 1 else ""
        for number, label in enumerate(labels or [common_label(findings, plain)]):
            curves = lines(findings, label) if label else []
            if curves:
                name = f"figure2{suffix}-{runfolder.slug(label)}" if number else f"figure2{suffix}"
                drawn[name] = label_figure(curves, values, label=label, attribute=attribute)
        if not pictures:
            continue
        if photos := answered(source.run, findings, plain, labels):
            ends = PRINTED_ENDS if published and attribute == "gender" else ENDS
            drawn[f"figure3{suffix}"] = answers_figure(
                photos, values, attribute=attribute, ends=ends
            )
        if "figure1" not in drawn and (walked := pipeline(source.run, findings)):
            drawn["figure1"] = pipeline_figure(walked, values, attribute=attribute, given=given)
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
        labels_of_one = finding.published["label"]
        by_key |= {str(label).casefold(): str(label) for label in labels_of_one}
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
        finding.published[["label", "slope", "y_centre"]].assign(name=finding.classifier)
        for finding in findings
    ]
    frame = pd.concat(rows).query("y_centre > 0")
    if frame.empty:
        return ""
    frame = frame.assign(
        key=frame["label"].str.casefold(), steep=frame["slope"].abs() * frame["y_centre"]
    )
    by_label = frame.groupby("key", as_index=False).agg(
        many=("name", "nunique"), steep=("steep", "mean"), label=("label", "first")
    )
    is_plain = by_label["key"].map(lambda key: paper.is_plain(key, plain))
    order = ranked(by_label, is_plain, -by_label["many"], -by_label["steep"], "key")
    return str(order["label"].iloc[0])


def lines(findings: Sequence[Finding], label: str) -> list[Line]:
    """Every classifier's curve of a label, if it has a slope of it."""
    curves = []
    for finding in findings:
        rows = finding.published
        rows = rows[rows["label"].str.casefold() == label.casefold()]
        if rows.empty:
            continue
        row = rows.iloc[0]
        answers = finding.answers
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
    by_classifier = {one.classifier: one.answers for one in findings}
    common = sorted(set.intersection(*(set(sweep.photos) for sweep in by_classifier.values())))
    positions = (
        np.linspace(0, len(common) - 1, PHOTOS + 2).round().astype(int)[1:-1].tolist()
        if common
        else []
    )
    chosen = [common[position] for position in dict.fromkeys(positions)]
    edits = _edits(run, findings[0].attribute, chosen)
    about_photos = _photos(run, chosen)
    shown_photos = []
    for photo in chosen:
        files = edits.get(photo, [])
        if len(files) != len(findings[0].values):
            continue
        about = about_photos.get(photo, Photo(photo[:16]))
        by_name = [
            (classifier, labels_of(sweep, photo, plain, asked_for))
            for classifier, sweep in by_classifier.items()
        ]
        squares = [pictures.picture(file, about.box, run) for file in files]
        shown_photos.append(Answered(about.name, squares, by_name))
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
    table = doubles(answers.score[rows])
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
        answers = finding.answers
        last = len(answers.photos) - 1
        picked = np.linspace(0, last, 4 if last >= 0 else 0).round().astype(int)
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
            square = []
            tight = None
            if box is not None:
                corners = (np.reshape(box, (2, 2)) - (left, top)) / (right - left)
                square = corners.ravel().tolist()
                tight = _around(box)
            dots = (about.points - (left, top)) / (right - left)
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
    rows = tables.read_rows(tables.EDITS, run, ["photo", "step", "file"], where)
    files: dict[str, list[Path]] = {}
    for row in records(rows.drop_duplicates(["photo", "step"]).sort_values("step")):
        files.setdefault(row["photo"], []).append(run / row["file"])
    return files


def _photos(run: Path, photos: Sequence[str]) -> dict[str, Photo]:
    where = pc.field("photo").isin(list(photos) or [""])
    columns = ["photo", "path", "box", "points", "width", "height"]
    by_photo = {}
    rows = tables.read_rows(tables.PHOTOS, run, columns, where).drop_duplicates("photo")
    for row in records(rows):
        points = [] if row["points"] is None else row["points"]
        by_photo[row["photo"]] = Photo(
            words.printable(row["path"]),
            loading.face_box(row["box"]),
            np.reshape(np.asarray(points, float), (-1, 2)),
            (int(row["width"]), int(row["height"])),
        )
    return by_photo
