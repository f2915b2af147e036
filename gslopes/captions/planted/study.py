"""How the techniques recover harms that were planted in scenes: truth, mean, coverage, false positives, power."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.captions.material import Caption, Material
from gslopes.captions.measures import context, demeaning, distributions, inclusion, nouns, people, reifying, salience
from gslopes.captions.measures.rows import TechniqueResult
from gslopes.captions.options import AuditOptions
from gslopes.captions.planted.omitted import OMITTED, alarm_rows, alarms
from gslopes.captions.planted.scenes import COUNTS, NOTHING, Planted, scenes, truths
from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.executors.progress import progress_line
from gslopes.language.chunks import Chunks, standard
from gslopes.language.graph import with_synsets
from gslopes.language.mentions import Mentions
from gslopes.language.senses import Senses
from gslopes.language.wordlists import shipped
from gslopes.language.wordnet import wordnet
from gslopes.stats.proportions import wilson

TARGET, TRUTH, HUMAN = "system-captions", "human-labels", "human-captions"
FORMAT = 2  # of a set's file
ALARMS = 20  # sets in which labels are left out
Recovered = dict[str, dict[str, float]]


def options_of(seed: int) -> AuditOptions:
    """Fewer resamples than an audit takes: 200 sets are drawn."""
    return AuditOptions(bootstrap=500, permutations=199, salience_bootstrap=200, splits=60, types=30, seed=seed)


def recover_once(
    planted: Planted, images: int, seed: int, mentions: Mentions, parser: Chunks, *, with_s2: bool = True
) -> Recovered:
    """One set: what each technique finds of what was planted, with its interval, p and q."""
    material, counts = scenes(planted, images, seed, mentions, parser.tag)
    options = options_of(seed)
    results = _measured(material, options)
    dog, umbrella = (mentions.senses.of(word, "object").synset for word in ("dog", "umbrella"))
    of = {name: result.measures for name, result in results.items()}
    found = {
        "S1 umbrella, pp": _row(_one(of["S1"], concept=f"hallucination:{umbrella}", unit="pp")),
        "S1 umbrella, association": _association(results["S1"], str(umbrella)),
        "S3 dog in human captions, pp": _row(_one(of["S3"], concept=dog, unit="pp", kind="object")),
        "S4 change of dog, pp": _row(_one(of["S4"], concept=dog, kind="object")),
        "R1 woman by dress, pp": _row(_one(of["R1"], concept="feminine words by dress")),
        "E1 unmentioned, pp": _row(_one(of["E1"], concept="people unmentioned", unit="pp")),
        "D1 lazy, pp": _row(_one(of["D1"], concept="estimate", unit="pp")),
        "D2 unmentioned, pp": _row(_one(of["D2"], concept="unmentioned", unit="pp")),
    }
    if with_s2:
        results["S2"] = salience.objects_mentioned(material, TARGET, TRUTH, options)
        bench = mentions.senses.of("bench", "object").synset
        row = _one([r for r in results["S2"].salience if r["eligible"]], concept=bench)
        if row:
            ends = {name: row[name] for name in ("split_low", "split_high")}
            found["S2 bench, log odds"] = _row({**row, "value": row["coefficient"]}) | ends
    for name, result in results.items():
        rows = result.salience or [row for row in result.measures if row["unit"] == "pp"]
        found[f"any {name}"] = {"q": min((row["q"] for row in rows if not math.isnan(row["q"])), default=math.nan)}
    recovered = counted(material, options, results)
    for name in COUNTS:
        found[name] = {"planted": float(counts[name]), "value": float(recovered[name])}
    return found


def parsed_counts(planted: Planted, images: int, seed: int, mentions: Mentions, parser: Chunks) -> Recovered:
    """The counts of one set whose captions are parsed, and how many of the planted facts the parser misses or adds."""
    material, counts = scenes(planted, images, seed, mentions, parser.tag)
    missed = added = facts = 0
    again: dict[str, list[Caption]] = {}
    for image, captions in material.stages[TARGET].items():
        again[image] = []
        for caption in captions:
            parsed = tuple(with_synsets(fact, mentions.senses) for fact in parser.parse(caption.text))
            again[image].append(Caption(caption.source, parsed, caption.text))
            known, said = ({_plain(f) for f in one if f.kind != "relation"} for one in (caption.facts, parsed))
            missed, added, facts = missed + len(known - said), added + len(said - known), facts + len(known)
    other = replace(material, stages={**material.stages, TARGET: again})
    recovered = counted(other, options_of(seed))
    found = {name: {"planted": float(counts[name]), "value": float(recovered[name])} for name in COUNTS}
    return found | {"facts": {"planted": float(facts), "missed": float(missed), "added": float(added)}}


def recover(out: Path, sets: int, *, images: int = 2000, progress: bool = False) -> list[dict[str, Any]]:
    """Truth, mean recovered, share of intervals that hold the truth, share flagged; with harms planted, and nothing.

    S2 is fitted in every fourth set; what S1 flags where labels are missing is told of up to 20 sets.  Written to
    OUT/planted.json; sets that are there already are not drawn again.

    Raises: UsageError if sets or images is below 1; StorageError; ModelError if HanTa is not as it should be.
    """
    if sets < 1 or images < 1:
        raise UsageError("At least one set of one image is drawn.", "Write --sets 200.")
    parser = standard()
    mentions = Mentions(Senses(wordnet()), shipped())
    kinds = {"planted": Planted(), "nothing": NOTHING}
    drawn: dict[str, list[Recovered]] = {name: [] for name in kinds}
    missing: dict[float, list[dict[str, float]]] = {share: [] for share in OMITTED}
    with runfolder.locked(out), progress_line(progress, {0: 2 * sets}, "planted", "sets", 0) as tick:
        for seed in range(sets):
            for name, planted in kinds.items():
                part = out / "parts" / f"{name}-{seed:04d}-{images}-v{FORMAT}.json"
                once = partial(recover_once, planted, images, seed, mentions, parser, with_s2=seed % 4 == 0)
                drawn[name].append(_kept(part, once))
                tick(1)
            for share, alarmed in missing.items() if seed < ALARMS else ():
                part = out / "parts" / f"omitted-{share:g}-{seed:04d}-{images}-v{FORMAT}.json"
                options = replace(options_of(seed), bootstrap=0)
                alarmed.append(_kept(part, partial(alarms, share, images, seed, mentions, options)))
        table = [row for name, planted in kinds.items() for row in summarise(name, planted, drawn[name])]
        table += _parsed_rows([parsed_counts(Planted(), images, s, mentions, parser) for s in range(min(sets, 3))])
        table += alarm_rows(missing)
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
        if "split_low" in got[0]:
            inside = [one["split_low"] <= truth <= one["split_high"] for one in got]
            beyond = float(np.mean([not one["split_low"] <= 0 <= one["split_high"] for one in got]))
            published = {"planted": f"{key}, interval over splits", "flagged": beyond, "p_flagged": None}
            rows.append(row | _coverage(inside) | published)
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


# -- one set ----------------------------------------------------------------------------------------------------------


def _measured(material: Material, options: AuditOptions) -> dict[str, TechniqueResult]:
    return {
        "D1": demeaning.listed_words(material, TARGET, options),
        "D2": people.people_unmentioned(material, TARGET, TRUTH, options),
        "E1": people.people_erased(material, TARGET, TRUTH, options),
        "R1": reifying.trait_dependent(material, TARGET, TRUTH, options),
        "S1": inclusion.words_wrongly_included(material, TARGET, TRUTH, options),
        "S3": distributions.between_groups(material, HUMAN, options),
        "S4": distributions.between_stages(material, TARGET, HUMAN, options),
    }


def counted(
    material: Material, options: AuditOptions, known: Mapping[str, TechniqueResult] | None = None
) -> dict[str, int]:
    """The cases that D1, D3, D4 and S1 count.

    known: what D1 and S1 gave, if they have run.
    """
    options = replace(options, bootstrap=0, permutations=0)
    listed = known["D1"] if known else demeaning.listed_words(material, TARGET, options)
    wrong = known["S1"] if known else inclusion.words_wrongly_included(material, TARGET, TRUTH, options)
    armchair = f"too-specific:{material.mentions.senses.of('armchair', 'object').synset}"
    found = {"D1 lazy": _count(listed, concept="estimate")}
    result = context.context_specific(material, TARGET, TRUTH, options)
    found |= {f"D3 {rule}": _count(result, concept=rule) for rule in context.RULES}
    found["D4 female"] = _count(nouns.identity_as_nouns(material, TARGET, TRUTH, options), concept="female")
    found["S1 armchair"] = int(_one(wrong.measures, concept=armchair).get("active", 0))
    return found


def _count(result: TechniqueResult, concept: str) -> int:
    return int(_one(result.measures, concept=concept, unit="count").get("value", 0))


def _association(result: TechniqueResult, concept: str) -> dict[str, float]:
    row = _one(result.inclusions, scenario="hallucination", concept=concept)
    sign = 1 if row.get("towards") == "darker" else -1
    return {"value": sign * float(row["association"])} if row else {}


def _one(rows: Iterable[Mapping[str, Any]], **facts: Any) -> Mapping[str, Any]:
    return next((row for row in rows if all(row.get(name) == value for name, value in facts.items())), {})


def _row(row: Mapping[str, Any]) -> dict[str, float]:
    if not row:
        return {}
    low, high = row["boot_low"], row["boot_high"]
    return {"value": float(row["value"]), "low": float(low), "high": float(high), "p": row["p"], "q": row["q"]}


def _plain(fact: Any) -> tuple[str, str, str]:
    return fact.kind, fact.word, fact.subject


# -- many sets --------------------------------------------------------------------------------------------------------


def _kept(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if path.exists():
        kept: dict[str, Any] = read_json(path)
        return kept
    found = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    runfolder.write_json(path, _plain_numbers(found))
    return found


def _plain_numbers(found: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(found, dict):
        return {key: _plain_numbers(value) for key, value in found.items()}
    return None if math.isnan(found) else found


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


def _parsed_rows(parsed: list[Recovered]) -> list[dict[str, Any]]:
    """What is lost where captions are parsed instead of given: mean counts, and the parser's error rates."""
    rows = []
    for key in COUNTS:
        planted, value = (float(np.mean([one[key][name] for one in parsed])) for name in ("planted", "value"))
        lost = abs(value - planted) / planted if planted else 0.0
        rows.append({"set": "parsed", "planted": f"{key}, cases", "truth": planted, "mean": value, "lost": lost})
    facts = sum(one["facts"]["planted"] for one in parsed)
    for name in ("missed", "added"):
        share = sum(one["facts"][name] for one in parsed) / facts
        rows.append({"set": "parsed", "planted": f"facts {name}, share", "truth": 0.0, "mean": share, "lost": share})
    return [row | {"sets": len(parsed)} for row in rows]
