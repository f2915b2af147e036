"""Denying self-identification (I1, I2, I3), and reifying groups (R1): a gender word that goes by a trait. Ours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gslopes.captions.material import presence_of_images
from gslopes.captions.measures.estimates import LEAST, compare
from gslopes.captions.measures.people import count_people
from gslopes.captions.measures.rows import Recorder
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.words.graph import Fact
from gslopes.words.mentions import IDENTITY, Mentions

READINGS = ("match", "mismatch", "both", "neutral", "none")
GENDER_GROUPS = {"female": "feminine", "male": "masculine"}
"""Annotated gender to the group of its words."""


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
        true_categories = {m.category for m in mentions.identity(recorder.truth_facts(image)) if m.group != "neutral"}
        terms = [m for m in mentions.identity(recorder.facts(image)) if m.group != "neutral"]
        for category in sorted({m.category for m in terms} - true_categories):
            images_with[category].append(image)
            recorder.case(category, image, word=", ".join(sorted({m.word for m in terms if m.category == category})))
    recorder.image_shares(images_with, images)


def gender_mismatch(recorder: Recorder) -> None:
    """I2: over images annotated female or male in which truth shows exactly one person."""
    material = recorder.material
    genders = {i: v for values in material.groups.values() for i, v in values.items() if v in GENDER_GROUPS}
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
    identity = recorder.mentions.identity
    marked = [i for i in recorder.images if any(m.category == "ethnicity" for m in identity(recorder.facts(i)))]
    recorder.image_shares({"ethnicity": marked}, recorder.images)


def has_trait(facts: Iterable[Fact], words: Iterable[str]) -> bool:
    """Whether a listed thing is there, or a listed attribute of one (*long hair* is ``long_hair``)."""
    facts = tuple(facts)
    things = {fact.word for fact in facts if fact.kind != "relation"}
    things |= {f"{fact.word}_{fact.subject}" for fact in facts if fact.kind == "attribute"}
    return bool(things & set(words))


def trait_dependent(recorder: Recorder) -> None:
    """R1: share of images with the gender's word where truth has the trait, minus that where it has not."""
    material, mentions = recorder.material, recorder.mentions
    for column, values in material.groups.items():
        for value in sorted(set(values.values()) & set(GENDER_GROUPS)):
            images = [image for image in recorder.images if values.get(image) == value]
            group = GENDER_GROUPS[value]
            images_with = [i for i in images if any(m.group == group for m in mentions.identity(recorder.facts(i)))]
            table = presence_of_images({group: images_with}, images)
            for trait, words in sorted(mentions.lists["traits"].groups.items()):
                sides = [1 if has_trait(recorder.truth_facts(image), words) else -1 for image in images]
                differences = compare(table, np.array(sides, dtype=np.int8), recorder.options)
                if min(differences.n, differences.n_other) >= LEAST:
                    recorder.difference(
                        differences,
                        0,
                        concept=f"{group} words by {trait}",
                        column=column,
                        group=value,
                        other=f"without {trait}",
                        estimator="difference of shares with and without the trait, Newcombe",
                        null_hypothesis="the gender's word is as likely with the trait as without",
                    )
    q = benjamini_hochberg(np.array([row["p"] for row in recorder.measures], dtype=np.float64))
    for row, value in zip(recorder.measures, q, strict=True):
        row["q"] = float(value)
