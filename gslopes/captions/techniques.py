"""The techniques by name: what each needs, how it is to be read, what it assumes; and running them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gslopes.captions.material import BLAME, STAGES, Material
from gslopes.captions.measures import (
    context,
    demeaning,
    distributions,
    erasing,
    identity,
    inclusion,
    nouns,
    people,
    reifying,
    salience,
)
from gslopes.captions.measures.rows import TechniqueResult
from gslopes.captions.options import AuditOptions

Runner = Callable[[Material, str, str, AuditOptions], TechniqueResult]


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique.

    needs: of ``truth``, ``groups``, ``boxes``, ``gender``, ``tagger``.  reading: ``look`` or ``face``.
    """

    name: str
    harm: str
    title: str
    needs: tuple[str, ...]
    reading: str
    origin: str
    run: Runner
    assumptions: str


def _only(function: Callable[[Material, str, AuditOptions], TechniqueResult]) -> Runner:
    return lambda material, target, truth, options: function(material, target, options)


LABELS = (
    "Labels are complete and right; hypernyms match everyday language (couple lies below group); first sense holds."
)
TECHNIQUES: dict[str, Technique] = {
    technique.name: technique
    for technique in (
        Technique(
            "I1", "identity", "imposed terms", ("truth",), "face", "ours", identity.imposed_terms,
            "Lists are exclusive, exhaustive and up to date, and are none of these.",
        ),
        Technique(
            "I2", "identity", "mismatch with perceived gender", ("truth", "gender"), "face", "ours",
            identity.gender_mismatch, "Annotators' perception is not who a person is; one person is shown.",
        ),
        Technique(
            "I3", "identity", "marking", (), "face", "ours", _only(identity.marking),
            "Every listed adjective of a person is an ethnicity term.",
        ),
        Technique(
            "R1", "reifying", "trait-dependent terms", ("truth", "gender"), "look", "ours", reifying.trait_dependent,
            "Images with and without the trait are alike otherwise.",
        ),
        Technique(
            "S1", "stereotyping", "words wrongly included", ("truth",), "look", "paper",
            inclusion.words_wrongly_included, LABELS + " With truth person, man is too specific.",
        ),
        Technique(
            "S2", "stereotyping", "objects rightly mentioned or not", ("truth", "groups", "boxes"), "look", "paper",
            salience.objects_mentioned,
            "What differs after size and place may be stereotype; the object may be somebody else's.",
        ),
        Technique(
            "S3", "stereotyping", "distributions between groups", ("groups",), "face", "ours",
            _only(distributions.between_groups), "Descriptive: groups may be photographed differently.",
        ),
        Technique(
            "S4", "stereotyping", "the same across stages", ("truth", "groups"), "face", "ours",
            distributions.between_stages, "Descriptive; stages name the same things by the same concepts.",
        ),
        Technique(
            "E1", "erasing", "people", ("truth",), "look", "ours", people.people_erased,
            "A person is meant wherever a word's sense is a person.",
        ),
        Technique(
            "E2", "erasing", "listed things", ("truth",), "face", "ours", erasing.listed_things,
            "The list is the user's; truth names such things wherever they are.",
        ),
        Technique(
            "E3", "erasing", "generic replacement", ("truth",), "face", "ours", erasing.generic_replacement,
            "Truth's specific concept is right.",
        ),
        Technique(
            "D1", "demeaning", "listed words", (), "look", "paper", _only(demeaning.listed_words),
            "Lists are exclusive, exhaustive and up to date; the lower bound may be taken at face value.",
        ),
        Technique(
            "D2", "demeaning", "people unmentioned", ("truth",), "face", "paper", people.people_unmentioned,
            "First sense (pop as a father); the captioned person is not the poster's subject; abstract pictures.",
        ),
        Technique(
            "D3", "demeaning", "context-specific", ("truth",), "look", "paper", context.context_specific,
            "Skin tone and being Black are not the same thing; annotations have no age.",
        ),
        Technique(
            "D4", "demeaning", "adjectives as nouns", ("tagger",), "look", "paper", nouns.identity_as_nouns,
            "The tagger tells nouns from adjectives.",
        ),
    )
}  # fmt: skip


def lacking(technique: Technique, material: Material, target: str, truth: str) -> str:
    """Why a technique cannot run, as a sentence; empty if it can."""
    if "truth" in technique.needs and (not truth or not material.images(target, truth)):
        return "It needs a stage that is taken as truth."
    if "groups" in technique.needs and not material.pairs:
        return "It needs groups: --groups FILE."
    if "boxes" in technique.needs and not material.boxes:
        return "It needs boxes: human labels with COCO instances or Visual Genome objects."
    genders = {value for values in material.groups.values() for value in values.values()}
    if "gender" in technique.needs and not genders & {"female", "male"}:
        return "It needs groups with the values female and male."
    if "tagger" in technique.needs and material.tag is None:
        return "It needs a tagger: pip install 'gslopes[captions]'."
    return ""


def default_truth(stages: Iterable[str]) -> str:
    """Stage 1, else 3; empty if there is neither."""
    return next((stage for stage in ("human-labels", "human-captions") if stage in set(stages)), "")


def default_targets(stages: Iterable[str], truth: str) -> list[str]:
    """All stages above the truth."""
    there = [stage for stage in STAGES if stage in set(stages)]
    return [stage for stage in there if not truth or STAGES.index(stage) > STAGES.index(truth)] or there[-1:]


def exculpated(target: str, truth: str) -> str:
    """What a finding cannot be the fault of."""
    return BLAME.get((target, truth), "nothing is excluded")


def run(
    material: Material, truth: str, targets: Sequence[str], names: Sequence[str], options: AuditOptions
) -> tuple[TechniqueResult, list[dict[str, str]]]:
    """All the techniques at all targets: what they found, and what ran and did not with the reason."""
    whole = TechniqueResult()
    described: list[dict[str, str]] = []
    for name in names:
        technique = TECHNIQUES[name]
        for target in targets:
            why = lacking(technique, material, target, truth)
            if not why:
                whole.add(technique.run(material, target, truth, options))
            described.append(describe(technique, target, truth, why))
    if "D2" in names and material.areas:
        for first, second in pairwise(targets):
            whole.add(people.widened(material, first, second, truth, options))
    return whole, described


def describe(technique: Technique, target: str, truth: str, why: str) -> dict[str, str]:
    """One row of the techniques table."""
    truth = truth if "truth" in technique.needs else ""
    return {
        "technique": technique.name,
        "harm": technique.harm,
        "title": technique.title,
        "stage": target,
        "truth": truth,
        "needs": ", ".join(technique.needs),
        "reading": technique.reading,
        "origin": technique.origin,
        "ran": "no" if why else "yes",
        "why": why,
        "not_the_fault_of": exculpated(target, truth) if truth else "",
        "assumptions": technique.assumptions,
    }
