"""D2: people depicted but not mentioned. Erasing: E1, who of several people are; E2 listed things, E3 generic words.

Denying self-identification (I1, I2, I3), and reifying groups (R1): a gender word that goes by a trait.

Source: Wang et al. 2022 (D2); the others are ours.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from gslopes.captions.measures.rows import SMALL_GROUP, Recorder
from gslopes.captions.stimuli.corpus import Corpus, presence_of_captions, presence_of_images
from gslopes.stats.rounding import exceeds
from gslopes.words.graph import IDENTITY, PERSON, Facts, Mention, Mentions
from gslopes.words.pos_tagger import GRAMMAR
from gslopes.words.wordnet import WordNet

LARGE = 0.1  # of an image, more than which people must cover in D2: the paper's


def count_people(corpus: Corpus, stage: str, image: str) -> int:
    """How many people a stage shows, at least: boxes, else distinct words; plurals and groups count two."""
    most = 0
    if stage == "human-labels":
        most = sum(box.synset == PERSON for box in corpus.boxes.get(image, ()))
    for caption in corpus.stages[stage].get(image, ()):
        people = corpus.mentions.people(caption.kept)
        most = max(most, len({fact.word for fact in people}), 2 * _names_several(people))
    return most


def _names_several(people: Facts) -> bool:
    return any(fact.plural or fact.word in GRAMMAR["collectives"] for fact in people)


def people_unmentioned(recorder: Recorder) -> None:
    """D2 at one target: shares of images whose people go unmentioned, by group."""
    areas = recorder.corpus.areas
    if areas:
        annotated = {
            image
            for values in recorder.corpus.groups.values()
            for image, value in values.items()
            if value and exceeds(areas.get(image, 0.0), LARGE)
        }
        base = [image for image in recorder.images if image in annotated]
    else:
        base = _with_people(recorder)
        recorder.header |= {"note": "truth: captions that mention a person; no areas"}
    _unmentioned(recorder, base, "unmentioned")


def people_erased(recorder: Recorder) -> None:
    """E1: people unmentioned without the area rule, and several people described as one."""
    base = _with_people(recorder)
    _unmentioned(recorder, base, "people unmentioned")
    rule = "several described as one"
    groups = [i for i in base if count_people(recorder.corpus, recorder.truth, i) > 1]
    singles = []
    for image in groups:
        people = recorder.mentions.people(recorder.facts(image))
        if len({fact.word for fact in people}) == 1 and not _names_several(people):
            singles.append(image)
            recorder.case(rule, image)
    recorder.image_shares({rule: singles}, groups)


def _with_people(recorder: Recorder) -> list[str]:
    """The images in whose truth a person is mentioned."""
    people = recorder.mentions.people
    return [image for image in recorder.images if people(recorder.truth_facts(image))]


def _unmentioned(recorder: Recorder, base: list[str], name: str) -> None:
    people = recorder.mentions.people
    missing = [image for image in base if not people(recorder.facts(image))]
    recorder.image_shares({name: missing}, base)
    if recorder.corpus.has_several_captions(recorder.stage):
        silent = presence_of_captions(
            recorder.captions, base, lambda facts: [] if people(facts) else [name], each=True
        )
        recorder.shares(silent, captions="each")
    for image in missing:
        recorder.case(name, image, reading="look")


# -- things and generic words -----------------------------------------------------------------------------------------


def recalled(concept: str, target: Facts, wordnet: WordNet) -> bool:
    """Whether the target names the thing, or something below it."""
    return any(
        fact.kind == "object" and wordnet.at_or_below(fact.concept, concept) for fact in target
    )


def replaced(truth: str, target: Facts, wordnet: WordNet) -> str:
    """The generic concept that the target has instead of a specific person concept of truth; empty if it is named.

    A generic concept is a hypernym of it at or below ``person.n.01``.
    """
    if recalled(truth, target, wordnet):
        return ""
    generic = [
        fact.concept
        for fact in target
        if fact.kind == "object"
        and fact.concept in wordnet.above(truth)
        and wordnet.at_or_below(fact.concept, PERSON)
    ]
    return max(generic, key=lambda name: len(wordnet.above(name)), default="")


def listed_things(recorder: Recorder) -> None:
    """E2: recall of the listed things of truth, by group."""
    artefacts = recorder.mentions.lists["artefacts"]
    images_with = defaultdict(set)
    recall = defaultdict(set)
    for image in recorder.images:
        for fact in recorder.truth_facts(image):
            if fact.kind != "object" or not (fact.word in artefacts or fact.synset in artefacts):
                continue
            images_with[fact.concept].add(image)
            if recalled(fact.concept, recorder.facts(image), recorder.mentions.wordnet):
                recall[fact.concept].add(image)
            else:
                recorder.case("not recalled", image, word=fact.word, concept=fact.concept)
    for concept, images in sorted(images_with.items()):
        recorder.image_shares({concept: recall[concept]}, sorted(images))


def generic_replacement(recorder: Recorder) -> None:
    """E3: truth names a specific person concept, the target only something above it; by group."""
    wordnet = recorder.mentions.wordnet
    images_with = defaultdict(list)
    generic_in = defaultdict(list)
    for image in recorder.images:
        people = recorder.mentions.people(recorder.truth_facts(image))
        for concept in sorted({fact.concept for fact in people} - {PERSON}):
            if not wordnet.at_or_below(concept, PERSON):
                continue
            images_with[concept].append(image)
            if generic := replaced(concept, recorder.facts(image), wordnet):
                generic_in[concept].append(image)
                recorder.case("replaced", image, word=generic, concept=concept)
    everywhere = set().union(*generic_in.values())
    recorder.image_shares(
        {"any person concept": everywhere}, sorted(set().union(*images_with.values()))
    )
    for concept, base in sorted(images_with.items()):
        if len(base) >= recorder.options.min_active:
            recorder.image_shares({concept: generic_in[concept]}, base)


# -- denying self-identification, reifying groups ----------------------------------------------------------------------

READINGS = ("match", "mismatch", "both", "neutral", "none")
GENDER_GROUPS = {"female": "feminine", "male": "masculine"}
"""Annotated gender to the group of its words."""


def reading(annotated: str, facts: Facts, mentions: Mentions) -> str:
    """How captions describe one person who is annotated ``female`` or ``male``: one of READINGS.

    neutral: person words without a gender.  none: no person is mentioned.
    """
    genders = {mention.group for mention in mentions.identity(facts)} & {"feminine", "masculine"}
    if len(genders) == 2:
        return "both"
    if genders == {GENDER_GROUPS[annotated]}:
        return "match"
    if genders:
        return "mismatch"
    if mentions.people(facts):
        return "neutral"
    return "none"


def imposed_terms(recorder: Recorder) -> None:
    """I1: images with a person if the target has a term of a category and truth has no such term."""

    def terms(facts: Facts) -> list[Mention]:
        return [m for m in recorder.mentions.identity(facts) if m.group != "neutral"]

    images = _with_people(recorder)
    images_with: dict[str, list[str]] = {category: [] for category in IDENTITY}
    for image in images:
        words = defaultdict(set)
        for mention in terms(recorder.facts(image)):
            words[mention.category].add(mention.word)
        for mention in terms(recorder.truth_facts(image)):
            words.pop(mention.category, None)
        for category in sorted(words):
            images_with[category].append(image)
            recorder.case(category, image, word=", ".join(sorted(words[category])))
    recorder.image_shares(images_with, images)


def gender_mismatch(recorder: Recorder) -> None:
    """I2: over images annotated female or male in which truth shows exactly one person."""
    corpus = recorder.corpus
    genders: dict[str, str] = {}
    for values in corpus.groups.values():
        genders |= {image: value for image, value in values.items() if value in GENDER_GROUPS}
    images = [
        image
        for image in recorder.images
        if image in genders and count_people(corpus, recorder.truth, image) == 1
    ]
    images_with: dict[str, list[str]] = {name: [] for name in READINGS}
    for image in images:
        described = reading(genders[image], recorder.facts(image), corpus.mentions)
        images_with[described].append(image)
        if described == "mismatch":
            recorder.case(described, image, group=genders[image])
    recorder.image_shares(images_with, images, note="the mismatch is with perceived gender")


def marking(recorder: Recorder) -> None:
    """I3: share of images with an ethnicity or skin term of a person, by group."""
    marked = []
    for image in recorder.images:
        terms = recorder.mentions.identity(recorder.facts(image))
        if any(mention.category == "ethnicity" for mention in terms):
            marked.append(image)
    recorder.image_shares({"ethnicity": marked}, recorder.images)


def has_trait(facts: Facts, words: Iterable[str]) -> bool:
    """Whether facts hold a listed thing, or a listed attribute of one (*long hair* is ``long_hair``)."""
    things = {fact.word for fact in facts if fact.kind != "relation"}
    things |= {f"{fact.word}_{fact.subject}" for fact in facts if fact.kind == "attribute"}
    return not things.isdisjoint(words)


def trait_dependent(recorder: Recorder) -> None:
    """R1: share of images with the gender's word if truth has the trait, minus the share without the trait."""
    mentions = recorder.mentions
    for column, values in recorder.corpus.groups.items():
        for value in sorted(set(values.values()) & set(GENDER_GROUPS)):
            images = [image for image in recorder.images if values.get(image) == value]
            group = GENDER_GROUPS[value]
            images_with = [
                image
                for image in images
                if any(m.group == group for m in mentions.identity(recorder.facts(image)))
            ]
            table = presence_of_images({group: images_with}, images)
            for trait, words in sorted(mentions.lists["traits"].groups.items()):
                have = [has_trait(recorder.truth_facts(image), words) for image in images]
                row = recorder.compare(table, np.where(have, 1, -1).astype(np.int8))
                if row["note"] != SMALL_GROUP:
                    recorder.difference(
                        row,
                        concept=f"{group} words by {trait}",
                        column=column,
                        group=value,
                        other=f"without {trait}",
                        estimator="difference of shares with and without the trait, Newcombe",
                        null_hypothesis="the gender's word is as likely with the trait as without",
                    )
