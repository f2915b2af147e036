"""Torch modules, pipelines of transformers and functions as classifiers."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import gslopes
from gslopes.ask.classifiers.in_memory import as_classifier
from gslopes.core.errors import ConfigError, UsageError


def encoded(colour: tuple[int, int, int]) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (24, 18), colour).save(file, "PNG")
    return file.getvalue()


class Means(torch.nn.Module):
    """Channel means times a weight: what it is sent shows in what it answers."""

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(weight))

    def forward(self, batch: Any) -> Any:
        return self.weight * batch.mean((2, 3))


def scores(classifier: Any, colour: tuple[int, int, int]) -> dict[str, float]:
    return dict(classifier.parse(classifier.ask([encoded(colour)])[0]).labels)


def test_a_module_is_sent_what_was_said() -> None:
    labels = ["first", "second", "third"]
    labels = scores(as_classifier(Means(), labels, size=8, threshold=0), (255, 51, 0))
    assert labels == {
        "first": pytest.approx(1),
        "second": pytest.approx(0.2),
        "third": pytest.approx(0),
    }
    swapped = scores(
        as_classifier(Means(), labels, size=8, threshold=0, channels="bgr"), (255, 51, 0)
    )
    assert swapped["third"] == pytest.approx(1)
    whitened = as_classifier(
        Means(), labels, size=8, white=255, mean=(255, 255, 255), activation="softmax"
    )
    assert scores(whitened, (255, 255, 255)) == {label: pytest.approx(1 / 3) for label in labels}


def test_a_module_that_answers_with_numbers_keeps_them_and_names_their_unit() -> None:
    found = as_classifier(
        Means(80.0), ["age", "height", "depth"], size=8, kind="number", unit="years"
    )
    assert found.name == "Means:unit=years"
    assert scores(found, (255, 51, 0)) == {
        "age": pytest.approx(80),
        "height": pytest.approx(16),
        "depth": 0,
    }
    with pytest.raises(ConfigError, match="Only a number has a unit"):
        as_classifier(Means(), ["a", "b", "c"], size=8, unit="years")


def test_other_weights_labels_or_input_are_another_version() -> None:
    made = [
        as_classifier(Means(), ["a", "b", "c"], size=8),
        as_classifier(Means(0.5), ["a", "b", "c"], size=8),
        as_classifier(Means(), ["a", "b", "d"], size=8),
        as_classifier(Means(), ["a", "b", "c"], size=9),
    ]
    assert len({one.version for one in made}) == 4
    assert as_classifier(Means(), ["a", "b", "c"], size=8).version == made[0].version


class Session:
    """As compiled libraries have them."""

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle")

    def __call__(self, image: Any) -> dict[str, float]:
        return {"bright": float(np.mean(image) / 255)}


def test_what_learned_since_is_another_version() -> None:
    module = Means()
    made = [
        as_classifier(module, ["a", "b", "c"], size=8),
        as_classifier(lambda image: {"a": float(module.weight)}),
    ]
    before = [one.version for one in made]
    assert [as_classifier(one).version for one in made] == before
    module.weight.data.mul_(0.5)
    assert not {as_classifier(one).version for one in made} & {*before}


def test_what_has_no_digest_keeps_nothing_unless_a_version_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = Session()
    made = as_classifier(session, name="session")
    assert made.version != as_classifier(session).version
    assert made.traits.unknown == (
        "The answers of session are not kept between calls: it is of the type "
        f"{__name__}.Session, whose state cannot be read. To keep them, name a version: "
        'gslopes.as_classifier(session, version="1").'
    )
    assert made.traits.unknown in capsys.readouterr().err
    named = as_classifier(session, version="of May")
    assert (named.traits.unknown, named.version) == ("", "of May")
    module = Means()
    module.session = session  # type: ignore[assignment]
    hidden = [
        as_classifier(module, ["a", "b", "c"], size=8, version=version) for version in ("", "1")
    ]
    assert [bool(one.traits.unknown) for one in hidden] == [True, False]
    assert hidden[1].version.startswith("1 ")


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        (
            (),
            {},
            UsageError,
            r"does not say its labels and size\. Give gslopes\.as_classifier\(means, labels=",
        ),
        (["a", "b", "c"], {}, UsageError, "does not say its size"),
        (["a", "b"], {"size": 8}, gslopes.core.errors.ModelError, "3 outputs and 2 labels"),
        (
            ["a", "b", "c"],
            {"size": 8, "white": 255},
            ConfigError,
            r"answers 128 to 128, not in \[0, 1\].*softmax",
        ),
        (["a", "b", "c"], {"size": 8, "sise": 9}, ConfigError, "sise"),
        (["a", "a", "c"], {"size": 8}, ConfigError, "Labels must differ"),
    ],
)
def test_a_module_that_is_not_described_says_what_is_missing(
    labels: Any, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        as_classifier(Means(), labels, **options)


def test_what_is_no_classifier_is_said() -> None:
    with pytest.raises(UsageError, match="A classifier cannot be made of int"):
        as_classifier(5)
    with pytest.raises(ConfigError, match="size: only a torch module has these"):
        as_classifier(lambda pictures: [], size=8)


def pipeline(folder: Path) -> Any:
    from transformers import (
        ViTConfig,
        ViTForImageClassification,
        ViTImageProcessor,
        pipeline as make,
    )

    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    config = ViTConfig(
        image_size=32, patch_size=8, num_labels=3, id2label=dict(enumerate("xyz")), **shape
    )
    torch.manual_seed(0)
    model, processor = (
        ViTForImageClassification(config),
        ViTImageProcessor(size={"height": 32, "width": 32}),
    )
    return make("image-classification", model=model, image_processor=processor)


def test_a_pipeline_answers_with_every_label_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip(
        "transformers", reason="transformers is not installed: pip install 'gslopes[transformers]'"
    )
    made = pipeline(tmp_path)
    classifier = as_classifier(made)
    found = scores(classifier, (200, 30, 90))
    assert set(found) == set("xyz")
    assert sum(found.values()) == pytest.approx(1)
    direct = made(Image.fromarray(np.full((18, 24, 3), (200, 30, 90), np.uint8)), top_k=None)
    assert found == {one["label"]: pytest.approx(one["score"]) for one in direct}
    with pytest.raises(UsageError, match="labels of its own"):
        as_classifier(made, ["a"])
    before = classifier.version
    assert as_classifier(made).version == before  # although it has counted its calls
    made.image_processor.image_mean = [0.1, 0.2, 0.3]
    assert as_classifier(made).version != before
