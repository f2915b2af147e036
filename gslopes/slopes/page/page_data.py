"""What the page's scripts read: columns of numbers, one small file for each finding, its groups, and a few photos."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from gslopes.core import runfolder, tables
from gslopes.core.arrays import Array
from gslopes.report import numbers, units, words
from gslopes.report.numbers import rounded
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.reach import HALF
from gslopes.slopes.page import answers as matrix
from gslopes.slopes.page import decisions, loading, pictures
from gslopes.slopes.page.decisions import Decision
from gslopes.slopes.page.loading import PAPER, Embed, face_box
from gslopes.stats.multiplicity import is_finding

BY_MEASURE = "by its measure"
PER_REACH = ", per unit of reach"
WHY = (
    " One group is moved less than half as far as another: raw slopes would compare how far the edit goes, so these"
    " groups are compared per unit of reach alone."
)
PHOTOS_A_FILE = 20
_NUMBERS = ("slope", "ci_low", "ci_high", "p", "p_test", "q")


def write_script(report: Path, name: str, content: Any) -> None:
    """Write a file that hands its content to the page: read by a script element, which works from a disk as well.

    The content is JSON in ASCII; the page shows texts in it only as text.  Raises: StorageError.
    """
    text = f"gslopes({json.dumps(name)},{json.dumps(content, separators=(',', ':'))});\n"
    runfolder.write_bytes(report / "data" / f"{name}.js", text.encode("ascii"))


def finding(
    slopes: pd.DataFrame,
    floor: pd.DataFrame,
    answers: Answers,
    index: Mapping[str, int],
    decided: Mapping[str, Decision],
    drawn: loading.Drawn | None = None,
) -> dict[str, Any]:
    """Everything about one classifier along one attribute but its groups.

    slopes: its rows of all estimators.  floor: see ``loading.placebos``.  answers: what it said.
    decided: label to decision, see ``decisions.decide``.
    index: photo to its place in the explorer's list.  drawn: see ``loading.drawings``.

    Lists of labels are as long as ``labels`` and in that order.
    """
    labels = sorted(set(slopes["label"]))
    read = tables.reading(slopes)
    records = read.to_dict("records")
    measured = {row["label"]: units.measure_of(row) for row in records}
    unit = {row["label"]: units.unit_of(row) for row in records}
    first = slopes.drop_duplicates("label").set_index("label").loc[labels]
    each = [decided.get(label, Decision(decisions.UNJUDGED, "")) for label in labels]
    content: dict[str, Any] = {
        "labels": [words.label(label) for label in labels],
        "n": first["n"].tolist(),
        "active": first["active"].tolist(),
        "centre": rounded(first["y_centre"]),
        "estimators": _estimators(slopes, labels),
        "units": [unit.get(label, units.UNITS["presence"]) for label in labels],
        "floor": _floor(floor, labels),
        "decision": [one.code for one in each],
        "why": [one.why for one in each],
        "expected": [one.expected for one in each],
        "cut": decisions.cut(slopes),
    }
    if drawn:
        columns = ("drawing", "ci_low", "ci_high", "sweep", "q")
        cells = [
            [drawn[label][name] for name in columns] if label in drawn else [np.nan] * 5
            for label in labels
        ]
        content["drawing"] = list(map(rounded, cells))
    return (
        content
        | _curves(answers, labels, measured)
        | {"moved": _varying_photos(answers, labels, index)}
    )


def by_group(groups: pd.DataFrame, labels: Sequence[str]) -> dict[str, list[list[Any]]]:
    """Place of the label to rows of column, group, n, slope, interval, p, q.

    groups: rows of one classifier and attribute, one estimator.  labels: sorted, as in the finding.
    """
    index = {label: number for number, label in enumerate(labels)}
    rows: dict[str, list[list[Any]]] = {}
    for row in groups.itertuples():
        if row.label in index:
            texts = [words.printable(row.column), words.printable(row.group), int(row.n)]  # type: ignore[arg-type]
            figures = rounded([row.slope, row.ci_low, row.ci_high, row.p, row.q])  # type: ignore[list-item]
            rows.setdefault(str(index[str(row.label)]), []).append([*texts, *figures])
    return rows


def photo_scores(answers: Answers) -> dict[str, list[list[Any]]]:
    """Photo to rows of label, slope of its score per unit, K scores in thousandths (null: not returned).

    Of each photo the labels whose scores move most, and then the strongest; see ``answers.strongest``.
    """
    chosen = matrix.strongest(answers)
    slopes = np.round(matrix.slopes(answers)[chosen], 4)
    scores = matrix.scores(answers)
    labels = [words.readable(label) for label in answers.labels]
    result: dict[str, list[list[Any]]] = {}
    for row, slope in zip(chosen.tolist(), slopes.tolist(), strict=True):
        content = [labels[answers.label[row]], slope, _thousandths(scores[row])]
        result.setdefault(answers.photos[answers.photo[row]], []).append(content)
    return result


def _estimators(slopes: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    """Name to columns; the rows to read come first, as “by its measure”, where labels are judged by several."""
    by_estimator = {
        str(name): _estimator(rows, labels) for name, rows in slopes.groupby("estimator", sort=True)
    }
    if tables.MEASURED not in by_estimator:
        return by_estimator
    del by_estimator[tables.MEASURED]
    return {
        BY_MEASURE: {
            **_estimator(tables.reading(slopes), labels),
            "unit": "the unit of its measure",
        },
        **by_estimator,
    }


def _estimator(rows: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    tested = rows["p_test"].where(
        rows["estimator"] != PAPER, rows["p"]
    )  # the paper's q adjusts its own p
    by_label = (
        rows.assign(p_test=tested).drop_duplicates("label").set_index("label").reindex(labels)
    )
    unit = by_label["unit"].dropna()
    columns = {
        name: rounded(by_label[name].to_numpy(float, na_value=np.nan), 8) for name in _NUMBERS
    }
    texts = {
        key: by_label[name].fillna("").astype(str).tolist()
        for key, name in (("note", "note"), ("source", "p_source"))
    }
    return {**columns, "unit": str(unit.iloc[0]) if len(unit) else "", **texts}


def _floor(floor: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    result = {}
    for kind, rows in floor.groupby("placebo", sort=True):
        by_label = rows.set_index("label").reindex(labels)
        columns = ("placebo_slope", "low", "high", "difference", "ci_low", "ci_high")
        result[str(kind)] = {name: rounded(by_label[name].to_numpy(float), 8) for name in columns}
    return result


def _curves(answers: Answers, labels: list[str], measured: Mapping[str, str]) -> dict[str, Any]:
    """Shares of photos with each label or, of labels that are judged by their number, its means; with intervals."""
    if not len(answers.values):
        return {"share": [None for _ in labels], "low": [], "high": [], "line": []}
    index = {label: number for number, label in enumerate(answers.labels)}
    by_number = {label for label, measure in measured.items() if measure != "presence"}
    shares, low, high, drawn = matrix.heights(answers, by_number)
    columns = {"share": shares, "low": low, "high": high, "line": drawn}
    return {
        name: [rounded(rows[index[label]]) if label in index else None for label in labels]
        for name, rows in columns.items()
    }


def _varying_photos(
    answers: Answers, labels: list[str], index: Mapping[str, int]
) -> list[list[list[float | int | None]]]:
    """For each label: place of the photo, slope of its score, and its K scores in thousandths (null: not returned)."""
    if not len(answers.values):
        return [[] for _ in labels]
    slopes = matrix.slopes(answers)
    scores = matrix.scores(answers)
    by_label = dict(zip(answers.labels, matrix.movers(answers), strict=True))
    result: list[list[list[float | int | None]]] = [[] for _ in labels]
    for rows, label in zip(result, labels, strict=True):
        for row in by_label.get(label, []):
            photo = answers.photos[answers.photo[row]]
            if photo in index:
                rows.append(
                    [index[photo], round(float(slopes[row]), 4), *_thousandths(scores[row])]
                )
    return result


def _thousandths(scores: Array) -> list[float | None]:
    """Whole ones, or with two digits more where the scores differ by little.  scores: (K,)."""
    digits = 2 if np.nanmax(scores) - np.nanmin(scores) < 0.02 else None
    return [None if np.isnan(score) else round(1000 * float(score), digits) for score in scores]


# -- groups, differences between them ---------------------------------------------------------------------------------


def write_comparisons(
    report: Path, run: Path, finding: loading.Finding, labels: Sequence[str]
) -> dict[str, Any]:
    """Write the data files with groups and differences of one finding, as far as its tables have rows.

    labels: sorted, as in the finding.

    Returns what the page must know of them: names of files (empty if there is none) and counts.

    Raises: TableError if a table is damaged; StorageError.
    """
    attribute = finding.attribute
    span = float(np.ptp(finding.values)) if len(finding.values) else 1.0
    own_rows = loading.of_pair(finding.classifier, attribute)
    own_rows &= pc.field("estimator").isin([tables.READING, tables.MEASURED])
    frames = {}
    for kind, table in (("groups", tables.GROUPS), ("differences", tables.DIFFERENCES)):
        frame = tables.read_rows(table, run, None, own_rows)
        measured = (
            frame["estimator"] == tables.MEASURED
        )  # of the labels that have rows by their measure, those
        frames[kind] = frame[measured | ~frame["label"].isin(frame.loc[measured, "label"])]
    seen = tables.read_rows(tables.REACH, run, None, own_rows & (pc.field("reading") == attribute))
    uneven = frames["differences"]["column"][frames["differences"]["reach_share"] < HALF].unique()
    entry: dict[str, Any] = {
        "reach": reaches(seen, uneven, attribute, span) if len(frames["differences"]) else []
    }
    frames["groups"] = _per_reach(frames["groups"], seen, frames["groups"]["column"].isin(uneven))
    for kind, write in (("groups", by_group), ("differences", differences)):
        content = write(frames[kind], labels)
        entry[kind] = f"{finding.key}-{kind}" if content else ""
        if content:
            write_script(report, entry[kind], content)
    rows = frames["differences"]
    uneven_rows = rows["reach_share"] < HALF
    low, high = (
        rows[f"ci_{end}"].mask(uneven_rows, rows[f"per_reach_{end}"]) for end in ("low", "high")
    )
    found = is_finding(rows["q"], low, high)
    return {**entry, "differencesFound": [int(rows["q"].notna().sum()), int(found.sum())]}


def differences(frame: pd.DataFrame, labels: Sequence[str]) -> list[list[Any]]:
    """Rows of place of the label, column, group, other, difference, interval, p, q, note; none without an interval.

    frame: of core.tables.DIFFERENCES, one classifier, attribute and estimator.  labels: sorted, as in the finding.
    """
    index = {label: number for number, label in enumerate(labels)}
    rows = []
    for row in frame[frame["ci_low"].notna()].to_dict("records"):
        uneven = row["reach_share"] < HALF
        shown = (
            ("per_reach", "per_reach_low", "per_reach_high")
            if uneven
            else ("difference", "ci_low", "ci_high")
        )
        figures = numbers.rounded([row[name] for name in (*shown, "p_test", "q")])
        if row["label"] in index and figures[1] is not None:
            texts = [words.printable(row[name]) for name in ("column", "group", "other")]
            texts[0] += PER_REACH * uneven
            rows.append([index[row["label"]], *texts, *figures, words.printable(row["note"] or "")])
    return rows


def _per_reach(groups: pd.DataFrame, seen: pd.DataFrame, uneven: pd.Series) -> pd.DataFrame:
    """The groups' rows, the uneven ones per unit of reach, without a test.  seen: rows of REACH."""
    both = groups.merge(
        seen, how="left", on=["estimator", "column", "group", "label"], suffixes=("", "_seen")
    )
    for name, other in {"slope": "ratio", "ci_low": "ratio_low", "ci_high": "ratio_high"}.items():
        both[name] = both[name].mask(uneven, both[other])
    tests = {name: both[name].mask(uneven) for name in ("p", "q")}
    return both.assign(**tests, column=both["column"].mask(uneven, both["column"] + PER_REACH))


