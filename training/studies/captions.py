"""How the techniques recover harms that were planted in scenes: truth, mean, coverage, false positives, power."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Material
from gslopes.captions.measures.demeaning import RULES
from gslopes.captions.measures.rows import TechniqueResult
from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.core.progress import progress_line
from gslopes.stats.intervals import wilson
from gslopes.words.chunks import Chunks, standard
from gslopes.words.graph import Senses
from gslopes.words.mentions import Mentions
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet
from training.studies.scenes import COUNTS, HUMAN, NOTHING, TARGET, TRUTH, Planted, scenes, truths

FORMAT = 3  # of a set's file
STAGES = dict.fromkeys(("D1", "D2", "E1", "R1", "S1"), (TARGET, TRUTH)) | {"S3": (HUMAN, ""), "S4": (TARGET, HUMAN)}
"""The target and the truth of each technique that is run on every set."""

Recovered = dict[str, dict[str, float]]


def options_of(seed: int) -> AuditOptions:
    """Fewer splits than an audit takes, as 200 sets are drawn."""
    return AuditOptions(splits=60, types=30, seed=seed)


def recover_once(
    planted: Planted, images: int, seed: int, mentions: Mentions, parser: Chunks, *, with_s2: bool = True
) -> Recovered:
    """One set: what each technique recovers of what was planted, with its interval, p and q."""
    material, counts = scenes(planted, images, seed, mentions, parser.tag)
    options = options_of(seed)
    results = {name: run_technique(name, material, *stages, options) for name, stages in STAGES.items()}
    dog, umbrella, bench = (mentions.senses.of(word, "object").synset for word in ("dog", "umbrella", "bench"))
    rows: dict[str, tuple[str, dict[str, Any]]] = {
        "S1 umbrella, pp": ("S1", {"concept": f"hallucination:{umbrella}", "unit": "pp"}),
        "S3 dog in human captions, pp": ("S3", {"concept": dog, "unit": "pp", "kind": "object"}),
        "S4 change of dog, pp": ("S4", {"concept": dog, "kind": "object"}),
        "R1 woman by dress, pp": ("R1", {"concept": "feminine words by dress"}),
        "E1 unmentioned, pp": ("E1", {"concept": "people unmentioned", "unit": "pp"}),
        "D1 lazy, pp": ("D1", {"concept": "estimate", "unit": "pp"}),
        "D2 unmentioned, pp": ("D2", {"concept": "unmentioned", "unit": "pp"}),
    }
    found = {key: _numbers(_first(results[name].measures, **facts)) for key, (name, facts) in rows.items()}
    inclusion = _first(results["S1"].inclusions, scenario="hallucination", concept=umbrella)
    sign = 1 if inclusion.get("towards") == "darker" else -1
    found["S1 umbrella, association"] = {"value": sign * float(inclusion["association"])} if inclusion else {}
    if with_s2:
        results["S2"] = run_technique("S2", material, TARGET, TRUTH, options)
        published = run_technique("S2", material, TARGET, TRUTH, replace(options, as_published=True))
        for key, result, ends in (("", results["S2"], "ci"), (", as published", published, "split")):
            row = _first(result.salience, eligible=True, concept=bench)
            renamed = {"value": "coefficient", "ci_low": f"{ends}_low", "ci_high": f"{ends}_high"}
            found[f"S2 bench, log odds{key}"] = _numbers(row and {**row, **{a: row[b] for a, b in renamed.items()}})
    for name, result in results.items():
        tested = result.salience or [row for row in result.measures if row["unit"] == "pp"]
        found[f"any {name}"] = {"q": min((row["q"] for row in tested if not math.isnan(row["q"])), default=math.nan)}
    recovered = counted(material, options, results)
    return found | {name: {"planted": float(counts[name]), "value": float(recovered[name])} for name in COUNTS}


def recover(out: Path, sets: int, *, images: int = 2000, progress: bool = False) -> list[dict[str, Any]]:
    """Truth, mean recovered, share of intervals that hold the truth, share flagged; with harms planted, and nothing.

    S2 is fitted in every fourth set.  Written to OUT/planted.json; sets that are there already are not drawn again.

    Raises: UsageError if sets or images is below 1; StorageError; ModelError if HanTa is not as it should be.
    """
    if sets < 1 or images < 1:
        raise UsageError("At least one set of one image is drawn.", "Write --sets 200.")
    parser = standard()
    mentions = Mentions(Senses(wordnet()), shipped())
    kinds = {"planted": Planted(), "nothing": NOTHING}
    drawn: dict[str, list[Recovered]] = {name: [] for name in kinds}
    with runfolder.locked(out), progress_line(progress, {0: 2 * sets}, "planted", "sets", 0) as tick:
        for seed in range(sets):
            for name, planted in kinds.items():
                part = out / "parts" / f"{name}-{seed:04d}-{images}-v{FORMAT}.json"
                if not part.exists():
                    found = recover_once(planted, images, seed, mentions, parser, with_s2=seed % 4 == 0)
                    numbers = {  # JSON has no NaN
                        key: {name: None if math.isnan(value) else value for name, value in row.items()}
                        for key, row in found.items()
                    }
                    part.parent.mkdir(parents=True, exist_ok=True)
                    runfolder.write_json(part, numbers)
                drawn[name].append(read_json(part))
                tick(1)
        table = [row for name, planted in kinds.items() for row in summarise(name, planted, drawn[name])]
        runfolder.write_json(out / "planted.json", table)
    return table


def summarise(name: str, planted: Planted, drawn: list[Recovered]) -> list[dict[str, Any]]:
    """One row for each thing that was planted, and for each technique's smallest q.

    covered: share of the intervals that hold the truth, or of the counts that are equal.  flagged: share with q < 0.05.
    p_flagged: share with p < 0.05.  low, high: Wilson's interval of covered.
    """
    rows = []
    for key, truth in truths(planted).items():
        got = [one[key] for one in drawn if _known(one.get(key))]
        if not got:
            continue
        row = {"set": name, "planted": key, "truth": truth, "mean": float(np.mean([one["value"] for one in got]))}
        if _known(got[0], "low"):
            rows.append(row | _coverage([one["low"] <= truth <= one["high"] for one in got]) | _flags(got))
        else:
            rows.append(row | {"covered": None, "low": None, "high": None, "sets": len(got)} | _flags(got))
    for key in COUNTS:
        equal = [one[key]["value"] == one[key]["planted"] for one in drawn]
        means = {name: float(np.mean([one[key][name] for one in drawn])) for name in ("planted", "value")}
        row = {"set": name, "planted": f"{key}, cases", "truth": means["planted"], "mean": means["value"]}
        rows.append(row | _coverage(equal) | {"flagged": None, "p_flagged": None})
    families = sorted({key for one in drawn for key in one if key.startswith("any ")})
    for key in families:
        q = [one[key].get("q") for one in drawn if key in one]
        flagged = float(np.mean([value is not None and value < 0.05 for value in q]))
        empty = dict.fromkeys(("truth", "mean", "covered", "low", "high", "p_flagged"))
        rows.append({"set": name, "planted": f"{key} finding by q", **empty, "flagged": flagged, "sets": len(q)})
    return rows


def counted(
    material: Material, options: AuditOptions, known: Mapping[str, TechniqueResult] | None = None
) -> dict[str, int]:
    """The cases that D1, D3, D4 and S1 count.  known: the results of D1 and S1, if they have run."""
    names = ("D3", "D4") if known else ("D1", "D3", "D4", "S1")
    of = {**(known or {}), **{name: run_technique(name, material, TARGET, TRUTH, options) for name in names}}
    armchair = f"too-specific:{material.mentions.senses.of('armchair', 'object').synset}"
    found = {"D1 lazy": _count(of["D1"], concept="estimate")}
    found |= {f"D3 {rule}": _count(of["D3"], concept=rule) for rule in RULES}
    found["D4 female"] = _count(of["D4"], concept="female")
    found["S1 armchair"] = int(_first(of["S1"].measures, concept=armchair).get("active", 0))
    return found


def _count(result: TechniqueResult, concept: str) -> int:
    return int(_first(result.measures, concept=concept, unit="count").get("value", 0))


def _first(rows: Iterable[Mapping[str, Any]], **facts: Any) -> Mapping[str, Any]:
    """The first row that has these columns; empty if none does."""
    return next((row for row in rows if all(row.get(name) == value for name, value in facts.items())), {})


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    names = {"value": "value", "low": "ci_low", "high": "ci_high", "p": "p", "q": "q"}
    return {name: float(row[column]) for name, column in names.items()} if row else {}


def _known(row: Mapping[str, Any] | None, name: str = "value") -> bool:
    return bool(row) and row is not None and row.get(name) is not None and not math.isnan(row[name])


def _coverage(inside: list[bool]) -> dict[str, Any]:
    share = float(np.mean(inside))
    low, high = wilson(share, len(inside))
    return {"covered": share, "low": float(low), "high": float(high), "sets": len(inside)}


def _flags(got: list[dict[str, float]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, column in (("flagged", "q"), ("p_flagged", "p")):
        values = [one[column] for one in got if _known(one, column)]
        found[name] = float(np.mean([value < 0.05 for value in values])) if values else None
    return found
