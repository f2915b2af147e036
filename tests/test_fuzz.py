"""Sixty seconds of mutated input, seeded: only our own errors come out of whatever reads what strangers wrote."""

import os

import pytest

from tests import fuzz_siblings
from tests.fuzz import Target, fuzz, targets


@pytest.mark.slow
def test_no_mutated_input_raises_anything_but_our_own_errors():
    rounds, result = fuzz(float(os.environ.get("GSLOPES_FUZZ_SECONDS", "60")), seed=20)
    assert result == []
    assert min(rounds.values()) > 10


def test_the_corpus_itself_is_read(tmp_path):
    for target in targets(tmp_path):
        target.read(target.corpus[0])
    (tmp_path / "siblings").mkdir()
    for target in fuzz_siblings.targets(tmp_path / "siblings", Target):
        for good in target.corpus:
            target.read(good)
