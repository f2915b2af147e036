"""The finding in one plain sentence: the strongest label, and how many labels move."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gslopes.report import caution, numbers, units, words
from gslopes.slopes.report import decisions
from gslopes.slopes.report.decisions import Decision


@dataclass(frozen=True, slots=True)
class Headline:
    """What the first screen says about one classifier and attribute.

    strongest: the label of the steepest finding, an expected one if no other moves; empty if there is none.
    moves, still, unjudged: labels.  expected: of those that move, how many name the attribute.
    """

    sentence: str
    strongest: str
    moves: int
    still: int
    unjudged: int
    expected: int = 0


def headline(rows: pd.DataFrame, found: Mapping[str, Decision], attribute: str) -> Headline:
    """The sentence about one classifier along one attribute.

    rows: those to read, see ``core.tables.reading``.  found: of ``decisions.decide``.
    """
    codes = [one.code for one in found.values()]
    unjudged = codes.count(decisions.UNJUDGED)
    moving = [label for label, one in found.items() if one.moves]
    judged, moves = len(codes) - unjudged, len(moving)
    if not judged:
        text = f"No label's answer varies on enough photos to say whether it moves with {words.perceived(attribute)}"
        return Headline(f"{text}{_nearest(rows, found)}.", "", 0, 0, unjudged)
    still = {label for label, one in found.items() if one.code != decisions.UNJUDGED and not one.moves}
    quiet = [_nothing(row) for row in rows.to_dict("records") if str(row["label"]) in still]
    if not moves:
        text = _none(quiet, words.perceived(attribute), decisions.PLACEBO in codes)
        return Headline(f"{text}.", "", 0, judged, unjudged)
    named = [label for label in moving if found[label].expected]
    leading = [label for label in moving if label not in named] or named
    by_label = rows.drop_duplicates("label").set_index("label").loc[leading]
    # one unit is not more than another: labels of most photos' answers first, by how sure they are where units differ
    same = len({units.measure_of(row) for row in by_label.to_dict("records")}) == 1
    size = by_label["slope"].abs() if same else by_label["t"].abs()
    order = by_label.assign(_size=size, _name=by_label.index).sort_values(["_size", "_name"], ascending=[False, True])
    first = order.iloc[0]
    end = words.ends(attribute)[0 if first["slope"] < 0 else 1]
    text = f"{_moves(first, words.printable(order.index[0]), end, words.ends(attribute)[1])}; "
    text += f"{moves:,} of {_labels(judged)} move{'s' * (moves == 1)}{_as_expected(named, moves)}"
    clear = sum(one.clear for one in quiet)
    text += f", {clear:,} do{'es' * (clear == 1)} not" if clear else ""
    text += f", of {len(quiet) - clear:,} it cannot be said" if len(quiet) > clear else ""
    if decisions.FINDING not in codes:
        text += f". Not settled: {found[str(order.index[0])].why or 'no placebo sweep was run'}"
    return Headline(f"{text}.", str(order.index[0]), moves, judged - moves, unjudged, len(named))


def _nothing(row: Mapping[Hashable, Any]) -> caution.Nothing:
    """A label that is judged and does not move, as ``caution`` takes it."""
    measure = units.measure_of(row)
    spread = row.get("sd")
    matters = caution.MATTERS.get(measure, caution.OF_SPREAD * float("nan" if spread is None else spread))
    unit = " points per step" if measure == "presence" else " per step"
    ends = numbers.interval(row["ci_low"], row["ci_high"], units.writer(measure))
    name = f"“{words.label(str(row['label']))}”"
    return caution.Nothing(name, row["ci_low"], row["ci_high"], int(row["n"]), matters, ends + unit)


def _none(quiet: Sequence[caution.Nothing], attribute: str, placebo: bool) -> str:
    """The sentence where no label moves: none does, or it cannot be said."""
    clear, widest = [one for one in quiet if one.clear], caution.widest(quiet)
    chance = "chance or a placebo explains" if placebo else "chance explains"
    if not clear:
        which = f"{widest.name} moves" if len(quiet) == 1 else f"any of {_labels(len(quiet))} moves"
        return caution.cannot_tell(widest, f"whether {which} with {attribute} more than {chance}", "photo")
    if len(clear) < len(quiet):
        text = f"None of {_labels(len(quiet))} is shown to move with {attribute} more than {chance}; of "
        text += f"{len(quiet) - len(clear):,} it cannot be said with {words.many(widest.n, 'photo')}"
        return f"{text}: {caution.fits(widest)}"
    text = f"{clear[0].name} does not move" if len(clear) == 1 else f"None of {_labels(len(clear))} moves"
    return f"{text} with {attribute} more than {chance} ({words.many(widest.n, 'photo')}; widest: {widest.shown})"


def _as_expected(named: Sequence[str], moves: int) -> str:
    """What the sentence says of expected labels that move."""
    if not named:
        return ""
    which = f"“{words.label(named[0])}”" if len(named) == 1 else f"{len(named):,}"
    return ", as expected" if len(named) == moves else f" ({which} as expected)"


def _nearest(rows: pd.DataFrame, found: Mapping[str, Decision]) -> str:
    """The label whose answer varies on most photos, and what it would take; empty where the table does not say."""
    if "varying" not in rows or not rows["varying"].notna().any():
        return ""
    label = str(rows["label"].iloc[int(rows["varying"].astype(float).fillna(0).to_numpy().argmax())])
    why = found[label].why
    return f". The nearest is “{words.label(label)}”: {why}" if why else ""


def _moves(row: pd.Series, name: str, end: str, upper: str) -> str:
    """What one label does, with its interval.  end: where it is more frequent.  upper: where the values rise to."""
    measure = units.measure_of(row)
    sign = row["ci_low"] * row["ci_high"] > 0
    if measure == "presence":
        low, high = sorted(abs(row[x]) for x in ("ci_low", "ci_high"))
        interval = f" {numbers.interval(low, high, numbers.size)}" if sign else ""
        return f"“{name}” appears {numbers.size(row['slope'])} points more often per step toward {end}{interval}"
    write = units.writer(measure)
    what = (
        "the odds of the score of" if measure == "log-odds" else "the score of" if measure == "score" else "the number"
    )
    verb = "rise" if row["slope"] > 0 else "fall"
    verb += "" if measure == "log-odds" else "s"
    interval = f" {numbers.interval(row['ci_low'], row['ci_high'], write)}" if sign else ""
    change = write(row["slope"]).lstrip("+−")
    own = units.unit_of(row).removesuffix(" per unit") if measure == "value" else ""
    change += f" {own}" if own and own != "of its number" else ""
    return f"{what[0].upper()}{what[1:]} “{name}” {verb} by {change} per step toward {upper}{interval}"


def _labels(many: int) -> str:
    return words.many(many, "label")
