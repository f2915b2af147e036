from __future__ import annotations

import re

import numpy as np
import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.core.errors import ConfigError, ModelError, PhotoError
from gslopes.core.records import Answer

RED, BLUE, GRAY = (255, 0, 0), (0, 0, 255), (128, 128, 128)


def answer(name: str, *pictures: bytes) -> list[Answer]:
    classifier = load_classifier(name)
    return [classifier.parse(raw) for raw in classifier.ask(list(pictures))]


def scores(name: str, data: bytes) -> dict[str, float]:
    return dict(answer(name, data)[0].labels)


def test_the_answer_is_the_pictures_redness(make_onnx, picture):
    red, blue, half = answer(make_onnx(), picture(RED), picture(BLUE), picture((128, 0, 0)))
    assert [label for label, _ in red.labels] == ["red"]
    assert [label for label, _ in blue.labels] == ["other"]
    assert half.labels == (("red", pytest.approx(128 / 255)),)


def test_a_threshold_decides_what_is_present(make_onnx, picture):
    name = make_onnx()
    assert scores(name, picture((100, 0, 0))) == {}
    assert scores(f"{name},threshold=0.3", picture((100, 0, 0))) == {"red": pytest.approx(100 / 255)}
    assert set(scores(f"{name},threshold=0", picture(RED))) == {"red", "other"}


def test_top_k_returns_the_highest_whatever_their_scores(make_onnx, picture):
    assert list(scores(f"{make_onnx()},top_k=1", picture((30, 0, 20)))) == ["red"]
    assert list(scores(f"{make_onnx()},top_k=9", picture((0, 40, 60)))) == ["other", "red"]


def test_activations_are_their_formulas(make_onnx, picture):
    name = make_onnx(((4, 0), (0, -2), (0, -2)))
    assert scores(f"{name},activation=sigmoid,threshold=0", picture(RED)) == {
        "red": pytest.approx(1 / (1 + np.exp(-4))),
        "other": pytest.approx(0.5),
    }
    assert scores(f"{name},activation=softmax,threshold=0", picture(BLUE)) == {
        "red": pytest.approx(1 / (1 + np.exp(-2))),
        "other": pytest.approx(1 / (1 + np.exp(2))),
    }


def test_an_output_that_is_no_number_fails_the_picture(make_onnx, picture):
    name = make_onnx(((3e38, 0), (3e38, 0), (-3e38, 0)))
    (failed,) = answer(f"{name},activation=sigmoid,white=255", picture((255, 255, 0)))
    assert (failed.status, failed.labels) == ("failed", ())


def test_preprocessing_is_what_the_name_says(make_onnx, picture):
    name = f"{make_onnx()},threshold=0"
    assert scores(f"{name},mean=0.25/0/0,std=2/1/1", picture(RED))["red"] == pytest.approx(0.375)
    assert scores(f"{name},channels=bgr", picture(BLUE))["red"] == pytest.approx(1)
    assert scores(f"{name},white=0.5", picture(RED))["red"] == pytest.approx(0.5)


def test_channels_last_models_are_asked_channels_last(make_onnx, picture):
    assert scores(f"{make_onnx(layout='nhwc')},layout=nhwc", picture(RED))["red"] == pytest.approx(1)


def test_a_model_of_bytes_gets_bytes(make_onnx, picture):
    name = make_onnx(((1 / 255, 0), (0, 0), (0, 0)), kind="UINT8")
    assert scores(name, picture((200, 0, 0)))["red"] == pytest.approx(200 / 255)
    assert scores(f"{name},white=255", picture((200, 0, 0)))["red"] == pytest.approx(200 / 255)
    with pytest.raises(ConfigError, match=r"takes bytes, 0 to 255\. Leave white, mean and std out"):
        load_classifier(f"{name},white=1")


def test_a_model_of_one_batch_size_answers_any_number_up_to_it(make_onnx, picture):
    classifier = load_classifier(make_onnx(batch=4))
    assert classifier.batch == 4
    assert len(classifier.ask([picture(RED)] * 3)) == 3
    assert [label for label, _ in classifier.parse(classifier.ask([picture(BLUE)])[0]).labels] == ["other"]


