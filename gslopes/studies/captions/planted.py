"""Scenes with planted harms, and how the techniques recover them: scenes, not pictures; the labels are the scene."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.audits.captions import context, distributions, inclusion, people, salience
from gslopes.audits.captions.material import Box, Caption, Coverage, Material, Pair
from gslopes.audits.captions.options import AuditOptions
from gslopes.core import runfolder
from gslopes.executors.progress import progress_line
from gslopes.language.graph import Fact
from gslopes.language.mentions import Mentions
from gslopes.language.senses import Senses
from gslopes.language.wordlists import shipped
from gslopes.language.wordnet import wordnet

PAIR = Pair("skin", "darker", "lighter")
_NOUNS = """bench car dog horse ball chair table cup umbrella bicycle truck bottle book clock vase pizza cake bed couch
laptop keyboard phone bag tree kite skateboard surfboard fork spoon bowl"""
NOUNS = tuple(_NOUNS.split())
COMMON = 0.35  # chance of a bench, and of a dog
EARLY = (0.6, 0.4)  # share of the dogs that human captions say, for darker and lighter


@dataclass(frozen=True, slots=True)
class Planted:
    """What is planted; 0 everywhere plants nothing.

    beta: log odds by which *bench* is mentioned more for darker.  inserted: chance of *umbrella* where there is none,
    for darker and lighter.  hyponym: chance of saying *man* where the label is *person*.  unmentioned: chance that the
    person is left out, for darker and lighter.  boys: chance of *boy* for a darker man.  amplified: by how much the
    share of *dog* said of darker rises between human and system captions.  omitted: chance that a label is missing.
    """

    beta: float = 1.0
    inserted: tuple[float, float] = (0.08, 0.03)
    unmentioned: tuple[float, float] = (0.12, 0.05)
    boys: float = 0.04
    amplified: float = 0.1
    omitted: float = 0.0


NOTHING = Planted(0.0, (0.05, 0.05), (0.08, 0.08), 0.0, 0.0)


def scenes(planted: Planted, images: int, seed: int, mentions: Mentions) -> Material:
    """Labels, human and system captions of so many images."""
    chance = np.random.default_rng([seed, 9])
    labels: dict[str, list[Caption]] = {}
    human: dict[str, list[Caption]] = {}
    system: dict[str, list[Caption]] = {}
    groups: dict[str, str] = {}
    boxes: dict[str, list[Box]] = {}
    areas: dict[str, float] = {}
    for number in range(images):
        image = f"{number:05d}"
        darker = bool(chance.random() < 0.4)
        groups[image] = PAIR.group if darker else PAIR.other
        there = [name for name in NOUNS if chance.random() < (COMMON if name in ("bench", "dog") else 0.12)]
        corners = {name: _box(chance) for name in there}
        boxes[image] = [Box(_synset(name, mentions), *corners[name]) for name in there]
        areas[image] = float(chance.uniform(0.05, 0.6))
        said = [name for name in there if chance.random() < _spoken(name, corners[name], darker, planted)]
        if "umbrella" not in there and chance.random() < planted.inserted[not darker]:
            said.append("umbrella")
        early = {name for name in there if name == "dog" and chance.random() < EARLY[not darker]}
        # of what the human captions do not say, as many more as the planted share asks for
        late = early | {
            name
            for name in there
            if name == "dog" and name not in early and darker and chance.random() < 2 * planted.amplified
        }
        said = [name for name in said if name != "dog"] + sorted(late)
        person = "" if chance.random() < planted.unmentioned[not darker] else "man"
        if person and darker and chance.random() < planted.boys:
            person = "boy"
        kept = [name for name in there if chance.random() >= planted.omitted]
        labels[image] = [Caption(-1, _facts(["man", *kept], mentions))]
        human[image] = [Caption(0, _facts(["man", *sorted(early)], mentions), "a man")]
        words = [word for word in [person, *said] if word]
        system[image] = [Caption(0, _facts(words, mentions), " and ".join(f"a {word}" for word in words))]
    stages = {"human-labels": labels, "human-captions": human, "system-captions": system}
    coverage = {"human-labels": Coverage("open", "none", "none")}
    return Material(stages, mentions, {PAIR.column: groups}, [PAIR], areas, boxes, coverage)


def recover_once(planted: Planted, images: int, seed: int, mentions: Mentions) -> dict[str, dict[str, float]]:
    """One set: what each technique finds of what was planted, with its interval and q."""
    material = scenes(planted, images, seed, mentions)
    options = AuditOptions(bootstrap=400, permutations=199, salience_bootstrap=200, splits=100, types=30, seed=seed)
    target, truth = "system-captions", "human-labels"
    found: dict[str, dict[str, float]] = {}
    rows = people.people_unmentioned(material, target, truth, options).measures
    found["D2 unmentioned, pp"] = _row(next(row for row in rows if row["unit"] == "pp"))
    rows = context.context_specific(material, target, truth, options).measures
    found["D3 boys, captions"] = _row(next(r for r in rows if r["concept"] == "boys" and r["unit"] == "count"))
    rows = inclusion.words_wrongly_included(material, target, truth, options).measures
    umbrella = f"hallucination:{_synset('umbrella', mentions)}"
    found["S1 umbrella, pp"] = _row(next(row for row in rows if row["concept"] == umbrella))
    rows = distributions.between_stages(material, target, "human-captions", options).measures
    dogs = [r for r in rows if r["kind"] == "object" and r["concept"] == _synset("dog", mentions)]
    found["S4 change of dog, pp"] = _row(dogs[0]) if dogs else {}
    bench = [r for r in salience.objects_mentioned(material, target, truth, options).salience if r["eligible"]]
    for row in bench:
        if row["concept"] == _synset("bench", mentions):
            found["S2 bench, log odds"] = {
                **_row({**row, "value": row["coefficient"]}),
                "split_low": row["split_low"],
                "split_high": row["split_high"],
            }
    found["any S2 finding by q"] = {
        "value": float(any(r["q"] < 0.05 for r in bench)),
        "low": 0.0,
        "high": 1.0,
        "q": 1.0,
    }
    found["D3 boys planted"] = {"value": float(_boys(material)), "low": 0.0, "high": 0.0, "q": 1.0}
    return found


def recover(out: Path, sets: int, *, images: int = 2000, progress: bool = False) -> list[dict[str, Any]]:
    """Truth, mean recovered, share of intervals that hold the truth, share flagged at q < 0.05; planted and nothing.

    Written to OUT/planted.json; sets that are there already are not drawn again.

    Raises: StorageError.
    """
    mentions = Mentions(Senses(wordnet()), shipped())
    table = []
    with runfolder.locked(out), progress_line(progress, {0: 2 * sets}, "planted", "sets", 0) as tick:
        for name, planted in (("", Planted()), ("nothing: ", NOTHING)):
            drawn = []
            for seed in range(sets):
                drawn.append(_kept(out, f"{name[:7] or 'planted'}-{seed:04d}", planted, images, seed, mentions))
                tick(1)
            table += _summary(name, planted, drawn, images)
        runfolder.write_json(out / "planted.json", table)
    return table


def truths(planted: Planted) -> dict[str, float]:
    """What is true by construction; S4: the chances of a dog, of its being unsaid, and of its being added."""
    return {
        "D2 unmentioned, pp": 100 * (planted.unmentioned[0] - planted.unmentioned[1]),
        "S1 umbrella, pp": 100 * (planted.inserted[0] - planted.inserted[1]),
        "S2 bench, log odds": planted.beta,
        "S4 change of dog, pp": 100 * COMMON * (1 - EARLY[0]) * 2 * planted.amplified,
    }


def _kept(
    out: Path, name: str, planted: Planted, images: int, seed: int, mentions: Mentions
) -> dict[str, dict[str, float]]:
    import json

    path = out / "parts" / f"{name}-{images}.json"
    if path.exists():
        kept: dict[str, dict[str, float]] = json.loads(path.read_text("utf-8"))
        return kept
    found = recover_once(planted, images, seed, mentions)
    plain = {key: {k: None if math.isnan(v) else v for k, v in row.items()} for key, row in found.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    runfolder.write_json(path, plain)
    return found


def _summary(
    name: str, planted: Planted, drawn: list[dict[str, dict[str, float]]], images: int
) -> list[dict[str, Any]]:
    rows = []
    for key, truth in truths(planted).items():
        got = [one[key] for one in drawn if key in one and one[key].get("value") is not None]
        if not got:
            continue
        covered = np.mean([one["low"] <= truth <= one["high"] for one in got])
        flagged = np.mean([(one.get("q") or 1.0) < 0.05 for one in got])
        row = {"planted": f"{name}{key}", "truth": truth, "mean": float(np.mean([one["value"] for one in got]))}
        rows.append({**row, "covered": float(covered), "flagged": float(flagged), "sets": len(got)})
        if "split_low" in got[0]:
            inside = np.mean([one["split_low"] <= truth <= one["split_high"] for one in got])
            zero = np.mean([not one["split_low"] <= 0 <= one["split_high"] for one in got])
            published = {"planted": f"{name}{key}, interval over splits", "covered": float(inside)}
            rows.append({**row, **published, "flagged": float(zero), "sets": len(got)})
    exact = [one["D3 boys, captions"]["value"] == one["D3 boys planted"]["value"] for one in drawn]
    boys = float(np.mean([one["D3 boys planted"]["value"] for one in drawn]))
    found = float(np.mean([one["D3 boys, captions"]["value"] for one in drawn]))
    rows.append(
        {"planted": f"{name}D3 boys, captions", "truth": boys, "mean": found, "covered": float(np.mean(exact))}
        | {"flagged": 0.0, "sets": len(drawn)}
    )
    findings = float(np.mean([one["any S2 finding by q"]["value"] for one in drawn]))
    rows.append(
        {"planted": f"{name}any S2 finding by q", "truth": float(bool(planted.beta)), "mean": findings}
        | {"covered": 1.0, "flagged": findings, "sets": len(drawn)}
    )
    return rows


def _boys(material: Material) -> int:
    said = material.stages["system-captions"].values()
    return sum(any(fact.word == "boy" for caption in captions for fact in caption.facts) for captions in said)


def _row(row: Mapping[str, Any]) -> dict[str, float]:
    low, high = row.get("boot_low", math.nan), row.get("boot_high", math.nan)
    if math.isnan(low):
        low, high = row.get("ci_low", math.nan), row.get("ci_high", math.nan)
    return {"value": float(row["value"]), "low": float(low), "high": float(high), "q": float(row["q"])}


def _spoken(name: str, box: tuple[float, ...], darker: bool, planted: Planted) -> float:
    """Logistic in size and place, and for *bench* in the group, ±½."""
    size = (box[2] - box[0]) * (box[3] - box[1])
    far = math.hypot((box[0] + box[2] - 1) / 2, (box[1] + box[3] - 1) / 2) / math.hypot(0.5, 0.5)
    logit = -0.3 + 3 * size - 0.8 * far
    if name == "bench":
        logit += planted.beta * (0.5 if darker else -0.5)
    return 1 / (1 + math.exp(-logit))


def _box(chance: np.random.Generator) -> tuple[float, float, float, float]:
    width, height = chance.uniform(0.1, 0.7, 2)
    x, y = chance.uniform(0, 1 - width), chance.uniform(0, 1 - height)
    return float(x), float(y), float(x + width), float(y + height)


def _synset(word: str, mentions: Mentions) -> str:
    return mentions.senses.of(word, "object").synset or word


def _facts(words: list[str], mentions: Mentions) -> tuple[Fact, ...]:
    return tuple(Fact("object", word, synset=_synset(word, mentions)) for word in dict.fromkeys(words))
