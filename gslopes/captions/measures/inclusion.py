"""S1: words wrongly included. Errors may come from stereotypes; ranked by how often, kept if associated with a group.

Source: Wang et al. 2022, section on stereotyping; hypothesis generation, not a finding: every case must be read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Coverage, Pair
from gslopes.captions.measures.estimates import bootstrap_rates, fisher
from gslopes.captions.measures.rows import Recorder, Row
from gslopes.stats.intervals import newcombe, wilson
from gslopes.stats.multiplicity import adjust
from gslopes.words.graph import Fact
from gslopes.words.pos_tagger import PREPOSITIONS
from gslopes.words.wordlists import Lists
from gslopes.words.wordnet import WordNet

NO_LIST = "not run: no list of non-imageable objects"
SAME = 2.25  # the least Leacock-Chodorow similarity of the same object
SCENARIOS = ("non-imageable", "too-specific", "hallucination")


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
    """The facts of truth about one image, indexed for comparison."""

    def __init__(self, facts: Iterable[Fact], wordnet: WordNet) -> None:
        self.wordnet = wordnet
        kinds: dict[str, list[Fact]] = {"object": [], "attribute": [], "relation": []}
        for fact in facts:
            kinds[fact.kind].append(fact)
        self.objects = {fact.concept for fact in kinds["object"]}
        self.attributes = [(_subject(fact), fact.concept) for fact in kinds["attribute"]]
        self.relations = [(_subject(fact), _object(fact), fact.concept) for fact in kinds["relation"]]
        self._same: dict[str, frozenset[str]] = {}

    def same(self, concept: str) -> frozenset[str]:
        """Objects of truth that are this one: of the greatest similarity, at least ``SAME``; all ties count."""
        if concept in self.objects:
            return frozenset({concept})
        if concept not in self._same:
            near = {other: self.wordnet.similarity(concept, other) or 0.0 for other in self.objects}
            least = max(SAME, max(near.values(), default=0.0) - 1e-12)
            self._same[concept] = frozenset(other for other, value in near.items() if value >= least)
        return self._same[concept]

    def comparable(self, fact: Fact) -> set[str] | None:
        """The concepts that a fact is compared with; None if its object, subject or both are not in truth."""
        if fact.kind == "object":
            return self.objects
        subjects = self.same(_subject(fact))
        if fact.kind == "attribute":
            return {word for owner, word in self.attributes if owner in subjects} if subjects else None
        others = self.same(_object(fact)) if subjects else None
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
) -> list[tuple[Fact, str]]:
    """(fact, decision) of every distinct fact of a target: the first rule that holds decides.

    non-imageable, correct (truth holds it or something below it), too-specific (truth holds something above it),
    not-judged (coverage, or no such object in truth), hallucination.
    """
    options = options or AuditOptions()
    known = Truth(truth, wordnet)
    facts = sorted(set(target), key=attrgetter("kind", "concept", "subject", "object", "word"))
    return [(fact, _scenario(fact, known, coverage, lists, options)) for fact in facts]


def _scenario(fact: Fact, truth: Truth, coverage: Coverage, lists: Lists, options: AuditOptions) -> str:
    if not imageable(fact, lists, options):
        return "non-imageable"
    known = truth.comparable(fact)
    if known is None:
        return "not-judged"
    concept, wordnet = fact.concept, truth.wordnet
    if any(wordnet.at_or_below(other, concept) for other in known):
        return "correct"
    if wordnet.above(concept) & known:
        return "too-specific"
    return "hallucination" if _covered(fact, coverage, wordnet) else "not-judged"


def _covered(fact: Fact, coverage: Coverage, wordnet: WordNet) -> bool:
    kind = coverage.of(fact.kind)
    if kind != "closed":
        return kind == "open"
    concept = fact.concept
    near = wordnet.above(concept) | {concept}
    return bool(near & coverage.types) or any(wordnet.at_or_below(known, concept) for known in coverage.types)


def associate(present: np.ndarray, sides: np.ndarray, pair: Pair, how: str = "cov") -> Association:
    """The association of a concept with a pair's groups.

    present: (U,) bool.  sides: (U,) 1 for the group, −1 for the other, 0 for neither.

    >>> half = np.repeat([1, -1], 500)
    >>> associate(np.arange(1000) < 11, half, Pair("gender", "male", "female")).value
    0.0055
    """
    used = sides != 0
    if not used.any():
        return Association(0.0, math.nan, "")
    here, group = present[used], sides[used] == 1
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


def words_wrongly_included(recorder: Recorder) -> None:
    """S1 at one stage: inclusions, cases, and the shares of images and of cases by scenario."""
    material, options = recorder.material, recorder.options
    wordnet, lists = material.mentions.wordnet, material.mentions.lists
    coverage = material.coverage.get(recorder.truth, Coverage())
    counts = _Counts(len(recorder.images))
    for index, image in enumerate(recorder.images):
        if options.associate_in == "human-captions" and "human-captions" in material.stages:
            counts.add_human_facts(index, material.facts("human-captions", image))
        judged = judge(recorder.facts(image), recorder.truth_facts(image), coverage, wordnet, lists, options)
        counts.add(index, judged, recorder.truth_facts(image), wordnet)
        flagged = {(scenario, fact.kind, fact.concept): fact for fact, scenario in reversed(judged)}
        for (scenario, _, concept), fact in flagged.items():
            if scenario in SCENARIOS:
                captions = material.stages[recorder.stage][image]
                source = next((caption for caption in captions if fact in caption.facts), None)
                recorder.case(scenario, image, source, word=fact.text, concept=concept)
    _add_summary(recorder, counts)
    for pair in material.pairs:
        sides = material.sides(pair, recorder.images)
        recorder.inclusions += _inclusions(recorder, counts, sides, pair)
        _add_by_group(recorder, counts, sides, pair)
    if not material.pairs:
        recorder.inclusions += _inclusions(recorder, counts, np.zeros(counts.n, np.int8), Pair("", "", ""))


class _Counts:
    """Indices of images by kind and concept; those that are flagged by scenario, too."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.mentions, self.flagged, self.held, self.by_humans = (defaultdict[Any, set[int]](set) for _ in range(4))
        self.by_source = {"target": self.mentions, "truth": self.held, "human-captions": self.by_humans}

    def add_human_facts(self, index: int, facts: Iterable[Fact]) -> None:
        """Count what human captions say of an image, for the association alone."""
        for fact in facts:
            self.by_humans[fact.kind, fact.concept].add(index)

    def add(self, index: int, judged: list[tuple[Fact, str]], truth: Iterable[Fact], wordnet: WordNet) -> None:
        """Count the judged facts of an image, and what its truth holds."""
        for fact, scenario in judged:
            self.mentions[fact.kind, fact.concept].add(index)
            if scenario in SCENARIOS:
                self.flagged[scenario, fact.kind, fact.concept].add(index)
        for fact in truth:
            for concept in {fact.concept, *wordnet.above(fact.concept)}:
                self.held[fact.kind, concept].add(index)

    @cached_property
    def flagged_rows(self) -> list[tuple[tuple[str, str, str], set[int], set[int]]]:
        """Scenario, kind and concept; the images with the case; and those that hold it: none, of the non-imageable."""
        return [
            (key, flagged, set() if key[0] == "non-imageable" else self.held.get(key[1:], set()))
            for key, flagged in sorted(self.flagged.items())
        ]


