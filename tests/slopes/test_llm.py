"""A language model audited from pictures to slopes: what was planted is found, nothing is asked twice."""

import itertools
import json
import os
from collections import Counter

import pandas as pd
import pytest

from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.prompt import load_prompt
from gslopes.core import tables
from gslopes.core.errors import BudgetReached, ServiceError
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


DIALECTS = ("chat", "responses", "messages", "gemini", "converse")


@pytest.mark.evidence
@pytest.mark.slow
def test_every_dialect_finds_the_same_slopes(provider: FakeProvider, tmp_path):
    slopes = {}
    for dialect in DIALECTS:
        provider.chat.thinking = 0 if dialect == "chat" else 30
        run = write_run(tmp_path / dialect, 12, part=6)
        name = f"{NAME},dialect={dialect},scores=repeats,repeats=1,temperature=0"
        score(run, tmp_path / "cache", name)
        table = redo(run, "fit").tables["slopes"]
        slopes[dialect] = table[table["estimator"] == "paper"].drop(columns="classifier")
        assert len(provider.log.of(dialect)) == 84
    found = slopes["chat"].set_index("label")
    assert found.loc["nurse", "slope"] == pytest.approx(-0.25, abs=0.02)
    for table in slopes.values():
        pd.testing.assert_frame_equal(
            table.reset_index(drop=True), slopes["chat"].reset_index(drop=True)
        )


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["responses", "gemini"])
def test_probabilities_of_a_native_dialect_are_those_of_chat(
    provider: FakeProvider, tmp_path, dialect
):
    scores = []
    for spoken in ("chat", dialect):
        run = write_run(tmp_path / spoken, 4)
        score(run, tmp_path / "cache", f"{NAME},dialect={spoken}")
        table = tables.read(tables.SCORES, run / "scores.parquet").drop(columns="classifier")
        scores.append(table.reset_index(drop=True))
        assert len(provider.log.of(spoken)) == 28
    pd.testing.assert_frame_equal(*scores)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS[1:])
def test_a_budget_holds_to_the_token_with_what_is_thought(
    provider: FakeProvider, tmp_path, dialect
):
    provider.chat.thinking = 150
    options = "scores=repeats,repeats=2,price_in=1,price_out=100,concurrency=1,max_tokens=200"
    run, name = write_run(tmp_path / "run", 2), f"{NAME},dialect={dialect},{options}"
    question = load_classifier(name, prepare=False)._question
    visible = len('{"answer": "A"}') // 4
    one = (question + 100 * (150 + visible)) / 1e6
    most = (question + 100 * 200) / 1e6
    budget = 7 * one + most  # the ninth might cost too much
    with pytest.raises(BudgetReached, match=f"{8 * one:.4f} USD were spent"):
        score(run, tmp_path / "cache", name, budget=budget)
    assert len(provider.log.of(dialect)) == 8
    printed = score(run, tmp_path / "cache", name, budget=1.0)
    assert len(provider.log.of(dialect)) == 28
    assert f"{20 * question:,} + {20 * (150 + visible):,} tokens" in printed


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS[1:])
def test_thoughts_that_leave_no_token_for_the_answer_end_the_audit_at_once(
    provider: FakeProvider, tmp_path, dialect
):
    provider.chat.thinking = 300
    name = f"{NAME},dialect={dialect},concurrency=1,max_tokens=200"
    with pytest.raises(ServiceError, match=r"max_tokens=200 was reached first") as caught:
        score(write_run(tmp_path / "run", 4), tmp_path / "cache", name)
    assert "max_tokens=4000" in caught.value.hint
    assert len(provider.log.of(dialect)) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS[1:])
def test_a_native_server_in_trouble_is_asked_until_all_is_answered_and_told_no_key(
    provider: FakeProvider, tmp_path, dialect
):
    provider.trouble(0.3)
    provider.refuse(0.1)
    run = write_run(tmp_path / "run", 4)
    printed = score(run, tmp_path / "cache", f"{NAME},dialect={dialect},repeats=1")
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    assert len(asked) == 28
    assert set(asked["status"]) <= {"answered", "refused"}
    kept = "".join(path.read_text(errors="replace") for path in run.rglob("*.json"))
    assert not any(secret in printed + kept for secret in provider.secrets)


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
