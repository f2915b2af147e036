"""What the page's scripts read: columns of numbers, one small file for each finding, its groups, and a few photos."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import placebo, tables
from gslopes.report import units, words
from gslopes.report.numbers import rounded
from gslopes.slopes.report import answers as matrix
from gslopes.slopes.report import decisions
from gslopes.slopes.report.answers import Answers
from gslopes.slopes.report.decisions import Decision
from gslopes.slopes.report.loading import PAPER

BY_MEASURE = "by its measure"
PHOTOS_A_FILE = 20
_NUMBERS = ("slope", "ci_low", "ci_high", "p", "p_test", "q")


def script(name: str, content: Any) -> bytes:
    """A file that hands its content to the page: read by a script element, which works from a disk as well.

    The content is JSON in ASCII; the page shows texts in it as text only.
    """
    return f"gslopes({json.dumps(name)},{json.dumps(content, separators=(',', ':'))});\n".encode("ascii")


def finding(
    slopes: pd.DataFrame,
    floor: pd.DataFrame,
    answers: Answers,
    index: Mapping[str, int],
    decided: Mapping[str, Decision],
) -> dict[str, Any]:
    """Everything about one classifier along one attribute but its groups.

    slopes: its rows of all estimators.  floor: rows of its placebo sweeps.  answers: what it said.
    decided: label to decision, see ``decisions.decide``.
    index: photo to its place in the explorer's list.

    Lists of labels are as long as ``labels`` and in that order.
    """
    labels = sorted(set(slopes["label"]))
    read = tables.reading(slopes)
    records = read.to_dict("records")
    measured = {str(row["label"]): units.measure_of(row) for row in records}
    unit = {str(row["label"]): units.unit_of(row) for row in records}
    first = slopes.drop_duplicates("label").set_index("label").loc[labels]
    content: dict[str, Any] = {
        "labels": [words.label(label) for label in labels],
        "n": first["n"].tolist(),
        "active": first["active"].tolist(),
        "centre": rounded(first["y_centre"]),
        "estimators": _estimators(slopes, labels),
        "units": [unit.get(label, units.UNITS["presence"]) for label in labels],
        "floor": _floor(floor, labels),
        "decision": [decided[label].code if label in decided else decisions.UNJUDGED for label in labels],
        "why": [decided[label].why if label in decided else "" for label in labels],
        "expected": [label in decided and decided[label].expected for label in labels],
        "cut": cut(slopes),
    }
    return content | _curves(answers, labels, measured) | {"moved": _varying_photos(answers, labels, index)}


def by_group(groups: pd.DataFrame, labels: Sequence[str]) -> dict[str, list[list[Any]]]:
    """Place of the label to rows of column, group, n, slope, interval, p, q.

    groups: rows of one classifier and attribute, one estimator.  labels: sorted, as in the finding.
    """
    index = {label: place for place, label in enumerate(labels)}
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
    slopes = np.round(answers.slopes()[chosen], 4)
    labels = [words.label(label) for label in answers.labels]
    result: dict[str, list[list[Any]]] = {}
    for row, slope in zip(chosen.tolist(), slopes.tolist(), strict=True):
        content = [labels[answers.label[row]], slope, _thousandths(answers, row)]
        result.setdefault(answers.photos[answers.photo[row]], []).append(content)
    return result


def tested(rows: pd.DataFrame) -> pd.Series[float]:
    """The p that q adjusts: ``p_test``; of a run that was fitted before it was kept, the permutation's, else t's.

    rows: of SLOPES or DIFFERENCES.  The paper's q adjusts its own p.
    """
    found = rows["p"].astype(float)
    if "estimator" in rows:
        rows = rows.assign(**{name: rows[name].where(rows["estimator"] != PAPER) for name in ("p_perm", "p_test")})
    return rows["p_test"].astype(float).fillna(rows["p_perm"].astype(float)).fillna(found)


def cut(slopes: pd.DataFrame) -> str:
    """What counted as present; empty where every label did that was returned."""
    named = slopes["cut"].dropna()
    return words.printable(named.iloc[0]) if len(named) and named.iloc[0] != tables.EVERY else ""


def _estimators(slopes: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    """Name to columns; the rows to read come first, as “by its measure”, where labels are judged by several."""
    found = {str(name): _estimator(rows, labels) for name, rows in slopes.groupby("estimator", sort=True)}
    if tables.MEASURED not in found:
        return found
    del found[tables.MEASURED]
    return {BY_MEASURE: {**_estimator(tables.reading(slopes), labels), "unit": "the unit of its measure"}, **found}


def _estimator(rows: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    by_label = rows.drop_duplicates("label").set_index("label").reindex(labels)
    unit = by_label["unit"].dropna()
    notes = by_label["note"].fillna("").astype(str).tolist()
    by_label = by_label.assign(p_test=tested(by_label))
    source = by_label["p_source"].fillna("").astype(str).tolist() if "p_source" in by_label else [""] * len(labels)
    columns = {name: rounded(by_label[name].to_numpy(float, na_value=np.nan), 8) for name in _NUMBERS}
    return {**columns, "unit": str(unit.iloc[0]) if len(unit) else "", "note": notes, "source": source}


def _floor(floor: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    result = {}
    for attribute, rows in floor.groupby("attribute", sort=True):
        by_label = rows.drop_duplicates("label").set_index("label").reindex(labels)
        kind = placebo.split(str(attribute))[1]
        result[kind] = {name: rounded(by_label[name].to_numpy(float), 8) for name in ("slope", "ci_low", "ci_high")}
    return result


def _curves(answers: Answers, labels: list[str], measured: Mapping[str, str]) -> dict[str, Any]:
    """Shares of photos with each label or, of labels that are judged by their number, its means; with intervals."""
    if not len(answers.values):
        return {"share": [None for _ in labels], "low": [], "high": [], "line": []}
    index = {label: place for place, label in enumerate(answers.labels)}
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
    slopes = answers.slopes()
    by_label = dict(zip(answers.labels, matrix.movers(answers), strict=True))
    result = []
    for label in labels:
        rows = [row for row in by_label.get(label, []) if answers.photos[answers.photo[row]] in index]
        result.append(
            [
                [index[answers.photos[answers.photo[row]]], round(float(slopes[row]), 4), *_thousandths(answers, row)]
                for row in rows
            ]
        )
    return result


def _thousandths(answers: Answers, row: int) -> list[float | None]:
    """Whole ones, or with two digits more where the scores differ by little."""
    scores = answers.scores[row]
    digits = 2 if np.nanmax(scores) - np.nanmin(scores) < 0.02 else None
    return [None if np.isnan(score) else round(1000 * float(score), digits) for score in scores]
