"""Which model of the transformers library does what, from a folder, without any network."""

from __future__ import annotations

import json
import socket

import pytest

from gslopes.ask.classifiers import load_classifier
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
        ("LlavaForConditionalGeneration", "classify"),
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
    ]
    monkeypatch.setattr(socket, "socket", refused)
    for name in names:
        classifier = load_classifier(name)
        (raw,) = classifier.ask([picture((10, 20, 30))])
        assert classifier.parse(json.loads(json.dumps(raw))).labels


def test_a_model_of_another_task_is_said(tmp_path):
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"transformers:{tmp_path / 'nobody'},task=zero-shot")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("template=a photo", "where the label goes"),
        ("top_k=0", "rank or by threshold"),
    ],
)
def test_parameters_out_of_range_are_said(parameters, said):
    with pytest.raises(ConfigError, match=said):
        load_classifier(f"transformers:m,{parameters}")
