"""What an editor that others made did: what it refused, whom it lost, what its wording moves, what else it changed."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc
from pandas import DataFrame

from gslopes.core import placebo, tables
from gslopes.frame.page import Content
from gslopes.report import words
from gslopes.slopes.measures.options import EDITOR, WORDING
from gslopes.slopes.page.page_data import by_measure
from gslopes.stats.intervals import Estimate, mean_t
from gslopes.stats.multiplicity import are_findings
from gslopes.stats.rounding import ranked

# Table, and the column that tells which of its rows are about an editor.
READ = (
    (tables.BALANCE, "classifier", EDITOR),
    (tables.OBSERVED, "classifier", EDITOR),
    (tables.GROUPS, "column", WORDING),
    (tables.DIFFERENCES, "column", WORDING),
)


def panels(run: Path) -> Iterator[Content]:
    """One entry of editor.html.j2 for each sweep that an editor was asked for; none if the editor is ours."""
    editing = tables.read_rows(tables.EDITING, run)
    for key, rows in placebo.real(editing).groupby("attribute"):
        name = str(key)
        along = pc.field("attribute") == name
        losses, groups, slopes, gaps = (
            tables.read_rows(table, run, None, along & (pc.field(column) == told))
            for table, column, told in READ
        )
        groups = groups.assign(shown=are_findings(groups))
        gaps = by_measure(gaps)
        gaps = gaps.assign(q=gaps[["q", "q_placebo"]].max(axis=1))
        gaps = gaps.assign(found=are_findings(gaps))
        same = editing[editing["attribute"] == placebo.name(name, "same")]
        yield {
            "attribute": words.perceived(name),
            "ends": placebo.ends_of(name),
            "rows": rows,
            "counts": counts(rows).to_dict("records"),
            "losses": losses.to_dict("records"),
            "groups": ranked(groups, "q").to_dict("records"),
            "slopes": slopes.to_dict("records"),
            "gaps": ranked(gaps, "q", "label").to_dict("records"),
            "around": {part: around(rows, same, part) for part in ("background", "clothes")},
        }


def counts(editing: DataFrame) -> DataFrame:
    """How many pictures of each sweep and value have each status.  editing: rows of EDITING."""
    by = editing.groupby(["attribute", "value", "status"]).size()
    return by.rename("n").reset_index().rename(columns={"attribute": "contrast"})


def around(rows: DataFrame, same: DataFrame, part: str) -> list[Estimate]:
    """How far a part of the pictures changed, of 255: at each value, with no change asked for, and beyond that.

    rows: of EDITING, of one sweep.  same: of its placebo.
    """
    by_photo = rows.pivot(index="photo", columns="value", values=part)
    still = same.groupby("photo")[part].mean()
    columns = [*(by_photo[value] for value in by_photo), still, by_photo.mean(axis=1) - still]
    return [mean_t(column.to_numpy(float)) for column in columns]
