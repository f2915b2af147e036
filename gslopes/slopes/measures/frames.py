"""Slopes from data frames as users have them: one public call, ``gslopes.fit_slopes``."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.core import (
    TableError,
    UsageError,
    build,
    config,
    frozen,
    nearest,
    tables,
    with_options,
)
from gslopes.core.crossed import Values
from gslopes.core.records import Array
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.stats.rounding import STORED, settled

_ABSENT: dict[str, Any] = {"classifier": "classifier", "attribute": "attribute", "score": 1.0}
_ASKED = {"status": "answered", "reason": "", "detail": ""}


@frozen
class Columns:
    """The names of a user's columns, see ``fit_slopes``; an empty one is left out."""

    photo: str = "photo"
    value: str = "value"
    label: str = "label"
    score: str = "score"
    classifier: str = "classifier"
    attribute: str = "attribute"


@with_options(Columns)
def fit_slopes(
    scores: DataFrame,
    asked: DataFrame | None = None,
    *,
    values: Values | None = None,
    photos: Collection[str] | None = None,
    about: DataFrame | None = None,
    cluster: str = "",
    options: FitOptions | Mapping[str, Any] | None = None,
    **columns: str | None,
) -> DataFrame:
    """The slope of every label along the edited attribute, by all estimators, with intervals, tests and q.

    Read ``photo-rate``: the mean over photos of each photo's own slope, in percentage points per unit; the rows of
    ``paper`` are as Joo & Kärkkäinen (2020) have them.  Estimators, null hypotheses and intervals:
    ``slopes.measures.estimators`` and ``stats.permutation``.  All other tables (groups, placebos):
    ``slopes.measures.analysis.analyse``.

    scores: a row for each label returned for a picture; a row without a label (None) shows that it was asked about.
        Other columns are ignored.
    columns: photo, value, label, score, classifier, attribute: the names of these columns, if they are other ones.
        value is the attribute's in that picture, a number, or ``step`` (0 to K-1) in its place.  score is in [0, 1], 1
        without such a column (None: leave it out).  Without a column for them there is one classifier,
        ``"classifier"``, and one attribute, ``"attribute"``.
    asked: a row for each picture asked about, its columns named alike, and if they are known status (answered,
        refused or failed) and reason; without classifier or attribute it holds for all of them.  If it is None, every
        photo counts as answered at every value.
    values: attribute to its K values, K odd, or 2: the slope is then a difference, and the paper's p is
        empty.  The centre is ``core.records.centre_of`` them.  Without it they are read from the tables.
    photos: ids of the photos that count.  Without ``asked`` name them all: a photo that has no row in scores would be
        missing from every share.  None: all photos of asked, or of scores.
    about, cluster: see ``slopes.measures.options.Study``.
    options: estimators, permutations, min_varying, seed; a mapping or a ``slopes.measures.options.FitOptions``.

    Returns a data frame with the columns of core.tables.SLOPES, sorted by classifier, attribute, estimator and label.

    Raises: UsageError for a column that is missing; TableError for scores beyond [0, 1], an unknown status, or values
        that contradict one another; ConfigError as ``analyse``, and for any other keyword.

    >>> rows = [("a", 0, "Chef"), ("a", 1, "Chef"), ("b", 1, "Chef"), ("b", 1, "Face"), ("c", -1, None)]
    >>> slopes = fit_slopes(DataFrame(rows, columns=["image", "value", "tag"]), photo="image", label="tag")
    >>> rate = slopes[slopes["estimator"] == "photo-rate"]
    >>> rate[["label", "n", "active", "y_centre", "slope"]].round(2).values.tolist()
    [['Chef', 3, 2, 0.33, 33.33], ['Face', 3, 1, 0.0, 16.67]]
    """
    from gslopes.slopes.measures.analysis import analyse

    settings = config.from_dict(FitOptions, options) if isinstance(options, Mapping) else options
    named = asdict(build(Columns, {role: column or "" for role, column in columns.items()}))
    answers, questions, levels = _tables(scores, asked, named, values or {}, photos)
    study = Study(values=levels, photos=photos, about=about, cluster=cluster)
    return analyse(answers, questions, study, options=settings).slopes