def reaches(seen: pd.DataFrame, uneven: Collection[str], attribute: str, span: float) -> list[str]:
    """A sentence for each column of groups: how far the edit moves the reader in each.

    seen: rows of REACH.  uneven: columns with groups of which one is reached less than half as far as another.
    span: from the sweep's first value to its last.
    """
    ends = ["reach", "reach_low", "reach_high"]
    sentences = []
    for column, rows in (
        seen[seen["column"] != ""].drop_duplicates(["column", "group"]).groupby("column")
    ):
        cells = zip(
            rows["group"], rows["n"], (span * rows[ends]).to_numpy(float).tolist(), strict=True
        )
        each = [
            f"{words.printable(name)} {numbers.with_interval(by, low, high, numbers.ratio)} ({words.many(n, 'photo')})"
            for name, n, (by, low, high) in cells
        ]
        text = (
            f"How far the edit moves the reader, by {words.printable(str(column))}, in log-odds of"
        )
        text += f" {words.perceived(attribute)} from end to end: {', '.join(each)}."
        sentences.append(text + WHY * (column in uneven))
    return sentences


def clusters(run: Path, classifier: str, attribute: str) -> list[int]:
    """How many photos a fit with clusters used, and how many units they make; empty if each photo was its own.

    Raises: TableError if the table is damaged.
    """
    own_rows = loading.of_pair(classifier, attribute)
    rows = tables.read_rows(tables.BALANCE, run, ["used", "units"], own_rows)
    differing = rows[rows["units"] < rows["used"]]
    if len(differing):
        return [int(differing["used"].iloc[0]), int(differing["units"].iloc[0])]
    return []


