"""Does the sweep move its target, what else moves, and which sweeps failed?

Of an editor that others made: what it refused, whom it lost, what its wording moves, what else it changed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from pandas import DataFrame

from gslopes.core import crossed, dropped, files, placebo, read_beside, tables
from gslopes.faces.gate.verdict import MEASURES
from gslopes.frame.page import Content
from gslopes.report import numbers, words
from gslopes.slopes.measures.options import EDITOR, WORDING
from gslopes.slopes.page.page_data import by_measure
from gslopes.stats.intervals import Estimate, mean_t
from gslopes.stats.multiplicity import are_findings
from gslopes.stats.rounding import highest, ranked

NAMES = read_beside(__file__, "validity.toml")


def sweeps(run: Path, values: crossed.Values, pairs: bool = False) -> list[Content]:
    """One entry for each attribute with verdicts: counts, drop reasons, and what the readings did along the sweep.

    values: attribute to its K values.  pairs: whether others made the pictures: then also how far each reading goes.
    """
    verdicts = tables.read_rows(tables.VERDICTS, run)
    readings = tables.read_rows(tables.READINGS, run)
    side_effects = what_else_moves(run)
    entries = []
    for name, of_group in verdicts.groupby("attribute", sort=True):
        attribute = str(name)
        if placebo.is_placebo(attribute):
            continue
        rows = readings.query("attribute == @attribute")
        steps = values.get(attribute, ())
        entries.append(
            {
                "attribute": words.perceived(attribute),
                "verdicts": of_group,
                "reasons": dropped(of_group["reason"]).items(),
                "moved": side_effects.get(attribute, ()),
                "off_readings": [*map(_name, filter(None, of_group["off_target_reading"].mode()))],
                "values": list(steps),
                "curves": _curves(rows, attribute, steps),
                "read": attribute in set(rows["reading"]),
                "own": 10 * rows.query("reading == 'tone' and step == -1")["score"],
                "changes": _changes(rows, attribute, len(steps) - 1) if pairs else (),
            }
        )
    return entries


def _name(reading: str) -> str:
    """A reading as people call it."""
    return NAMES.get(reading, words.printable(reading))


def _changes(readings: DataFrame, attribute: str, last: int) -> list[tuple[str, Estimate]]:
    """(reading, its mean change from end to end with the 95 % t interval), but for the attribute's own."""
    wide = readings.pivot_table(index=["reading", "photo"], columns="step", values="score").reindex(
        columns=[0, last]
    )
    apart = wide[last] - wide[0]
    moved = apart.mask(
        wide.index.get_level_values("reading") == "identity", wide.min(axis=1)
    ).groupby("reading")
    return [
        (_name(str(name)), mean_t(by.to_numpy(float))) for name, by in moved if name != attribute
    ]


MOST = 20  # labels of a table


def explained(run: Path, slopes: DataFrame) -> list[Content]:
    """One panel a classifier and attribute of a set that others made: what goes with what else moved, surest first.

    slopes: rows of core.tables.SLOPES to read.
    """
    keys = ["classifier", "attribute"]
    panels = []
    frame = tables.read_rows(tables.EXPLAINED, run, tables.EXPLAINED.columns).dropna(subset="slope")
    both = ranked(
        frame.merge(slopes[[*keys, "label", "decision", "q"]], on=[*keys, "label"]), "q", "label"
    )
    for (classifier, attribute), part in both.groupby(keys, sort=True):
        rows = part[:MOST].assign(reading=part["reading"].map(NAMES).fillna("")).to_dict("records")
        moving = [row for row in rows if row["decision"] in ("finding", "open") and row["reading"]]
        first = (
            moving[highest([np.nan_to_num(row["share_low"]) for row in moving])] if moving else None
        )
        panels.append(
            {
                "classifier": classifier,
                "attribute": words.perceived(str(attribute)),
                "rows": rows,
                "left": len(part) - len(rows),
                "first": first,
            }
        )
    return panels


def what_else_moves(run: Path) -> dict[str, list[tuple[str, str]]]:
    """Attribute to (reading, its slope as a share of the target's with the 95 % interval), as the stage gate prints it.

    From RUN/validity.json, which the stage gate writes; empty without it.
    """
    try:
        content = files.read_json(run / "validity.json")
        by_attribute = {}
        for measured in content["attributes"]:
            rows = []
            for name, share in measured["leakage"].items():
                if share["value"] is not None:
                    text = numbers.with_interval(
                        share["value"], share["low"], share["high"], numbers.ratio
                    )
                    rows.append((_name(name), text))
            by_attribute[str(measured["attribute"])] = rows
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return by_attribute


def _curves(readings: DataFrame, attribute: str, values: Sequence[float]) -> list[Content]:
    """Mean of each reading at each value with its 95 % t interval over photos, None without one; the target first."""
    curves = []
    for name, of_group in readings.query("step >= 0").groupby("reading", sort=True):
        by_step = of_group.groupby("step")["score"]
        if list(by_step.groups) != list(range(len(values))):
            continue
        means = DataFrame([mean_t(scores.to_numpy(float)) for _, scores in by_step])
        curves.append(
            {
                "name": _name(str(name)),
                "target": name == attribute,
                "unit": name not in MEASURES,
                "mean": numbers.rounded(means["value"]),
                "low": numbers.rounded(means["low"]),
                "high": numbers.rounded(means["high"]),
            }
        )
    return sorted(curves, key=lambda curve: not curve["target"])


# -- an editor that others made ----------------------------------------------------------------------------------------

# Table, and the column that tells which of its rows are about an editor.
READ = (
    (tables.BALANCE, "classifier", EDITOR),
    (tables.OBSERVED, "classifier", EDITOR),
    (tables.GROUPS, "column", WORDING),
    (tables.DIFFERENCES, "column", WORDING),
)


def editor_panels(run: Path) -> Iterator[Content]:
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
