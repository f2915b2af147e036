"""What a broken server says is no answer: after it was mended, the same command asks again."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from gslopes.ask.cache import AnswerCache, CachedAnswer
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.client import Client
from gslopes.ask.questions import PartProgress, about_edits, digest, read_picture
from gslopes.core import tables
from tests.fake_provider.folder import write_run
from tests.loopback import QuietHandler, serving

SOUND = {"labels": {"a": 0.25, "b": 0.5}}


@dataclass
class Endpoint:
    """Answers each picture soundly, or every request as ``broken``, a function of how many pictures it holds.

    only: requests that are broken, all if None.
    """

    broken: Callable[[int], Any] | None = None
    only: range | None = None
    port: int = 0
    requests: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"http:http://127.0.0.1:{self.port}/judge,concurrency=1"


class Handler(QuietHandler):
    service: Endpoint

    def do_POST(self) -> None:  # noqa: N802
        pictures = json.loads(self.rfile.read(int(self.headers["content-length"])))["pictures"]
        number = len(self.service.requests)
        self.service.requests.append(len(pictures))
        is_broken = self.service.broken is not None and (
            self.service.only is None or number in self.service.only
        )
        reply = (
            self.service.broken(len(pictures))
            if is_broken
            else {"answers": [SOUND] * len(pictures)}
        )
        self.send(200, json.dumps(reply).encode(), "application/json")


@pytest.fixture
def endpoint():
    with serving(Endpoint(), Handler) as made:
        yield made


def answered(run: Any) -> dict[str, int]:
    return dict(tables.read(tables.ASKED, run / "asked.parquet")["status"].value_counts())


BROKEN: dict[str, Callable[[int], Any]] = {
    "another shape": lambda count: {"predictions": [SOUND] * count},
    "a list": lambda count: [SOUND] * count,
    "no labels": lambda count: {"answers": [{"score": 0.5}] * count},
    "a list of labels": lambda count: {"answers": [{"labels": ["a"]}] * count},
    "labels that are null": lambda count: {"answers": [{"labels": None}] * count},
    "percentages": lambda count: {"answers": [{"labels": {"a": 93.0}}] * count},
    "scores that are texts": lambda count: {"answers": [{"labels": {"a": "high"}}] * count},
    "an answer too few": lambda count: {"answers": [SOUND] * (count - 1)},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_the_same_command_asks_again_after_the_server_was_mended(
    endpoint, kind, gslopes, tmp_path, monkeypatch
):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    run = write_run(tmp_path / "run", 2)
    command = (
        "audit",
        run,
        "--only",
        "score",
        "--classifier",
        f"{endpoint.name},batch=14",
        "--device",
        "cpu",
    )
    endpoint.broken = BROKEN[kind]
    failed = gslopes(*command)
    assert failed.code == 1
    assert "Mend it and run the same command again." in failed.err
    endpoint.broken = None
    assert gslopes(*command).code == 0
    assert answered(run) == {"answered": 14}
    asked = len(endpoint.requests)
    assert gslopes(*command).code == 0
    assert len(endpoint.requests) == asked


def test_a_part_without_an_answer_is_asked_again_and_the_others_are_not(
    endpoint, gslopes, tmp_path, monkeypatch
):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    run = write_run(tmp_path / "run", 4, part=2)
    command = (
        "audit",
        run,
        "--only",
        "score",
        "--classifier",
        f"{endpoint.name},batch=14",
        "--device",
        "cpu",
    )
    endpoint.broken, endpoint.only = BROKEN["percentages"], range(1, 2)
    partly = gslopes(*command)
    assert answered(run) == {"answered": 14, "failed": 14}
    assert (
        "Asking about 14 pictures failed: the same command with --retry-failed asks again."
        in partly.err
    )
    assert gslopes(*command, "--retry-failed").code == 0
    assert answered(run) == {"answered": 28}
    assert endpoint.requests == [14, 14, 14]


def test_a_reply_that_was_kept_and_holds_no_answer_is_forgotten(endpoint, tmp_path):
    classifier, run = load_classifier(f"{endpoint.name},price=1"), write_run(tmp_path / "run", 1)
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    keys = [digest(read_picture(run, file)) for file in edits["file"]]
    with AnswerCache(tmp_path / "cache") as cache:
        number = cache.classifier_id(classifier.name, classifier.version)
        cache.put(
            number,
            {
                key: CachedAnswer("answered", {"labels": ["kept by an older version"]})
                for key in keys[:2]
            },
        )
        parts: list[PartProgress] = []
        Client(classifier, cache=cache).ask_parts([(0, about_edits(edits, run, 0))], parts.append)
        assert {answer.status for _, answer in parts[0].answered()} == {"answered"}
        assert sum(endpoint.requests) == len(keys)
        assert {answer.raw["labels"]["a"] for answer in cache.find(number, keys).values()} == {0.25}
