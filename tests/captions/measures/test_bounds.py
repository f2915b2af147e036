"""Every interval of the tables can be: of shares, differences, changes, rates, in scenes of all kinds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import change
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli.corpus import Pair
from gslopes.stats.multiplicity import benjamini_hochberg
from tests.benches.headlines_captions import PAIR, TARGET, Scenes, corpus_of, said, tables_of
from tests.bounds import Bound, check, impossible

SCENES = [
    Scenes(5, 5, silent=(0.8, 0.0)),
    Scenes(9, 300, silent=(1.0, 0.0)),
    Scenes(12, 12, words=30, shown=0.9, named=0.97, silent=(0.95, 0.05)),
    Scenes(40, 40, shown=0.05, added=(1.0, 0.0)),
    Scenes(20, 20, captions=5, silent=(0.9, 0.1), added=(0.9, 0.05)),
    Scenes(30, 30, captions=5, silent=(0.97, 0.03), shown=0.02, added=(0.95, 0.0)),
    Scenes(60, 15, words=3, odds=3.0),
]
MOST = {"share": 1, "pp": 100, "per 1,000 captions": 1000}
TURNED = 200  # points by which a difference that turns can change


def bounds_of(measures: pd.DataFrame) -> dict[str, list[Bound]]:
    """Of each table the bounds of its intervals."""
    most = measures["unit"].map(MOST).fillna(np.inf).to_numpy()
    most = np.where(measures["technique"] == "S4", TURNED, most)
    least = np.where(measures["unit"] == "pp", -most, 0)
    return {
        "measures": [Bound("value", least=least, most=most)],
        "inclusions": [Bound("fpr", ends="fpr", least=0, most=1)],
        "salience": [Bound("coefficient"), Bound("", ends="split")],
    }


@pytest.mark.parametrize("scenes", SCENES)
def test_every_interval_of_an_audit_can_be(scenes: Scenes) -> None:
    tables = tables_of(scenes, np.random.default_rng(85))
    measures = tables["measures"]
    check(tables, bounds_of(measures))
    judged = measures[measures["q"].notna()]
    assert judged["n"].empty or min(scenes.darker, scenes.lighter) >= 10
    assert not any(map(impossible, said(tables)))


def test_what_cannot_be_judged_is_said_and_not_that_nothing_was_compared() -> None:
    headline, decisions = said(tables_of(Scenes(5, 5, silent=(0.8, 0.0)), np.random.default_rng(0)))
    assert headline.startswith(
        "No difference between groups can be judged.\nMost often because a group"
    )
    assert decisions == "There is no number to judge."


def test_a_change_goes_beyond_100_points_only_where_the_difference_can_turn() -> None:
    sides = np.repeat([1, -1], 20).astype(np.int8)
    full = (sides == 1).astype(float)[None]
    empty = np.zeros((1, 40))
    for start, most in ((empty, 1), (1 - full, 2)):
        matrices = [sparse.csr_array(start), sparse.csr_array(full)]
        value, low, high, _ = change(*matrices, sides)
        assert low[0] < value[0] == most
        assert high[0] <= most
        value, low, high, _ = change(*matrices, -sides)
        assert high[0] > value[0] == -most
        assert low[0] >= -most


def test_q_is_over_all_tests_of_a_technique() -> None:
    corpus = corpus_of(Scenes(60, 60), np.random.default_rng(1))
    site = {image: "abc"[int(image) % 3] for image in corpus.groups["skin"]}
    pairs = [PAIR, Pair("site", "a", "b"), Pair("site", "a", "c")]
    both = replace(corpus, groups={**corpus.groups, "site": site}, pairs=pairs)
    rows = pd.DataFrame(run_technique("S3", both, TARGET, "", AuditOptions()).measures)
    tests = rows[rows["p"].notna()]
    assert tests["column"].nunique() == 2
    assert tests["q"].tolist() == benjamini_hochberg(tests["p"].to_numpy()).tolist()


def test_types_of_s2_alone_are_no_audit_without_groups() -> None:
    headline, _ = said(tables_of(Scenes(60, 60), np.random.default_rng(0), ("S2",)))
    assert headline.startswith("Cannot tell whether captions differ")
    assert "log odds" in headline


def test_a_share_of_nothing_has_a_reason() -> None:
    scenes = Scenes(20, 20, shown=0.0, silent=(1.0, 1.0))
    measures = tables_of(scenes, np.random.default_rng(0), ("S1",))["measures"]
    nothing = measures[(measures["unit"] == "share") & (measures["n"] == 0)]
    assert len(nothing)
    assert (nothing["note"] != "").all()
