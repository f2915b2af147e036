"""Error rates by value, and differences between real groups next to the slopes: for page, terminal and summary."""

from pathlib import Path

import pyarrow.compute as pc
from pandas import DataFrame

from gslopes.core import Record, read_beside, summary, tables
from gslopes.frame.page import Content
from gslopes.report import inline, numbers, words
from gslopes.slopes.measures.options import EDITOR
from gslopes.slopes.page import decisions
from gslopes.stats.multiplicity import are_findings
from gslopes.stats.rounding import ranked

MOST_ROWS = 40
_TEXTS = read_beside(__file__, "observed.toml")
UNITS = _TEXTS["units"]
MEANING = _TEXTS["meaning"]  # in the order in which they are shown
ORDER = list(MEANING)


def panels(run: Path) -> list[Content]:
    """One panel of observed.html.j2 a classifier, attribute and pair of groups; none without unedited photos.

    Raises: TableError if the table is damaged.
    """
    frame = tables.read_rows(tables.OBSERVED, run, None, pc.field("classifier") != EDITOR)
    keys = ["classifier", "attribute", "column", "group", "other"]
    return [_panel(part) for _, part in frame.groupby(keys, sort=True)]


def summary_rows(frame: DataFrame) -> DataFrame:
    """A table of observed differences as the rows of ``core.summary.OBSERVED``, those that disagree first."""
    names = {"classifier": "model", "attribute": "contrast", "observed": "value"}
    clear = frame[frame["agreement"].isin(ORDER[:4])]
    order = ranked(clear, clear["agreement"].map(ORDER.index), "q", "label")
    return order.rename(columns=names)[summary.OBSERVED.columns]


def _panel(part: DataFrame) -> Content:
    """Two groups by one classifier and attribute.  rows: with ``shown``, are they findings.  left: rows left out."""
    by = part["note"] != "", part["agreement"].map(ORDER.index), part["q"].fillna(1), "label"
    part = part.assign(shown=are_findings(part))
    printed = ranked(part, *by)[:MOST_ROWS].to_dict("records")
    told = inline.plain(
        "observed.txt.j2",
        decisions.HOUSE,
        rows=printed,
        counts=part["agreement"].value_counts(),
        order=ORDER,
        judged=(part["note"] == "").sum(),
    )
    return {
        "sentences": told.splitlines()[:4],
        "rows": printed,
        "meanings": MEANING,
        "units": UNITS,
        "left": len(part) - len(printed),
    }


# -- what no picture shows ---------------------------------------------------------------------------------------------


def soundness(run: Path) -> Content:
    """How often what no picture shows is answered, for soundness.html.j2; sentences: one a classifier and attribute.

    Raises: TableError if a table is damaged.
    """
    slopes = tables.reading(tables.read_rows(tables.SLOPES, run))
    frames = {"rows": tables.read_rows(tables.SOUNDNESS, run), "moves": slopes}
    shown = {name: frame.to_dict("records") for name, frame in frames.items()}
    told = inline.plain("soundness.txt.j2", decisions.HOUSE, **shown)
    return {**shown, "sentences": told.splitlines()}


# -- error rates ------------------------------------------------------------------------------------------------------

MOST_ERRORS = 40
NAMES = _TEXTS["errors"]


def error_panels(run: Path) -> list[Content]:
    """One panel of errors.html.j2 a classifier and attribute, placebos aside; none without a truth.

    Raises: TableError if a table is damaged.
    """
    slopes = tables.read_rows(tables.ERROR_SLOPES, run)
    rates = tables.read_rows(tables.ERROR_RATES, run)
    built = []
    for classifier, attribute, part, fake in decisions.by_pair(slopes):
        along = rates.query("classifier == @classifier and attribute == @attribute")
        built.append(_error_panel(classifier, attribute, part, along, fake))
    return built


def _error_panel(
    classifier: str,
    attribute: str,
    slopes: DataFrame,
    rates: DataFrame,
    fake: DataFrame,
) -> Content:
    """Error rates along one attribute.  heads: the values.  rows: see ``_error_row``.  left: rows left out."""
    by = "column", slopes["measure"].map(list(NAMES).index), -slopes["slope"].abs(), "label"
    printed = ranked(slopes, *by)[:MOST_ERRORS]
    values = rates.drop_duplicates("step").set_index("step").sort_index()["value"]
    rows = [
        _error_row(row, _of(rates, row).set_index("step").reindex(values.index), _of(fake, row))
        for row in printed.to_dict("records")
    ]
    first = ranked(printed.query("measure == 'error'"), "q").to_dict("records")[0]
    return {
        "classifier": classifier,
        "perceived": words.perceived(attribute),
        "sentence": inline.plain(
            "error.txt.j2",
            decisions.HOUSE,
            row=first,
            rates=_of(rates, first).sort_values("step").to_dict("records"),
            ends=words.ends(attribute),
        ),
        "heads": values,
        "rows": rows,
        "left": len(slopes) - len(printed),
    }


def _of(frame: DataFrame, row: Record) -> DataFrame:
    keys = ["column", "label", "measure"]
    return frame[(frame[keys] == [row[name] for name in keys]).all(axis=1)]


def _error_row(row: Record, rates: DataFrame, fake: DataFrame) -> Content:
    return {
        **row,
        "name": f"{words.label(row['label'])}: {NAMES[row['measure']]}",
        "rates": rates.to_dict("records"),
        "placebos": ", ".join(map(numbers.points, fake["slope"])) or numbers.NONE,
        "decision": decisions.SHOWN[row["decision"]],
    }
