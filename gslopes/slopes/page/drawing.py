"""What drawing a face does by itself, next to the slopes: for page, terminal, headline and summary."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.core import summary
from gslopes.report import numbers, units, words
from gslopes.slopes.page.loading import Drawn
from gslopes.stats.multiplicity import is_finding
from gslopes.stats.rounding import ranked

NOTE = """\
drawing: the label's change from the photo to value 0, with its 95 % interval, t over photos.
Value 0 is not a face's own value, so this averages over faces of both genders."""


def written(row: Mapping[Any, Any]) -> str:
    """The change with its interval."""
    return numbers.of_row(row, "drawing", units.writer_of(row))


def sentence(drawn: Drawn) -> str:
    """Which labels the drawing moves further than the whole sweep does; empty where it is not sure of any."""
    further = [row for row in drawn.values() if is_finding(row["q"])]
    if not further:
        return ""
    first = further[_ordered(pd.DataFrame(further)).index[0]]
    unit = {"presence": " points", "log-odds": " of the odds"}.get(units.measure_of(first), "")
    whole = units.writer_of(first)(first["sweep"])
    text = f"The drawing moves “{words.readable(first['label'])}” more than the attribute does: by {written(first)}"
    text += f"{unit} from the photo to value 0, by {whole} from end to end"
    return text + (
        f"; so it does {words.many(len(further) - 1, 'further label')}."
        if len(further) > 1
        else "."
    )


def summary_rows(drawn: pd.DataFrame) -> pd.DataFrame:
    """A table of drawing effects as the rows of ``core.summary.DRAWING``, those that exceed the sweep first."""
    names = {"classifier": "model", "attribute": "contrast", "drawing": "value"}
    return _ordered(drawn).rename(columns=names)[summary.DRAWING.columns]


def _ordered(drawn: pd.DataFrame) -> pd.DataFrame:
    """The surest first, then what moves furthest."""
    return ranked(drawn, "q", -drawn["drawing"].abs(), "label")
