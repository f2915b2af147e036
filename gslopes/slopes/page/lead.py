"""The finding about one classifier along one attribute in a plain sentence; its words are in ``sentences.toml``.

Below: what is printed after a fit, the sentence first, then one line a label.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series

from gslopes.core import Names, Record, frozen, placebo, read_beside, tables, two_digits
from gslopes.core.crossed import split
from gslopes.report import inline, numbers, units, words
from gslopes.report.headline import MATTERS, OF_SPREAD, Nothing, Sentences, points, undecided
from gslopes.report.terminal import listed, wrap
from gslopes.slopes.expected import WORD
from gslopes.slopes.page import decisions, paper
from gslopes.slopes.page.decisions import (
    FINDING,
    FOLLOWS,
    HOME,
    HOUSE,
    NONE,
    OPEN,
    PLACEBO,
    SHOWN,
    UNJUDGED,
    Decision,
    by_drawing,
    by_order,
    counts,
)
from gslopes.slopes.page.loading import Drawn, Funnel, drawings, unanswered, with_facts
from gslopes.stats.multiplicity import is_finding
from gslopes.stats.rounding import highest, ranked

Decisions = Mapping[str, Decision]  # by label
HEADLINES = Sentences.read(HOME)
CROSSED = Sentences({**HEADLINES.texts, **Sentences.read(HOME, "crossed").texts})
WHY = Sentences.read(HOME, "why").texts
ORDER_MATTERS = 5  # points, from which a sentence names the order of a task's options
LONGEST = 90  # characters of a heading
_NAME = 31  # of a label in one
_LEAST = 9
_ATTRIBUTE = 24
_LOG = " (log points)"
WORTH_NAMING = 0.1  # share of a slope that light moves by itself, from which a sentence names it


@frozen
class Lead:
    """What the first screen tells about one classifier and attribute.

    sentence: in up to three lines: the heading, of at most ``LONGEST`` characters; its numbers; what is undecided.
    strongest: the label of the steepest finding, an expected one if no other moves; empty if no label moves.
    moves, still, unjudged: labels.  expected: of those that move, how many name the attribute.
    """

    sentence: str
    unjudged: int
    effect: str
    still: int = 0
    moves: int = 0
    expected: int = 0
    strongest: str = ""
    slope: str = ""


def headline(
    rows: DataFrame,
    decided: Decisions,
    attribute: str,
    drawn: Drawn | None = None,
) -> Lead:
    """The sentence about one classifier along one attribute, and what the drawing moves further than that.

    rows: those to read, see ``core.tables.reading``.  decided: of ``decisions.decide``.  drawn: see
    ``loading.drawings``.
    """
    # without the logarithm of a number that is there itself: it is no second answer
    as_numbers = {label.partition(" (")[0] for label in decided if not label.endswith(_LOG)}
    decided = {
        label: one
        for label, one in decided.items()
        if not (label.endswith(_LOG) and label.removesuffix(_LOG) in as_numbers)
    }
    lead = _lead(rows[rows["label"].isin(list(decided))], decided, attribute)
    moves = DataFrame([*(drawn or {}).values()], columns=tables.DRAWING.columns)
    text = inline.plain(
        "ahead.txt.j2",
        HOUSE,
        text=lead.sentence,
        rows=rows,
        effect_of=effect_of,
        further=by_drawing(moves[is_finding(moves["q"])]).to_dict("records"),
        order=by_order(rows),
        matters=ORDER_MATTERS,
        follows=FOLLOWS,
    )
    return replace(lead, sentence=text)


def _lead(rows: DataFrame, decided: Decisions, attribute: str) -> Lead:
    quiet = [
        nothing(
            row,
            f"“{words.shorten(words.readable(row['label']), _NAME)}”",
            row["intercept"] / 100,  # its line at 0: steadier
            int(row.get("units", row["n"])),
            WHY.get(one.reason, one.why),
        )
        for row in rows.to_dict("records")
        if (one := decided[str(row["label"])]).code in (PLACEBO, NONE)
    ]
    number = counts(decided)
    unjudged = number[UNJUDGED]
    if number[FINDING] + number[OPEN]:
        return _moving(rows, decided, attribute, quiet)
    if not quiet:
        return Lead(_too_few(rows, decided, attribute), unjudged, SHOWN[UNJUDGED])
    unclear = sum(not estimate.clear for estimate in quiet)
    text = _said(attribute).nothing(
        quiet,
        *over(rows),
        **_along(attribute),
    )
    if unjudged:
        text += HEADLINES.say("others", unjudged)
    effect = HEADLINES.say("still", 1 + unclear, open=f"{unclear:,}")
    return Lead(text, unjudged, effect, len(quiet))


def _moving(
    rows: DataFrame,
    decided: Decisions,
    attribute: str,
    quiet: Sequence[Nothing],
) -> Lead:
    """The lead if labels move.  quiet: those that are judged and do not."""
    leading = _leading(rows, decided)
    first = leading.iloc[0]
    label = str(leading.index[0])
    name = words.readable(label)
    number = counts(decided)
    moves = number[FINDING] + number[OPEN]
    expected = [label for label, one in decided.items() if one.moves and one.expected]
    slope = slope_of(first)
    along = _along(attribute)
    sentence = inline.plain(
        "lead.txt.j2",
        HOUSE,
        say=HEADLINES.say,
        of_kind=_said(attribute).say,
        effect=_heading(first, name, HEADLINES.say("between", **along)),
        ends=along["ends"],
        slope=slope,
        n=words.many(int(first.get("units", first["n"])), *over(rows)),
        light=first.get("light", math.nan),
        worth_naming=WORTH_NAMING,
        decided=decided,
        number=number,
        expected=expected,
        quiet=quiet,
        undecided=undecided,
    )
    effect = effect_of(first, name)
    return Lead(sentence, number[UNJUDGED], effect, len(quiet), moves, len(expected), label, slope)


def _leading(rows: DataFrame, decided: Decisions) -> DataFrame:
    """The labels that move, expected ones only if no other moves; findings first, then the steepest.

    One unit is not more than another: if units differ, the surest first.
    """
    by_label = rows.drop_duplicates("label").set_index("label")
    by_label = by_label.loc[[label for label in decided if decided[label].moves]]
    expected = Series([decided[label].expected for label in by_label.index], by_label.index)
    if not expected.all():
        by_label = by_label[~expected]
    measures = {units.measure_of(row) for row in by_label.to_dict("records")}
    size = by_label["slope" if len(measures) == 1 else "t"].abs()
    names = by_label.index.to_series()
    return ranked(by_label, names.map(lambda label: decided[label].code == OPEN), -size, names)


def _too_few(rows: DataFrame, decided: Decisions, attribute: str) -> str:
    """The sentence if no label is judged: which is the nearest to it, as far as the table tells."""
    nearest = ""
    if "varying" in rows and rows["varying"].notna().any():
        nearest = str(rows["label"].iloc[highest(rows["varying"])])
    return inline.plain(
        "too-few.txt.j2",
        HOUSE,
        photos=int(rows["n"].max()) if len(rows) else 0,
        crossed=units.is_crossed({"attribute": attribute}),
        label=nearest,
        decided=decided,
        **_along(attribute),
    )


def _said(attribute: str) -> Sentences:
    """The sentences about one attribute, or about the interaction of two."""
    if units.is_crossed({"attribute": attribute}):
        return CROSSED
    return HEADLINES


def _along(attribute: str) -> dict[str, Any]:
    """The attribute as headings name it, without named ends; of two that are crossed both; and the ends."""
    first, second, _ = map(words.perceived, split(attribute))
    name = words.shorten(words.perceived(placebo.attribute_of(attribute)), _ATTRIBUTE)
    ends = " to ".join(words.ends(attribute))
    return {"attribute": name, "first": first, "second": second, "ends": ends}


def nothing(
    row: Record,
    name: str,
    share: float,
    n: int,
    why: str,
) -> Nothing:
    """A slope that is judged and no finding, or such a change of one, as ``report.headline`` takes it.

    share: of answers with the label, if it is judged by presence.  n: units.  why: the reason that it may be 0 if its
    interval leaves that out.
    """
    measure = units.measure_of(row)
    ends = (row["ci_low"], row["ci_high"])
    spread = OF_SPREAD * float(row.get("sd") or math.nan)
    matters = MATTERS.get(measure, spread)
    if measure == "presence":
        matters = points(share)
    note = would_matter(row, matters) if matters > 0 else ""
    shown = f"{numbers.interval(*ends, units.writer(measure))} {units.after(row)}"
    estimate = Nothing(name, *ends, n, matters, shown, note)
    if estimate.holds_zero:
        return estimate
    return replace(estimate, note=why)


def would_matter(row: Record, matters: float) -> str:
    """What would matter, as a sentence has it in brackets."""
    if units.measure_of(row) == "log-odds":
        return f"{units.odds(matters):.2g} % or more would matter"
    return f"{two_digits(matters, '')} {units.short(row)} or more would matter"


def over(rows: DataFrame) -> Names:
    """The things that the rows' column units counts, one and several; photos without that column."""
    if "units" in rows and bool((rows["units"] < rows["n"]).any()):
        return "cluster's worth of photos", "clusters' worth of photos"
    return ("photo",)


