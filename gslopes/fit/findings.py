"""From answers to everything that can be said about them: all estimators, intervals, tests, shapes and groups.

It is one pure function of tables. A placebo sweep is another attribute in the same tables; a part of the photos is
``photos``; a gate before the fit is a shorter ``photos``. Neither needs anything of its own here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from gslopes.core import placebo, tables
from gslopes.core.errors import ConfigError
from gslopes.fit.answers import Answers, gather
from gslopes.fit.estimates import estimate
from gslopes.fit.groups import group_slopes, joint_slopes, same_photos
from gslopes.fit.options import FitOptions
from gslopes.fit.profiles import moments, profiles, varying
from gslopes.fit.rates import rates
from gslopes.fit.shape import shape
from gslopes.fit.slopes import checked
from gslopes.fit.sweeps import values_by_attribute


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """The tables of a fit, each with the columns of its schema in core.tables.

    slopes: a row for each classifier, attribute, estimator and label.
    shape: curvature, lack of fit and the slope over [-1, 1], of photo-rate.
    groups, differences: by columns of a photos table.  joint: two sweeps of the same photos.
    balance: how many photos count, and why others do not.
    """

    slopes: pd.DataFrame
    shape: pd.DataFrame
    groups: pd.DataFrame
    differences: pd.DataFrame
    joint: pd.DataFrame
    balance: pd.DataFrame

    def tables(self) -> Iterator[tuple[tables.Table, pd.DataFrame]]:
        """Each table's schema with its rows."""
        for field in fields(self):
            yield tables.TABLES[field.name], getattr(self, field.name)


def analyse(
    scores: pd.DataFrame | pa.Table,
    asked: pd.DataFrame | pa.Table,
    *,
    values: Mapping[str, Sequence[float]] | None = None,
    options: FitOptions | None = None,
    about: pd.DataFrame | None = None,
    groups: Sequence[str] = (),
    cluster: str = "",
    photos: Collection[str] | None = None,
) -> Findings:
    """Fit everything.

    Every row of slopes has its estimator, the null hypothesis of its p in ``fit.photo``, that of its p_perm in
    ``fit.permutation``, and up to three intervals: ci (t), boot (percentile), bca.  q is p_perm, where there is one,
    adjusted over the labels of one classifier, attribute and estimator; in the rows of the paper it is p adjusted after
    Benjamini and Hochberg, as ever.  A label on fewer than ``min_active`` photos is too rare to judge: the rows of the
    photo estimators hold its counts and slope, but no test; the paper's row stays as the paper has it, without p_perm.

    scores, asked: of core.tables.SCORES and ASKED, as data frames or Arrow tables, rows in any order.
    values: attribute to its K values; without it they are read from the scores.
    about: what is known about photos, one row a photo, its index the photo's id, columns of texts.
    groups: columns of ``about`` to fit by; ``"a + b"`` crosses two.
    cluster: a column of ``about``: photos that share its text (one person, one query) are one unit of every standard
        error, resample and permutation; a photo without a text is its own.
    photos: ids of the photos that count; all of them if None.

    Raises: TableError, ConfigError as ``sweeps.values_by_attribute``; ConfigError for a column that ``about`` lacks.
    """
    options = options or FitOptions()
    columns = _columns(about, [*groups, *([cluster] if cluster else [])])
    answers = scores if isinstance(scores, pa.Table) else tables.check(tables.SCORES, scores)
    questions = asked if isinstance(asked, pa.Table) else tables.check(tables.ASKED, asked)
    found: dict[str, list[pd.DataFrame]] = {field.name: [] for field in fields(Findings)}
    kept: list[Answers] = []
    edits = len(set(answers.column("attribute").unique().to_pylist())) if len(answers) else 0
    for sweep in gather(answers, questions, values_by_attribute(answers, questions, values)):
        if photos is not None:
            sweep = sweep.only(np.isin(sweep.photos.astype(str), list(photos)))
        units = _units(columns, cluster, sweep)
        found["balance"].append(_balance(sweep, units))
        found["slopes"].append(estimate(sweep, options, units))
        found["shape"].append(_shape(sweep, options, units))
        for name in groups:
            rows, pairs = group_slopes(sweep, name, _texts(columns[name], sweep), options, units)
            found["groups"].append(rows)
            found["differences"].append(pairs)
        if edits > 1 and not placebo.split(sweep.attribute)[1]:
            kept.append(sweep)
    for one, other in combinations(kept, 2):
        if one.classifier == other.classifier:
            pair = same_photos(one, other)
            found["joint"].append(joint_slopes(*pair, options, _units(columns, cluster, pair[0])))
    return Findings(**{name: checked(tables.TABLES[name], frames) for name, frames in found.items()})


def _balance(sweep: Answers, units: NDArray[np.int64] | None) -> pd.DataFrame:
    used = len(sweep.photos)
    counts = {"used": used, "units": used if units is None else len(np.unique(units)), **sweep.dropped}
    return pd.DataFrame([{"classifier": sweep.classifier, "attribute": sweep.attribute, **counts}])


def _shape(sweep: Answers, options: FitOptions, units: NDArray[np.int64] | None) -> pd.DataFrame:
    counted = rates(sweep)
    profile = profiles(sweep, "rate", units)
    sums = moments(profile)
    tested = counted.active >= options.min_active
    frame = shape(sums, sweep.values, tested=tested, confidence=options.confidence)
    return frame.assign(
        classifier=sweep.classifier,
        attribute=sweep.attribute,
        label=sweep.labels,
        n=counted.photos,
        active=counted.active,
        varying=varying(profile),
    )


def _columns(about: pd.DataFrame | None, names: Sequence[str]) -> dict[str, pd.Series]:
    """The named columns as texts by photo, crossed where a name says so.  Raises: ConfigError."""
    found = {}
    for name in names:
        parts = [part.strip() for part in name.split("+")]
        lacking = [part for part in parts if about is None or part not in about]
        if about is None or lacking:
            known = "none is given" if about is None else f"it has {', '.join(map(str, about))}"
            raise ConfigError(f"The table about photos has no column {lacking[0]!r}: {known}.")
        texts = [about[part].astype(object).where(about[part].notna(), "").astype(str) for part in parts]
        whole = texts[0]
        for text in texts[1:]:
            whole = (whole + ", " + text).where((whole != "") & (text != ""), "")
        found[name] = whole[~whole.index.duplicated()]
    return found


def _texts(column: pd.Series, sweep: Answers) -> list[str]:
    return column.reindex(sweep.photos).fillna("").tolist()


def _units(columns: Mapping[str, pd.Series], cluster: str, sweep: Answers) -> NDArray[np.int64] | None:
    """(n,) codes of clusters; a photo without a text is its own."""
    if not cluster:
        return None
    texts = _texts(columns[cluster], sweep)
    names = [text or f"\0{photo}" for text, photo in zip(texts, sweep.photos, strict=True)]
    return np.asarray(pd.factorize(np.array(names, dtype=object))[0], dtype=np.int64)
