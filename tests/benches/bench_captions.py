"""Captions: how fast they are parsed, and S2's splits beside scikit-learn's loop.

    python tests/benches/bench_captions.py [--captions 20000] [--images 400] [--types 100] [--splits 200] [--scenes 0]
                                           [--paper 0]

Captions are distinct, drawn from templates over people, places and things, and over a vocabulary of 7,500 words.
S2 is on random layouts of that many types.
``--paper N`` fits N splits of eight of 500 types on layouts of 6,500 images, the commonest type in 60 % of them and the
k-th in 60 / (1 + k / 8) %, and estimates what 1,000 splits of all 500 take: between the eight, linear in their rank.
``--scenes N`` measures all techniques but S2 to S4 on N planted scenes. Times are of one process;
the parser's table gives what 240,000 captions would take on two.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import sys
import time

import numpy as np

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.salience import _standard, fit_published
from gslopes.words.chunks import standard

PEOPLE = [
    "man",
    "woman",
    "boy",
    "girl",
    "child",
    "player",
    "surfer",
    "skier",
    "person",
    "waiter",
    "couple",
    "family",
]
ADJECTIVES = [
    "young",
    "old",
    "smiling",
    "tall",
    "happy",
    "little",
    "red",
    "white",
    "black",
    "blue",
    "wet",
    "professional",
]
VERBS = [
    "holding",
    "riding",
    "watching",
    "eating",
    "carrying",
    "throwing",
    "wearing",
    "playing",
    "using",
    "pushing",
]
THINGS = [
    "dog",
    "ball",
    "horse",
    "umbrella",
    "kite",
    "pizza",
    "bicycle",
    "skateboard",
    "phone",
    "laptop",
    "banana",
    "surfboard",
    "tie",
]
SETTINGS = [
    "bench",
    "beach",
    "street",
    "kitchen",
    "field",
    "park",
    "living",
    "room",
    "tennis",
    "court",
    "building",
    "river",
]


def captions(count: int) -> list[str]:
    """Distinct captions of about the length of COCO's."""
    parts = itertools.product(ADJECTIVES, PEOPLE, VERBS, ADJECTIVES, THINGS, SETTINGS)
    every = np.random.default_rng(0).permutation(12 * 12 * 10 * 12 * 13 * len(SETTINGS))[:count]
    chosen = set(every.tolist())
    return [
        f"A {a} {p} is {v} a {b} {t} on the {setting}."
        for number, (a, p, v, b, t, setting) in enumerate(parts)
        if number in chosen
    ]


def wide_captions(count: int) -> list[str]:
    """Captions whose nouns and adjectives are drawn from 7,500 of WordNet's, by Zipf's law."""
    from gslopes.words.wordnet import wordnet

    chance = np.random.default_rng(3)
    lemmas = [
        (word, part) for word, part in wordnet()._row if word.isalpha() and 3 < len(word) < 10
    ]
    pools = [[word for word, part in lemmas if part == kind] for kind in "na"]
    pools = [
        chance.permutation(pool)[:size] for pool, size in zip(pools, (6000, 1500), strict=True)
    ]

    def words(pool: np.ndarray) -> list[str]:
        weights = 1 / (1 + np.arange(len(pool)))
        return [str(word) for word in chance.choice(pool, count, p=weights / weights.sum())]

    people, verbs = (chance.choice(names, count) for names in (PEOPLE, VERBS))
    columns = (words(pools[1]), people, verbs, words(pools[1]), words(pools[0]), words(pools[0]))
    return [
        f"A {a} {p} is {v} a {b} {t} on the {s}." for a, p, v, b, t, s in zip(*columns, strict=True)
    ]


def parsing(texts: list[str]) -> dict[str, float]:
    parser = standard()
    parser.parse(texts[0])
    began, used = time.perf_counter(), time.process_time()
    for text in texts:
        parser.parse(text)
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    seconds = cpu / len(texts)
    return {
        "captions": len(texts),
        "wall_s": wall,
        "cpu_s": cpu,
        "ms_each_cpu": 1000 * seconds,
        "240k_on_2_cores_s": 240_000 * seconds / 2,
    }


