"""Two runs compared, for terminal and page: slopes side by side, differences with intervals, photos that changed."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder
from gslopes.frame.findings import decide
from gslopes.report import caution, numbers, units, words
from gslopes.report.inline import render
from gslopes.report.terminal import Column, table
from gslopes.slopes.report import decisions
from gslopes.stats.multiplicity import LEVEL

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

    changes: the columns of ``slopes.fit.differences.COLUMNS``.  limit: rows a block.
    """
    blocks = []
    for (first, second, attribute), part in changes.groupby(PAIR, sort=True):
        name = words.both(str(first), str(second))
        title = f"{name}: change of each label's slope along {words.perceived(str(attribute))}"
        judged = part[part["note"] == ""]
        judged = judged.assign(_t=-(judged["difference"] / judged["se"].where(judged["se"] > 0)).abs().fillna(0))
        printed = judged.sort_values(["q", "_t", "label"])[:limit]
        styles = ["bold" if q < LEVEL else "dim" for q in printed["q"]]
        lines = [title]
        if not (judged["q"] < LEVEL).any():
            lines.append(textwrap.fill(none_changed(judged), WIDTH))
        if len(printed):
            rows = []
            for row in printed.to_dict("records"):
                write = units.writer(units.measure_of(row))
                texts = [write(row[name]) for name in ("slope", "other_slope", "difference")]
                ends = numbers.interval(row["ci_low"], row["ci_high"], write)
                tests = [numbers.probability(row[name]) for name in ("p_test", "q")]
                counted = f"{row['active']:,} of {row['n']:,}", "yes" if row["q"] < LEVEL else "no"
                rows.append([words.shorten(words.label(row["label"]), 24), *texts, ends, *tests, *counted])
            lines += ["", table(COLUMNS, rows, styles)]
        if len(part) > len(judged):
            lines.append(f"  and {words.many(len(part) - len(judged), 'label')} on too few photos to judge")
        if len(judged) > limit:
            lines.append(f"  and {len(judged) - limit:,} more, see --json")
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, NOTE])


