"""Two runs compared, for terminal and page: slopes side by side, differences with intervals, photos that changed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder, summary
from gslopes.frame.findings import decide
from gslopes.report import caution, numbers, units, words
from gslopes.report.inline import render
from gslopes.report.terminal import Column, table, wrap
from gslopes.slopes.report import pictures
from gslopes.slopes.report.observed import name_of, writer
from gslopes.slopes.report.pictures import Wanted
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
    return decide(found)


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


# -- observed differences of both versions ----------------------------------------------------------------------------

MOST_ROWS = 40
HEADS = ("slope, first", "second", "observed, first", "second", "change", "95 % interval", "q")
OBSERVED_NOTE = """\
Observed: mean answer about one group's unedited photos minus the other's, by the label's own measure.
Change: second minus first over the same photos; interval and p: Welch's t over the photos' own changes,
null hypothesis: nothing changed; q: over the labels."""


@dataclass(frozen=True, slots=True)
class ObservedPanel:
    """One pair of groups by one pair of classifiers.  rows: cells as texts, the label first."""

    title: str
    sentences: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def observed_panels(observed: pd.DataFrame | None) -> list[ObservedPanel]:
    """One panel a pair of classifiers, attribute and pair of groups.  observed: of ``slopes.compare_observed``."""
    if observed is None:
        return []
    keys = ["first_classifier", "classifier", "attribute", "column", "group", "other"]
    return [_observed_panel(part) for _, part in observed.groupby(keys, sort=True)]


def print_observed_changes(observed: pd.DataFrame) -> str:
    """The same for a terminal."""
    columns = [Column(head, number="interval" not in head and head != "label") for head in ("label", *HEADS)]
    parts = []
    for one in observed_panels(observed):
        said = "\n".join(map(wrap, one.sentences))
        parts.append(f"real photos, {one.title}\n{said}\n\n{table(columns, [list(row) for row in one.rows])}")
    return "\n\n".join([*parts, OBSERVED_NOTE])


def observed_rows(observed: pd.DataFrame | None) -> pd.DataFrame | None:
    """The same as the rows of ``core.summary.OBSERVED``, those whose slope alone shrank first."""
    if observed is None:
        return None
    order = observed.assign(_none=observed["agreement"] == "").sort_values(["_none", "q", "label"])
    frame = order.rename(columns={"classifier": "model", "attribute": "contrast", "change": "value"})
    nothing = dict.fromkeys(("share", "share_low", "share_high"), float("nan"))
    return frame.assign(**nothing)[summary.OBSERVED.columns]


def observed_sentence(row: dict[Any, Any]) -> str:
    """That a slope shrank and the observed difference did not; else empty."""
    if not row["agreement"]:
        return ""
    write = writer(row)
    label, one, other = (words.printable(str(row[name])) for name in ("label", "group", "other"))
    change = numbers.with_interval(row["change"], row["ci_low"], row["ci_high"], write)
    return (
        f"“{label}”: its slope went from {write(row['slope'])} to {write(row['other_slope'])}; between real {one} and "
        f"{other} the difference went from {write(row['first'])} to {write(row['second'])} (change {change}). "
        f"{row['agreement'][0].upper()}{row['agreement'][1:]}: the second version may have been tuned to the audit."
    )


def _observed_panel(part: pd.DataFrame) -> ObservedPanel:
    flat = part.assign(_none=part["agreement"] == "", _flat=part["slope_q"].fillna(1), _less=part["q"].fillna(1))
    shown = flat.sort_values(["_none", "_flat", "_less", "label"])[:MOST_ROWS].to_dict("records")
    first = shown[0]
    one, other = (words.printable(str(first[name])) for name in ("group", "other"))
    name = words.both(str(first["first_classifier"]), str(first["classifier"]))
    title = f"{name} along {words.perceived(str(first['attribute']))}: {one} minus {other}"
    kept = [text for text in map(observed_sentence, shown) if text]
    count = int((part["agreement"] != "").sum())
    lead = f"Of {len(part):,} labels, {count:,} whose slope shrank and whose observed difference is not shown to."
    return ObservedPanel(title, (lead, *kept[:3]), HEADS, tuple(map(_observed_cells, shown)), OBSERVED_NOTE)


def _observed_cells(row: dict[Any, Any]) -> tuple[str, ...]:
    write = writer(row)
    numbers_of = [write(row[name]) for name in ("slope", "other_slope", "first", "second", "change")]
    ends = numbers.interval(row["ci_low"], row["ci_high"], write)
    return (words.shorten(name_of(row), 24), *numbers_of, ends, numbers.probability(row["q"]))


# -- the page ---------------------------------------------------------------------------------------------------------

HERE = Path(__file__).parents[1] / "templates"

MOST_LABELS = 40


@dataclass(frozen=True, slots=True, eq=False)
class ChangedPhoto:
    """One photo on which a label's slope changed much.

    name: as shown.  label: as returned.  values: (K,) of the second run.  first, second: the label's scores along the
    sweep in both runs, None where it was not returned.  sweep: the pictures of the second run.
    """

    name: str
    label: str
    values: Sequence[float]
    first: Sequence[float | None]
    second: Sequence[float | None]
    sweep: Wanted


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
    run: Path,
    changes: pd.DataFrame,
    photos: Sequence[ChangedPhoto],
    names: tuple[str, str],
    observed: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write OUT/index.html with the pictures next to it; it opens from the disk and asks nothing of any server.

    run: the second run's folder.  changes: the columns of ``slopes.fit.differences.COLUMNS``.  names: of the two runs.
    observed: of ``slopes.compare_observed``.  notes: warnings.

    Returns the path of the page.

    Raises: StorageError.
    """
    runfolder.make_folder(out)
    with runfolder.storage(out):
        files = pictures.write(out, run, [one.sweep for one in photos], "thumbs")
    groups = changes.groupby(PAIR, sort=True)
    pairs = [_pair(words.both(str(old), str(new)), str(a), part) for (old, new, a), part in groups]
    strips = [(one, files[key][0]) for one in photos if (key := (one.sweep.photo, one.sweep.attribute)) in files]
    html = render(
        "changes.html.j2",
        house=HERE,
        scripts=("page-base.js", "page-plots.js", "page-changes.js"),
        data={"changes": [{"ends": pair.ends, "rows": pair.rows} for pair in pairs], "decisions": {}},
        plots=True,
        pairs=pairs,
        observed=observed_panels(observed),
        notes=[words.printable(note) for note in notes],
        photos=[(one, file, _photo_cells(one)) for one, file in strips],
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
    rows = tuple(_row(row) for _, row in order[:MOST_LABELS].iterrows())
    changed = order[order["q"] < LEVEL]
    perceived = words.perceived(attribute)
    if len(changed):
        first = changed.iloc[changed["difference"].abs().to_numpy().argmax()]
        write, measure = _writer(first)
        unit = {"presence": "points per unit", "log-odds": "of the odds per unit"}.get(measure, "per unit")
        size = f"{write(first['slope'])} to {write(first['other_slope'])} {unit}"
        interval = numbers.interval(first["ci_low"], first["ci_high"], write)
        sentence = (
            f"The slope of “{words.label(first['label'])}” went from {size}, a change of "
            f"{write(first['difference'])} {interval}; {len(changed):,} of {len(judged):,} labels changed."
        )
    else:
        sentence = none_changed(judged, perceived)
    title = f"{classifiers} along {perceived}"
    return Pair(title, words.ends(attribute), sentence, rows, len(part) - len(rows))


def _row(row: pd.Series) -> dict[str, Any]:
    slope, other, difference, low, high, q = numbers.rounded(
        [row[name] for name in ("slope", "other_slope", "difference", "ci_low", "ci_high", "q")], 8
    )
    write, measure = _writer(row)
    texts = [write(row["slope"]), write(row["other_slope"]), write(row["difference"])]
    return {
        "label": words.label(row["label"]),
        "slope": slope,
        "other": other,
        "difference": difference,
        "low": low,
        "high": high,
        "changed": bool(q is not None and q < LEVEL),
        "texts": texts,
        "interval": numbers.interval(row["ci_low"], row["ci_high"], write),
        "unit": units.UNITS[measure],
        "q": numbers.probability(row["q"]),
        "n": int(row["n"]),
    }


def _writer(row: pd.Series) -> tuple[numbers.Format, str]:
    measure = units.measure_of(row)
    return units.writer(measure), measure


def _photo_cells(one: ChangedPhoto) -> list[tuple[str, str, str]]:
    """(value, score in the first run, score in the second) as texts."""
    values = [numbers.value(value, sign=True) for value in one.values]
    both = numbers.apart(math.nan if score is None else score for score in (*one.first, *one.second))
    return list(zip(values, both[: len(values)], both[len(values) :], strict=True))