def splits(images: int, types: int, count: int, sample: int) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression

    chance = np.random.default_rng(1)
    present = chance.random((images, types)) < 0.1
    size, position = (
        present * chance.random((images, types)),
        np.where(present, chance.random((images, types)), 1.0),
    )
    features = np.column_stack([size, position])
    group = np.where(chance.random(images) < 0.5, 0.5, -0.5)
    y = chance.random(images) < 1 / (1 + np.exp(-(group + 2 * features[:, 0])))
    used = time.process_time()
    ours = fit_published(features, group, y, AuditOptions(splits=count))
    ours_s = time.process_time() - used
    columns = np.column_stack([_standard(features), group])
    used = time.process_time()
    theirs = []
    for _ in range(sample):
        part = chance.permutation(images)[: int(0.7 * images)]
        model = LogisticRegression(C=1.0, max_iter=200).fit(columns[part], y[part])
        theirs.append(model.coef_[0, -1])
    theirs_s = time.process_time() - used
    return {
        "images": images,
        "features": columns.shape[1],
        "splits": count,
        "ours_cpu_s": ours_s,
        "ours_ms_a_split": 1000 * ours_s / count,
        "sklearn_sample": sample,
        "sklearn_ms_a_split": 1000 * theirs_s / sample,
        "mean_ours": float(ours.splits.mean()),
        "mean_sklearn": float(np.mean(theirs)),
    }


RANKS = (0, 4, 12, 30, 70, 150, 300, 499)


def paper(count: int) -> dict[str, object]:
    """S2 at the size of the paper: 500 types, 1,001 features; a type of a higher rank is in fewer images."""
    from sklearn.linear_model import LogisticRegression

    chance = np.random.default_rng(2)
    images, types = 6500, 500
    present = chance.random((images, types)) < 0.6 / (1 + np.arange(types) / 8)
    position = np.where(present, chance.random((images, types)), 1.0)
    features = np.column_stack([present * chance.random((images, types)) ** 2, position])
    group = np.where(chance.random(images) < 0.5, 0.5, -0.5)
    rows = []
    for rank in RANKS:
        chosen = np.flatnonzero(present[:, rank])
        n, parts = len(chosen), (features[chosen], group[chosen])
        y = chance.random(n) < 1 / (1 + np.exp(0.5 - parts[1] - 2 * parts[0][:, rank]))
        used = time.process_time()
        published = fit_published(*parts, y, AuditOptions(splits=1))
        once = time.process_time() - used
        used = time.process_time()
        ours = fit_published(*parts, y, AuditOptions(splits=count))
        per_split = (time.process_time() - used - once) / (count - 1)
        columns = np.column_stack([_standard(parts[0]), parts[1]])
        used = time.process_time()
        for part in (chance.permutation(n)[: int(0.7 * n)] for _ in range(3)):
            LogisticRegression(C=1.0, max_iter=200).fit(columns[part], y[part])
        theirs = (time.process_time() - used) / 3
        row = {"rank": rank, "images": n, "once_s": once, "ours_ms_a_split": 1000 * per_split}
        rows.append(
            row
            | {
                "sklearn_ms_a_split": 1000 * theirs,
                "coefficient": published.coefficient,
                "valid": ours.valid,
            }
        )
    ranks = np.arange(types)
    seconds = [row["once_s"] + row["ours_ms_a_split"] for row in rows]
    total = float(np.interp(ranks, RANKS, seconds).sum())
    peer = float(np.interp(ranks, RANKS, [row["sklearn_ms_a_split"] for row in rows]).sum())
    return {
        "types": rows,
        "ours_500_types_1000_splits_cpu_s": total,
        "sklearn_500_types_1000_splits_cpu_s": peer,
    }


def measuring(images: int) -> dict[str, float]:
    """Seconds of each technique, without those that compare distributions."""
    from gslopes.captions.config import TECHNIQUES
    from gslopes.captions.measures.techniques import run_technique
    from tests.benches.bench_captions_planted import Planted, scenes

    corpus, _ = scenes(Planted(), images, 0)
    facts: dict[str, float] = {"images": images}
    for name in TECHNIQUES:
        if name not in ("S2", "S3", "S4"):
            used = time.process_time()
            run_technique(name, corpus, "system-captions", "human-labels", AuditOptions())
            facts[f"{name}_cpu_s"] = time.process_time() - used
    facts["all_cpu_s"] = sum(value for key, value in facts.items() if key.endswith("_cpu_s"))
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=int, default=20_000)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--types", type=int, default=100)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--scenes", type=int, default=0)
    parser.add_argument("--paper", type=int, default=0)
    args = parser.parse_args()
    facts: dict[str, object] = {}
    if args.captions:
        facts["parse"] = parsing(captions(args.captions))
        facts["parse_wide_vocabulary"] = parsing(wide_captions(args.captions))
    if args.splits:
        facts["s2"] = splits(args.images, args.types, args.splits, args.sample)
    if args.paper:
        facts["s2_of_the_papers_size"] = paper(args.paper)
    if args.scenes:
        facts["measure"] = measuring(args.scenes)
    facts["peak_mb"] = {"rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    sys.stdout.write(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
