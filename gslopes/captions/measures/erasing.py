"""Erasing: E2 listed things and E3 generic replacement. Ours; E1 is in ``people``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gslopes.captions.measures.rows import Recorder
from gslopes.words.graph import Fact
from gslopes.words.mentions import PERSON
from gslopes.words.wordnet import WordNet


def recalled(concept: str, target: Iterable[Fact], wordnet: WordNet) -> bool:
    """Whether the target names the thing, or something below it."""
    return any(fact.kind == "object" and wordnet.at_or_below(fact.concept, concept) for fact in target)


def replaced(truth: str, target: Iterable[Fact], wordnet: WordNet) -> str:
    """The generic concept that the target has instead of a specific person concept of truth; empty if it is named.

    A generic concept is a hypernym of it at or below ``person.n.01``.
    """
    facts = [fact for fact in target if fact.kind == "object"]
    if recalled(truth, facts, wordnet):
        return ""
    generic = [f.concept for f in facts if f.concept in wordnet.above(truth) and wordnet.at_or_below(f.concept, PERSON)]
    return min(generic, key=lambda name: -len(wordnet.above(name)), default="")


def listed_things(recorder: Recorder) -> None:
    """E2: recall of the listed things of truth, by group, and that of other objects of similar size."""
    artefacts, wordnet = recorder.mentions.lists["artefacts"], recorder.mentions.wordnet
    recall: dict[str, dict[str, bool]] = {}
    for image in recorder.images:
        for fact in recorder.truth_facts(image):
            if fact.kind == "object" and (fact.word in artefacts or fact.synset in artefacts):
                named = recalled(fact.concept, recorder.facts(image), wordnet)
                recall.setdefault(fact.concept, {})[image] = named
                if not named:
                    recorder.case("not recalled", image, word=fact.word, concept=fact.concept)
    for concept, images in sorted(recall.items()):
        base = sorted(images)
        recorder.image_shares({concept: [image for image in base if images[image]]}, base)
    if recall and recorder.material.boxes:
        _recall_of_others(recorder, set(recall))


def _recall_of_others(recorder: Recorder, listed: set[str]) -> None:
    """Recall of all other objects whose size lies in the deciles of the listed ones."""
    material = recorder.material
    boxes = [(image, box) for image in material.images(recorder.stage) for box in material.boxes.get(image, ())]
    edges = np.quantile([box.area for _, box in boxes], np.linspace(0.1, 0.9, 9)) if boxes else np.empty(0)
    deciles = {int(np.searchsorted(edges, box.area)) for _, box in boxes if box.synset in listed}
    others = [
        recalled(box.synset, recorder.facts(image), material.mentions.wordnet)
        for image, box in boxes
        if box.synset not in listed and int(np.searchsorted(edges, box.area)) in deciles
    ]
    facts = {"concept": "other objects of similar size", "estimator": "recall of instances in the same deciles of size"}
    recorder.share(sum(others), len(others), **facts)


def generic_replacement(recorder: Recorder) -> None:
    """E3: truth names a specific person concept, the target only something above it; by group."""
    mentions, wordnet = recorder.mentions, recorder.mentions.wordnet
    shown: dict[str, list[str]] = {}
    generic_in: dict[str, list[str]] = {}
    for image in recorder.images:
        for concept in sorted({fact.concept for fact in mentions.people(recorder.truth_facts(image))}):
            if concept == PERSON or not wordnet.at_or_below(concept, PERSON):
                continue
            shown.setdefault(concept, []).append(image)
            if generic := replaced(concept, recorder.facts(image), wordnet):
                generic_in.setdefault(concept, []).append(image)
                recorder.case("replaced", image, word=generic, concept=concept)
    everywhere, images = ({i for some in each.values() for i in some} for each in (generic_in, shown))
    recorder.image_shares({"any person concept": everywhere}, sorted(images))
    for concept, base in sorted(shown.items()):
        if len(base) >= recorder.options.min_active:
            recorder.image_shares({concept: generic_in.get(concept, [])}, base)
