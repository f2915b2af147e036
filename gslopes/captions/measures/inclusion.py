"""S1: words wrongly included. Errors may come from stereotypes; ranked by how often, kept if associated with a group.

Source: Wang et al. 2022, section on stereotyping; hypothesis generation, not a finding: every case must be read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.captions.material import Caption, Coverage, Material, Pair
from gslopes.captions.measures.estimates import bootstrap_rates, fisher, newcombe
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, case, measure, share_row, truth_text
from gslopes.captions.options import AuditOptions
from gslopes.language.graph import Fact
from gslopes.language.phrases import PREPOSITIONS
from gslopes.language.wordlists import Lists
from gslopes.language.wordnet import WordNet
from gslopes.stats.multiplicity import adjust
from gslopes.stats.proportions import wilson

SCENARIOS = ("non-imageable", "too-specific", "hallucination")


@dataclass(frozen=True, slots=True)
class Judged:
    """One concept of an image: what was decided about it, and the fact that it stands for."""

    fact: Fact
    scenario: str


@dataclass(frozen=True, slots=True)
class Association:
    """Of a concept with a group, over images annotated with either.

    value: covariance P(s, g) − P(s) P(g) (or phi, or the difference of shares) with ``towards``, at least 0.
    """

    value: float
    phi: float
    towards: str


def imageable(fact: Fact, lists: Lists, options: AuditOptions | None = None) -> bool:
    """Whether a photo could show it at all; truth is not asked.

    *have* and *in* are always exempt, other prepositions unless they must be listed.
    """
    if fact.kind == "object":
        return fact.synset not in lists["non-imageable-synsets"]
    if fact.kind == "attribute":
        return fact.word not in lists["non-imageable-adjectives"]
    verb = fact.word.split(" ")[0]
    exempt = verb in ("have", "in") or (verb in PREPOSITIONS and (options or AuditOptions()).prepositions == "exempt")
    return exempt or verb in lists["visual-verbs"]


class Truth:
    """What truth holds of one image, ready to be asked."""

    def __init__(self, facts: Iterable[Fact], wordnet: WordNet, lch: float) -> None:
        self.wordnet = wordnet
        self.lch = lch
        kinds: dict[str, list[Fact]] = {"object": [], "attribute": [], "relation": []}
        for fact in facts:
            kinds[fact.kind].append(fact)
        self.objects = {fact.concept for fact in kinds["object"]}
        self.attributes = [(_subject(fact), fact.concept) for fact in kinds["attribute"]]
        self.relations = [(_subject(fact), _object(fact), fact.concept) for fact in kinds["relation"]]
        self._same: dict[str, frozenset[str]] = {}

    def same(self, concept: str) -> frozenset[str]:
        """Objects of truth that are this one: of the greatest similarity, at least ``lch``; all ties count."""
        if concept not in self._same:
            if concept in self.objects:
                found = frozenset({concept})
            else:
                near = {other: self.wordnet.similarity(concept, other) or 0.0 for other in self.objects}
                best = max(near.values(), default=0.0)
                found = frozenset(o for o, value in near.items() if value >= best - 1e-12 and best >= self.lch)
            self._same[concept] = found
        return self._same[concept]

    def asked(self, fact: Fact) -> set[str] | None:
        """The concepts that a fact is compared with; None if its object, subject or both are not in truth."""
        if fact.kind == "object":
            return self.objects
        subjects = self.same(_subject(fact))
        if not subjects:
            return None
        if fact.kind == "attribute":
            return {word for owner, word in self.attributes if owner in subjects}
        others = self.same(_object(fact))
        if not others:
            return None
        return {word for one, other, word in self.relations if one in subjects and other in others}


def judge(
    target: Iterable[Fact],
    truth: Iterable[Fact],
    coverage: Coverage,
    wordnet: WordNet,
    lists: Lists,
    options: AuditOptions | None = None,
) -> list[Judged]:
    """What is to be said of every distinct fact of a target: the first rule that holds decides.

    non-imageable, correct (truth holds it or something below it), too-specific (truth holds something above it),
    not-judged (coverage, or no such object in truth), hallucination.
    """
    options = options or AuditOptions()
    known = Truth(truth, wordnet, options.lch)
    return [Judged(fact, _scenario(fact, known, coverage, lists, options)) for fact in sorted(set(target), key=_key)]


def _scenario(fact: Fact, truth: Truth, coverage: Coverage, lists: Lists, options: AuditOptions) -> str:
    if not imageable(fact, lists, options):
        return "non-imageable"
    asked = truth.asked(fact)
    if asked is None:
        return "not-judged"
    concept, wordnet = fact.concept, truth.wordnet
    if any(wordnet.at_or_below(other, concept) for other in asked):
        return "correct"
    if any(wordnet.depth(other) >= options.min_truth_depth for other in wordnet.above(concept) & asked):
        return "too-specific"
    return "hallucination" if _covered(fact, coverage, wordnet) else "not-judged"


def _covered(fact: Fact, coverage: Coverage, wordnet: WordNet) -> bool:
    kind = coverage.of(fact.kind)
    if kind != "closed":
        return kind == "open"
    concept = fact.concept
    near = wordnet.above(concept) | {concept}
    return bool(near & coverage.types) or any(wordnet.at_or_below(known, concept) for known in coverage.types)


def associate(present: np.ndarray, member: np.ndarray, pair: Pair, how: str = "cov") -> Association:
    """The association of a concept with a pair's groups.

    present: (U,) bool.  member: (U,) 1 for the group, −1 for the other, 0 for neither.

    >>> half = np.repeat([1, -1], 500)
    >>> associate(np.arange(1000) < 11, half, Pair("gender", "male", "female")).value
    0.0055
    """
    used = member != 0
    n = int(used.sum())
    if not n:
        return Association(0.0, math.nan, "")
    here, group = present[used], member[used] == 1
    share, size, joint = here.mean(), group.mean(), (here & group).mean()
    covariance = float(joint - share * size)
    spread = math.sqrt(share * (1 - share) * size * (1 - size))
    phi = covariance / spread if spread else math.nan
    value = covariance
    if how == "phi":
        value = 0.0 if math.isnan(phi) else phi
    elif how == "diff":
        value = covariance / (size * (1 - size)) if 0 < size < 1 else 0.0
    return Association(round(abs(value), 15), abs(phi), pair.group if value >= 0 else pair.other)


def keeps(value: float, threshold: float) -> bool:
    """Whether |a| is above the threshold, strictly, with a relative tolerance of 1e-9."""
    return value > threshold * (1 + 1e-9)


def words_wrongly_included(material: Material, target: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """S1 at one stage: inclusions, cases, and the shares of images and of cases by scenario."""
    images = material.images(target, truth)
    wordnet, lists = material.mentions.wordnet, material.mentions.lists
    coverage = material.coverage.get(truth, Coverage())
    header = RowHeader(
        "stereotyping",
        "S1",
        target,
        truth,
        reading="look",
        origin="paper",
        lists=lists.versions("non-imageable-synsets", "non-imageable-adjectives", "visual-verbs"),
    )
    tally = _Counts(images)
    if options.associate_in == "human-captions":
        for place, image in enumerate(images):
            tally.hear(place, material.facts("human-captions", image) if "human-captions" in material.stages else ())
    found = TechniqueResult()
    for place, image in enumerate(images):
        truth_facts, facts = material.facts(truth, image), material.facts(target, image)
        judged = judge(facts, truth_facts, coverage, wordnet, lists, options)
        tally.take(place, judged, truth_facts, wordnet)
        for word, scenario in _first(judged):
            caption = _says(material.stages[target][image], word)
            text = truth_text(material, truth, image)
            found.cases.append(
                case(header, scenario, image, caption, word=word.text, concept=word.concept, truth_text=text)
            )
    found.measures += _summary(header, tally, len(images))
    for pair in material.pairs:
        member = material.members(pair, images)
        found.inclusions += _inclusions(header, tally, member, pair, options)
        found.measures += _by_group(header, tally, member, pair, options, material.cluster_of(images))
    if not material.pairs:
        found.inclusions += _inclusions(header, tally, np.zeros(len(images), np.int8), Pair("", "", ""), options)
    return found


class _Counts:
    """Counts by kind and concept, over images in order."""

    def __init__(self, images: list[str]) -> None:
        self.n = len(images)
        self.mentions: dict[tuple[str, str], set[int]] = {}
        self.flagged: dict[tuple[str, str, str], set[int]] = {}
        self.held: dict[tuple[str, str], set[int]] = {}
        self.heard: dict[tuple[str, str], set[int]] = {}
        self.where = {"target": self.mentions, "truth": self.held, "human-captions": self.heard}

    def hear(self, place: int, facts: Iterable[Fact]) -> None:
        """What human captions say of an image, for the association alone."""
        for fact in facts:
            self.heard.setdefault((fact.kind, fact.concept), set()).add(place)

    def take(self, place: int, judged: list[Judged], truth: Iterable[Fact], wordnet: WordNet) -> None:
        for one in judged:
            self.mentions.setdefault((one.fact.kind, one.fact.concept), set()).add(place)
            if one.scenario in SCENARIOS:
                self.flagged.setdefault((one.scenario, one.fact.kind, one.fact.concept), set()).add(place)
        for fact in truth:
            for concept in {fact.concept, *wordnet.above(fact.concept)}:
                self.held.setdefault((fact.kind, concept), set()).add(place)

    def negatives(self, scenario: str, kind: str, concept: str) -> set[int]:
        """Images whose truth holds neither the concept nor anything below it; all for what no photo can show."""
        everything = set(range(self.n))
        return everything if scenario == "non-imageable" else everything - self.held.get((kind, concept), set())


def _inclusions(
    header: RowHeader, tally: _Counts, member: np.ndarray, pair: Pair, options: AuditOptions
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for (scenario, kind, concept), flagged in sorted(tally.flagged.items()):
        negatives = tally.negatives(scenario, kind, concept)
        present = np.zeros(tally.n, bool)
        present[list(tally.where[options.associate_in].get((kind, concept), ()))] = True
        linked = associate(present, member, pair, options.association)
        fpr = len(flagged & negatives) / len(negatives) if negatives else math.nan
        mentions = len(tally.mentions[kind, concept])
        low, high = wilson(fpr, len(negatives)) if negatives else (math.nan, math.nan)
        rows.append(
            {
                "stage": header.stage,
                "truth": header.truth,
                "scenario": scenario,
                "kind": kind,
                "concept": concept,
                "column": pair.column,
                "flagged": len(flagged),
                "negatives": len(negatives),
                "mentions": mentions,
                "fpr": fpr,
                "fpr_low": low,
                "fpr_high": high,
                "fdr": len(flagged) / mentions,
                "association": linked.value,
                "phi": linked.phi,
                "towards": linked.towards,
                "kept": keeps(linked.value, options.threshold),
                "rank": None,
            }
        )
    kept = [row for row in rows if row["kept"]]
    kept.sort(key=lambda row: (-_number(row["fpr"]), -_number(row["association"]), str(row["concept"])))
    for place, row in enumerate(kept, 1):
        row["rank"] = place
    return rows


def _by_group(
    header: RowHeader,
    tally: _Counts,
    member: np.ndarray,
    pair: Pair,
    options: AuditOptions,
    clusters: NDArray[np.int64] | None,
) -> list[dict[str, object]]:
    """False positive rates by group, their difference, p and q (ours)."""
    rows = []
    boot = _bootstrap(tally, member, options, clusters)
    sides = [set(np.flatnonzero(member == side).tolist()) for side in (1, -1)]
    for place, ((scenario, kind, concept), flagged) in enumerate(sorted(tally.flagged.items())):
        negatives = tally.negatives(scenario, kind, concept)
        (a, n), (b, m) = ((len(flagged & negatives & side), len(negatives & side)) for side in sides)
        low, high = newcombe(a, n, b, m) if clusters is None else (math.nan, math.nan)
        tested = len(flagged) >= options.min_active and min(n, m) >= 10
        rows.append(
            measure(
                header,
                concept=f"{scenario}:{concept}",
                column=pair.column,
                group=pair.group,
                other=pair.other,
                n=n + m,
                active=a + b,
                value=100 * (a / n - b / m) if n and m else math.nan,
                unit="pp",
                ci_low=100 * low,
                ci_high=100 * high,
                boot_low=boot[0, place],
                boot_high=boot[1, place],
                p=fisher(a, n, b, m) if tested and clusters is None else math.nan,
                estimator="difference of false positive rates, Newcombe"
                if clusters is None
                else "difference of false positive rates, bootstrap over clusters",
                null_hypothesis="the same false positive rate in both groups",
                note="" if tested else "too rare to judge",
            )
            | {"kind": kind, "origin": "ours"}
        )
    q = adjust(np.array([row["p"] for row in rows], dtype=np.float64), options.correction)
    return [row | {"q": float(value)} for row, value in zip(rows, q, strict=True)]


def _bootstrap(
    tally: _Counts, member: np.ndarray, options: AuditOptions, clusters: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    keys = sorted(tally.flagged)
    flagged = [tally.flagged[key] & tally.negatives(*key) for key in keys]
    held = [set() if key[0] == "non-imageable" else tally.held.get(key[1:], set()) for key in keys]
    return bootstrap_rates(_rows(flagged, tally.n), _rows(held, tally.n), member, options, clusters)


def _rows(sets: list[set[int]], n: int) -> sparse.csr_array:
    lengths = np.cumsum([0, *map(len, sets)])
    columns = np.array([place for one in sets for place in sorted(one)], dtype=np.int64)
    return sparse.csr_array((np.ones(len(columns)), columns, lengths), (len(sets), n))


def _summary(header: RowHeader, tally: _Counts, images: int) -> list[dict[str, object]]:
    with_case = set().union(*tally.flagged.values()) if tally.flagged else set()
    rows = [share_row(header, len(with_case), images, concept="any case")]
    cases = {name: sum(len(v) for k, v in tally.flagged.items() if k[0] == name) for name in SCENARIOS}
    total = sum(cases.values())
    for name, count in cases.items():
        rows.append(share_row(header, count, total, concept=name) | {"estimator": "share of cases, Wilson"})
        rows.append(measure(header, concept=name, n=images, active=count, value=float(count), unit="count"))
    return rows


def _first(judged: list[Judged]) -> list[tuple[Fact, str]]:
    """One case for each scenario and concept of an image."""
    seen: dict[tuple[str, str, str], tuple[Fact, str]] = {}
    for one in judged:
        if one.scenario in SCENARIOS:
            seen.setdefault((one.scenario, one.fact.kind, one.fact.concept), (one.fact, one.scenario))
    return list(seen.values())


def _says(captions: Iterable[Caption], fact: Fact) -> Caption | None:
    return next((caption for caption in captions if fact in caption.facts), None)


def _subject(fact: Fact) -> str:
    return fact.subject_synset or fact.subject


def _object(fact: Fact) -> str:
    return fact.object_synset or fact.object


def _key(fact: Fact) -> tuple[str, ...]:
    return fact.kind, fact.concept, fact.subject, fact.object, fact.word


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not math.isnan(value) else 0.0
