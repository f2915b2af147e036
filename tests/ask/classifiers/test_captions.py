"""Captions as answers, of a model here, a function, an endpoint, the chat endpoint; slopes of their labels."""

import json
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import load_classifier
from gslopes.core import tables
from gslopes.core.errors import AnswerError, ConfigError, ModelError
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions
from gslopes.words.labels import caption_labels
from tests.ask import local_models
from tests.ask.classifiers.test_http import Endpoint, Handler
from tests.fake_provider import FakeProvider, paint
from tests.loopback import serving

STEPS = np.linspace(-2, 2, 7)
DARK, BRIGHT = "a woman on a bench.", "a man on a bench."


def slopes(captions: list[list[str]]) -> pd.DataFrame:
    """photo-rate slopes of the labels of captions, photo by step."""
    asked, scores = [], []
    for photo, row in enumerate(captions):
        for step, caption in enumerate(row):
            key = (f"{photo:064x}", "gender", step)
            asked.append((*key, "captioner", "answered", "", ""))
            scores += [
                (*key, STEPS[step], "captioner", label, 1.0)
                for label in caption_labels().labels(caption)
            ]
    frames = [
        pd.DataFrame(rows, columns=table.columns)
        for rows, table in ((asked, tables.ASKED), (scores, tables.SCORES))
    ]
    fitted = analyse(frames[1], frames[0], options=FitOptions(permutations=99)).slopes
    return fitted[fitted["estimator"] == "photo-rate"].set_index("label")


def test_golden_65_a_woman_at_the_first_three_values():
    fitted = slopes([["A woman." if step < 3 else "A person." for step in range(7)]] * 20)
    assert fitted.loc["mention:woman", "slope"] == pytest.approx(-32.143, abs=5e-4)
    assert fitted.loc["mention:person", "slope"] == pytest.approx(0)


def test_golden_66_two_words_of_one_synset():
    fitted = slopes([["A sofa." if step % 2 else "A couch." for step in range(7)]] * 20)
    assert {"word:sofa", "word:couch", "synset:sofa.n.01"} <= set(fitted.index)
    assert fitted.loc["synset:sofa.n.01", "slope"] == 0


def test_labels_of_a_caption():
    labels = set(caption_labels().labels("A beautiful woman in a red dress is holding a gun."))
    assert {
        "mention:person",
        "mention:woman",
        "word:dress",
        "relation:hold",
        "list:weapon",
    } <= labels
    assert "attribute:beautiful of person" in labels
    assert "attribute:red of person" not in labels
    assert "list:attractiveness-adjectives" in labels
    assert {"list:demeaning estimate", "list:demeaning upper"} <= set(
        caption_labels().labels("A lazy man.")
    )
    assert "list:demeaning lower" not in caption_labels().labels("A lazy man.")
    assert not [
        label
        for label in caption_labels().labels("A tall man.")
        if label.startswith("list:demeaning")
    ]


# -- a function --------------------------------------------------------------------------------------------------------


