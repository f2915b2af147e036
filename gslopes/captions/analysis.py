"""Running the techniques: what each of them finds at every target, and why some of them cannot run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Material
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
from gslopes.captions.measures.rows import Recorder, TechniqueResult
from gslopes.captions.techniques import TECHNIQUES

RUNNERS: dict[str, Callable[[Recorder], None]] = {
    "I1": identity.imposed_terms,
    "I2": identity.gender_mismatch,
    "I3": identity.marking,
    "R1": reifying.trait_dependent,
    "S1": inclusion.words_wrongly_included,
    "S2": salience.objects_mentioned,
    "S3": distributions.between_groups,
    "S4": distributions.between_stages,
    "E1": people.people_erased,
    "E2": erasing.listed_things,
    "E3": erasing.generic_replacement,
    "D1": demeaning.listed_words,
    "D2": people.people_unmentioned,
    "D3": context.context_specific,
    "D4": nouns.identity_as_nouns,
}


def missing_need(needs: Sequence[str], material: Material, target: str, truth: str) -> str:
    """The first need of a technique that is not met, as a sentence; empty if it can run."""
    genders = {value for values in material.groups.values() for value in values.values()}
    met = {
        "truth": (bool(truth and material.images(target, truth)), "a stage that is taken as truth"),
        "groups": (bool(material.pairs), "groups: --groups FILE"),
        "boxes": (bool(material.boxes), "boxes: human labels with COCO instances or Visual Genome objects"),
        "gender": (bool(genders & {"female", "male"}), "groups with the values female and male"),
        "tagger": (material.tag is not None, "a tagger: pip install 'gslopes[captions]'"),
    }
    return next((f"It needs {what}." for need, (has, what) in met.items() if need in needs and not has), "")


def run_technique(name: str, material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """What one technique finds at one target."""
    technique = TECHNIQUES[name]
    header = {"harm": technique.harm, "technique": name, "reading": technique.reading, "origin": technique.origin}
    header |= {"truth": truth if "truth" in technique.needs else "", "note": ""}
    header |= {"lists": material.mentions.lists.versions(*technique.lists)}
    found = Recorder(material, options, target, truth, header)
    RUNNERS[name](found)
    return found


def run_techniques(
    material: Material, truth: str, targets: Sequence[str], names: Sequence[str], options: AuditOptions
) -> tuple[TechniqueResult, list[dict[str, Any]]]:
    """What the techniques find at all targets, and the rows of the techniques table."""
    found = TechniqueResult()
    described = []
    for name in names:
        for target in targets:
            why = missing_need(TECHNIQUES[name].needs, material, target, truth)
            if not why:
                found.add(run_technique(name, material, target, truth, options))
            described.append(TECHNIQUES[name].describe(target, truth, why))
    if "D2" in names and material.areas:
        for first, second in pairwise(targets):
            found.measures += people.unmentioned_changes(material, first, second, truth, options)
    return found, described
