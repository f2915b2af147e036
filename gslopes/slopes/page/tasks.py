"""A language model's tasks side by side: each one's scale, which agree in sign, and which is the only one to move.

A scale is the label that a task calls high, see ``ask.classifiers.prompt``: an option, a number, a list of words.
"""

from collections.abc import Mapping, Sequence

from gslopes.ask import names
from gslopes.core import Facts, frozen
from gslopes.report import inline, words
from gslopes.slopes.page import decisions, lead
from gslopes.slopes.page.loading import Finding


@frozen
class Scale:
    """One task's.

    task, model, attribute: names.  effect, slope: in words.  decision: of its label.
    rises: toward the attribute's second end.  orders: by how much two orders of the options differ; empty for one.
    """

    task: str
    model: str
    attribute: str
    effect: str
    slope: str
    decision: decisions.Decision
    rises: bool
    orders: str


def scale_of(
    finding: Finding, decided: Mapping[str, decisions.Decision], manifest: Facts
) -> Scale | None:
    """The scale of a finding's task; None if its classifier was given none.

    manifest: the content of run.json, which has what each classifier was asked.
    """
    facts = manifest.get("classifiers", {}).get(finding.classifier, {})
    if not facts.get("scale"):
        return None
    label = str(facts["scale"])
    task, orders = (words.printable(facts.get(key, "")) for key in ("task", "orders"))
    model = names.split(finding.classifier)[1][0]
    kind, _, listed = label.partition(":")
    name = f"a word of {listed}" if kind == "list" else words.readable(label)
    head = task, model, finding.attribute
    rows = finding.read.query("label == @label")
    if rows.empty:
        never = decisions.Decision(decisions.UNJUDGED, "no answer has it")
        return Scale(*head, f"“{name}” is never the answer", "", never, False, orders)
    row = rows.iloc[0]
    decision = decided[label]
    effect = lead.effect_of(row, name) if decision.moves else f"“{name}” is not shown to move"
    return Scale(*head, effect, lead.slope_of(row), decision, bool(row["slope"] > 0), orders)


def sentences(scales: Sequence[Scale | None]) -> list[str]:
    """For each model and attribute with several tasks, which of them move, and whether they agree in sign.

    scales: of each classifier along each attribute; None if it has no task.
    """
    known = list(filter(None, scales))
    told = inline.plain("tasks.txt.j2", decisions.HOUSE, scales=known, by_order=decisions.BY_ORDER)
    return told.splitlines()
