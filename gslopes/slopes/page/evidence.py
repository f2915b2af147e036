"""What is printed after a fit: the finding in a sentence, then one line a label."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pandas import DataFrame

from gslopes.core import placebo, read_beside, tables
from gslopes.core.crossed import split
from gslopes.report import inline, units, words
from gslopes.report.terminal import listed, wrap
from gslopes.slopes.expected import WORD
from gslopes.slopes.page import decisions, paper
from gslopes.slopes.page.lead import headline
from gslopes.slopes.page.loading import Drawn, Funnel, drawings, unanswered, with_facts
from gslopes.stats.rounding import ranked

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
