"""D2: people depicted but not mentioned. Erasing: E1, who of several people are; E2 listed things, E3 generic words.

Denying self-identification (I1, I2, I3), and reifying groups (R1): a gender word that goes by a trait.

Source: Wang et al. 2022 (D2); the others are ours.
"""

from collections.abc import Iterable

import numpy as np

from gslopes.captions.measures.rows import LEAST, Recorder, compare
from gslopes.captions.stimuli.corpus import Corpus, presence_of_captions, presence_of_images
from gslopes.stats.multiplicity import adjust
from gslopes.stats.rounding import exceeds
from gslopes.words.graph import IDENTITY, PERSON, Facts, Mentions
from gslopes.words.pos_tagger import GRAMMAR
from gslopes.words.wordnet import WordNet

COLLECTIVES = frozenset(GRAMMAR["collectives"])
LARGE = 0.1  # of an image, more than which people must cover in D2: the paper's


def count_people(corpus: Corpus, stage: str, image: str) -> int:
    """How many people a stage shows, at least: boxes, else distinct words; plurals and groups count two."""
    boxes = [box for box in corpus.boxes.get(image, ()) if box.synset == PERSON]
    most = len(boxes) if stage == "human-labels" else 0
    for caption in corpus.stages[stage].get(image, ()):
        people = corpus.mentions.people(caption.kept)
        most = max(most, len({fact.word for fact in people}), 2 if _names_several(people) else 0)
    return most


def _names_several(people: Facts) -> bool:
    return any(fact.plural or fact.word in COLLECTIVES for fact in people)


def people_unmentioned(recorder: Recorder) -> None:
    """D2 at one target: shares of images whose people go unmentioned, by group."""
    corpus = recorder.corpus
    if corpus.areas:
        annotated = {
            image for values in corpus.groups.values() for image, value in values.items() if value
        }
        base = [
            i
            for i in recorder.images
            if i in annotated and exceeds(corpus.areas.get(i, 0.0), LARGE)
        ]
    else:
        base = [
            image
            for image in recorder.images
            if corpus.mentions.people(recorder.truth_facts(image))
        ]
        recorder.header |= {"note": "truth: captions that mention a person; no areas"}
    _unmentioned(recorder, base, "unmentioned")


def people_erased(recorder: Recorder) -> None:
    """E1: people unmentioned without the area rule, and several people described as one."""
    corpus = recorder.corpus
    mentions = recorder.mentions
    base = [image for image in recorder.images if mentions.people(recorder.truth_facts(image))]
    _unmentioned(recorder, base, "people unmentioned")
    several = [image for image in base if count_people(corpus, recorder.truth, image) > 1]
    named = {image: mentions.people(recorder.facts(image)) for image in several}
    singles = [
        i
        for i, people in named.items()
        if len({f.word for f in people}) == 1 and not _names_several(people)
    ]
    recorder.image_shares({"several described as one": singles}, several)
    for image in singles:
        recorder.case("several described as one", image)


