"""What a terminal shows of two runs compared: slopes side by side, and the interval of their difference."""

from __future__ import annotations

import math
import textwrap

import pandas as pd

from gslopes.core import summary
from gslopes.report import caution, numbers, units, words
from gslopes.report.terminal import Column, table

COLUMNS = (
    Column("label", number=False),
    *(Column("first"), Column("second"), Column("difference"), Column("95 % interval", number=False)),
    *(Column("p"), Column("q"), Column("photos"), Column("changed", number=False)),
)
WIDTH = 100  # columns of a sentence
PAIR = ["first_classifier", "classifier", "attribute"]
_TEXTS = ("first_classifier", "classifier", "attribute", "label")
_NUMBERS = ("n", "active", "slope", "other_slope", "difference", "ci_low", "ci_high", "p", "p_test", "q")
# What a condition on the changes may name, each with a value of its type; see ``changed``.
CONDITION: dict[str, float | str | bool] = {
    **dict.fromkeys(_TEXTS, ""),
    **dict.fromkeys(_NUMBERS, 0.0),
    "changed": False,
}
NOTE = """\
first, second: slopes in the two runs, over the photos that both answered at all values: percentage
points per unit of the attribute (photo-rate), or by the label's measure: with %, the change of its
score's odds, with three decimals, of its number. difference: second minus first; interval: 95 %, t over
the photos' own differences. p: of the test by changes of their signs (of that t where no change of
signs reaches the difference); q: p adjusted over the classifier's labels; null hypothesis: nothing
changed. changed: q < 0.05.
photos: those with the label at one value at least in either run, of those that both answered."""


def print_changes(changes: pd.DataFrame, *, limit: int = 60) -> str:
    """The changes as tables, a block for each classifier and attribute, the surest change first.

    changes: the columns of ``slopes.fit.compare.COLUMNS``.  limit: rows a block.
    """
    blocks = []
    for (first, second, attribute), part in changes.groupby(PAIR, sort=True):
        name = words.both(str(first), str(second))
        title = f"{name}: change of each label's slope along {words.perceived(str(attribute))}"
        judged = part[part["note"] == ""]
        judged = judged.assign(_t=-(judged["difference"] / judged["se"].where(judged["se"] > 0)).abs().fillna(0))
        shown = judged.sort_values(["q", "_t", "label"])[:limit]
        styles = ["bold" if q < 0.05 else "dim" for q in shown["q"]]
        lines = [title]
        if not (judged["q"] < 0.05).any():
            lines.append(textwrap.fill(none_changed(judged), WIDTH))
        if len(shown):
            lines += ["", table(COLUMNS, [_cells(row) for _, row in shown.iterrows()], styles)]
        if len(part) > len(judged):
            lines.append(f"  and {words.many(len(part) - len(judged), 'label')} on too few photos to judge")
        if len(judged) > limit:
            lines.append(f"  and {len(judged) - limit:,} more, see --json")
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, NOTE])


def changed(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes with the column ``changed``, whether q < 0.05; a row's names stand first."""
    names = ["classifier", "attribute", "label"]
    return changes.assign(changed=changes["q"] < 0.05)[[*names, *changes.columns.drop(names), "changed"]]


def findings_table(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes as the rows of ``core.summary.FINDINGS``; a change with q < 0.05 is a finding."""
    pairs = zip(changes["first_classifier"], changes["classifier"], strict=True)
    rows = {"model": [words.both(str(old), str(new)) for old, new in pairs], "contrast": changes["attribute"]}
    rows |= {name: changes[name] for name in ("label", "n", "ci_low", "ci_high", "q")}
    unit = changes["measure"].map({**units.UNITS, "log-odds": "log-odds per unit"})
    found = pd.DataFrame({**rows, "value": changes["difference"], "unit": unit, "reason": changes["note"]})
    return summary.decided(found)


def headline(changes: pd.DataFrame) -> str:
    """How many labels changed, in a sentence; or that it cannot be said."""
    judged = changes[changes["q"].notna()]
    count = int((judged["q"] < 0.05).sum())
    return f"{count:,} of {len(judged):,} slopes changed (q < 0.05)." if count else none_changed(judged)


def none_changed(judged: pd.DataFrame, along: str = "") -> str:
    """The sentence where no slope changed: none did, or it cannot be said, by the rule of ``report.caution``.

    judged: the changes that have a q, none of them below 0.05.  along: such as ``perceived gender``.
    """
    along = f" along {along}" if along else ""
    if judged.empty:
        return f"No label is on enough photos to say whether its slope{along} changed."
    found = []
    for row in judged.to_dict("records"):
        measure = units.measure_of(row)
        ends = numbers.interval(row["ci_low"], row["ci_high"], units.writer(measure))
        shown = f"{ends}{' points' * (measure == 'presence')} per step"
        name, matters = f"the change of “{words.label(str(row['label']))}”", caution.MATTERS.get(measure, math.nan)
        found.append(caution.Nothing(name, row["ci_low"], row["ci_high"], int(row["n"]), matters, shown))
    if all(one.clear for one in found):
        return f"None of {words.many(len(found), 'label')} changed its slope{along} more than chance explains."
    which = "the slope of one label" if len(found) == 1 else f"any of {len(found):,} slopes"
    return f"{caution.cannot_tell(caution.widest(found), f'whether {which}{along} changed', 'photo')}."


def _cells(row: pd.Series) -> list[str]:
    write = units.writer(units.measure_of(row))
    return [
        words.shorten(words.label(row["label"]), 24),
        write(row["slope"]),
        write(row["other_slope"]),
        write(row["difference"]),
        numbers.interval(row["ci_low"], row["ci_high"], write),
        numbers.probability(row["p_test"]),
        numbers.probability(row["q"]),
        f"{row['active']:,} of {row['n']:,}",
        "yes" if row["q"] < 0.05 else "no",
    ]