# -- the explorer's photos --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Album:
    """The photos of the explorer.

    photos: ids in the order of their paths.  names: as shown.  index: id to place.
    files: (photo, attribute) to the strip relative to the report.
    """

    photos: list[str]
    names: list[str]
    index: Mapping[str, int]
    files: Mapping[tuple[str, str], str]


def count_sweeps(run: Path, attributes: Mapping[str, int]) -> int:
    """How many sweeps ``build_album`` goes through."""
    edits = tables.read_rows(tables.EDITS, run, ["photo", "attribute"])
    return len(edits[edits["attribute"].isin(list(attributes))].drop_duplicates())


def build_album(
    run: Path,
    report: Path,
    attributes: Mapping[str, int],
    embed: Embed,
    tick: Callable[[int], None] | None = None,
) -> Album:
    """Write the pictures of all photos that have sweeps, as ``embed`` says.

    attributes: name to K, real sweeps only.  With ``none`` a photo is named by its id: names may tell who is on it.
    tick: called with 1 for every sweep whose pictures are there.
    """
    edits = tables.read_rows(tables.EDITS, run, ["photo", "attribute", "step", "file"])
    edits = edits[edits["attribute"].isin(list(attributes))].sort_values(
        ["attribute", "photo", "step"]
    )
    photos = tables.read_rows(tables.PHOTOS, run, ["photo", "path", "box", "status"])
    photos = photos[photos["status"] == "used"].drop_duplicates("photo").set_index("photo")
    order = sorted(
        set(edits["photo"]) | set(photos.index), key=lambda photo: (_path(photos, photo), photo)
    )
    names = [
        photo[:12] if embed == "none" else words.printable(_path(photos, photo)) for photo in order
    ]
    wanted = []
    for (attribute, photo), of_photo in edits.groupby(["attribute", "photo"], sort=True):
        if of_photo["step"].tolist() == list(range(attributes[str(attribute)])):
            box = face_box(photos.at[photo, "box"]) if photo in photos.index else None
            steps = tuple(run / file for file in of_photo["file"])
            wanted.append(pictures.Wanted(str(photo), str(attribute), box, steps))
    files = pictures.write(report, run, wanted, embed, tick)
    return Album(order, names, {photo: index for index, photo in enumerate(order)}, files)