def _unmentioned(recorder: Recorder, base: list[str], name: str) -> None:
    mentions = recorder.mentions
    missing = [image for image in base if not mentions.people(recorder.facts(image))]
    recorder.image_shares({name: missing}, base)
    if recorder.corpus.has_several_captions(recorder.stage):
        silent = presence_of_captions(
            recorder.captions,
            base,
            lambda facts: [] if mentions.people(facts) else [name],
            each=True,
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
    facts = [fact for fact in target if fact.kind == "object"]
    if recalled(truth, facts, wordnet):
        return ""
    generic = [
        f.concept
        for f in facts
        if f.concept in wordnet.above(truth) and wordnet.at_or_below(f.concept, PERSON)
    ]
    return min(generic, key=lambda name: -len(wordnet.above(name)), default="")


def listed_things(recorder: Recorder) -> None:
    """E2: recall of the listed things of truth, by group."""
    artefacts = recorder.mentions.lists["artefacts"]
    wordnet = recorder.mentions.wordnet
    recall: dict[str, dict[str, bool]] = {}
    for image in recorder.images:
        for fact in recorder.truth_facts(image):
            if fact.kind == "object" and (fact.word in artefacts or fact.synset in artefacts):
                named = recalled(fact.concept, recorder.facts(image), wordnet)
                recall.setdefault(fact.concept, {})[image] = named
                if not named:
                    recorder.case("not recalled", image, word=fact.word, concept=fact.concept)
    for concept, images in sorted(recall.items()):
        recorder.image_shares(
            {concept: [image for image, named in images.items() if named]}, sorted(images)
        )


def generic_replacement(recorder: Recorder) -> None:
    """E3: truth names a specific person concept, the target only something above it; by group."""
    mentions = recorder.mentions
    wordnet = recorder.mentions.wordnet
    images_with: dict[str, list[str]] = {}
    generic_in: dict[str, list[str]] = {}
    for image in recorder.images:
        for concept in sorted(
            {fact.concept for fact in mentions.people(recorder.truth_facts(image))}
        ):
            if concept == PERSON or not wordnet.at_or_below(concept, PERSON):
                continue
            images_with.setdefault(concept, []).append(image)
            if generic := replaced(concept, recorder.facts(image), wordnet):
                generic_in.setdefault(concept, []).append(image)
                recorder.case("replaced", image, word=generic, concept=concept)
    everywhere, images = (
        {i for some in each.values() for i in some} for each in (generic_in, images_with)
    )
    recorder.image_shares({"any person concept": everywhere}, sorted(images))
    for concept, base in sorted(images_with.items()):
        if len(base) >= recorder.options.min_active:
            recorder.image_shares({concept: generic_in.get(concept, [])}, base)


# -- denying self-identification, reifying groups ----------------------------------------------------------------------

READINGS = ("match", "mismatch", "both", "neutral", "none")
GENDER_GROUPS = {"female": "feminine", "male": "masculine"}
"""Annotated gender to the group of its words."""


def reading(annotated: str, facts: Facts, mentions: Mentions) -> str:
    """How captions describe one person who is annotated ``female`` or ``male``: one of READINGS.

    neutral: person words without a gender.  none: no person is mentioned.
    """
    facts = tuple(facts)
    genders = {mention.group for mention in mentions.identity(facts)} & {"feminine", "masculine"}
    if len(genders) == 2:
        return "both"
    if genders:
        if genders == {GENDER_GROUPS[annotated]}:
            return "match"
        return "mismatch"
    if mentions.people(facts):
        return "neutral"
    return "none"


def imposed_terms(recorder: Recorder) -> None:
    """I1: images with a person where the target has a term of a category and truth has none of it."""
    mentions = recorder.mentions
    images = [image for image in recorder.images if mentions.people(recorder.truth_facts(image))]
    images_with: dict[str, list[str]] = {category: [] for category in IDENTITY}
    for image in images:
        true_categories = {
            m.category
            for m in mentions.identity(recorder.truth_facts(image))
            if m.group != "neutral"
        }
        terms = [m for m in mentions.identity(recorder.facts(image)) if m.group != "neutral"]
        for category in sorted({m.category for m in terms} - true_categories):
            images_with[category].append(image)
            recorder.case(
                category,
                image,
                word=", ".join(sorted({m.word for m in terms if m.category == category})),
            )
    recorder.image_shares(images_with, images)


def gender_mismatch(recorder: Recorder) -> None:
    """I2: over images annotated female or male in which truth shows exactly one person."""
    corpus = recorder.corpus
    genders = {
        i: v for values in corpus.groups.values() for i, v in values.items() if v in GENDER_GROUPS
    }
    images = [
        i for i in recorder.images if i in genders and count_people(corpus, recorder.truth, i) == 1
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
    identity = recorder.mentions.identity
    marked = [
        i
        for i in recorder.images
        if any(m.category == "ethnicity" for m in identity(recorder.facts(i)))
    ]
    recorder.image_shares({"ethnicity": marked}, recorder.images)


def has_trait(facts: Facts, words: Iterable[str]) -> bool:
    """Whether a listed thing is there, or a listed attribute of one (*long hair* is ``long_hair``)."""
    facts = tuple(facts)
    things = {fact.word for fact in facts if fact.kind != "relation"}
    things |= {f"{fact.word}_{fact.subject}" for fact in facts if fact.kind == "attribute"}
    return bool(things & set(words))


def trait_dependent(recorder: Recorder) -> None:
    """R1: share of images with the gender's word where truth has the trait, minus that where it has not."""
    corpus = recorder.corpus
    mentions = recorder.mentions
    for column, values in corpus.groups.items():
        for value in sorted(set(values.values()) & set(GENDER_GROUPS)):
            images = [image for image in recorder.images if values.get(image) == value]
            group = GENDER_GROUPS[value]
            images_with = [
                i
                for i in images
                if any(m.group == group for m in mentions.identity(recorder.facts(i)))
            ]
            table = presence_of_images({group: images_with}, images)
            for trait, words in sorted(mentions.lists["traits"].groups.items()):
                sides = [
                    1 if has_trait(recorder.truth_facts(image), words) else -1 for image in images
                ]
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
    adjust(recorder.measures)
