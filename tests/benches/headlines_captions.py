"""Headlines of simulated audits of captions whose truth is known, to be read by a person: do they mislead?

Scenes are no pictures: the labels are the scene, a person of one of two groups with objects in boxes, and captions
are given as facts.  Every technique runs as in an audit, and what it finds is worded as in a terminal.

    python -m tests.benches.headlines_captions
"""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from gslopes.captions.config import TABLES, TECHNIQUES, AuditOptions
from gslopes.captions.measures.techniques import run_techniques
from gslopes.captions.page import sections
from gslopes.captions.stimuli.corpus import Caption, Corpus, Coverage, Instance, Pair
from gslopes.core.tables import frame_of
from gslopes.frame.findings import decide
from gslopes.frame.shown import count_decisions
from gslopes.words.graph import Fact, Mentions, Senses
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet

TRUTH, TARGET = "human-labels", "system-captions"
PAIR = Pair("skin", "darker", "lighter")
_NOUNS = """bench dog car horse ball chair table cup umbrella bicycle truck bottle book clock vase pizza cake bed couch
laptop keyboard phone bag tree kite skateboard surfboard fork spoon bowl sandwich banana apple orange carrot bus train
boat sheep cow elephant bear zebra giraffe backpack tie suitcase knife oven sink"""
NOUNS = tuple(_NOUNS.split())
TABLES_OF_RESULTS = ("measures", "inclusions", "salience", "cases", "techniques")


@dataclass(frozen=True)
class Scenes:
    """What is simulated.

    darker, lighter: images of each group.  words: kinds of objects.  shown: share of the images that show each.
    silent: share of captions that leave the person out, of darker and of lighter.
    named: share of captions that name an object which is shown.  odds: by how many log odds more the first object is
    named if it is shown with darker people.  added: share of captions, by group, that name the first object though it
    is not shown.  alike: images of one person.  together: share of the chance that these have in common.
    captions: of one image.
    """

    darker: int
    lighter: int
    words: int = 10
    shown: float = 0.3
    silent: tuple[float, float] = (0.15, 0.15)
    named: float = 0.5
    odds: float = 0.0
    added: tuple[float, float] = (0.0, 0.0)
    alike: int = 1
    together: float = 0.5
    captions: int = 1


@cache
def mentions() -> Mentions:
    return Mentions(Senses(wordnet()), shipped())


@cache
def thing(word: str) -> Fact:
    return Fact("object", word, synset=mentions().senses.of(word, "object").synset)


def chances(scenes: Scenes, columns: int, rng: np.random.Generator) -> np.ndarray:
    """(images, columns) uniform numbers, alike in images of one person; of both groups in turn."""
    images = scenes.darker + scenes.lighter
    person = np.r_[
        np.arange(scenes.darker) // scenes.alike,
        scenes.darker + np.arange(scenes.lighter) // scenes.alike,
    ]
    share = scenes.together * (scenes.alike > 1)
    common = rng.standard_normal((images, columns))[person]
    own = rng.standard_normal((images, columns))
    return np.asarray(special.ndtr(np.sqrt(share) * common + np.sqrt(1 - share) * own))