def _inclusions(recorder: Recorder, counts: _Counts, sides: NDArray[np.int8], pair: Pair) -> list[Row]:
    """Rows of the inclusions table; those that are kept are ranked by false positive rate."""
    rows: list[Row] = []
    source = counts.by_source[recorder.options.associate_in]
    for (scenario, kind, concept), flagged, held in counts.flagged_rows:
        present = np.zeros(counts.n, bool)
        present[list(source.get((kind, concept), ()))] = True
        linked = associate(present, sides, pair, recorder.options.association)
        negatives, mentions = counts.n - len(held), len(counts.mentions[kind, concept])
        fpr = len(flagged - held) / negatives if negatives else math.nan
        low, high = wilson(fpr, negatives)
        row: Row = {
            "stage": recorder.stage,
            "truth": recorder.truth,
            "scenario": scenario,
            "kind": kind,
            "concept": concept,
        }
        row |= {"column": pair.column, "flagged": len(flagged), "negatives": negatives, "mentions": mentions}
        row |= {"fpr": fpr, "fpr_low": low, "fpr_high": high, "fdr": len(flagged) / mentions, "rank": None}
        row |= {"association": linked.value, "phi": linked.phi, "towards": linked.towards}
        rows.append(row | {"kept": keeps(linked.value, recorder.options.threshold)})
    kept = [row for row in rows if row["kept"]]
    kept.sort(key=lambda row: (-np.nan_to_num(row["fpr"]), -row["association"], row["concept"]))
    for rank, row in enumerate(kept, 1):
        row["rank"] = rank
    return rows


