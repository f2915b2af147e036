"""Reifying groups: R1, whether a gender word depends on a visual trait among people of one annotated gender. Ours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gslopes.captions.material import presence_of_images
from gslopes.captions.measures.estimates import compare
from gslopes.captions.measures.people import GENDER_GROUPS
from gslopes.captions.measures.rows import Recorder
from gslopes.stats.multiplicity import adjust
from gslopes.words.graph import Fact


def has_trait(facts: Iterable[Fact], words: Iterable[str]) -> bool:
    """Whether a listed thing is there, or a listed attribute of one (*long hair* is ``long_hair``)."""
    facts = tuple(facts)
    known = {fact.word for fact in facts if fact.kind != "relation"}
    known |= {f"{fact.word}_{fact.subject}" for fact in facts if fact.kind == "attribute"}
    return bool(known & set(words))


def trait_dependent(recorder: Recorder) -> None:
    """R1: share of images with the gender's word where truth has the trait, minus that where it has not."""
    material, mentions = recorder.material, recorder.mentions
    for column, values in material.groups.items():
        for value in sorted(set(values.values()) & set(GENDER_GROUPS)):
            images = [image for image in recorder.images if values.get(image) == value]
            group = GENDER_GROUPS[value]
            images_with = [i for i in images if any(m.group == group for m in mentions.identity(recorder.facts(i)))]
            table, clusters = presence_of_images({group: images_with}, images), material.cluster_numbers(images)
            for trait, words in sorted(mentions.lists["traits"].groups.items()):
                sides = [1 if has_trait(recorder.truth_facts(image), words) else -1 for image in images]
                differences = compare(table, np.array(sides, dtype=np.int8), recorder.options, clusters)
                if min(differences.n, differences.n_other) >= 10:
                    recorder.measure(
                        **differences.columns(0),
                        concept=f"{group} words by {trait}",
                        column=column,
                        group=value,
                        other=f"without {trait}",
                        estimator="difference of shares with and without the trait, Newcombe",
                        null_hypothesis="the gender's word is as likely with the trait as without",
                    )
    q = adjust(np.array([row["p"] for row in recorder.measures], dtype=np.float64), recorder.options.correction)
    for row, value in zip(recorder.measures, q, strict=True):
        row["q"] = float(value)
