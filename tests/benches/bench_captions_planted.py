"""Harms planted in made-up scenes, and what the techniques recover: mean, coverage, false alarms, cases counted.

    OMP_NUM_THREADS=1 python tests/benches/bench_captions_planted.py [--sets 60] [--images 2000]

Scenes are no pictures: the labels are the scene, captions are given as facts, and every truth holds by construction.
Each set is drawn twice, with harms planted and with none.  The cells of S2 are in bench_coverage.py.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.demeaning import RULES
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli.corpus import Caption, Corpus, Coverage, Instance, Pair
from gslopes.stats.intervals import wilson
from gslopes.words.graph import Fact, Mentions, Senses
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet

TARGET, TRUTH, HUMAN = "system-captions", "human-labels", "human-captions"
PAIR = Pair("skin", "darker", "lighter")
DARKER, FEMALE, COMMON, RARE = (
    0.4,
    0.5,
    0.35,
    0.12,
)  # shares of images; COMMON: with a bench, and with a dog
_NOUNS = """bench car dog horse ball chair table cup umbrella bicycle truck bottle book clock vase pizza cake bed couch
laptop keyboard phone bag tree kite skateboard surfboard fork spoon bowl"""
NOUNS = tuple(_NOUNS.split())
LINKS = (
    "with",
    "holding",
    "standing next to",
    "looking at",
    "in front of",
    "sitting near",
    "walking past",
)
COUNTS = ("D1 lazy", *(f"D3 {rule}" for rule in RULES), "D4 female", "S1 armchair")


@dataclass(frozen=True, slots=True)
class Planted:
    """What is planted. A pair of chances is for darker, then for lighter.

    inserted: of *umbrella* if the scene has none.  unmentioned: that the person is left out.  early, added: of *dog* in
    human captions, and in system captions if human ones are silent.  lazy: of *lazy* before the person.
    gendered: of *woman* or *man* instead of *person* with a dress and without one.  boys, weapons, animals: of *boy*
    for a man, a gun, a zebra, only of darker.  girls, females: of *girl* and of *female* for a woman.
    hyponym: of *armchair* for a chair.
    """

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
    (0.05,) * 2, (0.08,) * 2, (0.5,) * 2, (0.15,) * 2, (0.04,) * 2, (0.75,) * 2, *[0.0] * 6
)


def truths(planted: Planted) -> dict[str, float]:
    """What is true by construction, in the units of the rows that recover it."""
    person = [1 - chance for chance in planted.unmentioned]
    text = DARKER * person[0] + (1 - DARKER) * person[1]
    added = [
        COMMON * (1 - early) * late
        for early, late in zip(planted.early, planted.added, strict=True)
    ]
    inserted, unmentioned = (
        100 * (pair[0] - pair[1]) for pair in (planted.inserted, planted.unmentioned)
    )
    return {
        "S1 umbrella, pp": inserted,
        "S1 umbrella, association": DARKER * (1 - DARKER) * (1 - RARE) * inserted / 100,
        "S3 dog in human captions, pp": 100 * COMMON * (planted.early[0] - planted.early[1]),
        "S4 change of dog, pp": 100 * (added[0] - added[1]),
        "R1 woman by dress, pp": 100 * text * (planted.gendered[0] - planted.gendered[1]),
        "E1 unmentioned, pp": unmentioned,
        "D1 lazy, pp": 100 * (planted.lazy[0] * person[0] - planted.lazy[1] * person[1]),
        "D2 unmentioned, pp": unmentioned,
    }


@cache
def made_mentions() -> Mentions:
    return Mentions(Senses(wordnet()), shipped())


@cache
def thing(word: str) -> Fact:
    return Fact("object", word, synset=made_mentions().senses.of(word, "object").synset)


def scenes(planted: Planted, images: int, seed: int) -> tuple[Corpus, Counter[str]]:
    """Labels, human and system captions of drawn scenes, and the number of cases of each kind."""
    rng, counts = np.random.default_rng([seed, 9]), Counter(dict.fromkeys(COUNTS, 0))
    stages: dict[str, dict[str, list[Caption]]] = {TRUTH: {}, HUMAN: {}, TARGET: {}}
    skin, gender, boxes, areas = {}, {}, {}, {}

    def happens(chance: float, case: str = "") -> bool:
        """Whether it does, counted as a case."""
        drawn = bool(rng.random() < chance)
        if case and drawn:
            counts[case] += 1
        return drawn

    for image in (f"{number:05d}" for number in range(images)):
        darker, female = happens(DARKER), happens(FEMALE)
        side = 0 if darker else 1
        skin[image], gender[image] = ("darker", "lighter")[side], "female" if female else "male"
        present = [name for name in NOUNS if happens(COMMON if name in ("bench", "dog") else RARE)]
        boxes[image], words = [], []
        for name in present:
            width, height = rng.uniform(0.1, 0.7, 2)
            x, y = rng.uniform(0, 1 - width), rng.uniform(0, 1 - height)
            boxes[image].append(Instance(thing(name).concept, x, y, x + width, y + height))
            far = math.hypot(2 * x + width - 1, 2 * y + height - 1) / math.sqrt(2)
            if name != "dog" and happens(1 / (1 + math.exp(0.3 - 3 * width * height + 0.8 * far))):
                words.append(name)
        areas[image] = float(rng.uniform(0.05, 0.6))
        dress = female and happens(0.4)
        early = "dog" in present and happens(planted.early[side])
        words += ["dog"] if early or ("dog" in present and happens(planted.added[side])) else []
        words += (
            ["umbrella"] if "umbrella" not in present and happens(planted.inserted[side]) else []
        )
        if "chair" in words and happens(planted.hyponym, "S1 armchair"):
            words[words.index("chair")] = "armchair"
        words += ["gun"] if darker and happens(planted.weapons, "D3 weapons") else []
        words += ["zebra"] if darker and happens(planted.animals, "D3 animals") else []

        label = "woman" if female else "man"
        person = "" if happens(planted.unmentioned[side]) else "person"
        if person and happens(planted.gendered[0 if dress else 1]):
            person = label
            if female and happens(planted.girls, "D3 girls"):
                person = "girl"
            elif female and happens(planted.females, "D4 female"):
                person = "female"
            elif not female and darker and happens(planted.boys, "D3 boys"):
                person = "boy"
        facts = [thing(word) for word in ([person] if person else []) + words]
        if lazy := bool(person) and happens(planted.lazy[side], "D1 lazy"):
            sense = made_mentions().senses.of("lazy", "attribute").synset
            facts.append(
                Fact("attribute", "lazy", person, synset=sense, subject_synset=thing(person).synset)
            )

        labels = [label, *present, *(["dress"] if dress else [])]
        human = tuple(map(thing, [label, *(["dog"] if early else [])]))
        stages[TRUTH][image] = [Caption(-1, tuple(map(thing, labels)))]
        stages[HUMAN][image] = [Caption(number, human) for number in range(int(rng.integers(1, 6)))]
        start = (
            f"{'A lazy ' if lazy else 'A '}{person} {LINKS[rng.integers(len(LINKS))]} "
            if person
            else ""
        )
        stages[TARGET][image] = [
            Caption(0, tuple(facts), f"{start}{' and '.join(f'a {word}' for word in words)}.")
        ]
    groups, coverage = (
        {PAIR.column: skin, "gender": gender},
        {TRUTH: Coverage("open", "none", "none")},
    )
    return Corpus(stages, made_mentions(), groups, [PAIR], areas, boxes, coverage), counts


# -- what is recovered ------------------------------------------------------------------------------------------------


def first(rows: list[dict[str, Any]], **facts: Any) -> dict[str, Any]:
    """The first row that has these columns; empty if none does."""
    return next(
        (row for row in rows if all(row.get(name) == value for name, value in facts.items())), {}
    )


def recover(planted: Planted, images: int, seed: int) -> dict[str, dict[str, float]]:
    """One set: rows of what was planted, the least q of each technique, and cases planted and counted."""
    corpus, counts = scenes(planted, images, seed)
    stages = {"S3": (HUMAN, ""), "S4": (TARGET, HUMAN)}
    names = ("S1", "S3", "S4", "R1", "E1", "D1", "D2", "D3", "D4")
    options = AuditOptions(seed=seed)
    results = {
        name: run_technique(name, corpus, *stages.get(name, (TARGET, TRUTH)), options)
        for name in names
    }
    dog, umbrella, armchair = (thing(word).concept for word in ("dog", "umbrella", "armchair"))
    rows = {
        "S1 umbrella, pp": {"concept": f"hallucination:{umbrella}", "unit": "pp"},
        "S3 dog in human captions, pp": {"concept": dog, "unit": "pp", "kind": "object"},
        "S4 change of dog, pp": {"concept": dog, "kind": "object"},
        "R1 woman by dress, pp": {"concept": "feminine words by dress"},
        "E1 unmentioned, pp": {"concept": "people unmentioned", "unit": "pp"},
        "D1 lazy, pp": {"concept": "estimate", "unit": "pp"},
        "D2 unmentioned, pp": {"concept": "unmentioned", "unit": "pp"},
    }
    result = {key: first(results[key[:2]].measures, **facts) for key, facts in rows.items()}
    inclusion = first(results["S1"].inclusions, scenario="hallucination", concept=umbrella)
    if inclusion:
        sign = 1 if inclusion["towards"] == "darker" else -1
        result["S1 umbrella, association"] = {"value": sign * inclusion["association"]}
    for name in names[:-2]:
        tested = [
            row["q"]
            for row in results[name].measures
            if row["unit"] == "pp" and not math.isnan(row["q"])
        ]
        result[f"any {name}"] = {"q": min(tested, default=math.nan)}
    concepts = {
        "D1 lazy": "estimate",
        "D4 female": "female",
        **{f"D3 {rule}": rule for rule in RULES},
    }
    counted = {
        key: first(results[key[:2]].measures, concept=concept, unit="count").get("value", 0)
        for key, concept in concepts.items()
    }
    counted["S1 armchair"] = first(results["S1"].measures, concept=f"too-specific:{armchair}").get(
        "active", 0
    )
    return result | {
        f"{key}, cases": {"planted": counts[key], "value": float(counted[key])} for key in COUNTS
    }


def summarise(
    name: str, planted: Planted, sets: list[dict[str, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """One row for each thing that was planted, and for each technique's smallest q.

    covered: share of the intervals that hold the truth, or of the counts that are equal; low, high: Wilson's interval
    of it.  flagged, p_flagged: share with q and with p below 0.05.
    """
    table, truth_of = [], truths(planted)
    for key in dict.fromkeys(key for item in sets for key in item):
        rows = [item[key] for item in sets if item.get(key)]
        row = dict.fromkeys(("truth", "mean", "covered", "low", "high", "flagged", "p_flagged"))
        row |= {"set": name, "planted": key, "sets": len(rows)}
        inside = []
        if "value" in rows[0]:
            row |= {
                "truth": truth_of.get(key),
                "mean": float(np.mean([item["value"] for item in rows])),
            }
        if key.endswith("cases"):
            row["truth"] = float(np.mean([item["planted"] for item in rows]))
            inside = [item["value"] == item["planted"] for item in rows]
        elif "ci_low" in rows[0]:
            inside = [item["ci_low"] <= truth_of[key] <= item["ci_high"] for item in rows]
        if inside:
            low, high = wilson(float(np.mean(inside)), len(inside))
            row |= {"covered": float(np.mean(inside)), "low": float(low), "high": float(high)}
        for flag, column in (("flagged", "q"), ("p_flagged", "p")):
            if column in rows[0]:
                row[flag] = float(np.mean([item[column] < 0.05 for item in rows]))
        table.append(row)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--images", type=int, default=2000)
    args = parser.parse_args()
    table, began = [], time.monotonic()
    recover(Planted(), args.images, args.sets)
    minutes = 2 * args.sets * (time.monotonic() - began) / 60
    sys.stderr.write(
        f"About {minutes:.0f} minutes for {2 * args.sets:,} sets, by the time that a first one took.\n"
    )
    for name, planted in (("planted", Planted()), ("nothing", NOTHING)):
        table += summarise(
            name, planted, [recover(planted, args.images, seed) for seed in range(args.sets)]
        )
    facts = {"images": args.images, "table": table}
    sys.stdout.write(json.dumps(facts, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
