"""How far slopes depend on where presence is cut: the same slopes at a slightly lower and a slightly higher cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from gslopes.fit.findings import analyse
from gslopes.fit.options import FitOptions
from gslopes.fit.presence import ALL, Cut, present

STEP = 0.1  # of a score
KEY = ["classifier", "attribute", "label"]
_QUICK = FitOptions(estimators=("photo-rate",), bootstrap=0, permutations=0)


def sensitivity(
    scores: pa.Table,
    asked: pa.Table,
    cuts: Mapping[str, Cut],
    values: Mapping[str, Sequence[float]],
    photos: Collection[str] | None = None,
) -> pd.DataFrame:
    """Slopes of ``photo-rate`` at the cut, ``STEP`` below and above it (for ranks: twice and half as many labels).

    scores, asked: Arrow tables of core.tables, every row that was returned.  cuts: by classifier; one without a cut has
        no row.  values: attribute to its K values.  photos: ids of those that count; all if None.
    Returns: classifier, attribute, label, cut (in words), slope_lower, slope, slope_higher, in percentage points per
        unit; missing where a label is nowhere present, or no such cut is possible.
    """
    where = {name: cut for name, cut in cuts.items() if cut != ALL}
    columns = [*KEY, "cut", "slope_lower", "slope", "slope_higher"]
    if not where:
        return pd.DataFrame(columns=columns)
    sides: list[pd.Series] = []
    for name, by in (("slope_lower", -STEP), ("slope", 0.0), ("slope_higher", STEP)):
        moved = {classifier: cut.moved(by) if by else cut for classifier, cut in where.items()}
        possible = {classifier: cut for classifier, cut in moved.items() if cut is not None}
        found = analyse(present(scores, possible), asked, values=values, options=_QUICK, photos=photos).slopes
        found = found[found["classifier"].isin(list(possible))]
        sides.append(found.set_index(KEY)["slope"].rename(name))
    frame = pd.concat(sides, axis=1).sort_index().reset_index()
    return frame.assign(cut=[str(where[name]) for name in frame["classifier"]])[columns]
