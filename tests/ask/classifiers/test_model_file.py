"""Models of the user's own in files: ONNX, and TorchScript, trusted first."""

import json
import re
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.model_file import Program
from gslopes.core import tables
from gslopes.core.errors import ClassifierError, ConfigError, ModelError, UsageError
from gslopes.core.records import Answer
from tests.fake_provider.folder import write_run

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


def test_a_threshold_or_the_rank_decides_what_is_present(make_onnx, picture):
    name = make_onnx()
    assert scores(name, picture((100, 0, 0))) == {}
    assert scores(f"{name},threshold=0.3", picture((100, 0, 0))) == {
        "red": pytest.approx(100 / 255)
    }
    assert set(scores(f"{name},threshold=0", picture(RED))) == {"red", "other"}
    assert list(scores(f"{name},top_k=1", picture((30, 0, 20)))) == ["red"]
    assert list(scores(f"{name},top_k=9", picture((0, 40, 60)))) == ["other", "red"]


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
    assert scores(f"{make_onnx(layout='nhwc')},layout=nhwc", picture(RED))["red"] == pytest.approx(
        1
    )


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
    assert [label for label, _ in classifier.parse(classifier.ask([picture(BLUE)])[0]).labels] == [
        "other"
    ]


def test_a_model_without_a_size_needs_one(make_onnx, picture):
    name = make_onnx(side="side")
    with pytest.raises(ConfigError, match=r"does not declare its picture size.* Give size=PIXELS"):
        load_classifier(name)
    assert "red" in scores(f"{name},size=20", picture(RED))


# --- which output ---


def with_outputs(name: str, **more: tuple[str, str]) -> str:
    """The model with further outputs: the operator that makes each, and what of."""
    import onnx

    file = name.removeprefix("onnx:").partition(",")[0]
    model = onnx.load(file)
    for output, (operator, of) in more.items():
        model.graph.node.append(onnx.helper.make_node(operator, [of], [output]))
        model.graph.output.insert(
            0, onnx.helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, None)
        )
    onnx.save(model, file)
    return name


def test_of_several_outputs_that_fit_one_is_named_and_none_chosen_in_silence(make_onnx, picture):
    name = with_outputs(make_onnx(), negative=("Neg", "scores"), maps=("Identity", "pixels"))
    message = r"has several outputs that fit: negative batchx2, scores batchx2\. Give output=negative, or another one"
    with pytest.raises(ConfigError, match=message):
        load_classifier(name)
    assert scores(f"{name},output=scores", picture(RED)) == {"red": pytest.approx(1)}
    assert (
        scores(f"{name},output=negative,activation=sigmoid,threshold=0", picture(RED))["red"] < 0.3
    )
    assert load_classifier(f"{name},output=scores").name.endswith("output=scores")
    with pytest.raises(UsageError, match=r"has no output 'score'\. Did you mean 'scores'"):
        load_classifier(f"{name},output=score")


def test_the_only_output_that_fits_needs_no_name(make_onnx, picture):
    name = with_outputs(make_onnx(), features=("Flatten", "pixels"), maps=("Identity", "pixels"))
    assert scores(name, picture(RED)) == {"red": pytest.approx(1)}
    name = with_outputs(make_onnx(labels="a\nb\nc\n"), features=("Flatten", "pixels"))
    with pytest.raises(
        ConfigError, match=r"has no output that fits: features batchx768, scores batchx2"
    ):
        load_classifier(name)


