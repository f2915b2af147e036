"""The techniques by name: what each needs, how it is to be read, which lists it uses, and what it assumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STAGES = ("human-labels", "system-labels", "human-captions", "system-captions")
HARMS = {"I": "identity", "R": "reifying", "S": "stereotyping", "E": "erasing", "D": "demeaning"}
_EXCLUDED_CAUSES = {
    ("system-captions", "system-labels"): "the vision model",
    ("system-captions", "human-captions"): "the human captions",
    ("human-captions", "human-labels"): "the system",
    ("system-labels", "human-labels"): "the language model",
}


# What whoever makes a stage could change.
_CHANGEABLE = {
    "human-labels": "the label set; what annotators are asked; who they are",
    "system-labels": "the vision model, its training labels, its threshold",
    "human-captions": "what annotators are asked; how many captions an image has",
    "system-captions": "the captioner, its training captions; words that it may not say",
}


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique.

    needs: of ``truth``, ``groups``, ``boxes``, ``gender``, ``tagger``.  reading: ``look`` (cases must be read) or
    ``face`` (numbers may be taken at face value).  origin: ``paper`` or ``ours``.  lists: word lists that it uses.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    reading: str
    origin: str
    assumptions: str
    lists: tuple[str, ...] = ()

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


def changeable(stage: str) -> str:
    """What could be changed at a stage, next to what cannot be the fault of it; empty for an unknown stage."""
    return _CHANGEABLE.get(stage, "")


_LABELS = (
    "Labels are complete and right; hypernyms match everyday language (couple lies below group); first sense holds."
)
_NON_IMAGEABLE = ("non-imageable-synsets", "non-imageable-adjectives", "visual-verbs")
_ALL = (
    Technique("I1", "imposed terms", ("truth",), "face", "ours",
              "Lists are exclusive, exhaustive and up to date, and are none of these.",
              ("identity-terms", "gender-words")),
    Technique("I2", "mismatch with perceived gender", ("truth", "gender"), "face", "ours",
              "Annotators' perception is not who a person is; one person is shown.", ("gender-words",)),
    Technique("I3", "marking", (), "face", "ours",
              "Every listed adjective of a person is an ethnicity term.", ("identity-terms",)),
    Technique("R1", "trait-dependent terms", ("truth", "gender"), "look", "ours",
              "Images with and without the trait are alike otherwise.", ("traits", "gender-words")),
    Technique("S1", "words wrongly included", ("truth",), "look", "paper",
              _LABELS + " With truth person, man is too specific.", _NON_IMAGEABLE),
    Technique("S2", "objects rightly mentioned or not", ("truth", "groups", "boxes"), "look", "paper",
              "What differs after size and place may be stereotype; the object may be somebody else's."),
    Technique("S3", "distributions between groups", ("groups",), "face", "ours",
              "Descriptive: groups may be photographed differently."),
    Technique("S4", "the same across stages", ("truth", "groups"), "face", "ours",
              "Descriptive; stages name the same things by the same concepts."),
    Technique("E1", "people", ("truth",), "look", "ours", "A person is meant wherever a word's sense is a person."),
    Technique("E2", "listed things", ("truth",), "face", "ours",
              "The list is the user's; truth names such things wherever they are.", ("artefacts",)),
    Technique("E3", "generic replacement", ("truth",), "face", "ours", "Truth's specific concept is right."),
    Technique("D1", "listed words", (), "look", "paper",
              "Lists are exclusive, exhaustive and up to date; the lower bound may be taken at face value.",
              ("demeaning-synsets", "demeaning-adjectives")),
    Technique("D2", "people unmentioned", ("truth",), "face", "paper",
              "First sense (pop as a father); the captioned person is not the poster's subject; abstract pictures."),
    Technique("D3", "context-specific", ("truth",), "look", "paper",
              "Skin tone and being Black are not the same thing; annotations have no age."),
    Technique("D4", "adjectives as nouns", ("tagger",), "look", "paper", "The tagger tells nouns from adjectives."),
)  # fmt: skip
TECHNIQUES = {technique.name: technique for technique in _ALL}
