"""Stereotyping: S1, words wrongly included; S3 and S4, distributions between groups, and the same between stages.

Errors may come from stereotypes: S1 ranks words by how often they are wrong, and keeps those associated with a group.
Source: Wang et al. 2022, section on stereotyping; hypothesis generation, not a finding: every case must be read. S3 and
S4 are descriptive, and ours.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from math import nan
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from gslopes.captions.measures.rows import (
    LEAST,
    RARE,
    SMALL_GROUP,
    Recorder,
    Sides,
    change,
    rank,
)
from gslopes.captions.stimuli.corpus import Coverage, Pair, presence_of_captions
from gslopes.core.records import Flags
from gslopes.core.tables import ends, records
from gslopes.stats import intervals, rounding, shares
from gslopes.words.graph import KINDS, Fact, Facts
from gslopes.words.pos_tagger import PREPOSITIONS
from gslopes.words.wordlists import Lists
from gslopes.words.wordnet import WordNet

SAME = 2.25  # the least Leacock-Chodorow similarity of the same object
THRESHOLD = 0.005  # of the association, above which an inclusion is kept: the paper's
SCENARIOS = ("non-imageable", "too-specific", "hallucination")


def imageable(fact: Fact, lists: Lists, wordnet: WordNet) -> bool:
    """Whether a photo could show it at all; truth is not asked.  *have* and prepositions always are."""
    if fact.kind == "object":
        return not lists["non-imageable-synsets"].holds(fact.concept, wordnet)
    if fact.kind == "attribute":
        return fact.word not in lists["non-imageable-adjectives"]
    verb = fact.word.split(" ")[0]
    return verb == "have" or verb in PREPOSITIONS or verb in lists["visual-verbs"]


class Truth:
    """The facts of truth about one image, indexed for comparison."""

    def __init__(self, facts: Facts, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self.facts = facts
        self.objects = {fact.concept for fact in self.facts if fact.kind == "object"}
        self.same = cache(self._same)

    def _same(self, concept: str) -> frozenset[str]:
        """Objects of truth that are this one: of the greatest similarity, at least ``SAME``; all ties count."""
        if concept in self.objects:
            return frozenset({concept})
        near = {name: self.wordnet.similarity(concept, name) or 0.0 for name in self.objects}
        least = max(SAME, *near.values())
        return frozenset(name for name, value in near.items() if not rounding.exceeds(least, value))

    def comparable(self, fact: Fact) -> set[str] | None:
        """The concepts that a fact is compared with; None if its object, subject or both are not in truth."""
        if fact.kind == "object":
            return self.objects
        subjects = self.same(fact.owner)
        others = self.same(fact.target) if fact.kind == "relation" else None
        if not subjects or others == frozenset():
            return None
        return {
            other.concept
            for other in self.facts
            if other.kind == fact.kind
            and other.owner in subjects
            and (others is None or other.target in others)
        }


def judge(
    target: Facts,
    truth: Facts,
    coverage: Coverage,
    wordnet: WordNet,
    lists: Lists,
) -> list[tuple[Fact, str]]:
    """(fact, decision) of every distinct fact of a target: the first rule that holds decides.

    non-imageable, correct (truth holds it or something below it), too-specific (truth holds something above it),
    not-judged (coverage, or no such object in truth), hallucination.
    """
    index = Truth(truth, wordnet)
    facts = sorted(set(target), key=attrgetter("kind", "concept", "subject", "object", "word"))
    return [(fact, _scenario(fact, index, coverage, lists)) for fact in facts]


def _scenario(
    fact: Fact,
    truth: Truth,
    coverage: Coverage,
    lists: Lists,
) -> str:
    if not imageable(fact, lists, truth.wordnet):
        return "non-imageable"
    concepts = truth.comparable(fact)
    if concepts is None:
        return "not-judged"
    concept = fact.concept
    below = truth.wordnet.at_or_below
    above = truth.wordnet.above(fact.concept)
    if any(below(name, concept) for name in concepts):
        return "correct"
    if above & concepts:
        return "too-specific"
    how = getattr(coverage, fact.kind)
    of_types = bool((above | {concept}) & coverage.types) or any(
        below(kind, concept) for kind in coverage.types
    )
    if how == "open" or (how == "closed" and of_types):
        return "hallucination"
    return "not-judged"


def associate(present: Flags, sides: Sides, pair: Pair) -> tuple[float, str]:
    """The association of a concept with a pair's groups, over images annotated with either, and with which group.

    The covariance P(s, g) − P(s) P(g), as with that group: at least 0.

    present: (U,).  sides: (U,) 1 for the group, −1 for the other, 0 for neither.

    >>> half = np.repeat([1, -1], 500)
    >>> associate(np.arange(1000) < 11, half, Pair("gender", "male", "female"))
    (0.0055, 'male')
    """
    used = sides != 0
    if not used.any():
        return 0.0, ""
    mentioned = present[used]
    group = sides[used] == 1
    value = float((mentioned & group).mean() - mentioned.mean() * group.mean())
    value = float(rounding.settled(value, 1))
    return round(abs(value), 15), pair.group if value >= 0 else pair.other


class Flagged(NamedTuple):
    """A concept that is wrong in some images, by places of images.

    cases: those with the case.  holding: those whose truth holds the concept, so that they cannot have it wrongly.
    mentioned: those whose target names it.
    """

    scenario: str
    kind: str
    concept: str
    cases: set[int]
    holding: set[int]
    mentioned: set[int]


def words_wrongly_included(recorder: Recorder) -> None:
    """S1 at one stage: inclusions, cases, and the shares of images and of cases by scenario."""
    corpus = recorder.corpus
    wordnet = recorder.mentions.wordnet
    lists = recorder.mentions.lists
    coverage = corpus.coverage.get(recorder.truth, Coverage())
    mentioned = defaultdict(set)
    holding = defaultdict(set)
    cases = defaultdict(set)
    for index, image in enumerate(recorder.images):
        truth = recorder.truth_facts(image)
        first: dict[tuple[str, str, str], Fact] = {}
        for fact, scenario in judge(recorder.facts(image), truth, coverage, wordnet, lists):
            mentioned[fact.kind, fact.concept].add(index)
            if scenario in SCENARIOS:
                first.setdefault((scenario, fact.kind, fact.concept), fact)
        for fact in truth:
            for concept in {fact.concept, *wordnet.above(fact.concept)}:
                holding[fact.kind, concept].add(index)
        for key, fact in first.items():
            cases[key].add(index)
            captions = recorder.captions[image]
            source = next((caption for caption in captions if fact in caption.facts), None)
            recorder.case(key[0], image, source, word=fact.text, concept=fact.concept)
    flagged = []
    for key, places in sorted(cases.items()):
        named = key[1:]
        # what no photo shows is held by none
        held_by = set() if key[0] == "non-imageable" else holding[named]
        flagged.append(Flagged(*key, places, held_by, mentioned[named]))
    _add_summary(recorder, flagged)
    for pair in corpus.pairs or [Pair("", "", "")]:
        sides = corpus.sides(pair, recorder.images)
        _add_inclusions(recorder, flagged, sides, pair)
        if pair in corpus.pairs:
            _add_by_group(recorder, flagged, sides, pair)


def _add_inclusions(
    recorder: Recorder,
    flagged: Sequence[Flagged],
    sides: Sides,
    pair: Pair,
) -> None:
    """Rows of the inclusions table; those that are kept are ranked by false positive rate."""
    rows = []
    for scenario, kind, concept, cases, holding, mentioned in flagged:
        present = np.zeros(len(sides), bool)
        present[[*mentioned]] = True
        association, towards = associate(present, sides, pair)
        negatives = len(sides) - len(holding)
        fpr = len(cases - holding) / negatives if negatives else nan
        rows.append(
            {
                "stage": recorder.stage,
                "truth": recorder.truth,
                "scenario": scenario,
                "kind": kind,
                "concept": concept,
                **pair._asdict(),
                "flagged": len(cases),
                "negatives": negatives,
                "mentions": len(mentioned),
                "fpr": fpr,
                **ends(intervals.wilson(fpr, negatives), "fpr"),
                "fdr": len(cases) / len(mentioned),
                "association": association,
                "towards": towards,
                "kept": bool(rounding.exceeds(association, THRESHOLD)),
            }
        )
    rank([row for row in rows if row["kept"]], "fpr", "association")
    recorder.inclusions += rows


def _add_by_group(
    recorder: Recorder,
    flagged: Sequence[Flagged],
    sides: Sides,
    pair: Pair,
) -> None:
    """False positive rates by group, their difference and p (ours)."""
    groups = [set(np.flatnonzero(sides == side)) for side in (1, -1)]
    for scenario, kind, concept, cases, holding, _ in flagged:
        (a, n), (b, m) = (
            (len((cases - holding) & group), len(group - holding)) for group in groups
        )
        row = {
            **pair._asdict(),
            "concept": f"{scenario}:{concept}",
            "kind": kind,
            "n": n + m,
            "active": a + b,
            "value": 100 * (a / n - b / m) if n and m else nan,
            "unit": "pp",
            "origin": "ours",
            "note": RARE,
            "estimator": "difference of false positive rates, Newcombe",
            "null_hypothesis": "the same false positive rate in both groups",
        }
        if min(n, m) < LEAST:
            row["note"] = SMALL_GROUP
        elif a + b >= recorder.options.min_active:
            low, high = intervals.newcombe(a, n, b, m)
            p = shares.fisher(a, n, b, m)
            row |= {"ci_low": 100 * low, "ci_high": 100 * high, "p": p, "note": ""}
        recorder.measure(**row)


def _add_summary(recorder: Recorder, flagged: Sequence[Flagged]) -> None:
    n = len(recorder.images)
    recorder.share(len(set().union(*(row.cases for row in flagged))), n, concept="any case")
    counts = dict.fromkeys(SCENARIOS, 0)
    for row in flagged:
        counts[row.scenario] += len(row.cases)
    total = sum(counts.values())
    for name, count in counts.items():
        recorder.share(count, total, concept=name, estimator="share of cases, Wilson")
        recorder.measure(
            concept=name,
            n=n,
            active=count,
            value=count,
            unit="count",
        )


# -- distributions ----------------------------------------------------------------------------------------------------


def between_groups(recorder: Recorder) -> None:
    """S3 at one stage: shares and differences of every concept."""
    for kind in KINDS:
        recorder.header |= {"kind": kind}
        recorder.shares(presence_of_captions(recorder.captions, recorder.images, _concepts(kind)))


def between_stages(recorder: Recorder) -> None:
    """S4: how the difference of the groups changes from truth to the target, paired over images.

    The signed change; if the stages differ in their number of captions, an image counts by its share of them.
    """
    corpus = recorder.corpus
    stages = (recorder.truth, recorder.stage)
    as_shares = len({corpus.has_several_captions(stage) for stage in stages}) > 1
    recorder.header["captions"] = "each" if as_shares else "union"
    images = len(recorder.images)
    both = {
        (stage, image): corpus.stages[stage][image] for stage in stages for image in recorder.images
    }
    for kind in KINDS:
        recorder.header["kind"] = kind
        table = presence_of_captions(both, [*both], _concepts(kind), each=as_shares)
        comparable = np.array([_comparable(name, kind, recorder) for name in table.concepts], bool)
        before, after = table.matrix[:, :images], table.matrix[:, images:]
        for pair in corpus.pairs:
            sides = corpus.sides(pair, recorder.images)
            active = np.diff((before + after).tocsr()[:, np.flatnonzero(sides)].tocsr().indptr)
            rows = np.flatnonzero(comparable & (active >= recorder.options.min_active))
            if not len(rows) or min((sides == 1).sum(), (sides == -1).sum()) < LEAST:
                continue
            value, low, high, p = change(before[rows], after[rows], sides)
            numbers = {
                "concept": np.array(table.concepts)[rows],
                "active": active[rows],
                "value": 100 * value,
                "ci_low": 100 * low,
                "ci_high": 100 * high,
                "p": p,
            }
            for row in records(DataFrame(numbers)):
                recorder.measure(
                    **pair._asdict(),
                    **row,
                    n=np.count_nonzero(sides),
                    unit="pp",
                    estimator="difference at the target minus that at truth, added pairs",
                    null_hypothesis="the difference of the groups does not change",
                )


def _comparable(name: str, kind: str, recorder: Recorder) -> bool:
    """Whether both stages can hold a concept: a closed vocabulary holds only its types."""
    for stage in (recorder.stage, recorder.truth):
        coverage = recorder.corpus.coverage.get(stage, Coverage())
        how = getattr(coverage, kind)
        if how != "open" and not (how == "closed" and name in coverage.types):
            return False
    return True


def _concepts(kind: str) -> Callable[[Facts], list[str]]:
    return lambda facts: [fact.concept for fact in facts if fact.kind == kind]