def of_scikit_learn(folder: Path, zipmap: bool) -> str:
    """A classifier as sklearn-onnx exports it: the label, and scores by label, in a map or (with zipmap=False) not."""
    import onnx
    from onnx import TensorProto as Kind, helper

    classes = ["red", "other"]
    weights = np.repeat(np.eye(3)[0], 64).tolist()
    nodes = [
        helper.make_node("Flatten", ["pixels"], ["flat"]),
        helper.make_node(
            "LinearClassifier", ["flat"], ["label", "scores"], domain="ai.onnx.ml", classlabels_strings=classes,
            coefficients=[*weights, *[-weight for weight in weights]], intercepts=[0.0, 0.0], post_transform="SOFTMAX",
        ),
    ]  # fmt: skip
    scores = helper.make_tensor_value_info("scores", Kind.FLOAT, [None, 2])
    if zipmap:
        nodes.append(
            helper.make_node("ZipMap", ["scores"], ["map"], domain="ai.onnx.ml", classlabels_strings=classes)
        )  # fmt: skip
        of_map = helper.make_map_type_proto(
            Kind.STRING, helper.make_tensor_type_proto(Kind.FLOAT, [])
        )
        scores = helper.make_value_info("map", helper.make_sequence_type_proto(of_map))
    label = helper.make_tensor_value_info("label", Kind.STRING, [None])
    pixels = helper.make_tensor_value_info("pixels", Kind.FLOAT, [None, 3, 8, 8])
    graph = helper.make_graph(nodes, "linear", [pixels], [label, scores])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "linear.onnx")
    (folder / "labels.txt").write_text("red\nother\n")
    return f"onnx:{folder / 'linear.onnx'},labels={folder / 'labels.txt'}"


def test_scores_of_scikit_learn_are_read_from_a_tensor_and_a_map_is_told_by_name(tmp_path, picture):
    assert scores(of_scikit_learn(tmp_path, zipmap=False), picture(RED))["red"] > 0.99
    with pytest.raises(
        ModelError, match=r"scores in a map.*\(ZipMap\)\. Export it without: .*'zipmap': False"
    ):
        load_classifier(of_scikit_learn(tmp_path, zipmap=True))


@pytest.mark.parametrize(
    ("field", "cause"),
    [
        ("ir_version", "Unsupported model IR version: 99, max"),
        ("opset", "Opset 99 is under development"),
    ],
)
def test_a_model_that_is_newer_than_the_runtime_is_told_so(make_onnx, field, cause):
    import onnx

    name = make_onnx()
    file = name.removeprefix("onnx:").partition(",")[0]
    model = onnx.load(file)
    if field == "opset":
        model.opset_import[0].version = 99
    else:
        model.ir_version = 99
    onnx.save(model, file)
    with pytest.raises(
        ModelError, match=f"{cause}.*It is newer than onnxruntime: update that"
    ) as error:
        load_classifier(name)
    assert "model.cc" not in str(error.value)


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
        ("red\nother\nmore\n", "has 2 outputs and 3 labels"),
        ("red\n\nother\n", "has an empty line"),
        ("", "is empty"),
        ("red\nred\n", "holds 'red' twice"),
    ],
)
def test_labels_that_do_not_fit_are_found_at_once(make_onnx, labels, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        load_classifier(make_onnx(labels=labels))


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("json", '["red", "other"]'),
        ("json", '{"0": "red", "1": "other"}'),
        ("csv", "index,label\n0,red\n1,other\n"),
        ("yaml", "names:\n  0: red\n  1: other\n"),
    ],
)
def test_labels_in_a_table_are_told_by_name(make_onnx, tmp_path, ending, text):
    file = tmp_path / f"names.{ending}"
    file.write_text(text)
    name = re.sub(r"labels=[^,]*", f"labels={file}", make_onnx())
    with pytest.raises(ModelError, match=f"is {ending.upper()}. Write its labels into a text file"):
        load_classifier(name)


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


def test_other_labels_or_weights_in_a_file_beside_the_model_are_another_version(
    make_onnx, picture, tmp_path
):
    name = f"{make_onnx()},threshold=0"
    first = load_classifier(name).version
    assert first == load_classifier(name).version
    (tmp_path / "labels.txt").write_text("red\nrest\n")
    assert load_classifier(name).version != first
    external(tmp_path, str(tmp_path / "model.onnx"), [[1, 0], [0, 0.5], [0, 0.5]])
    before = load_classifier(name)
    assert scores(name, picture(RED))["red"] == 1
    (tmp_path / "weights.bin").write_bytes(
        np.asarray([[0, 1], [0.5, 0], [0.5, 0]], np.float32).tobytes()
    )
    assert load_classifier(name).version != before.version
    assert scores(name, picture(RED))["red"] == 0


