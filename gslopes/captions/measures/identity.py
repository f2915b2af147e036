"""Denying self-identification: I1 imposed terms, I2 mismatch with perceived gender, I3 marking. Ours."""

from __future__ import annotations

from collections.abc import Iterable

from gslopes.captions.material import Material, flags
from gslopes.captions.measures.people import persons
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, case, shares, truth_text
from gslopes.captions.options import AuditOptions
from gslopes.language.graph import Fact
from gslopes.language.mentions import IDENTITY, Mentions

READINGS = ("match", "mismatch", "both", "neutral", "none")
_GENDERED = {"female": "feminine", "male": "masculine"}


def reading(annotated: str, facts: Iterable[Fact], mentions: Mentions) -> str:
    """How a target speaks of one person who is annotated ``female`` or ``male``: one of READINGS.

    neutral: person words without a gender.  none: nobody is mentioned.
    """
    facts = tuple(facts)
    said = {mention.group for mention in mentions.identity(facts)} & {"feminine", "masculine"}
    if len(said) == 2:
        return "both"
    if said:
        return "match" if said == {_GENDERED[annotated]} else "mismatch"
    return "neutral" if mentions.people(facts) else "none"


def imposed_terms(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """I1: images with a person where the target has a term of a category and truth has none of it."""
    mentions = material.mentions
    header = RowHeader("identity", "I1", target, truth, lists=mentions.lists.versions("identity-terms", "gender-words"))
    images = [i for i in material.images(target, truth) if mentions.people(material.facts(truth, i))]
    having: dict[str, list[str]] = {category: [] for category in IDENTITY}
    found = TechniqueResult()
    for image in images:
        known = {m.category for m in mentions.identity(material.facts(truth, image)) if m.group != "neutral"}
        terms = [m for m in mentions.identity(material.facts(target, image)) if m.group != "neutral"]
        for category in sorted({m.category for m in terms} - known):
            having[category].append(image)
            words = ", ".join(sorted({m.word for m in terms if m.category == category}))
            text = truth_text(material, truth, image)
            caption = material.stages[target][image][0] if material.stages[target][image] else None
            found.cases.append(case(header, category, image, caption, word=words, truth_text=text))
    found.measures = shares(header, material, flags(having, images), options)
    return found


def gender_mismatch(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """I2: over images annotated female or male in which truth shows exactly one person."""
    mentions = material.mentions
    lists = mentions.lists.versions("gender-words")
    note = "the mismatch is with perceived gender"
    header = RowHeader("identity", "I2", target, truth, lists=lists, note=note)
    genders = {i: v for values in material.groups.values() for i, v in values.items() if v in _GENDERED}
    images = [i for i in material.images(target, truth) if i in genders and persons(material, truth, i) == 1]
    having: dict[str, list[str]] = {name: [] for name in READINGS}
    found = TechniqueResult()
    for image in images:
        said = reading(genders[image], material.facts(target, image), mentions)
        having[said].append(image)
        if said == "mismatch":
            caption = material.stages[target][image][0]
            text = truth_text(material, truth, image)
            found.cases.append(case(header, said, image, caption, group=genders[image], truth_text=text))
    found.measures = shares(header, material, flags(having, images), options)
    return found


def marking(material: Material, target: str, options: AuditOptions) -> TechniqueResult:
    """I3: share of images with an ethnicity or skin term of a person, by group."""
    mentions = material.mentions
    header = RowHeader("identity", "I3", target, lists=mentions.lists.versions("identity-terms"))
    images = material.images(target)
    having = [
        image
        for image in images
        if any(m.category == "ethnicity" for m in mentions.identity(material.facts(target, image)))
    ]
    return TechniqueResult(shares(header, material, flags({"ethnicity": having}, images), options))