@pytest.fixture
def function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    text = "def say(arrays):\n    return ['A man on a sofa.', None, 3.5, ' '][: len(arrays)]\n"
    (tmp_path / f"captions_of_{tmp_path.name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    return f"python:captions_of_{tmp_path.name}:say,kind=caption"


def test_a_function_says_a_text_or_none_and_nothing_else(function: str):
    classifier = load_classifier(function)
    text, none, *wrong = classifier.ask([paint(0, 0.2)] * 4)
    assert dict(classifier.parse(text).labels)["mention:man"] == 1
    assert classifier.parse(none).status == "refused"
    assert isinstance(wrong[0], AnswerError)
    with pytest.raises(AnswerError, match="not a caption"):
        classifier.parse(wrong[1])


def test_reading_anew_costs_no_call_and_no_function(function: str, tmp_path: Path):
    one, newer = (load_classifier(f"{function},version={version}") for version in (1, 2))
    key, picture = b"k" * 32, paint(0, 0.2)
    with AnswerCache(tmp_path / "cache") as cache:
        (raw,) = one.ask([picture])
        ClassifierCache(one, cache).put({key: raw}, {key: one.parse(raw)})
        one.version = "read by another parser"
        assert "mention:man" in dict(ClassifierCache(one, cache).find([key])[key].labels)
        assert ClassifierCache(newer, cache).empty
    line = {
        "picture": key.hex(),
        "classifier": "python:nowhere:f,kind=caption",
        "status": "answered",
        "raw": raw,
    }
    (tmp_path / "answers.jsonl").write_text(json.dumps(line) + "\n")
    assert "mention:man" in dict(
        load_classifier(f"replay:{tmp_path / 'answers.jsonl'}").parse(line).labels
    )


# -- behind an address -------------------------------------------------------------------------------------------------


@pytest.mark.row("captions-3.3-captioner")
def test_a_teams_captioner_is_read_as_labels():
    answers = [{"caption": "A woman holds a red kite."}, {"refused": "empty"}]
    reply = (200, {}, json.dumps({"version": "2026-05-01", "answers": answers}))
    with serving(Endpoint(reply=reply), Handler) as endpoint:
        classifier = load_classifier(f"{endpoint.name},kind=caption")
        one, two = (classifier.parse(raw) for raw in classifier.ask([paint(0, 0.2), b"x"]))
    assert {"mention:woman", "word:kite", "relation:hold"} <= {label for label, _ in one.labels}
    assert (one.version, two.status) == ("2026-05-01", "refused")


@pytest.mark.parametrize(
    "answer", [{}, {"caption": None}, {"caption": 3}, {"labels": {"a": 1}}, {"caption": " "}]
)
def test_an_answer_without_a_caption_is_an_error(answer: dict[str, object]):
    with pytest.raises(AnswerError, match=r"no caption|not a caption"):
        load_classifier("http:http://127.0.0.1:1/x,kind=caption", prepare=False).parse(answer)


@pytest.mark.row("captions-3.3-captioner")
def test_the_chat_endpoint(provider: FakeProvider):
    provider.chat.slopes = {"nurse": -0.25}
    classifier = load_classifier("llm:some-model,prompt=caption,repeats=1")
    (raw,) = classifier.ask([paint(0, 0.2)])
    labels = dict(classifier.parse(raw).labels)
    assert labels["mention:person"] == labels["word:nurse"] == 1
    assert "hanta-1.2.1" in classifier.version
    provider.chat.refusals = (1.0, 0.0)
    (raw,) = classifier.ask([paint(0, 0.3)])
    assert classifier.parse(raw).status == "refused"
    raw["replies"][0] = {"text": "Well.", "refusal": None, "finish": "stop"}
    with pytest.raises(AnswerError, match="no caption"):
        classifier.parse(raw)


# -- a model on this machine -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return local_models.trained_git(tmp_path_factory.mktemp("git") / "git", DARK, BRIGHT)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@pytest.mark.slow
def test_a_model_that_is_asked_in_a_conversation_says_the_same_twice(
    tmp_path: Path, picture, no_network
):
    folder = local_models.llava(tmp_path / "llava")
    classifier = load_classifier(f"transformers:{folder},task=caption,max_tokens=8")
    pictures = [picture((40, 40, 40)), picture((200, 200, 200), (64, 64))]
    first = classifier.ask(pictures)
    assert first == classifier.ask(pictures)
    assert all(isinstance(text, str) for text in first)
    assert str(folder) not in classifier.version


@pytest.mark.evidence
@pytest.mark.slow
def test_the_slope_of_a_gender_word_along_the_cue_that_a_trained_model_reads(
    trained: Path, picture, no_network
):
    classifier = load_classifier(f"transformers:{trained},task=caption")
    asked = [
        [picture((round(128 + 30 * value + shift),) * 3) for value in STEPS]
        for shift in range(-30, 31, 10)
    ]
    said = [classifier.ask(row) for row in asked]
    assert (said[0][0], said[-1][-1]) == (DARK, BRIGHT)
    labels = dict(classifier.parse(said[-1][-1]).labels)
    assert labels["mention:man"] == labels["synset:bench.n.01"] == 1
    found = slopes([[str(text) for text in row] for row in said])
    assert found.loc["mention:man", "slope"] > 15
    assert found.loc["mention:man", "slope"] == pytest.approx(-found.loc["mention:woman", "slope"])
    assert found.loc["synset:bench.n.01", "slope"] == pytest.approx(0)


def test_a_folder_that_is_none_and_options_that_make_no_sense(tmp_path: Path):
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"transformers:{tmp_path},task=caption")
    with pytest.raises(ConfigError, match="max_tokens"):
        load_classifier(f"transformers:{tmp_path},task=caption,max_tokens=0")
