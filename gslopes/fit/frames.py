"""Slopes from data frames as users have them: one public call, ``gslopes.fit_slopes``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.core.errors import TableError, UsageError
from gslopes.fit.options import FitOptions

_KEY = ["classifier", "attribute", "photo", "step"]


def fit_slopes(
    scores: pd.DataFrame,
    asked: pd.DataFrame | None = None,
    *,
    values: Mapping[str, Sequence[float]] | None = None,
    photos: Collection[str] | None = None,
    about: pd.DataFrame | None = None,
    cluster: str = "",
    options: FitOptions | None = None,
) -> pd.DataFrame:
    """The slope of every label along the edited attribute, by all estimators, with intervals, tests and q.

    Read ``photo-rate``: the mean over photos of each photo's own slope, in percentage points per unit; the rows of
    ``paper`` are those of Joo & Kärkkäinen (2020).  Estimators, null hypotheses and intervals: ``fit.photo`` and
    ``fit.permutation``.  Everything beside the slopes (shape, groups, placebos): ``fit.analyse``.

    scores: a row for each label returned for a picture, with the columns photo, label and value (the attribute's at
        that picture); step (0 to K-1) is the rank of the value if it is missing, score (in [0, 1]) is 1, attribute is
        ``"attribute"`` and classifier ``"classifier"``.  Other columns are ignored.
    asked: a row for each picture asked about, with the columns photo and value (or step), and where they are known
        status (answered, refused or failed) and reason; without attribute or classifier it holds for all of them.
        If it is None, every photo counts as answered at every value.
    values: attribute to its K values, K odd; without it they are read from the tables.
    photos: ids of the photos that count.  Without ``asked`` name them all: a photo that never got a label has no row in
        scores, and would be missing from every share.  None: all photos of asked, or of scores.
    about, cluster: see ``fit.analyse``.
    options: see ``fit.FitOptions``.

    Returns a data frame with the columns of core.tables.SLOPES, sorted by classifier, attribute, estimator and label.

    Raises: TableError if a column is missing, scores are not in [0, 1], a status is unknown, or the values contradict
        one another; ConfigError as ``fit.analyse``.

    >>> found = [("a", 0, "Chef"), ("a", 1, "Chef"), ("b", 1, "Chef"), ("b", 1, "Face")]
    >>> found = pd.DataFrame(found, columns=["photo", "value", "label"])
    >>> slopes = fit_slopes(found, photos=["a", "b", "c"], values={"attribute": [-1, 0, 1]})
    >>> rate = slopes[slopes["estimator"] == "photo-rate"]
    >>> rate[["label", "n", "active", "y_centre", "slope"]].round(2).values.tolist()
    [['Chef', 3, 2, 0.33, 33.33], ['Face', 3, 1, 0.0, 16.67]]
    """
    from gslopes.fit.analysis import analyse

    answers = _scores(scores)
    levels = _levels(answers, asked, values)
    answers = _stepped(answers, levels, "scores")
    questions = _every(answers, levels, photos) if asked is None else _asked(asked, answers, levels)
    known = {name: list(level) for name, level in levels.items()}
    found = analyse(
        answers[tables.SCORES.columns],
        questions[tables.ASKED.columns],
        values=known,
        options=options,
        about=about,
        cluster=cluster,
        photos=None if photos is None else {str(photo) for photo in photos},
    )
    return found.slopes


def _scores(scores: pd.DataFrame) -> pd.DataFrame:
    lacking = [name for name in ("photo", "label") if name not in scores]
    if lacking or ("value" not in scores and "step" not in scores):
        raise TableError(
            f"The scores have the columns {', '.join(map(str, scores))}.", "They need photo, label and value."
        )
    frame = scores.assign(photo=scores["photo"].astype(str), label=scores["label"].astype(str))
    defaults: dict[str, Any] = {"classifier": "classifier", "attribute": "attribute", "score": np.float32(1)}
    return frame.assign(**{name: value for name, value in defaults.items() if name not in frame})


def _levels(
    scores: pd.DataFrame, asked: pd.DataFrame | None, given: Mapping[str, Sequence[float]] | None
) -> dict[str, np.ndarray]:
    """Attribute to its values, in order."""
    found = {}
    for name, rows in scores.groupby("attribute"):
        if given and name in given:
            found[str(name)] = np.asarray(given[str(name)], dtype=np.float64)
            continue
        if "value" not in scores:
            raise TableError("The scores have steps and no values.", "Pass the values of the sweep.")
        seen = [rows["value"].to_numpy(float)]
        if asked is not None and "value" in asked:
            rows_of = asked if "attribute" not in asked else asked[asked["attribute"] == name]
            seen.append(rows_of["value"].to_numpy(float))
        found[str(name)] = np.unique(np.round(np.concatenate(seen), 6))
    return found


def _stepped(frame: pd.DataFrame, levels: Mapping[str, np.ndarray], what: str) -> pd.DataFrame:
    """With steps and values."""
    parts = []
    for name, rows in frame.groupby("attribute", sort=False):
        level = levels.get(str(name))
        if level is None:
            continue
        if "step" not in rows:
            value = rows["value"].to_numpy(float)
            step = np.abs(value[:, None] - level[None, :]).argmin(axis=1)
            wrong = np.abs(level[step] - value) > 1e-5
            if wrong.any():
                raise TableError(
                    f"The {what} have the value {value[wrong][0]:g}, which is not in the sweep of {name}.",
                    "Pass all the values of the sweep.",
                )
            rows = rows.assign(step=step)
        if (rows["step"] >= len(level)).any() or (rows["step"] < 0).any():
            raise TableError(
                f"The {what} have a step of {name} beyond its {len(level)} values.", "Pass all the values of the sweep."
            )
        if "value" not in rows:
            rows = rows.assign(value=level[rows["step"].to_numpy(int)])
        parts.append(rows)
    whole = pd.concat(parts, ignore_index=True) if parts else frame.assign(step=0)
    return whole.assign(step=whole["step"].astype("int16"), value=whole["value"].astype("float32"))


def _every(scores: pd.DataFrame, levels: Mapping[str, np.ndarray], photos: Collection[str] | None) -> pd.DataFrame:
    """Every photo asked about at every value, and answered."""
    parts = []
    for (classifier, attribute), rows in scores.groupby(["classifier", "attribute"]):
        ids = sorted({str(photo) for photo in photos}) if photos is not None else sorted(set(rows["photo"]))
        steps = len(levels[str(attribute)])
        frame = {"photo": np.repeat(ids, steps), "step": np.tile(np.arange(steps, dtype=np.int16), len(ids))}
        parts.append(pd.DataFrame(frame).assign(classifier=str(classifier), attribute=str(attribute)))
    whole = pd.concat(parts, ignore_index=True) if parts else tables.ASKED.empty()
    return whole.assign(status="answered", reason="", detail="")


def _asked(asked: pd.DataFrame, scores: pd.DataFrame, levels: Mapping[str, np.ndarray]) -> pd.DataFrame:
    if "photo" not in asked or ("value" not in asked and "step" not in asked):
        raise TableError(f"Asked has the columns {', '.join(map(str, asked))}.", "It needs photo and value.")
    frame = asked.assign(photo=asked["photo"].astype(str))
    for name in ("classifier", "attribute"):
        if name not in frame:
            frame = frame.merge(pd.DataFrame({name: sorted(set(scores[name]))}), how="cross")
    frame = _stepped(frame, levels, "asked rows")
    defaults = {"status": "answered", "reason": "", "detail": ""}
    frame = frame.assign(**{name: value for name, value in defaults.items() if name not in frame})
    return frame.drop_duplicates([*_KEY, "status"])


def slopes(
    frame: pd.DataFrame,
    *,
    photo: str = "photo",
    value: str = "value",
    label: str = "label",
    score: str | None = "score",
    attribute: str = "gender",
    classifier: str = "classifier",
    permutations: int = 10_000,
    bootstrap: int = 2_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Slopes of any answers, from any tool: which labels were returned for which edited picture.

    frame: one row for each label that was returned; rows with a missing label (None) say that there was none.  Every
        photo in it is taken to be answered at every value in it: leave out photos that were refused somewhere.
    photo, value, label, score: names of its columns. value: of the attribute, a number; at least three, odd in number,
        0 in the middle. score: in [0, 1]; None if there is none.
    attribute, classifier: only names, for the table.
    permutations, bootstrap: resamples; 0 for none.  seed: of both.

    Returns one row a label and estimator: classifier, attribute, label, n, active, y_centre, slope, se, t, p, ci_low,
    ci_high, p_perm, q, estimator, unit, ...  Rows with ``estimator == "photo-rate"`` are in percentage points per unit.

    Raises: UsageError if a column is missing; TableError, ConfigError for values that make no sweep.

    >>> rows = [(photo, step - 1.0, "smile", 0.9) for photo in range(20) for step in range(3) if step + photo % 2]
    >>> found = slopes(pd.DataFrame(rows, columns=["photo", "value", "label", "score"]), permutations=0, bootstrap=0)
    >>> found.query("estimator == 'photo-rate'")[["label", "slope"]].values.tolist()
    [['smile', 25.0]]
    """
    from gslopes.core import tables
    from gslopes.fit.analysis import analyse
    from gslopes.fit.options import FitOptions

    wanted = {"photo": photo, "value": value, "label": label, **({} if score is None else {"score": score})}
    for role, column in wanted.items():
        if column not in frame:
            close = get_close_matches(column, map(str, frame.columns), n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            columns = ", ".join(map(repr, frame.columns))
            raise UsageError(f"There is no column {column!r} for {role}.", f"{hint}The table has {columns}.")
    plain = pd.DataFrame({role: frame[column] for role, column in wanted.items()})
    plain["photo"] = plain["photo"].astype(str)
    plain["value"] = plain["value"].astype(float)
    values = sorted(plain["value"].unique())
    plain["step"] = plain["value"].map({number: place for place, number in enumerate(values)})
    if score is None:
        plain["score"] = 1.0
    plain = plain.assign(attribute=attribute, classifier=classifier)
    everywhere = pd.MultiIndex.from_product([plain["photo"].unique(), range(len(values))], names=["photo", "step"])
    asked = everywhere.to_frame(index=False).assign(attribute=attribute, classifier=classifier, status="answered")
    asked = asked.assign(reason="", detail="")[list(tables.ASKED.columns)]
    scores = plain[plain["label"].notna()].reindex(columns=tables.SCORES.columns)
    options = FitOptions(permutations=permutations, bootstrap=bootstrap, seed=seed)
    return analyse(scores, asked, values={attribute: values}, options=options).slopes
