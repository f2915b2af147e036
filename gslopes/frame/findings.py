"""What a finding is, and the order of all of them: one rule and one level for all audits.

A number is judged if it has a q, the p adjusted over the tests of its table. It is a finding by
``stats.multiplicity.is_finding``.  Terminal, page, files and Python have the same order: findings first, then what is
none, then what is not judged; of each the ``rank`` that an audit gives, then the surest, then the largest.  Below
``SURE`` all q are alike.
"""

import math
from collections.abc import Mapping
from typing import Any

from pandas import DataFrame, Series

from gslopes.core import nudged
from gslopes.core.summary import FINDING, FINDINGS, NONE, UNJUDGED
from gslopes.stats.multiplicity import is_finding
from gslopes.stats.rounding import ranked

SURE = 0.001
_ORDER = {FINDING: 0, UNJUDGED: 2}


def decide(rows: DataFrame) -> DataFrame:
    """The findings table in its order, with further columns of the rows.

    rows: columns of ``core.summary.FINDINGS`` but for decision and expected; ``reason``: why a row has no q. Rows that
        have decisions stay unchanged: the fit decides slopes, next to their placebos.  small, if there is such a
        column: whether what is sure is less than would matter, and so no finding.  rank: whole numbers, the first to
        be shown lowest.
    """
    if "decision" in rows:
        return rows
    if rows.empty:
        return FINDINGS.empty()
    codes, reasons = zip(*map(decision, rows.to_dict("records")), strict=True)
    frame = rows.assign(decision=codes, reason=reasons, expected=False, rank=rows.get("rank", 0))
    place = frame["decision"].map(_ORDER).fillna(1)
    order = ranked(frame, place, "rank", surest(frame), -frame["value"].abs(), *FINDINGS.key)
    return order.reset_index(drop=True)


def surest(rows: DataFrame) -> Series:
    """By what the surest rows come first.  rows: with q."""
    return rows["q"].clip(lower=SURE)


def decision(row: Mapping[Any, Any]) -> tuple[str, str]:
    """(finding, none or unjudged; why it is not a finding) of one number.  row: q, ci_low, ci_high, reason.

    >>> decision({"q": 0.01, "ci_low": 1.0, "ci_high": 3.0}), decision({"q": 0.01, "ci_low": -1.0, "ci_high": 3.0})
    (('finding', ''), ('none', 'q 0.01, but its interval holds 0'))
    """
    q = float(row["q"])
    if math.isnan(q):
        return UNJUDGED, str(row["reason"] or "no test")
    if is_finding(q, row["ci_low"], row["ci_high"]):
        if row.get("small", False):
            return NONE, "less than would matter"
        return FINDING, ""
    return NONE, f"q {nudged(q):.2g}" + ", but its interval holds 0" * bool(is_finding(q))
