from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.score.classifiers import load_classifier


def noise(seed: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (50, 40, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def test_threshold_zero_returns_all_forty_labels_with_their_sigmoids(random_tagger):
    tagger = load_classifier("celeba-tagger:threshold=0")
    (raw,) = tagger.ask([noise(0)])
    answer = tagger.parse(raw)
    assert tuple(label for label, _ in answer.labels) == random_tagger
    np.testing.assert_allclose([score for _, score in answer.labels], 1 / (1 + np.exp(-np.array(raw))))


def test_a_label_at_the_threshold_is_present(random_tagger):
    tagger = load_classifier("celeba-tagger")
    answer = tagger.parse([0.0, 0.1, -0.1] + [-9.0] * 37)
    assert answer.labels == ((random_tagger[0], 0.5), (random_tagger[1], pytest.approx(1 / (1 + np.exp(-0.1)))))


def test_the_answer_does_not_depend_on_the_company(random_tagger):
    tagger = load_classifier("celeba-tagger")
    pictures = [noise(seed) for seed in range(5)]
    together = np.array(tagger.ask(pictures))
    alone = np.array([tagger.ask([data])[0] for data in pictures])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    assert np.ptp(together, axis=0).max() > 1e-3, "it says the same about every picture"


def test_the_version_is_the_sha256_of_its_weights(random_tagger, tmp_path):
    written = (tmp_path / "home/weights/celeba-tagger/sha256").read_text().split()[0]
    assert load_classifier("celeba-tagger").version == written


def test_damaged_weights_are_a_model_error(random_tagger, tmp_path):
    path = tmp_path / "home/weights/celeba-tagger/model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelError, match="damaged"):
        load_classifier("celeba-tagger")


@pytest.mark.parametrize("threshold", ["-0.1", "1.1"])
def test_a_threshold_outside_zero_and_one_is_refused_before_the_weights_are_read(threshold):
    with pytest.raises(ConfigError, match=r"in \[0, 1\]"):
        load_classifier(f"celeba-tagger:threshold={threshold}")


def test_the_shipped_tagger_has_the_forty_labels_of_celeba():
    try:
        tagger = load_classifier("celeba-tagger")
    except UnknownName:
        pytest.skip("The weights of celeba-tagger are not there: train them with `gslopes train celeba-tagger`.")
    assert len(tagger.labels) == 40
    assert {"Male", "Smiling", "Young", "Wearing_Lipstick"} <= set(tagger.labels)
