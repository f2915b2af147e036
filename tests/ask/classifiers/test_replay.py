import json
from hashlib import sha256

import pytest

from gslopes.ask.cache import AnswerCache, CachedAnswer, export_answers
from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ModelError, Refused


def key(picture: bytes) -> str:
    return sha256(picture).hexdigest()


@pytest.fixture
def record(tmp_path):
    def write(*lines: dict[str, object] | str) -> str:
        file = tmp_path / "answers.jsonl"
        file.write_text(
            "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        )
        return f"replay:{file}"

    return write


def test_pictures_get_what_was_recorded_wherever_it_stands_and_no_more(record):
    name = record(
        {"picture": key(b"one"), "labels": {"nurse": 0.93}, "version": "2026-05"},
        {"picture": key(b"two"), "refused": "content policy"},
    )
    replay = load_classifier(name)
    two, none, one = replay.ask([b"two", b"none", b"one"])
    assert isinstance(none, Refused)
    assert replay.parse(one).labels == (("nurse", 0.93),)
    assert (
        len(
            {
                replay.version,
                load_classifier(record({"picture": key(b"one"), "refused": "a"})).version,
            }
        )
        == 2
    )
    assert replay.parse(one).version == "2026-05"
    assert (replay.parse(two).status, replay.parse(two).reason) == ("refused", "content policy")


@pytest.mark.parametrize("no", [None, False, "", "no", []])
def test_a_line_that_refuses_nothing_is_an_answer(record, no):
    replay = load_classifier(
        record({"picture": key(b"one"), "labels": {"nurse": 0.9}, "refused": no, "version": None})
    )
    answer = replay.parse(replay.ask([b"one"])[0])
    assert (answer.status, answer.labels, answer.version) == ("answered", (("nurse", 0.9),), "")
    with pytest.raises(ModelError, match="is not an answer"):
        load_classifier(record({"picture": key(b"one"), "labels": None, "refused": None}))


def test_an_export_of_the_cache_is_parsed_as_its_service_does_without_credentials(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    raw = {
        "labelAnnotations": [
            {"mid": "/m/1", "description": "Nurse", "score": 0.75, "topicality": 0.75}
        ]
    }
    with AnswerCache(tmp_path / "cache") as cache:
        name = load_classifier("google", prepare=False).name
        classifier_id = cache.classifier_id(name, "")
        cache.put(classifier_id, {sha256(b"one").digest(): CachedAnswer("answered", raw)})
        cache.put(
            classifier_id, {sha256(b"two").digest(): CachedAnswer("refused", "content policy")}
        )
        assert export_answers(cache, tmp_path / "answers.jsonl") == 2
    replay = load_classifier(f"replay:{tmp_path / 'answers.jsonl'}")
    one, two = (replay.parse(raw) for raw in replay.ask([b"one", b"two"]))
    assert one.labels == (("Nurse", 0.75),)
    assert (two.status, two.reason) == ("refused", "content policy")


def test_a_recording_of_two_needs_to_know_whose(record):
    lines = [
        {"picture": key(b"one"), "classifier": name, "status": "answered", "labels": {name: 0.5}}
        for name in "ab"
    ]
    name = record(*lines)
    with pytest.raises(ModelError, match="answers of a and b"):
        load_classifier(name)
    replay = load_classifier(f"{name},classifier=b")
    assert replay.parse(replay.ask([b"one"])[0]).labels == (("b", 0.5),)


@pytest.mark.parametrize(
    "line", ["no json", "3", '{"picture": "00", "labels": {}}', '{"labels": {}}', '{"picture": 1}']
)
def test_a_line_that_is_no_answer_is_told_by_its_number(record, line):
    with pytest.raises(ModelError, match="Line 2 of the recording"):
        load_classifier(record({"picture": key(b"one"), "labels": {}}, line))
    with pytest.raises(ModelError, match="There is no recording"):
        load_classifier("replay:none.jsonl")