def photo_listing(
    album: Album,
    attributes: Sequence[str],
    why: Iterable[tuple[str, str, str]],
    known: Mapping[str, dict[str, str]],
) -> dict[str, Any]:
    """The file with the list: names, and for each attribute and photo its strip, if any.

    why: (photo, attribute, reason) of the sweeps that the gate dropped.  known: photo to credit.
    """
    files = {
        name: [album.files.get((photo, name), "") for photo in album.photos] for name in attributes
    }
    dropped: dict[str, dict[int, str]] = {name: {} for name in attributes}
    for photo, attribute, reason in why:
        if attribute in dropped and photo in album.index:
            dropped[attribute][album.index[photo]] = words.printable(reason)
    credited = {index: known[photo] for index, photo in enumerate(album.photos) if photo in known}
    return {"names": album.names, "files": files, "dropped": dropped, "credits": credited}


def scores_files(
    album: Album, scores: Mapping[str, Mapping[str, list[list[Any]]]]
) -> list[dict[str, Any]]:
    """The scores of a few photos a file, in the order of the list.

    scores: key of a finding (``f0``) to photo to rows; see ``photo_scores``.
    """
    chunks = []
    for start in range(0, len(album.photos), PHOTOS_A_FILE):
        photos = album.photos[start : start + PHOTOS_A_FILE]
        chunk = [{key: by[photo] for key, by in scores.items() if photo in by} for photo in photos]
        chunks.append({"start": start, "photos": chunk})
    return chunks


def _path(known: pd.DataFrame, photo: str) -> str:
    if photo in known.index:
        return str(known.at[photo, "path"])
    return photo[:16]
