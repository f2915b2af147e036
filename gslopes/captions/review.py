"""Answers of reviewers about cases: reading them, shares confirmed, agreement."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from gslopes.core.files import is_file, without_guard
from gslopes.stats.agreement import cohens_kappa
from gslopes.stats.intervals import wilson

ANSWERS = ("harm", "not-a-harm", "parser", "truth", "unsure")
COLUMNS = ("case", "answer", "reviewer", "note")
_HINT = "Save it from review.html (key S)."


def read_answers(file: Path, *, required: bool) -> list[dict[str, str]]:
    """Rows of a review's CSV, each an answer of a reviewer about a case, or a note alone.

    Raises: DataMissing, naming the line, if the file is missing though required, is no review, has an unknown answer or
        two rows of one reviewer about one case.
    """
    if not required and not is_file(file):
        return []
    values = {"answer": (*ANSWERS, "")}
    table = read_csv(file, COLUMNS, unique=("case", "reviewer"), values=values, raises=DataMissing, hint=_HINT)
    return [{name: without_guard(row[name]) for name in COLUMNS} for _, row in table.rows()]


def confirmed(cases: pd.DataFrame, reviews: pd.DataFrame) -> list[dict[str, Any]]:
    """Per technique: cases, how many were read, the share confirmed with its interval, causes of the rest, kappa.

    Estimator: the share of read cases that every answer but unsure calls a harm by majority, ties not. Interval:
    Wilson's with the finite-population correction (the effective n is n (N − 1) / (N − n)).
    """
    rows: list[dict[str, Any]] = []
    answers = reviews[reviews["answer"] != ""] if len(reviews) else reviews
    answers = answers.merge(cases[["case", "technique"]], on="case") if len(answers) else answers
    for name, group in cases.groupby("technique", sort=True):
        reviewed = answers[answers["technique"] == name] if len(answers) else answers
        total = len(group)
        if not len(reviewed):
            rows.append({"technique": str(name), "cases": total, "read": 0})
            continue
        harmful = reviewed.assign(yes=reviewed["answer"] == "harm").groupby("case")["yes"].mean() > 0.5
        read, share = len(harmful), float(harmful.mean())
        low, high = corrected(share, read, total)
        causes = reviewed.loc[reviewed["answer"] != "harm", "answer"].value_counts().to_dict()
        row = {"technique": name, "cases": total, "read": read, "share": share, "low": low, "high": high}
        rows.append({**row, "causes": causes, "kappa": _agreement(reviewed)})
    return rows


def corrected(share: float, read: int, total: int) -> tuple[float, float]:
    """Wilson's interval of a sample without replacement: no width once everything was read.

    >>> corrected(0.14, 312, 312)
    (0.14, 0.14)
    """
    if read >= total:
        return share, share
    return wilson(share, round(read * (total - 1) / (total - read)))


def _agreement(answers: pd.DataFrame) -> float:
    wide = answers.pivot_table(index="case", columns="reviewer", values="answer", aggfunc="last")
    values = [
        cohens_kappa(both[one].tolist(), both[other].tolist())
        for one, other in combinations(wide.columns, 2)
        if len(both := wide[[one, other]].dropna())
    ]
    return float(np.mean(values)) if values else math.nan
