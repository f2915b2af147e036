"""Which model of the transformers library does what, from a folder, without any network."""

from __future__ import annotations

import json
import math
import socket
from pathlib import Path

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.chat import UNUSABLE
from gslopes.ask.classifiers.transformers import task_of
from gslopes.core.errors import ConfigError, ModelError
from tests.ask import tiny_transformers
from tests.ask.local_models import transformers as classification

pytest.importorskip("transformers", reason="transformers is not installed: pip install 'gslopes[transformers]'")


@pytest.mark.parametrize(
    ("architecture", "task"),
    [
        ("ViTForImageClassification", "classify"),
        ("CLIPModel", "zero-shot"),
        ("SiglipModel", "zero-shot"),
        ("LlavaForConditionalGeneration", "text"),
        ("Gemma3ForConditionalGeneration", "text"),
    ],
)
def test_the_task_is_what_the_folder_says(tmp_path, architecture, task):
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    assert task_of(str(tmp_path)) == task


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"architectures": null}'])
def test_what_is_not_said_is_classification(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    assert task_of(str(tmp_path)) == "classify"
    assert task_of("some/model") == "classify"


def test_folders_are_read_without_any_network(tmp_path, monkeypatch, picture):
    def refused(*args, **others):
        raise AssertionError("a connection was tried")

    (tmp_path / "labels.txt").write_text("nurse\nchef\n")
    names = [
        classification(tmp_path),
        f"transformers:{tiny_transformers.clip(tmp_path / 'clip')},labels={tmp_path / 'labels.txt'},top_k=2",
        f"transformers:{tiny_transformers.llava(tmp_path / 'llava')},prompt=doctor-nurse",
    ]
    monkeypatch.setattr(socket, "socket", refused)
    for name in names:
        classifier = load_classifier(name)
        (raw,) = classifier.ask([picture((10, 20, 30))])
        assert classifier.parse(json.loads(json.dumps(raw))).labels


def test_a_model_of_another_task_is_said(tmp_path):
    folder = tiny_transformers.clip(tmp_path / "clip")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"transformers:{folder},task=text")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"transformers:{tmp_path / 'nobody'},task=zero-shot")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("template=a photo", "where the label goes"),
        ("repeats=0", "1 or more"),
        ("temperature=0,scores=repeats", "the same answer"),
        ("top_k=0", "rank or by threshold"),
    ],
)
def test_parameters_out_of_range_are_said(parameters, said):
    with pytest.raises(ConfigError, match=said):
        load_classifier(f"transformers:m,{parameters}")


# -- transformers text -------------------------------------------------------------------------------------------------


pytest.importorskip("transformers", reason="transformers is not installed: pip install 'gslopes[transformers]'")
OPTIONS = {"doctor", "nurse", "cannot tell"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_transformers.llava(tmp_path_factory.mktemp("text") / "llava")


def asked(classifier, picture: bytes) -> dict:
    (raw,) = classifier.ask([picture])
    return json.loads(json.dumps(raw))


def test_the_probabilities_of_the_letters_are_the_scores(model, picture):
    classifier = load_classifier(f"transformers:{model},prompt=doctor-nurse")
    raw = asked(classifier, picture((200, 10, 10)))
    found = dict(classifier.parse(raw).labels)
    assert set(found) == OPTIONS
    assert sum(found.values()) == pytest.approx(1, abs=1e-6)
    letters = raw["replies"][0]["letters"]
    total = sum(math.exp(value) for value in letters.values())
    first = classifier.prompt.answers(raw["order"])["A"]
    assert found[first] == pytest.approx(math.exp(letters["A"]) / total, abs=1e-6)


def test_the_letters_probability_is_the_models_own_at_that_place(model, picture):
    import torch

    classifier = load_classifier(f"transformers:{model},prompt=doctor-nurse")
    data = picture((200, 10, 10))
    raw = asked(classifier, data)
    from gslopes.photos.decode import decode

    inputs = classifier._inputs(decode(data, "picture")[0], raw["order"], '{"answer": "')
    with torch.inference_mode():
        chances = classifier._module(**inputs).logits[0, -1].double().softmax(-1)
    words = classifier._processor.tokenizer
    for letter, value in raw["replies"][0]["letters"].items():
        assert math.exp(value) == pytest.approx(float(chances[words.convert_tokens_to_ids(letter)]), rel=1e-4)


def test_without_letters_the_share_of_drawn_answers_counts_and_is_drawn_alike_again(model, picture):
    name = f"transformers:{model},prompt=labels,repeats=3,max_tokens=8"
    classifier = load_classifier(name)
    raw = asked(classifier, picture((1, 2, 3)))
    assert (raw["scored"], len(raw["replies"])) == ("repeats", 3)
    assert len({reply["text"] for reply in raw["replies"]}) > 1
    assert dict(classifier.parse(raw).labels) == {UNUSABLE: 1.0}  # random weights write no JSON
    assert asked(load_classifier(name), picture((1, 2, 3))) == raw


def test_what_cannot_be_asked_is_said(model, tmp_path):
    with pytest.raises(ConfigError, match="no options with letters"):
        load_classifier(f"transformers:{model},prompt=caption,scores=logprobs")
    with pytest.raises(ModelError, match="no chat template"):
        load_classifier(f"transformers:{tiny_transformers.llava(tmp_path / 'plain', chat=False)}")
