"""Denying self-identification: I1 imposed terms, I2 mismatch with perceived gender, I3 marking. Ours."""

from __future__ import annotations

from collections.abc import Iterable

from gslopes.captions.measures.people import GENDER_GROUPS, annotated_genders, count_people
from gslopes.captions.measures.rows import Recorder
from gslopes.words.graph import Fact
from gslopes.words.mentions import IDENTITY, Mentions

READINGS = ("match", "mismatch", "both", "neutral", "none")


def reading(annotated: str, facts: Iterable[Fact], mentions: Mentions) -> str:
    """How captions describe one person who is annotated ``female`` or ``male``: one of READINGS.

    neutral: person words without a gender.  none: no person is mentioned.
    """
    facts = tuple(facts)
    genders = {mention.group for mention in mentions.identity(facts)} & {"feminine", "masculine"}
    if len(genders) == 2:
        return "both"
    if genders:
        return "match" if genders == {GENDER_GROUPS[annotated]} else "mismatch"
    return "neutral" if mentions.people(facts) else "none"


def imposed_terms(recorder: Recorder) -> None:
    """I1: images with a person where the target has a term of a category and truth has none of it."""
    mentions = recorder.mentions
    images = [image for image in recorder.images if mentions.people(recorder.truth_facts(image))]
    images_with: dict[str, list[str]] = {category: [] for category in IDENTITY}
    for image in images:
        known = {m.category for m in mentions.identity(recorder.truth_facts(image)) if m.group != "neutral"}
        terms = [m for m in mentions.identity(recorder.facts(image)) if m.group != "neutral"]
        for category in sorted({m.category for m in terms} - known):
            images_with[category].append(image)
            recorder.case(category, image, word=", ".join(sorted({m.word for m in terms if m.category == category})))
    recorder.image_shares(images_with, images)


def gender_mismatch(recorder: Recorder) -> None:
    """I2: over images annotated female or male in which truth shows exactly one person."""
    material = recorder.material
    genders = annotated_genders(material)
    images = [i for i in recorder.images if i in genders and count_people(material, recorder.truth, i) == 1]
    images_with: dict[str, list[str]] = {name: [] for name in READINGS}
    for image in images:
        described = reading(genders[image], recorder.facts(image), material.mentions)
        images_with[described].append(image)
        if described == "mismatch":
            recorder.case(described, image, group=genders[image])
    recorder.image_shares(images_with, images, note="the mismatch is with perceived gender")


def marking(recorder: Recorder) -> None:
    """I3: share of images with an ethnicity or skin term of a person, by group."""
    mentions = recorder.mentions
    marked = [
        i for i in recorder.images if any(m.category == "ethnicity" for m in mentions.identity(recorder.facts(i)))
    ]
    recorder.image_shares({"ethnicity": marked}, recorder.images)
