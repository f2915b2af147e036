"""The techniques by name, as techniques.toml declares them: what each needs, how it is to be read, what it assumes."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STAGES = ("human-labels", "system-labels", "human-captions", "system-captions")
HARMS = {"I": "identity", "R": "reifying", "S": "stereotyping", "E": "erasing", "D": "demeaning"}
_EXCLUDED_CAUSES = {
    ("system-captions", "system-labels"): "the vision model",
    ("system-captions", "human-captions"): "the human captions",
    ("human-captions", "human-labels"): "the system",
    ("system-labels", "human-labels"): "the language model",
}


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique; fields as in techniques.toml."""

    name: str
    title: str
    needs: list[str]
    reading: str
    origin: str
    lists: list[str]
    assumptions: str

    @property
    def harm(self) -> str:
        """The harm that it measures."""
        return HARMS[self.name[0]]

    def describe(self, target: str, truth: str, why: str) -> dict[str, Any]:
        """Its row of the techniques table.  why: it cannot run; empty if it can."""
        truth = truth if "truth" in self.needs else ""
        row = {name: getattr(self, name) for name in ("harm", "title", "reading", "origin", "assumptions")}
        row |= {"technique": self.name, "stage": target, "truth": truth, "needs": ", ".join(self.needs)}
        row |= {"ran": "no" if why else "yes", "why": why}
        return row | {"not_the_fault_of": excluded_causes(target, truth) if truth else ""}


def excluded_causes(target: str, truth: str) -> str:
    """What cannot have caused a difference between two stages."""
    return _EXCLUDED_CAUSES.get((target, truth), "nothing is excluded")


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
TECHNIQUES = {name: Technique(name=name, **facts) for name, facts in _DECLARED.items()}
