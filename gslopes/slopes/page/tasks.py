"""A language model's tasks side by side: each one's own scale, which of them agree in sign, and which alone shows any.

A scale is the label that a task says is high, see ``ask.classifiers.prompt``: an option, a number, a list of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gslopes.ask import names
from gslopes.report import words
from gslopes.slopes.page import decisions
from gslopes.slopes.page.decisions import Decision

if TYPE_CHECKING:
    from gslopes.slopes.page.loading import Finding
    from gslopes.slopes.page.screen import Screen


@dataclass(frozen=True, slots=True)
class Scale:
    """One task's.

    task, model: names.  effect, slope: in words.  decision: of its label.  rises: toward the attribute's second end.
    orders: by how much two orders of the options differ; empty where there is one.
    """

    task: str
    model: str
    effect: str
    slope: str
    decision: Decision
    rises: bool
    orders: str


def scale_of(
    finding: Finding, decided: Mapping[str, Decision], manifest: Mapping[str, Any]
) -> Scale | None:
    """The scale of a finding's task; None if its classifier was given none.

    manifest: the content of run.json, which says what each classifier was asked.
    """
    facts = manifest.get("classifiers", {}).get(finding.classifier, {})
    if not facts.get("scale"):
        return None
    label = str(facts["scale"])
    task, orders = (words.printable(facts.get(key, "")) for key in ("task", "orders"))
    model, (kind, _, listed) = names.split(finding.classifier)[1][0], label.partition(":")
    name = f"a word of {listed}" if kind == "list" else words.readable(label)
    rows = finding.read[finding.read["label"] == label]
    if rows.empty:
        never = Decision(decisions.UNJUDGED, "no answer has it")
        return Scale(task, model, f"“{name}” is never the answer", "", never, False, orders)
    row = rows.iloc[0]
    decision = decided[label]
    effect = decisions.effect_of(row, name) if decision.moves else f"“{name}” is not shown to move"
    return Scale(
        task, model, effect, decisions.slope_of(row), decision, bool(row["slope"] > 0), orders
    )


def sentences(screens: Sequence[Screen]) -> list[str]:
    """For each model and attribute with several tasks, which of them move, and whether they agree in sign."""

    def group(screen: Screen) -> tuple[str, str]:
        return (screen.scale.model if screen.scale else ""), screen.attribute

    several: list[tuple[str, Screen, list[Scale]]] = []
    for (model, _), of_group in groupby(
        sorted((one for one in screens if one.scale), key=group), key=group
    ):
        own = list(of_group)
        if len(own) > 1:
            several.append(
                (words.printable(model), own[0], [one.scale for one in own if one.scale])
            )
    models = len({model for model, _, _ in several})
    return [
        f"{model}: " * (models > 1) + _sentence(screen, scales) for model, screen, scales in several
    ]


def _sentence(screen: Screen, scales: Sequence[Scale]) -> str:
    """One model's tasks along one attribute."""
    moving = [scale for scale in scales if scale.decision.moves]
    if not moving:
        return f"No scale of {len(scales)} tasks is shown to move with {screen.perceived}."
    said = []
    for end, rises in zip(screen.ends, (False, True), strict=True):
        tasks = [scale.task for scale in moving if scale.rises == rises]
        said += (
            [f"{', '.join(tasks)} {'rises' if len(tasks) == 1 else 'rise'} toward {end}"]
            if tasks
            else []
        )
    still = ", ".join(scale.task for scale in scales if not scale.decision.moves)
    rest = f"; of {still} no move is shown" if still else ""
    if len(moving) == 1:
        return f"One of {len(scales)} tasks alone shows a move: {said[0]}{rest}."
    agree = "agree in sign" if len(said) == 1 else "do not agree in sign"
    return f"{len(moving)} of {len(scales)} tasks move and {agree}: {'; '.join(said)}{rest}."