@pytest.mark.parametrize("location", ["../weights.bin", "/etc/hostname", "missing.bin"])
def test_weights_that_are_missing_or_elsewhere_are_errors(make_onnx, tmp_path, location):
    name = make_onnx()
    external(tmp_path, str(tmp_path / "model.onnx"), [[1, 0], [0, 1], [0, 1]], location)
    with pytest.raises(ModelError, match=r"outside its own folder|is not there"):
        load_classifier(name)


def scripted(folder: Path, body: str) -> str:
    """The name of a classifier whose program has this body."""
    source = (
        f"def forward(self, pictures: Tensor) -> Tensor:\n{body}    return pictures.mean((2, 3))\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # torch.jit is deprecated; the files that people have remain
        program = type(
            "Program", (torch.jit.ScriptModule,), {}
        )()  # a class of its own: a method is defined once
        program.define(source)
        program.save(str(folder / "model.pt"))
    (folder / "labels.txt").write_text("a\nb\nc\n")
    return f"torchscript:{folder / 'model.pt'},labels={folder / 'labels.txt'},size=8"


def test_nothing_of_a_file_runs_before_it_is_trusted(tmp_path):
    mark = tmp_path / "it-was-here"
    name = scripted(tmp_path, f"    torch.save(pictures, '{mark}')\n")
    with pytest.raises(UsageError, match=r"model\.pt is a program"):
        load_classifier(name)
    assert not mark.exists()
    load_classifier(name, trust=True)
    assert mark.exists()  # which is what the question is about


def test_the_command_runs_it_with_the_option_alone(gslopes, tmp_path):
    run, name = write_run(tmp_path / "run", 2), scripted(tmp_path, "")
    refused = gslopes("audit", run, "--only", "score", "--classifier", name, "--device", "cpu")
    assert refused.code == 2
    assert "is a program" in refused.err
    assert "--trust" in refused.err
    assert not (run / "scores.parquet").exists()
    assert (
        gslopes(
            "audit", run, "--only", "score", "--classifier", name, "--device", "cpu", "--trust"
        ).code
        == 0
    )
    answered = tables.read(tables.ASKED, run / "asked.parquet")
    assert set(answered["status"]) == {"answered"}


def test_a_recording_runs_nothing_that_it_names(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "it-was-here"
    program = scripted(tmp_path, f"    torch.save(pictures, '{mark}')\n")
    line = {"picture": sha256(b"picture").hexdigest(), "status": "answered", "raw": {"bright": 0.5}}
    recording = tmp_path / "answers.jsonl"
    crops = "crops:mine.py:function,opponents=."
    names = {"python:mine:function": "answered", "mine.py:function": "answered", program: ""}
    for name, fate in (names | dict.fromkeys((crops, "of-another-package:x=1"), "")).items():
        recording.write_text(json.dumps({**line, "classifier": name}) + "\n")
        replay = load_classifier(f"replay:{recording}", trust=True)
        (raw,) = replay.ask([b"picture"])
        if fate:
            assert replay.parse(raw).status == fate
        else:
            with pytest.raises(UsageError):
                replay.parse(raw)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    pictures = pictures.view(-1, 7)\n", "does not take a picture of 8 pixels"),
        ("    return pictures.sum()\n", "with shape"),
    ],
)
def test_a_program_that_fails_on_every_picture_is_found_before_any_work(tmp_path, body, message):
    with pytest.raises(ModelError, match=message):
        load_classifier(scripted(tmp_path, body), trust=True)
    (tmp_path / "model.pt").write_bytes(b"this is no model")
    with pytest.raises(ModelError, match=r"model\.pt cannot be loaded"):
        Program(tmp_path / "model.pt", "cpu", trust=True)


def test_an_error_on_one_input_is_told_the_next_one_is_answered_and_the_batch_unchanged(tmp_path):
    name = scripted(
        tmp_path, '    assert float(pictures.max()) < 1, "too bright"\n    pictures[0] += 0\n'
    )
    batch = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 100
    program = Program(Path(name.removeprefix("torchscript:").partition(",")[0]), "cpu", trust=True)
    with pytest.raises(ClassifierError, match="too bright"):
        program(batch + 100)
    before = batch.copy()
    np.testing.assert_allclose(program(batch), before.mean((2, 3)), rtol=1e-6)
    np.testing.assert_array_equal(batch, before)