def _tables(
    scores: DataFrame,
    asked: DataFrame | None,
    columns: Mapping[str, str],
    values: Values,
    photos: Collection[str] | None,
) -> tuple[DataFrame, DataFrame, dict[str, list[float]]]:
    """Tables as of core.tables.SCORES and ASKED, and the values of each attribute."""
    rows = _standard(scores, {role: column for role, column in columns.items() if column}, "scores")
    rows = rows.assign(**{role: text for role, text in _ABSENT.items() if role not in rows})
    questions = None
    if asked is not None:
        of_pictures = ("photo", "value", "classifier", "attribute")
        questions = _standard(asked, {role: columns[role] for role in of_pictures}, "asked")
    levels = _levels(rows, questions, values)
    rows = _with_steps(rows, levels, "scores")
    answers = rows.dropna(subset="label").astype({"label": str, "score": np.float32})
    if questions is None:
        questions = _everything_asked(rows, levels, photos)
    for name in ("classifier", "attribute"):
        if name not in questions:
            every = DataFrame({name: sorted(rows[name].unique())})
            questions = questions.merge(every, how="cross")
    questions = _with_steps(questions, levels, "asked rows")
    absent = {name: text for name, text in _ASKED.items() if name not in questions}
    questions = questions.assign(**absent)
    questions = questions.drop_duplicates(["classifier", "attribute", "photo", "step", "status"])
    lists = {name: level.tolist() for name, level in levels.items()}
    return answers[tables.SCORES.columns], questions[tables.ASKED.columns], lists


def _levels(rows: DataFrame, questions: DataFrame | None, values: Values) -> dict[str, Array]:
    """Attribute to its values: the given ones, or all that either table has.  Raises: TableError."""
    levels = {}
    valued = [table for table in (rows, questions) if table is not None and "value" in table]
    for name in map(str, rows["attribute"].unique()):
        if name in values:
            levels[name] = np.array(values[name], float)
            continue
        if not valued:
            raise TableError(
                "The scores have steps and no values.", "Pass the values of the sweep."
            )
        parts = [table for table in valued if "attribute" not in table]
        parts += [table[table["attribute"] == name] for table in valued if "attribute" in table]
        levels[name] = np.unique(np.round(pd.concat(parts)["value"].to_numpy(float), 6))
    return levels


def _everything_asked(
    rows: DataFrame, levels: Mapping[str, Array], photos: Collection[str] | None
) -> DataFrame:
    """Every photo, asked about at every value."""
    pairs = rows[["classifier", "attribute", "photo"]].drop_duplicates()
    if photos is not None:
        everyone = DataFrame({"photo": sorted({*map(str, photos)})})
        pairs = pairs[["classifier", "attribute"]].drop_duplicates().merge(everyone, how="cross")
    if not levels:
        return pairs.assign(value=0.0)
    steps = [DataFrame({"attribute": name, "value": level}) for name, level in levels.items()]
    return pairs.merge(pd.concat(steps))


def _standard(frame: DataFrame, columns: Mapping[str, str], what: str) -> DataFrame:
    """The columns under their standard names, those that may be missing left out.  Raises: UsageError."""
    standard = {name: frame[name] for name in ("step", *_ASKED) if name in frame}
    optional = {*_ABSENT, *(["value"] if "step" in frame else [])}
    for role, column in columns.items():
        if column in frame:
            standard[role] = frame[column]
        elif role not in optional or column != role:
            named = f"The table has {', '.join(map(repr, frame.columns))}."
            near = nearest(column, map(str, frame.columns))
            raise UsageError(
                f"The {what} have no column {column!r} for {role}.", f"{near} {named}".strip()
            )
    return DataFrame(standard).astype({"photo": str})


def _with_steps(frame: DataFrame, levels: Mapping[str, Array], what: str) -> DataFrame:
    """The rows of the attributes that have levels, with steps."""
    parts = [frame.iloc[:0].assign(step=0, value=0.0)]
    for name, level in levels.items():
        rows = frame.query("attribute == @name")
        if "step" not in rows:
            value = rows["value"].to_numpy(float)
            step = np.abs(value[:, None] - level).argmin(axis=1)
            gap = settled(level[step] - value, np.maximum(np.abs(value), 1), STORED)
            if gap.any():
                raise TableError(
                    f"The {what} have the value {value[gap != 0][0]:g}, which is not in the sweep of {name}.",
                    "Pass all the values of the sweep.",
                )
            rows = rows.assign(step=step)
        if not rows["step"].between(0, len(level) - 1).all():
            raise TableError(
                f"The {what} have a step of {name} beyond its {len(level)} values.",
                "Pass all the values of the sweep.",
            )
        if "value" not in rows:
            rows = rows.assign(value=level[rows["step"].to_numpy(int)])
        parts.append(rows)
    joined = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return joined.astype({"step": "int16", "value": "float32"})
