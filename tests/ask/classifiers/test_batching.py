"""A language model asked by batch: the same answers for half of the price, whatever happens in between."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import batching, load_classifier, load_classifiers
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.questions import Question
from gslopes.core.errors import BudgetReached, ConfigError, CredentialsError, ServiceError
from tests.fake_provider import FakeProvider, paint
from tests.fake_provider.protocol import Reply, Request

NAME = "llm:some-model,prompt=doctor-nurse,price_in=2,price_out=10"
BATCH = f"{NAME},by_batch=yes"


@pytest.fixture(autouse=True)
def quick(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.chat.slopes = {"nurse": -0.25}
    monkeypatch.setattr(batching, "PAUSE", 0.01)


def ask(folder: Path, name: str = BATCH, photos: int = 4, usd: float | None = None, halt: str = ""):
    """The rows of all parts, as text, and what asking took.  halt: a note after which the walk is stopped."""
    classifier = load_classifier(name)
    budget, usage, parts = Budget(usd), UsageStats(), []
    questions = [
        (
            number,
            [
                Question(f"photo {number}", partial(paint, a, (number + 0.3) / photos), value=a)
                for a in (-2, 0, 2)
            ],
        )
        for number in range(photos)
    ]
    with AnswerCache(folder) as cache:
        client = Client(classifier, cache=cache, budget=budget, usage=usage)
        if halt:
            notes = classifier.notes
            classifier.notes = SimpleNamespace(
                append=lambda text: (notes.append(text), halt in text and client.halt())
            )
        client.ask_parts(questions, parts.append)
    rows = sorted((part.number, *map(str, part.rows("it"))) for part in parts)
    return SimpleNamespace(rows=rows, usage=usage, budget=budget, notes=classifier.notes)


def asked_twice(provider: FakeProvider, service: str = "chat", by_batch: bool = False):
    """Requests that were billed more than once, by picture, seed and order of the options."""
    calls = [call for call in provider.log.of(service) if call.billed]
    if by_batch:
        calls = [call for call in calls if call.by_batch]
    counts = Counter(
        (*call.billed, call.parameters["seed"], call.parameters["text"]) for call in calls
    )
    return {name: count for name, count in counts.items() if count > 1}


def made(provider: FakeProvider) -> int:
    return provider.batches.asked.count("POST /v1/batches")


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "unsupported", "batches"),
    [
        ("", (), 1),
        (",scores=repeats,repeats=3", (), 1),
        (",prompt=hireability,repeats=2", ("logprobs", "seed"), 3),
        (",prompt=salary", ("temperature",), 2),
    ],
)
def test_answers_are_those_of_single_requests_at_half_the_price(
    provider: FakeProvider, tmp_path, monkeypatch, options, unsupported, batches
):
    name = NAME.replace(",prompt=doctor-nurse", "") + options
    name += ",prompt=doctor-nurse" if "prompt" not in options else ""
    provider.chat.unsupported = set(unsupported)
    live = ask(tmp_path / "live", name)
    monkeypatch.setenv(
        "GSLOPES_CACHE", str(tmp_path / "unknown")
    )  # nor what the server does not take
    batch = ask(tmp_path / "batch", f"{name},by_batch=yes")
    assert batch.rows == live.rows
    assert len(batch.rows) == 4
    assert batch.budget.spent == pytest.approx(live.budget.spent / 2)
    assert batch.usage.tokens_in == live.usage.tokens_in
    assert made(provider) == batches
    assert ask(tmp_path / "batch", name).rows == live.rows  # either finds the answers of the other
    assert made(provider) == batches


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["responses", "messages", "gemini"])
def test_native_dialects_answer_by_batch_as_they_do_at_once(
    provider: FakeProvider, tmp_path, dialect
):
    name = f"{NAME},dialect={dialect},temperature=0,repeats=1"
    live = ask(tmp_path / "live", name)
    provider.batches.answered = 7

    def event(name: str) -> None:
        if name == "results" or (dialect == "gemini" and len(provider.batches.made) == 2):
            provider.batches.answered = None  # the first one alone expires

    provider.batches.event = event
    batch = ask(tmp_path / "batch", f"{name},by_batch=yes")
    assert batch.rows == live.rows
    assert batch.budget.spent == pytest.approx(live.budget.spent / 2)
    assert len(provider.batches.made) == 2
    assert asked_twice(provider, dialect, by_batch=True) == {}


def test_bedrock_has_no_batches_here():
    with pytest.raises(ConfigError, match="takes no batches"):
        load_classifier(f"{BATCH},dialect=converse")


def test_the_price_is_told_at_half_and_the_name_is_the_same():
    live, batch = load_classifier(NAME), load_classifier(BATCH)
    assert batch.name == live.name
    assert batch.traits.limits.price == pytest.approx(live.traits.limits.price / 2)
    assert "24 hours" in batch.traits.limits.note


@pytest.mark.parametrize("end", ["expired", pytest.param("cancelled", marks=pytest.mark.slow)])
def test_what_a_batch_leaves_open_goes_into_the_next_one(provider: FakeProvider, tmp_path, end):
    if end == "expired":

        def event(name: str) -> None:
            if name == "results":
                provider.batches.answered = None  # the first one alone expires

        provider.batches.answered = 5
        provider.batches.event = event
    else:
        ask(tmp_path, halt="in_progress")
        (name,) = provider.batches.made
        address = f"{provider.address}/v1/batches/{name}/cancel"
        httpx.post(address, headers={"authorization": f"Bearer {provider.accounts.chat}"})
    done = ask(tmp_path)
    assert len(done.rows) == 4
    assert end in " ".join(done.notes)
    assert made(provider) == 2
    assert asked_twice(provider) == {}


def test_a_batch_that_fails_stops_the_walk_with_its_words_and_is_sent_anew_the_next_time(
    provider: FakeProvider, tmp_path
):
    provider.batches.invalid = "The model is not available for batches."
    with pytest.raises(ServiceError, match="not available for batches"):
        ask(tmp_path, photos=1)
    provider.batches.invalid = ""
    assert len(ask(tmp_path, photos=1).rows) == 1
    assert made(provider) == 2


def test_asking_at_once_what_is_out_by_batch_is_warned_of(provider: FakeProvider, tmp_path):
    ask(tmp_path, photos=1, halt="in_progress")
    done = ask(tmp_path, NAME, photos=1)
    assert len(done.rows) == 1
    assert "asked, and paid, again" in " ".join(done.notes)


@pytest.mark.evidence
@pytest.mark.slow
def test_one_refused_picture_is_refused_alone(provider: FakeProvider, tmp_path):
    provider.refuse(0.3)
    live = ask(tmp_path / "live", NAME)
    batch = ask(tmp_path / "batch")
    assert batch.rows == live.rows
    assert "(refused)" in str(batch.rows)
    assert provider.log.of("chat")[-1].by_batch


def test_a_stopped_command_leaves_its_batch_out_and_the_next_one_takes_it(
    provider: FakeProvider, tmp_path
):
    assert ask(tmp_path, photos=2, halt="in_progress").rows == []
    done = ask(tmp_path, photos=2)
    assert len(done.rows) == 2
    assert made(provider) == 1
    assert asked_twice(provider) == {}


@pytest.mark.evidence
@pytest.mark.slow
def test_a_budget_makes_batches_smaller_and_is_never_passed(provider: FakeProvider, tmp_path):
    name = f"{BATCH},scores=logprobs"
    budget = 5.5 * load_classifier(name).traits.limits.cost(1)
    with pytest.raises(BudgetReached):
        ask(tmp_path, name, usd=budget)
    sizes = [batch["request_counts"]["total"] for batch in provider.batches.made.values()]
    assert sizes[0] == 5
    billed = sum(len(call.billed) for call in provider.log.of("chat"))
    assert 5 < billed < 12  # what five replies left was spent on more
    assert len(ask(tmp_path, name, usd=2 * budget).rows) == 4
    assert asked_twice(provider) == {}


def test_whoever_takes_no_batches_is_told_before_any_work(provider: FakeProvider):
    provider.batches.there = False
    with pytest.raises(ServiceError, match="takes no batches"):
        load_classifier(BATCH)
    with pytest.raises(ConfigError, match="celeba-tagger is none"):
        load_classifiers([NAME, "celeba-tagger"], "cpu", trust=False, batch=True)


@pytest.mark.parametrize("reply", [b"<html>Welcome</html>", b'{"ok": true}', b"[]", b""])
def test_a_reply_of_another_form_stops_the_walk(provider: FakeProvider, tmp_path, reply):
    handle = provider.batches.handle

    def odd(fake: FakeProvider, request: Request) -> Reply:
        if request.method == "POST" and request.path.endswith("batches"):
            return Reply(200, reply)
        return handle(fake, request)

    provider.batches.handle = odd
    with pytest.raises(ServiceError, match="of another form"):
        ask(tmp_path, photos=1)


def test_a_rejected_key_is_told_before_any_work(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(CredentialsError):
        load_classifier(BATCH)


WALK = """
import sys
from pathlib import Path
from tests.ask.classifiers import test_batching as tests
tests.batching.PAUSE = 0.05
done = tests.ask(Path(sys.argv[1]))
print(len(done.rows))
"""


def walking(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WALK, folder], env=os.environ, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["uploaded", "made", "looked", "results", "answered"])
def test_a_kill_at_any_moment_costs_nothing(provider: FakeProvider, tmp_path, moment):
    killed: list[str] = []

    def event(name: str) -> None:
        if name == moment and not killed:
            killed.append(name)
            process.send_signal(signal.SIGKILL)

    provider.batches.event = event
    with walking(tmp_path) as process:
        if moment == "answered":  # while the replies are read
            with AnswerCache(tmp_path) as cache:
                while not cache.rows("SELECT count(*) FROM answers")[0][0]:
                    assert process.poll() is None
            process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    done = ask(tmp_path)
    assert len(done.rows) == 4
    assert made(provider) == 1
    assert asked_twice(provider) == {}


@pytest.mark.slow
def test_two_commands_at_once_send_one_batch(provider: FakeProvider, tmp_path):
    both = [walking(tmp_path) for _ in range(2)]
    assert [process.communicate(timeout=100)[0].strip() for process in both] == ["4", "4"]
    assert made(provider) == 1
    assert asked_twice(provider) == {}


@pytest.mark.parametrize(
    "harm",
    [
        {"purpose": "vision"},
        {"window": "1h"},
        {"endpoint": "/v1/embeddings"},
        {"extra": 1},
        {"twice": True},
    ],
    ids=str,
)
def test_the_fake_server_is_strict(provider: FakeProvider, harm):
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions"}
    line |= {"body": {"model": "m", "messages": []}}
    text = "\n".join([json.dumps(line)] * (2 if "twice" in harm else 1))
    with httpx.Client(
        base_url=f"{provider.address}/v1",
        headers={"authorization": f"Bearer {provider.accounts.chat}"},
    ) as client:
        form = {"purpose": harm.get("purpose", "batch")}
        reply = client.post("/files", data=form, files={"file": ("a.jsonl", text)})
        if "purpose" in harm:
            assert reply.status_code == 400
            return
        body = {
            "input_file_id": reply.json()["id"],
            "endpoint": harm.get("endpoint", line["url"]),
            "completion_window": harm.get("window", "24h"),
        } | {key: value for key, value in harm.items() if key == "extra"}
        reply = client.post("/batches", json=body)
        if "twice" not in harm:
            assert reply.status_code == 400
            return
        reply = client.get(f"/batches/{reply.json()['id']}")
        assert reply.json()["status"] == "failed"