def _add_by_group(recorder: Recorder, counts: _Counts, sides: NDArray[np.int8], pair: Pair) -> None:
    """False positive rates by group, their difference, p and q (ours)."""
    clusters = recorder.material.cluster_numbers(recorder.images)
    flagged_by = _matrix([flagged - held for _, flagged, held in counts.flagged_rows], counts.n)
    held_by = _matrix([held for *_, held in counts.flagged_rows], counts.n)
    boot = bootstrap_rates(flagged_by, held_by, sides, recorder.options, clusters)
    groups = [set(np.flatnonzero(sides == side).tolist()) for side in (1, -1)]
    estimator = "Newcombe" if clusters is None else "bootstrap over clusters"
    rows = []
    for index, ((scenario, kind, concept), flagged, held) in enumerate(counts.flagged_rows):
        (a, n), (b, m) = ((len((flagged - held) & group), len(group - held)) for group in groups)
        low, high = newcombe(a, n, b, m) if clusters is None and n and m else (math.nan, math.nan)
        tested = len(flagged) >= recorder.options.min_active and min(n, m) >= 10
        row = {"concept": f"{scenario}:{concept}", "kind": kind, **pair.columns, "n": n + m, "active": a + b}
        row |= {"value": 100 * (a / n - b / m) if n and m else math.nan, "unit": "pp", "origin": "ours"}
        row |= {"ci_low": 100 * low, "ci_high": 100 * high, "boot_low": boot[0, index], "boot_high": boot[1, index]}
        row |= {"p": fisher(a, n, b, m) if tested and clusters is None else math.nan}
        row |= {"estimator": f"difference of false positive rates, {estimator}"}
        row |= {"null_hypothesis": "the same false positive rate in both groups"}
        rows.append(row | {"note": "" if tested else "too rare to judge"})
    q = adjust(np.array([row["p"] for row in rows], dtype=np.float64), recorder.options.correction)
    for row, value in zip(rows, q, strict=True):
        recorder.measure(**row, q=float(value))


def _matrix(sets: list[set[int]], n: int) -> sparse.csr_array:
    """(C, n) 1 where a set holds a place."""
    lengths = np.cumsum([0, *map(len, sets)])
    columns = np.array([index for one in sets for index in sorted(one)], dtype=np.int64)
    return sparse.csr_array((np.ones(len(columns)), columns, lengths), (len(sets), n))


def _add_summary(recorder: Recorder, counts: _Counts) -> None:
    recorder.share(len(set().union(*counts.flagged.values())), counts.n, concept="any case")
    cases = {name: sum(len(v) for k, v in counts.flagged.items() if k[0] == name) for name in SCENARIOS}
    empty = not recorder.material.mentions.lists["non-imageable-synsets"].entries
    for name, count in cases.items():
        if name == "non-imageable" and empty and not count:  # no list is no finding
            recorder.measure(concept=name, n=counts.n, active=0, unit="share", note=NO_LIST)
            continue
        recorder.share(count, sum(cases.values()), concept=name, estimator="share of cases, Wilson")
        recorder.measure(concept=name, n=counts.n, active=count, value=float(count), unit="count")


def _subject(fact: Fact) -> str:
    return fact.subject_synset or fact.subject


def _object(fact: Fact) -> str:
    return fact.object_synset or fact.object
