"""A language model audited from pictures to slopes: what was planted is found, nothing is asked twice."""

import itertools
import json
import os
from collections import Counter

import pytest

from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers.prompt import load_prompt
from gslopes.core.errors import BudgetReached
from gslopes.slopes import audit as stages
from tests.again import redo
from tests.fake_provider import FakeProvider
from tests.fake_provider.folder import write_run

NAME = "llm:some-model,prompt=doctor-nurse"


class Listening:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def only_nurse(provider: FakeProvider) -> None:
    provider.chat.slopes = {"nurse": -0.25}


def score(run, cache, name: str = NAME, **others):
    listening = Listening()
    stages.score_photos(
        run, [name], device="cpu", cache=cache, yes=True, executor=listening, **others
    )
    return "\n".join(listening.notes)


@pytest.mark.evidence
@pytest.mark.slow
def test_the_planted_slope_is_found_and_a_second_run_asks_nothing(provider: FakeProvider, tmp_path):
    run = write_run(tmp_path / "run", 12, part=6)
    printed = score(run, tmp_path / "cache", f"{NAME},price_in=2,price_out=10")
    assert (
        "at most 84 pictures, 420 calls, an estimated " in printed
    )  # before: five answers each, if there were no probabilities
    assert " + 84,000 tokens, " in printed
    assert "84 calls" in printed
    assert "tokens" in printed
    assert "USD spent" in printed
    slopes = redo(run, "fit").tables["slopes"]
    found = slopes[slopes["estimator"] == "paper"].set_index("label")
    assert found.loc["nurse", "slope"] == pytest.approx(-0.25, abs=0.02)
    assert found.loc["doctor", "slope"] == pytest.approx(0.25, abs=0.02)
    before = len(provider.log.calls)
    score(write_run(tmp_path / "again", 12, part=6), tmp_path / "cache")
    assert len(provider.log.calls) == before


@pytest.mark.evidence
@pytest.mark.slow
def test_refusals_have_a_slope_of_their_own(provider: FakeProvider, tmp_path):
    provider.chat.refusals = (0.5, 0.2)
    run = write_run(tmp_path / "run", 24, part=6)
    score(run, tmp_path / "cache", f"{NAME},repeats=1")
    slopes = redo(run, "fit").tables["slopes"]
    found = slopes[slopes["estimator"] == "paper"].set_index("label")
    assert found.loc["(refused)", "slope"] == pytest.approx(0.2, abs=0.05)


@pytest.mark.slow
def test_a_budget_that_ends_within_a_picture_gets_on_at_every_rerun(
    provider: FakeProvider, tmp_path
):
    run, name = (
        write_run(tmp_path / "run", 1),
        f"{NAME},scores=repeats,repeats=5,price=5,concurrency=1",
    )
    for times in range(1, 5):
        with pytest.raises(BudgetReached):
            score(run, tmp_path / "cache", name, budget=0.003)
        assert len(provider.log.calls) == 3 * times
    score(run, tmp_path / "cache", name)
    asked = Counter((call.images, call.parameters["seed"]) for call in provider.log.calls)
    assert (len(asked), set(asked.values())) == (5 * 7, {1})


@pytest.mark.slow
def test_a_kill_within_a_picture_asks_no_reply_again(provider: FakeProvider, tmp_path, monkeypatch):
    run, name = write_run(tmp_path / "run", 1), f"{NAME},scores=repeats,repeats=5,concurrency=1"
    keep, left = AnswerCache.keep_begun, iter([0, 0, 0, 9] * 9)
    monkeypatch.setattr(
        AnswerCache, "keep_begun", lambda *of: keep(*of) or (next(left) and os._exit(9))
    )
    for _ in range(3):
        child = os.fork()
        if child == 0:
            score(run, tmp_path / "cache", name)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    monkeypatch.setattr(AnswerCache, "keep_begun", keep)
    score(run, tmp_path / "cache", name)
    assert len(provider.log.calls) == 5 * 7


@pytest.mark.slow
def test_another_model_prompt_parameter_or_picture_is_asked_anew(provider: FakeProvider, tmp_path):
    prompt = tmp_path / "own.toml"
    prompt.write_text(
        'name = "own"\nkind = "choice"\nquestion = "Who?"\noptions = ["doctor", "nurse"]\n'
    )
    run, cache = write_run(tmp_path / "run", 4), tmp_path / "cache"
    first, number = f"llm:some-model,prompt={prompt}", itertools.count()

    def asked(name: str) -> int:
        before = len(provider.log.calls)
        score(write_run(tmp_path / f"run {next(number)}", 4), cache, name)
        return len(provider.log.calls) - before

    score(run, cache, first)
    assert asked(first) == 0
    for name in (
        f"{first},temperature=0.5",
        f"{first},seed=3",
        first.replace("some-model", "other-model"),
    ):
        assert asked(name) == 28
        assert asked(name) == 0
    prompt.write_text(
        prompt.read_text().replace("Who?", "Who is it?")
    )  # the same file, another question
    assert asked(first) == 28


def test_the_model_that_answered_is_in_the_runs_record(provider: FakeProvider, tmp_path):
    run = write_run(tmp_path / "run", 4)
    score(run, tmp_path / "cache")
    known = json.loads((run / "run.json").read_text())["classifiers"]
    (facts,) = known.values()
    assert facts["models"] == {"chat-1.0": 28}
    assert load_prompt("doctor-nurse").digest[:16] in facts["version"]
