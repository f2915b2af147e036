"""Captioners: a caption's labels, the chat endpoint against the fake server, a function; slopes (goldens 65 and 66)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import canonical_name, load_classifier
from gslopes.core import tables
from gslopes.core.errors import AnswerError, ConfigError
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.words.labels import caption_labels
from tests.ask.classifiers.test_http import TOKEN, Endpoint
from tests.fake_provider import FakeProvider, paint

STEPS = np.linspace(-2, 2, 7)


def slopes(captions: list[list[str]]) -> pd.DataFrame:
    """photo-rate slopes of the labels of captions, photo by step."""
    asked, scores = [], []
    for photo, row in enumerate(captions):
        for step, caption in enumerate(row):
            key = (f"{photo:064x}", "gender", step)
            asked.append((*key, "captioner", "answered", "", ""))
            scores += [(*key, STEPS[step], "captioner", label, 1.0) for label in caption_labels().labels(caption)]
    frames = [
        pd.DataFrame(rows, columns=table.columns) for rows, table in ((asked, tables.ASKED), (scores, tables.SCORES))
    ]
    found = analyse(frames[1], frames[0], options=FitOptions(permutations=99)).slopes
    return found[found["estimator"] == "photo-rate"].set_index("label")


def test_golden_65_a_woman_at_the_first_three_values():
    found = slopes([["A woman." if step < 3 else "A person." for step in range(7)]] * 20)
    assert found.loc["mention:woman", "slope"] == pytest.approx(-32.143, abs=5e-4)
    assert found.loc["mention:person", "slope"] == pytest.approx(0)


def test_golden_66_two_words_of_one_synset():
    found = slopes([["A sofa." if step % 2 else "A couch." for step in range(7)]] * 20)
    assert {"word:sofa", "word:couch", "synset:sofa.n.01"} <= set(found.index)
    assert found.loc["synset:sofa.n.01", "slope"] == 0


def test_labels_of_a_caption():
    found = set(caption_labels().labels("A beautiful woman in a red dress is holding a gun."))
    assert {"mention:person", "mention:woman", "word:dress", "relation:hold", "list:weapon"} <= found
    assert "attribute:beautiful of person" in found
    assert "attribute:red of person" not in found
    assert "list:attractiveness-adjectives" in found


def test_none_is_a_refusal_and_an_empty_text_an_error():
    captioner = load_classifier("captioner-http:http://127.0.0.1:1/x", prepare=False)
    assert captioner._labels_of([None]).status == "refused"
    for text in ("", " ", "x" * 50_000):
        with pytest.raises(AnswerError, match="not a caption"):
            captioner._labels_of([text])


def test_the_chat_captioner_against_the_fake_server(provider: FakeProvider):
    provider.chat.slopes = {"nurse": -0.25}
    classifier = load_classifier("captioner-chat:some-model")
    (raw,) = classifier.ask([paint(0, 0.2)])
    labels = dict(classifier.parse(raw).labels)
    assert labels["mention:person"] == labels["word:nurse"] == 1
    assert "hanta-1.2.1" in classifier.version
    provider.chat.refusals = (1.0, 0.0)
    (raw,) = classifier.ask([paint(0, 0.3)])
    assert classifier.parse(raw).status == "refused"


def test_a_prompt_that_asks_for_no_caption_is_refused():
    with pytest.raises(ConfigError, match="not ask for a caption"):
        load_classifier("captioner-chat:some-model,prompt=doctor-nurse")


def test_a_function_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own_captions.py").write_text("def say(arrays):\n    return ['A man.', None][: len(arrays)]\n")
    monkeypatch.chdir(tmp_path)
    classifier = load_classifier("captioner-python:own_captions:say")
    one, two = classifier.ask([paint(0, 0.2), paint(0, 0.8)])
    assert dict(classifier.parse(one).labels)["mention:man"] == 1
    assert classifier.parse(two).status == "refused"


def test_listed_words_are_labels_under_every_bound():
    assert {"list:demeaning estimate", "list:demeaning upper"} <= set(caption_labels().labels("A lazy man."))
    assert "list:demeaning lower" not in caption_labels().labels("A lazy man.")
    assert not [label for label in caption_labels().labels("A tall man.") if label.startswith("list:demeaning")]


def test_reading_anew_costs_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "anew_captions.py").write_text("def say(arrays):\n    return ['A woman on a sofa.'] * len(arrays)\n")
    monkeypatch.chdir(tmp_path)
    one, newer = (load_classifier(f"captioner-python:anew_captions:say,version={version}") for version in (1, 2))
    key, picture = b"k" * 32, paint(0, 0.2)
    with AnswerCache(tmp_path / "cache") as cache:
        (raw,) = one.ask([picture])
        ClassifierCache(one, cache).put({key: raw}, {key: one.parse(raw)})
        one.version = "read by another parser"
        assert "mention:woman" in dict(ClassifierCache(one, cache).find([key])[key].labels)
        assert ClassifierCache(newer, cache).empty


# -- behind an address -------------------------------------------------------------------------------------------------


class Describing(Endpoint):
    """Answers a caption for each picture; a picture of one byte is refused."""

    @property
    def name(self) -> str:
        return f"captioner-{super().name}"

    @staticmethod
    def judged(pictures: list[str]) -> dict[str, object]:
        answers = [{"refused": "empty"} if len(p) <= 4 else {"caption": "A woman holds a red kite."} for p in pictures]
        return {"version": "2026-05-01", "answers": answers}


@pytest.fixture
def captions():
    made = Describing()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_teams_captioner_is_read_as_labels(captions: Describing, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CAPTION_TOKEN", TOKEN)
    classifier = load_classifier(f"{captions.name},token=CAPTION_TOKEN")
    one, two = classifier.ask([paint(0, 0.2), b"x"])
    found = classifier.parse(one)
    assert {"mention:woman", "word:kite", "relation:hold"} <= {label for label, _ in found.labels}
    assert found.version == "2026-05-01"
    assert classifier.parse(two).status == "refused"
    assert captions.requests[0][0]["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in classifier.name + classifier.version


@pytest.mark.parametrize("answer", [{}, {"caption": None}, {"caption": 3}, {"labels": {"a": 1}}, {"caption": " "}])
def test_an_answer_without_a_caption_is_an_error(captions: Describing, answer: dict[str, object]):
    captions.reply = (200, {}, json.dumps({"answers": [answer]}))
    classifier = load_classifier(captions.name)
    (raw,) = classifier.ask([paint(0, 0.2)])
    with pytest.raises(AnswerError, match=r"no caption|not a caption"):
        classifier.parse(raw)


def test_options_that_make_no_sense_are_config_errors():
    for name in ("captioner-chat:m,repeats=0", "captioner-http:http://127.0.0.1:1/x,batch=0"):
        with pytest.raises(ConfigError):
            load_classifier(name, prepare=False)
    assert canonical_name("captioner-http:http://127.0.0.1:1/x,batch=2") == "captioner-http:http://127.0.0.1:1/x"