def corpus_of(scenes: Scenes, rng: np.random.Generator) -> Corpus:
    """Labels and captions of drawn scenes."""
    images = scenes.darker + scenes.lighter
    names = NOUNS[: scenes.words]
    side = np.repeat([0, 1], [scenes.darker, scenes.lighter])
    shown = chances(scenes, scenes.words, rng) < scenes.shown
    corners = rng.uniform(0.0, 0.5, (images, scenes.words, 2))
    spans = rng.uniform(0.1, 0.5, (images, scenes.words, 2))
    odds = np.full((images, scenes.words), special.logit(scenes.named))
    odds[:, 0] += np.where(side == 0, scenes.odds / 2, -scenes.odds / 2)
    stages: dict[str, dict[str, list[Caption]]] = {TRUTH: {}, TARGET: {}}
    boxes: dict[str, list[Instance]] = {}
    for image in range(images):
        labels = [names[word] for word in np.flatnonzero(shown[image])]
        stages[TRUTH][f"{image:04d}"] = [Caption(-1, tuple(map(thing, ["person", *labels])))]
        boxes[f"{image:04d}"] = [
            Instance(thing(names[word]).concept, *corners[image, word], *(corners + spans)[image, word])
            for word in np.flatnonzero(shown[image])
        ]  # fmt: skip
    silent = np.array(scenes.silent)[side]
    added = np.array(scenes.added)[side]
    for number in range(scenes.captions):
        spoken = chances(scenes, 1, rng)[:, 0] >= silent
        told = shown & (chances(scenes, scenes.words, rng) < special.expit(odds))
        told[:, 0] |= ~shown[:, 0] & (chances(scenes, 1, rng)[:, 0] < added)
        for image in range(images):
            said = ["person"] * int(spoken[image])
            said += [names[word] for word in np.flatnonzero(told[image])]
            caption = Caption(number, tuple(map(thing, said)), ", ".join(said))
            stages[TARGET].setdefault(f"{image:04d}", []).append(caption)
    skin = {f"{image:04d}": PAIR[1 + side[image]] for image in range(images)}
    areas = dict.fromkeys(skin, 0.3)
    coverage = {TRUTH: Coverage("open", "none", "none")}
    return Corpus(stages, mentions(), {PAIR.column: skin}, [PAIR], areas, boxes, coverage)


def tables_of(
    scenes: Scenes, rng: np.random.Generator, names: tuple[str, ...] = tuple(TECHNIQUES)
) -> dict[str, pd.DataFrame]:
    """The tables of an audit of drawn scenes."""
    corpus = corpus_of(scenes, rng)
    results, described = run_techniques(corpus, TRUTH, [TARGET], names, AuditOptions())
    parameters = [{**row, "parameters": ""} for row in described]
    rows: dict[str, Any] = {**results, "techniques": parameters}
    return {name: frame_of(TABLES[name], rows[name]) for name in TABLES_OF_RESULTS}


def said(tables: Any) -> tuple[str, str]:
    """The headline, and how many numbers are judged."""
    return sections.headline_of(tables).sentence, count_decisions(decide(sections.judged(tables)))


ALL = tuple(TECHNIQUES)
AUDITS: list[tuple[str, Scenes, tuple[str, ...]]] = [
    ("people of one group go unmentioned", Scenes(60, 60, silent=(0.4, 0.1)), ALL),
    ("five images a group", Scenes(5, 5, silent=(0.8, 0.0)), ALL),
    ("nothing, many words", Scenes(60, 60, words=50), ALL),
    ("a word in one group only", Scenes(40, 40, added=(1.0, 0.0), shown=0.05), ("S4", "S3")),
    ("S2 alone, no effect", Scenes(100, 100, silent=(0.0, 0.0)), ("S2",)),
    ("S2, an object named by group", Scenes(150, 150, odds=2.0), ("S2",)),
    ("10 against 300 images", Scenes(10, 300), ("D2",)),
    ("9 against 300 images", Scenes(9, 300, silent=(0.9, 0.1)), ("D2",)),
    ("five captions an image", Scenes(20, 20, silent=(0.9, 0.05), captions=5), ("D2",)),
    ("four images a person, no effect", Scenes(60, 60, alike=4), ("D2",)),
    ("few words, all objects named", Scenes(40, 40, words=3, named=0.97), ("S2",)),
    ("15 against 15", Scenes(15, 15, silent=(0.95, 0.05)), ("D2", "E1")),
]


def main() -> None:
    for number, (title, scenes, names) in enumerate(AUDITS):
        tables = tables_of(scenes, np.random.default_rng([85, number]), names)
        plain = (f"{field.name} {getattr(scenes, field.name)}" for field in fields(scenes)
                 if getattr(scenes, field.name) != field.default)  # fmt: skip
        sys.stdout.write(f"{number + 1}. {title}: {', '.join(plain)}; {', '.join(names)}\n")
        for sentence in said(tables):
            sys.stdout.write(f"{textwrap.indent(textwrap.fill(sentence, 112), '    ')}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