def test_a_model_without_a_size_needs_one(make_onnx, picture):
    name = make_onnx(side="side")
    with pytest.raises(ConfigError, match=r"does not declare its picture size.* Give size=PIXELS"):
        load_classifier(name)
    assert "red" in scores(f"{name},size=20", picture(RED))


def test_the_version_follows_the_model_and_the_labels(make_onnx, tmp_path):
    name = make_onnx()
    first = load_classifier(name).version
    assert first == load_classifier(name).version
    (tmp_path / "labels.txt").write_text("red\nrest\n")
    assert load_classifier(name).version != first


def test_a_picture_that_cannot_be_decoded_is_a_photo_error(make_onnx):
    with pytest.raises(PhotoError):
        answer(make_onnx(), b"no picture")


# --- errors before any work ---


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("size=20", "does not take a picture of 20 pixels"),
        ("layout=nhwc", "declares pictures of"),
        ("threshold=2", "threshold must be in [0, 1]"),
        ("top_k=2,threshold=0.4", "cannot be combined"),
        ("top_k=-1", "not be negative"),
        ("std=0/1/1", "above 0"),
        ("mean=-2/0/0", "not in [0, 1]. Give activation=sigmoid"),
    ],
)
def test_parameters_that_do_not_fit_are_found_at_once(make_onnx, parameters, message):
    with pytest.raises((ConfigError, ModelError), match=re.escape(message)):
        load_classifier(f"{make_onnx()},{parameters}")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("red\n", "has 2 outputs"),
        ("red\nother\nmore\n", "has 3 labels"),
        ("red\n\nother\n", "has an empty line"),
        ("", "is empty"),
        ("red\nred\n", "holds 'red' twice"),
    ],
)
def test_labels_that_do_not_fit_are_found_at_once(make_onnx, labels, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        load_classifier(make_onnx(labels=labels))


def test_files_that_are_missing_or_damaged_are_named(make_onnx, tmp_path):
    name = make_onnx()
    with pytest.raises(ModelError, match="There is no model at"):
        load_classifier(name.replace("model.onnx", "absent.onnx"))
    with pytest.raises(ModelError, match="There is no labels file at"):
        load_classifier(name.replace("labels.txt", "absent.txt"))
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match="onnxruntime cannot load"):
        load_classifier(name)
    (tmp_path / "labels.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="not UTF-8"):
        load_classifier(name)


# --- what the version covers ---


def external(folder, file: str, weights: list[list[float]], location: str = "weights.bin") -> None:
    """Move the weights of a model into a file beside it."""
    import onnx

    model = onnx.load(file)
    (tensor,) = [one for one in model.graph.initializer if one.name == "weights"]
    data = np.asarray(weights, np.float32).tobytes()
    (folder / "weights.bin").write_bytes(data)
    onnx.external_data_helper.set_external_data(tensor, location, length=len(data))
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    onnx.save(model, file)


def test_other_weights_in_a_file_beside_the_model_are_another_version(make_onnx, picture, tmp_path):
    name = f"{make_onnx()},threshold=0"
    external(tmp_path, str(tmp_path / "model.onnx"), [[1, 0], [0, 0.5], [0, 0.5]])
    before = load_classifier(name)
    assert scores(name, picture(RED))["red"] == 1
    (tmp_path / "weights.bin").write_bytes(np.asarray([[0, 1], [0.5, 0], [0.5, 0]], np.float32).tobytes())
    assert load_classifier(name).version != before.version
    assert scores(name, picture(RED))["red"] == 0


@pytest.mark.parametrize("location", ["../weights.bin", "/etc/hostname", "missing.bin"])
def test_weights_that_are_missing_or_elsewhere_are_errors(make_onnx, tmp_path, location):
    name = make_onnx()
    external(tmp_path, str(tmp_path / "model.onnx"), [[1, 0], [0, 1], [0, 1]], location)
    with pytest.raises(ModelError, match=r"outside its own folder|is not there"):
        load_classifier(name)
