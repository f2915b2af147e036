"""Captioners: a caption's labels, the chat endpoint against the fake server, a function; slopes (goldens 65 and 66)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.captioner import answer_of
from gslopes.core import tables
from gslopes.core.errors import AnswerError, ConfigError, ModelError, UnknownName
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.words.labels import caption_labels
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
    found = analyse(frames[1], frames[0], options=FitOptions(bootstrap=0, permutations=99)).slopes
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
    assert "synset:adult.n.01" in set(caption_labels(up=1).labels("A woman."))


def test_none_is_a_refusal_and_an_empty_text_an_error():
    assert answer_of([None], caption_labels()).status == "refused"
    for text in ("", " ", "x" * 50_000):
        with pytest.raises(AnswerError, match="not a caption"):
            answer_of([text], caption_labels())


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
    one, other, newer = (
        load_classifier(f"captioner-python:anew_captions:say,version={version}{more}")
        for version, more in ((1, ""), (1, ",up=2,senses=paper"), (2, ""))
    )
    key, picture = b"k" * 32, paint(0, 0.2)
    with AnswerCache(tmp_path / "cache") as cache:
        (raw,) = one.ask([picture])
        ClassifierCache(one, cache).put({key: raw}, {key: one.parse(raw)})
        found = dict(ClassifierCache(other, cache).find([key])[key].labels)
        assert "synset:furniture.n.01" in found
        assert "synset:furniture.n.01" not in dict(ClassifierCache(one, cache).find([key])[key].labels)
        assert ClassifierCache(newer, cache).empty
    assert other.name == "captioner-python:anew_captions:say,senses=paper,up=2,version=1"


def test_a_parser_that_is_none_is_named_before_anything_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UnknownName, match="chunks"):
        load_classifier("captioner-chat:some-model,parser=chunk", prepare=False)
    with pytest.raises(ModelError, match="no folder"):
        load_classifier("captioner-chat:some-model,parser=spacy:nowhere", prepare=False)
