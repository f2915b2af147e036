"""Scenes with planted harms: scenes, not pictures; the labels are the scene, and every truth holds by construction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gslopes.captions.material import Box, Caption, Coverage, Material, Pair
from gslopes.words.graph import Fact
from gslopes.words.mentions import Mentions
from gslopes.words.pos_tagger import Token

TARGET, TRUTH, HUMAN = "system-captions", "human-labels", "human-captions"
PAIR = Pair("skin", "darker", "lighter")
DARKER, FEMALE, COMMON = 0.4, 0.5, 0.35  # shares of the images; COMMON: with a bench, and with a dog
_NOUNS = """bench car dog horse ball chair table cup umbrella bicycle truck bottle book clock vase pizza cake bed couch
laptop keyboard phone bag tree kite skateboard surfboard fork spoon bowl"""
NOUNS = tuple(_NOUNS.split())
LINKS = ("with", "holding", "standing next to", "looking at", "in front of", "sitting near", "walking past")
COUNTS = ("D1 lazy", "D3 boys", "D3 girls", "D3 weapons", "D3 animals", "D4 female", "S1 armchair")


@dataclass(frozen=True, slots=True)
class Planted:
    """What is planted. A pair of chances is that of darker and that of lighter.

    beta: log odds by which *bench* is mentioned more for darker.  inserted: of *umbrella* where there is none.
    unmentioned: that the person is left out.  early, added: of *dog* in human captions, and in system captions where
    human ones are silent.  lazy: of *lazy* before the person.  gendered: of *woman* or *man* instead of *person* with a
    dress and without one.  boys, weapons, animals: of *boy* for a man, a gun, a zebra, of darker alone.
    girls, females: of *girl* and of *female* for a woman.  hyponym: of *armchair* for a chair.
    """

    beta: float = 1.0
    inserted: tuple[float, float] = (0.08, 0.03)
    unmentioned: tuple[float, float] = (0.12, 0.05)
    early: tuple[float, float] = (0.6, 0.4)
    added: tuple[float, float] = (0.3, 0.1)
    lazy: tuple[float, float] = (0.06, 0.02)
    gendered: tuple[float, float] = (0.9, 0.6)
    boys: float = 0.04
    girls: float = 0.03
    weapons: float = 0.03
    animals: float = 0.03
    females: float = 0.03
    hyponym: float = 0.3


NOTHING = Planted(
    0.0, (0.05, 0.05), (0.08, 0.08), (0.5, 0.5), (0.15, 0.15), (0.04, 0.04), (0.75, 0.75), 0, 0, 0, 0, 0, 0.0
)


@dataclass(slots=True)
class _Stages:
    labels: dict[str, list[Caption]] = field(default_factory=dict)
    human: dict[str, list[Caption]] = field(default_factory=dict)
    system: dict[str, list[Caption]] = field(default_factory=dict)
    skin: dict[str, str] = field(default_factory=dict)
    gender: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, list[Box]] = field(default_factory=dict)
    areas: dict[str, float] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def scenes(
    planted: Planted,
    images: int,
    seed: int,
    mentions: Mentions,
    tag: Callable[[str], list[list[Token]]] | None = None,
) -> tuple[Material, Counter[str]]:
    """Labels, human and system captions of drawn scenes, and the number of cases of each kind.

    tag: for D4, which goes by tags.
    """
    rng = np.random.default_rng([seed, 9])
    made = _Stages()
    for number in range(images):
        _scene(f"{number:05d}", planted, rng, mentions, made)
    stages = {TRUTH: made.labels, HUMAN: made.human, TARGET: made.system}
    coverage = {TRUTH: Coverage("open", "none", "none")}
    groups = {PAIR.column: made.skin, "gender": made.gender}
    material = Material(stages, mentions, groups, [PAIR], made.areas, made.boxes, coverage, tag)
    return material, Counter({name: made.counts[name] for name in COUNTS})


def truths(planted: Planted) -> dict[str, float]:
    """What is true by construction, in the units of the rows that recover it."""
    person = [1 - chance for chance in planted.unmentioned]
    shown = DARKER * person[0] + (1 - DARKER) * person[1]
    inserted = planted.inserted[0] - planted.inserted[1]
    share = [COMMON * (1 - early) * added for early, added in zip(planted.early, planted.added, strict=True)]
    umbrella = DARKER * (1 - DARKER) * (1 - 0.12) * inserted
    return {
        "S1 umbrella, pp": 100 * inserted,
        "S1 umbrella, association": umbrella,
        "S2 bench, log odds": planted.beta,
        "S2 bench, log odds, as published": planted.beta,
        "S3 dog in human captions, pp": 100 * COMMON * (planted.early[0] - planted.early[1]),
        "S4 change of dog, pp": 100 * (share[0] - share[1]),
        "R1 woman by dress, pp": 100 * shown * (planted.gendered[0] - planted.gendered[1]),
        "E1 unmentioned, pp": 100 * (planted.unmentioned[0] - planted.unmentioned[1]),
        "D1 lazy, pp": 100 * (planted.lazy[0] * person[0] - planted.lazy[1] * person[1]),
        "D2 unmentioned, pp": 100 * (planted.unmentioned[0] - planted.unmentioned[1]),
    }


# -- one scene --------------------------------------------------------------------------------------------------------


def _scene(image: str, planted: Planted, rng: np.random.Generator, mentions: Mentions, made: _Stages) -> None:
    darker, female = bool(rng.random() < DARKER), bool(rng.random() < FEMALE)
    side = 0 if darker else 1
    made.skin[image], made.gender[image] = (PAIR.group if darker else PAIR.other), ("female" if female else "male")
    there = [name for name in NOUNS if rng.random() < (COMMON if name in ("bench", "dog") else 0.12)]
    corners = {name: _box(rng) for name in there}
    made.boxes[image] = [Box(_synset(name, mentions), *corners[name]) for name in there]
    made.areas[image] = float(rng.uniform(0.05, 0.6))
    dress = female and bool(rng.random() < 0.4)
    early = "dog" in there and rng.random() < planted.early[side]
    late = early or ("dog" in there and rng.random() < planted.added[side])
    spoken = [n for n in there if n != "dog" and rng.random() < _probability(n, corners[n], darker, planted)]
    words = [*spoken, *(["dog"] if late else [])]
    if "umbrella" not in there and rng.random() < planted.inserted[side]:
        words.append("umbrella")
    if "chair" in words and rng.random() < planted.hyponym:
        words[words.index("chair")] = "armchair"
        made.counts["S1 armchair"] += 1
    for rule, word, chance in (("weapons", "gun", planted.weapons), ("animals", "zebra", planted.animals)):
        if darker and rng.random() < chance:
            words.append(word)
            made.counts[f"D3 {rule}"] += 1
    person = _person(planted, rng, darker, female, dress, made.counts)
    lazy = bool(person) and rng.random() < planted.lazy[side]
    made.counts["D1 lazy"] += lazy
    label = "woman" if female else "man"
    made.labels[image] = [Caption(-1, objects([label, *there, *(["dress"] if dress else [])], mentions))]
    human = [label, *(["dog"] if early else [])]
    made.human[image] = [
        Caption(number, objects(human, mentions), _sentence(label, human[1:], False, number))
        for number in range(int(rng.integers(1, 6)))
    ]
    facts = objects([*([person] if person else []), *words], mentions)
    if lazy:
        synset = mentions.senses.of("lazy", "attribute").synset
        facts += (Fact("attribute", "lazy", subject=person, synset=synset, subject_synset=_synset(person, mentions)),)
    text = _sentence(person, words, lazy, int(rng.integers(0, len(LINKS))))
    made.system[image] = [Caption(0, facts, text)]


def _person(
    planted: Planted, rng: np.random.Generator, darker: bool, female: bool, dress: bool, counts: Counter[str]
) -> str:
    """What the system caption calls the person; empty if it leaves them out."""
    if rng.random() < planted.unmentioned[0 if darker else 1]:
        return ""
    if rng.random() >= planted.gendered[0 if dress else 1]:
        return "person"
    if not female:
        if darker and rng.random() < planted.boys:
            counts["D3 boys"] += 1
            return "boy"
        return "man"
    draw = rng.random()
    if draw < planted.girls:
        counts["D3 girls"] += 1
        return "girl"
    if draw < planted.girls + planted.females:
        counts["D4 female"] += 1
        return "female"
    return "woman"


def objects(words: Iterable[str], mentions: Mentions) -> tuple[Fact, ...]:
    """Words as objects with their synsets, each once."""
    return tuple(_thing(word, mentions) for word in dict.fromkeys(words))


@lru_cache(maxsize=1024)
def _thing(word: str, mentions: Mentions) -> Fact:
    return Fact("object", word, synset=_synset(word, mentions))


def _sentence(person: str, words: Sequence[str], lazy: bool, link: int) -> str:
    named = [_with_article(word) for word in words]
    listed = " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)
    if not person:
        return f"{listed[:1].upper()}{listed[1:]}." if listed else ""
    start = f"A lazy {person}" if lazy else f"A {person}"
    return f"{start} {LINKS[link % len(LINKS)]} {listed}." if listed else f"{start}."


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _probability(name: str, box: tuple[float, ...], darker: bool, planted: Planted) -> float:
    """Of being mentioned: logistic in size and place, and for *bench* in the group, ±½."""
    size = (box[2] - box[0]) * (box[3] - box[1])
    far = math.hypot((box[0] + box[2] - 1) / 2, (box[1] + box[3] - 1) / 2) / math.hypot(0.5, 0.5)
    logit = -0.3 + 3 * size - 0.8 * far
    if name == "bench":
        logit += planted.beta * (0.5 if darker else -0.5)
    return 1 / (1 + math.exp(-logit))


def _box(rng: np.random.Generator) -> tuple[float, float, float, float]:
    width, height = rng.uniform(0.1, 0.7, 2)
    x, y = rng.uniform(0, 1 - width), rng.uniform(0, 1 - height)
    return float(x), float(y), float(x + width), float(y + height)


def _synset(word: str, mentions: Mentions) -> str:
    return mentions.senses.of(word, "object").synset or word
