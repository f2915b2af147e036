"""Slopes from data frames as users have them: one public call, ``gslopes.fit_slopes``."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.core.arrays import Array
from gslopes.core.config import from_dict
from gslopes.core.errors import TableError, UsageError
from gslopes.slopes.measures.options import FitOptions
from gslopes.stats.rounding import STORED, settled

_ABSENT: dict[str, Any] = {"classifier": "classifier", "attribute": "attribute", "score": 1.0}
_ASKED = {"status": "answered", "reason": "", "detail": ""}


def fit_slopes(
    scores: pd.DataFrame,
    asked: pd.DataFrame | None = None,
    *,
    photo: str = "photo",
    value: str = "value",
    label: str = "label",
    score: str | None = "score",
    classifier: str = "classifier",
    attribute: str = "attribute",
    values: Mapping[str, Sequence[float]] | None = None,
    photos: Collection[str] | None = None,
    about: pd.DataFrame | None = None,
    cluster: str = "",
    options: FitOptions | Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """The slope of every label along the edited attribute, by all estimators, with intervals, tests and q.

    Read ``photo-rate``: the mean over photos of each photo's own slope, in percentage points per unit; the rows of
    ``paper`` are those of Joo & Kärkkäinen (2020).  Estimators, null hypotheses and intervals:
    ``slopes.measures.estimators`` and ``stats.permutation``.  All other tables (groups, placebos):
    ``slopes.measures.analysis.analyse``.

    scores: a row for each label returned for a picture; a row without a label (None) says that there was none.  Other
        columns are ignored.
    photo, value, label, score, classifier, attribute: names of its columns.  value is the attribute's in that picture,
        a number, or ``step`` (0 to K-1) in its place.  score is in [0, 1], 1 without such a column (None: leave it
        out).  Without a column for them there is one classifier, ``"classifier"``, and one attribute, ``"attribute"``.
    asked: a row for each picture asked about, its columns named alike, and where they are known status (answered,
        refused or failed) and reason; without classifier or attribute it holds for all of them.  If it is None, every
        photo counts as answered at every value.
    values: attribute to its K values, K odd, or 2: the slope is then a difference, and the paper's p is
        empty.  The centre is ``core.arrays.centre_of`` them.  Without it they are read from the tables.
    photos: ids of the photos that count.  Without ``asked`` name them all: a photo that has no row in scores would be
        missing from every share.  None: all photos of asked, or of scores.
    about, cluster: see ``slopes.measures.analysis.analyse``.
    options: estimators, permutations, min_varying, seed; a mapping or a ``slopes.measures.options.FitOptions``.

    Returns a data frame with the columns of core.tables.SLOPES, sorted by classifier, attribute, estimator and label.

    Raises: UsageError for a column that is not there; TableError for scores beyond [0, 1], an unknown status, or values
        that contradict one another; ConfigError as ``analyse``.

    >>> rows = [("a", 0, "Chef"), ("a", 1, "Chef"), ("b", 1, "Chef"), ("b", 1, "Face"), ("c", -1, None)]
    >>> slopes = fit_slopes(pd.DataFrame(rows, columns=["image", "value", "tag"]), photo="image", label="tag")
    >>> rate = slopes[slopes["estimator"] == "photo-rate"]
    >>> rate[["label", "n", "active", "y_centre", "slope"]].round(2).values.tolist()
    [['Chef', 3, 2, 0.33, 33.33], ['Face', 3, 1, 0.0, 16.67]]
    """
    from gslopes.slopes.measures.analysis import analyse

    settings = from_dict(FitOptions, options) if isinstance(options, Mapping) else options
    columns = {"photo": photo, "value": value, "classifier": classifier, "attribute": attribute}
    rows = _standard(
        scores, columns | {"label": label} | ({"score": score} if score else {}), "scores"
    )
    rows = rows.assign(**{role: constant for role, constant in _ABSENT.items() if role not in rows})
    questions = None if asked is None else _standard(asked, columns, "asked")
    levels = {}
    valued = [table for table in (rows, questions) if table is not None and "value" in table]
    for name in map(str, rows["attribute"].unique()):
        if values is not None and name in values:
            levels[name] = np.array(values[name], float)
            continue
        own = [
            table[table["attribute"] == name] if "attribute" in table else table for table in valued
        ]
        if not own:
            raise TableError(
                "The scores have steps and no values.", "Pass the values of the sweep."
            )
        levels[name] = np.unique(np.round(pd.concat(own)["value"].to_numpy(float), 6))
    rows = _with_steps(rows, levels, "scores")
    answers = rows[rows["label"].notna()].astype({"label": str, "score": np.float32})
    if questions is None:  # every photo was asked about at every value, and answered
        steps = [
            pd.DataFrame({"attribute": name, "value": level}) for name, level in levels.items()
        ]
        pairs = rows[["classifier", "attribute", "photo"]].drop_duplicates()
        if photos is not None:
            everyone = pd.DataFrame({"photo": sorted({str(photo) for photo in photos})})
            pairs = (
                pairs[["classifier", "attribute"]].drop_duplicates().merge(everyone, how="cross")
            )
        questions = pairs.merge(pd.concat(steps)) if steps else pairs.assign(value=0.0)
    for name in ("classifier", "attribute"):
        if name not in questions:
            questions = questions.merge(
                pd.DataFrame({name: sorted(rows[name].unique())}), how="cross"
            )
    questions = _with_steps(questions, levels, "asked rows")
    questions = questions.assign(
        **{name: text for name, text in _ASKED.items() if name not in questions}
    )
    return analyse(
        answers[tables.SCORES.columns],
        questions.drop_duplicates(["classifier", "attribute", "photo", "step", "status"])[
            tables.ASKED.columns
        ],
        values={name: level.tolist() for name, level in levels.items()},
        options=settings,
        about=about,
        cluster=cluster,
        photos=photos,
    ).slopes


def _standard(frame: pd.DataFrame, columns: Mapping[str, str], what: str) -> pd.DataFrame:
    """The columns under their standard names, those that may be missing left out.  Raises: UsageError."""
    standard = {name: frame[name] for name in ("step", *_ASKED) if name in frame}
    optional = {*_ABSENT, *(["value"] if "step" in frame else [])}
    for role, column in columns.items():
        if column in frame:
            standard[role] = frame[column]
        elif role not in optional or column != role:
            close = get_close_matches(column, map(str, frame.columns), n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            named = ", ".join(map(repr, frame.columns))
            raise UsageError(
                f"The {what} have no column {column!r} for {role}.", f"{hint}The table has {named}."
            )
    return pd.DataFrame(standard).astype({"photo": str})


def _with_steps(frame: pd.DataFrame, levels: Mapping[str, Array], what: str) -> pd.DataFrame:
    """The rows of known attributes, with steps."""
    parts = [frame.iloc[:0].assign(step=0, value=0.0)]
    for name, level in levels.items():
        rows = frame[frame["attribute"] == name]
        if "step" not in rows:
            value = rows["value"].to_numpy(float)
            step = np.abs(value[:, None] - level).argmin(axis=1)
            wrong = value[settled(level[step] - value, np.maximum(np.abs(value), 1), STORED) != 0]
            if len(wrong):
                problem = (
                    f"The {what} have the value {wrong[0]:g}, which is not in the sweep of {name}."
                )
                raise TableError(problem, "Pass all the values of the sweep.")
            rows = rows.assign(step=step)
        if not rows["step"].between(0, len(level) - 1).all():
            problem = f"The {what} have a step of {name} beyond its {len(level)} values."
            raise TableError(problem, "Pass all the values of the sweep.")
        parts.append(
            rows if "value" in rows else rows.assign(value=level[rows["step"].to_numpy(int)])
        )
    joined = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return joined.astype({"step": "int16", "value": "float32"})