# -- a label and its slope in words -----------------------------------------------------------------------------------


def effect_of(row: Series, name: str, between: str = "") -> str:
    """What one label does from end to end, in words that need no unit.

    between: what is said of the ends of the sweep.
    """
    facts = {"row": row, "name": name, "between": between, "split": split}
    return inline.plain("effect.txt.j2", HOUSE, **facts)


def _heading(row: Series, name: str, between: str) -> str:
    """``effect_of`` in ``LONGEST`` characters: if it is longer, without the ends, then with a part of the label."""
    text = effect_of(row, name, between)
    if len(text) >= LONGEST:
        text = effect_of(row, name)
    if len(text) < LONGEST:
        return text
    return effect_of(row, words.shorten(name, max(len(name) + LONGEST - 1 - len(text), _LEAST)))


def slope_of(row: Series) -> str:
    """The slope of a label with its interval and unit."""
    return f"{'interaction' if units.is_crossed(row) else 'slope'} {interval_of(row)} {units.after(row)}"


def interval_of(row: Any) -> str:
    """The slope of a label with its interval."""
    return numbers.of_row(row, "slope", units.writer_of(row))


# -- evidence ---------------------------------------------------------------------------------------------------------

_FORM = read_beside(__file__, "evidence.toml")


def print_evidence(
    slopes: DataFrame,
    *,
    limit: int = 15,
    funnels: Mapping[tuple[str, str], Funnel] | None = None,
    unanswered: Sequence[str] = (),
    drawn: Mapping[tuple[str, str], Drawn] | None = None,
    placebos: DataFrame | None = None,
) -> str:
    """Each label's slope by its measure as a table of at most 100 columns, one block for a classifier and attribute.

    slopes: a data frame with the columns of core.tables.SLOPES.
    limit: rows of all blocks together, the judged ones with the most evidence; each block has one.
    funnels: what became of the photos, see ``loading.funnels``.  unanswered: see ``loading.unanswered``.
    drawn: see ``loading.drawings``.  placebos: see ``loading.placebos``.
    """
    fakes = tables.PLACEBOS.empty() if placebos is None else placebos
    reading = tables.reading(slopes)
    if reading.empty:
        return paper.no_label(unanswered)
    blocks = []
    pairs = list(decisions.by_pair(reading))
    limit = max(limit // max(sum(not split(attribute)[2] for _, attribute, _, _ in pairs), 1), 1)
    for classifier, attribute, part, _ in pairs:
        floor = fakes.query("classifier == @classifier and attribute == @attribute")
        funnel = (funnels or {}).get((words.printable(classifier), attribute))
        effects = (drawn or {}).get((classifier, attribute), {})
        blocks.append(_block(part, floor, limit, funnel, effects))
    note = inline.plain(
        "evidence-note.txt.j2",
        decisions.HOUSE,
        permuted=reading["p_perm"].notna().any(),
        kinds=set(fakes["placebo"]),
        placebos=placebo.TEXTS,
        drawn=drawn,
        wrap=wrap,
    )
    return "\n\n".join([*blocks, *unanswered, note])


def _block(
    part: DataFrame,
    floor: DataFrame,
    limit: int,
    funnel: Funnel | None,
    drawn: Drawn,
) -> str:
    first = part.iloc[0]
    attribute = first["attribute"]
    decided = decisions.decide(part)
    judged = part[[decided[label].code != decisions.UNJUDGED for label in part["label"]]]
    return inline.plain(
        "evidence.txt.j2",
        decisions.HOUSE,
        classifier=first["classifier"],
        attribute=attribute,
        is_at_an_end=split(attribute)[2],
        sentence=headline(part, decided, attribute, drawn).sentence,
        present=decisions.cut(part),
        funnel=funnel,
        decided=decided,
        judged=judged["label"].tolist(),
        table=_table(judged, decided, floor, limit, drawn) if len(judged) else "",
        apart=decisions.apart(part, decided, floor),
        limit=limit,
        expected=WORD,
        wrap=wrap,
    )


def _table(
    judged: DataFrame,
    decided: Mapping[str, decisions.Decision],
    floor: DataFrame,
    limit: int,
    drawn: Drawn,
) -> str:
    codes = [decided[label] for label in judged["label"]]
    order = judged.assign(
        _plain=[not code.moves for code in codes], _named=[code.expected for code in codes]
    )
    first = ranked(order, "_plain", "_named", -order["t"].abs(), "label")[:limit]
    printed = ranked(first, "_named", "slope", "label")
    ends = floor.groupby("label").agg({"low": "min", "high": "max"}) if len(floor) else floor
    facts = {
        "decided": decided,
        "ends": ends.to_dict("index"),
        "drawn": drawn,
        "undrawn": not drawn,
        "units": units,  # not the row's
    }
    styles = [_FORM["styles"].get(decided[label].code, "") for label in printed["label"]]
    return listed(_FORM["columns"], tables.records(printed), styles, **facts)


def summary(run: Path, slopes: DataFrame) -> str:
    """The finding in a sentence for each classifier and attribute.  slopes: as in core.tables.SLOPES.

    What a crossed attribute does at an end of the other is left to the tables.
    """
    silent = unanswered(run)
    drawn = drawings(run)
    sentences = []
    for classifier, attribute, rows, _ in decisions.by_pair(
        tables.reading(with_facts(slopes, run))
    ):
        if split(attribute)[2]:
            continue
        lead = headline(rows, decisions.decide(rows), attribute, drawn.get((classifier, attribute)))
        sentences.append(f"{words.model(classifier)}: {lead.sentence}")
    if sentences:
        return " ".join([*sentences, *silent])
    return paper.no_label(silent)