def changed(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes with the column ``changed``, whether q < 0.05; a row's names stand first."""
    names = ["classifier", "attribute", "label"]
    return changes.assign(changed=changes["q"] < LEVEL)[[*names, *changes.columns.drop(names), "changed"]]


def findings_table(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes as the rows of ``core.summary.FINDINGS``; a change with q < 0.05 is a finding."""
    pairs = zip(changes["first_classifier"], changes["classifier"], strict=True)
    rows = {"model": [words.both(str(old), str(new)) for old, new in pairs], "contrast": changes["attribute"]}
    rows |= {name: changes[name] for name in ("label", "n", "ci_low", "ci_high", "q")}
    unit = changes["measure"].map({**units.UNITS, "log-odds": "log-odds per unit"})
    findings = pd.DataFrame({**rows, "value": changes["difference"], "unit": unit, "reason": changes["note"]})
    return decide(findings)


def headline(changes: pd.DataFrame) -> str:
    """How many labels changed, in a sentence; or that it cannot be said."""
    judged = changes[changes["q"].notna()]
    count = int((judged["q"] < LEVEL).sum())
    return f"{count:,} of {len(judged):,} slopes changed (q < {LEVEL:g})." if count else none_changed(judged)


def none_changed(judged: pd.DataFrame, along: str = "") -> str:
    """The sentence where no slope changed: none did, or it cannot be said, by the rule of ``report.caution``.

    judged: the changes that have a q, none of them below 0.05.  along: such as ``perceived gender``.
    """
    along = f" along {along}" if along else ""
    if judged.empty:
        return f"No label is on enough photos to say whether its slope{along} changed."
    unchanged = []
    for row in judged.to_dict("records"):
        name = f"the change of “{words.label(str(row['label']))}”"
        unchanged.append(decisions.nothing(row, name, row["share"], int(row["units"]), f"q {row['q']:.2g}"))
    if all(change.clear for change in unchanged):
        return f"None of {words.many(len(unchanged), 'label')} changed its slope{along} more than chance explains."
    which = "the slope of one label" if len(unchanged) == 1 else f"any of {len(unchanged):,} slopes"
    return (
        f"{caution.cannot_tell(caution.widest(unchanged), f'whether {which}{along} changed', *decisions.over(judged))}."
    )


# -- the page ---------------------------------------------------------------------------------------------------------

HERE = Path(__file__).parents[1] / "templates"

MOST_LABELS = 40


@dataclass(frozen=True, slots=True)
class Pair:
    """One classifier and attribute on the page: its title, its sentence, its rows, and how many are left out."""

    title: str
    ends: tuple[str, str]
    sentence: str
    rows: tuple[dict[str, Any], ...]
    left: int


def write_changes(
    out: Path,
    changes: pd.DataFrame,
    names: tuple[str, str],
) -> Path:
    """Write OUT/index.html; it opens from the disk and asks nothing of any server.

    changes: the columns of ``slopes.fit.differences.COLUMNS``.  names: of the two runs.

    Returns the path of the page.

    Raises: StorageError.
    """
    runfolder.make_folder(out)
    groups = changes.groupby(PAIR, sort=True)
    pairs = [_pair(words.both(str(old), str(new)), str(a), part) for (old, new, a), part in groups]
    html = render(
        "changes.html.j2",
        house=HERE,
        scripts=("page-base.js", "page-plots.js", "page-changes.js"),
        data={"changes": [{"ends": pair.ends, "rows": pair.rows} for pair in pairs], "decisions": {}},
        plots=True,
        pairs=pairs,
        first=words.printable(names[0]),
        second=words.printable(names[1]),
        level=LEVEL,
        most=MOST_LABELS,
    )
    page = out / "index.html"
    runfolder.write_bytes(page, html.encode("utf-8", "backslashreplace"))
    return page


def _pair(classifiers: str, attribute: str, part: pd.DataFrame) -> Pair:
    judged = part[part["note"] == ""]
    order = judged.assign(_flat=-judged["difference"].abs()).sort_values(["q", "_flat", "label"])
    rows = tuple(map(_row, order[:MOST_LABELS].to_dict("records")))
    changed = order[order["q"] < LEVEL]
    perceived = words.perceived(attribute)
    if len(changed):
        first = changed.iloc[changed["difference"].abs().to_numpy().argmax()]
        measure = units.measure_of(first)
        write = units.writer(measure)
        unit = {"presence": "points per unit", "log-odds": "of the odds per unit"}.get(measure, "per unit")
        size = f"{write(first['slope'])} to {write(first['other_slope'])} {unit}"
        sentence = (
            f"The slope of “{words.label(first['label'])}” went from {size}, a change of "
            f"{numbers.with_interval(first['difference'], first['ci_low'], first['ci_high'], write)}; "
            f"{len(changed):,} of {len(judged):,} labels changed."
        )
    else:
        sentence = none_changed(judged, perceived)
    return Pair(f"{classifiers} along {perceived}", words.ends(attribute), sentence, rows, len(part) - len(rows))


def _row(row: dict[Any, Any]) -> dict[str, Any]:
    keys = {"slope": "slope", "other": "other_slope", "difference": "difference", "low": "ci_low", "high": "ci_high"}
    cells: dict[str, Any] = dict(zip(keys, numbers.rounded([row[name] for name in keys.values()], 8), strict=True))
    write = units.writer(units.measure_of(row))
    return cells | {
        "label": words.label(row["label"]),
        "changed": bool(row["q"] < LEVEL),
        "texts": [write(row[name]) for name in ("slope", "other_slope", "difference")],
        "interval": numbers.interval(row["ci_low"], row["ci_high"], write),
        "unit": units.UNITS[units.measure_of(row)],
        "q": numbers.probability(row["q"]),
        "n": int(row["n"]),
    }
