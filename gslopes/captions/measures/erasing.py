"""Erasing: E2 listed things and E3 generic replacement. Ours; E1 is in ``people``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gslopes.captions.material import Material, flags
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, case, share_row, shares, truth_text
from gslopes.captions.options import AuditOptions
from gslopes.language.graph import Fact
from gslopes.language.mentions import PERSON
from gslopes.language.wordnet import WordNet


def recalled(concept: str, target: Iterable[Fact], wordnet: WordNet) -> bool:
    """Whether the target names the thing, or something below it."""
    return any(fact.kind == "object" and wordnet.at_or_below(fact.concept, concept) for fact in target)


def replaced(truth: str, target: Iterable[Fact], wordnet: WordNet) -> str:
    """The generic concept that stands in the place of a specific person concept of truth; empty if it is named.

    A generic concept is a hypernym of it at or below ``person.n.01``.
    """
    facts = [fact for fact in target if fact.kind == "object"]
    if recalled(truth, facts, wordnet):
        return ""
    generic = [f.concept for f in facts if f.concept in wordnet.above(truth) and wordnet.at_or_below(f.concept, PERSON)]
    return min(generic, key=lambda name: -len(wordnet.above(name)), default="")


def listed_things(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """E2: recall of the listed things of truth, by group, beside that of other objects of similar size."""
    mentions = material.mentions
    artefacts, wordnet = mentions.lists["artefacts"], mentions.wordnet
    header = RowHeader("erasing", "E2", target, truth, lists=mentions.lists.versions("artefacts"))
    found = TechniqueResult()
    having: dict[str, dict[str, bool]] = {}
    for image in material.images(target, truth):
        facts = material.facts(target, image)
        for fact in material.facts(truth, image):
            if fact.kind == "object" and (fact.word in artefacts or fact.synset in artefacts):
                said = recalled(fact.concept, facts, wordnet)
                having.setdefault(fact.concept, {})[image] = said
                if not said:
                    text = truth_text(material, truth, image)
                    caption = next(iter(material.stages[target][image]), None)
                    found.cases.append(
                        case(
                            header,
                            "not recalled",
                            image,
                            caption,
                            word=fact.word,
                            concept=fact.concept,
                            truth_text=text,
                        )
                    )
    for concept, images in sorted(having.items()):
        base = sorted(images)
        found.measures += shares(header, material, flags({concept: [i for i in base if images[i]]}, base), options)
    if having and material.boxes:
        found.measures.append(_others(header, material, target, set(having)))
    return found


def _others(header: RowHeader, material: Material, target: str, listed: set[str]) -> dict[str, object]:
    """Recall of all other objects whose size lies in the deciles of the listed ones."""
    wordnet = material.mentions.wordnet
    sizes: list[tuple[float, bool, str, str]] = []
    for image in material.images(target):
        for box in material.boxes.get(image, ()):
            size = (box.x1 - box.x0) * (box.y1 - box.y0)
            sizes.append((size, box.synset in listed, image, box.synset))
    edges = np.quantile([size for size, *_ in sizes], np.linspace(0.1, 0.9, 9)) if sizes else np.empty(0)
    deciles = {int(np.searchsorted(edges, size)) for size, is_listed, *_ in sizes if is_listed}
    alike = [
        recalled(synset, material.facts(target, image), wordnet)
        for size, is_listed, image, synset in sizes
        if not is_listed and int(np.searchsorted(edges, size)) in deciles
    ]
    row = share_row(header, sum(alike), len(alike), concept="other objects of similar size")
    return row | {"estimator": "recall of instances in the same deciles of size"}


def generic_replacement(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """E3: truth names a specific person concept, the target only something above it; by group."""
    mentions = material.mentions
    wordnet = mentions.wordnet
    header = RowHeader("erasing", "E3", target, truth)
    found = TechniqueResult()
    base: dict[str, list[str]] = {}
    having: dict[str, list[str]] = {}
    for image in material.images(target, truth):
        facts = material.facts(target, image)
        for concept in sorted({f.concept for f in mentions.people(material.facts(truth, image))}):
            if concept == PERSON or not wordnet.at_or_below(concept, PERSON):
                continue
            base.setdefault(concept, []).append(image)
            generic = replaced(concept, facts, wordnet)
            if generic:
                having.setdefault(concept, []).append(image)
                text = truth_text(material, truth, image)
                caption = next(iter(material.stages[target][image]), None)
                found.cases.append(
                    case(header, "replaced", image, caption, word=generic, concept=concept, truth_text=text)
                )
    everything = sorted({image for images in base.values() for image in images})
    of_replaced = {image for images in having.values() for image in images}
    found.measures += shares(header, material, flags({"any person concept": of_replaced}, everything), options)
    for concept, images in sorted(base.items()):
        if len(images) >= options.min_active:
            found.measures += shares(header, material, flags({concept: having.get(concept, [])}, images), options)
    return found
