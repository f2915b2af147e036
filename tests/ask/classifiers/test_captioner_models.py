"""``captioner:FOLDER``: real architectures from folders made here, with no way to the network."""

from __future__ import annotations

import io
import socket
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ConfigError, ModelError
from tests.ask import tiny_transformers
from tests.ask.classifiers.test_captioner import slopes

DARK, BRIGHT = "a woman on a bench.", "a man on a bench."


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_transformers.trained_git(tmp_path_factory.mktemp("git") / "git", DARK, BRIGHT)


def picture(brightness: float, size: int = 40) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((size, size, 3), brightness, np.uint8)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("kind", ["blip", "git", "llava"])
def test_every_architecture_writes_and_says_the_same_twice(kind: str, tmp_path: Path):
    folder = getattr(tiny_transformers, kind)(tmp_path / kind)
    classifier = load_classifier(f"captioner:{folder},max_tokens=8")
    pictures = [picture(40), picture(200, 64)]
    first = classifier.ask(pictures)
    assert first == classifier.ask(pictures) == load_classifier(classifier.name).ask(pictures)
    assert all(isinstance(text, str) for text in first)
    assert str(folder) not in classifier.version


def test_what_a_trained_model_says_becomes_labels(trained: Path):
    classifier = load_classifier(f"captioner:{trained}")
    dark, bright = classifier.ask([picture(50), picture(220)])
    assert (dark, bright) == (DARK, BRIGHT)
    labels = dict(classifier.parse(bright).labels)
    assert labels["mention:man"] == labels["synset:bench.n.01"] == 1
    assert "mention:woman" not in labels


def test_the_slope_of_a_gender_word_along_the_cue_that_it_reads(trained: Path):
    classifier = load_classifier(f"captioner:{trained}")
    asked = [[picture(128 + 30 * value + shift) for value in np.linspace(-2, 2, 7)] for shift in range(-30, 31, 6)]
    said = [classifier.ask(row) for row in asked]
    found = slopes([[str(text) for text in row] for row in said])
    assert found.loc["mention:man", "slope"] > 15
    assert found.loc["mention:man", "slope"] == pytest.approx(-found.loc["mention:woman", "slope"])
    assert found.loc["synset:bench.n.01", "slope"] == pytest.approx(0)


def test_a_folder_that_is_none_and_options_that_make_no_sense(tmp_path: Path, trained: Path):
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(f"captioner:{tmp_path}")
    for option in ("batch=0", "max_tokens=0"):
        with pytest.raises(ConfigError):
            load_classifier(f"captioner:{trained},{option}")
