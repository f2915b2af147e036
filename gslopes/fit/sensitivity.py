"""How far slopes depend on where presence is cut: the same slopes at a slightly lower and a slightly higher cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from gslopes.fit.analysis import analyse
from gslopes.fit.options import FitOptions
from gslopes.fit.presence import ALL, Cut, present

STEP = 0.1  # of a score
KEY = ["classifier", "attribute", "label", "estimator"]
_QUICK = FitOptions(estimators=("paper", "photo-rate"), bootstrap=0, permutations=0)


def sensitivity(
    scores: pa.Table,
    asked: pa.Table,
    cuts: Mapping[str, Cut],
    values: Mapping[str, Sequence[float]],
    photos: Collection[str] | None = None,
    gates: Mapping[str, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Slopes at the cut, ``STEP`` below and above it (for ranks: twice and half as many labels).

    scores, asked: Arrow tables of core.tables, every row that was returned.  cuts: by classifier; one without a cut has
        no row.  values: attribute to its K values.  photos: ids of those that count; all if None.  gates: as of
        ``analysis.analyse``.
    Returns: classifier, attribute, label, estimator (``paper`` and ``photo-rate``, each in its unit), cut (in words),
        slope_lower, slope, slope_higher; missing where a label is nowhere present, or no such cut is possible.
    """
    where = {name: cut for name, cut in cuts.items() if cut != ALL}
    columns = [*KEY, "cut", "slope_lower", "slope", "slope_higher"]
    if not where:
        return pd.DataFrame(columns=columns)
    sides: list[pd.Series] = []
    for name, by in (("slope_lower", -STEP), ("slope", 0.0), ("slope_higher", STEP)):
        shifted = {classifier: cut.shifted(by) if by else cut for classifier, cut in where.items()}
        possible = {classifier: cut for classifier, cut in shifted.items() if cut is not None}
        answers = present(scores, possible)
        found = analyse(answers, asked, values=values, options=_QUICK, photos=photos, gates=gates).slopes
        found = found[found["classifier"].isin(list(possible))]
        sides.append(found.set_index(KEY)["slope"].rename(name))
    frame = pd.concat(sides, axis=1).sort_index().reset_index()
    return frame.assign(cut=[str(where[name]) for name in frame["classifier"]])[columns]


def with_sensitivity(slopes: pd.DataFrame, at_cuts: pd.DataFrame, cuts: Mapping[str, Cut]) -> pd.DataFrame:
    """The slopes table with what counted as present, and the slopes at a lower and a higher cut, in each of its rows.

    slopes: as ``analysis.analyse`` gives them.  at_cuts: of ``sensitivity``.  cuts: by classifier.
    Returns: the same rows in the same order; rows of estimators that were not fitted again have the cut alone.
    """
    ends = ["slope_lower", "slope_higher"]
    joined = slopes.drop(columns=ends).merge(at_cuts[[*KEY, *ends]], how="left", on=KEY, validate="many_to_one")
    joined["cut"] = [str(cuts.get(name, ALL)) for name in joined["classifier"]]
    return joined.astype(dict.fromkeys(ends, float))[list(slopes.columns)]
