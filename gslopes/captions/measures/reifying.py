"""Reifying groups: R1, whether a gender word depends on a visual trait among people of one annotated gender. Ours."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from gslopes.captions.material import Material, flags
from gslopes.captions.measures.estimates import compare
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, difference_row
from gslopes.captions.options import AuditOptions
from gslopes.language.graph import Fact
from gslopes.stats.multiplicity import adjust

_GENDERED = {"female": "feminine", "male": "masculine"}


def has_trait(facts: Iterable[Fact], words: Iterable[str]) -> bool:
    """Whether a listed thing is there, or a listed attribute of one (*long hair* is ``long_hair``)."""
    facts = tuple(facts)
    known = {fact.word for fact in facts if fact.kind != "relation"}
    known |= {f"{fact.word}_{fact.subject}" for fact in facts if fact.kind == "attribute"}
    return bool(known & set(words))


def trait_dependent(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """R1: share of images with the gender's word where truth has the trait less that where it has not."""
    mentions = material.mentions
    lists = mentions.lists.versions("traits", "gender-words")
    header = RowHeader("reifying", "R1", target, truth, reading="look", lists=lists)
    rows = []
    for column, values in material.groups.items():
        for value in sorted(set(values.values()) & set(_GENDERED)):
            images = [image for image in material.images(target, truth) if values.get(image) == value]
            word = _GENDERED[value]
            having = [i for i in images if any(m.group == word for m in mentions.identity(material.facts(target, i)))]
            table = flags({word: having}, images)
            for trait, words in sorted(mentions.lists["traits"].groups.items()):
                with_it = [has_trait(material.facts(truth, image), words) for image in images]
                found = compare(table, np.where(with_it, 1, -1).astype(np.int8), options, material.cluster_of(images))
                if min(found.n, found.n_other) < 10:
                    continue
                rows.append(
                    difference_row(
                        header,
                        found,
                        concept=f"{word} words by {trait}",
                        column=column,
                        group=value,
                        other=f"without {trait}",
                        estimator="difference of shares with and without the trait, Newcombe",
                        null_hypothesis="the gender's word is as likely with the trait as without",
                    )
                )
    q = adjust(np.array([row["p"] for row in rows], dtype=np.float64), options.correction)
    return TechniqueResult(
        [row | {"q": float(value) if not math.isnan(value) else math.nan} for row, value in zip(rows, q, strict=True)]
    )
