"""A mistake in a classifier costs two pictures before anything is edited; what a classifier is sent."""

import html
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import gslopes
from gslopes.ask.classifiers.in_memory import as_classifier
from gslopes.ask.scoring.trial import softmaxed_twice, try_classifier, what_is_sent
from gslopes.core.errors import BudgetReached, ClassifierError, ModelError
from gslopes.core.records import Answer
from gslopes.core.traits import Limits, Traits


@pytest.fixture
def faces(draw, home):
    return draw(5)


def of_an_age(pictures: list[Any]) -> list[Any]:
    return [{"age": 20 + picture.mean() / 10} for picture in pictures]


def in_words(pictures: list[Any]) -> list[Any]:
    return [{"age": "old"} for _ in pictures]


def unnamed(pictures: list[Any]) -> Any:
    return np.zeros((len(pictures), 4))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            in_words,
            r"failed on the first 2 pictures: not a valid answer \(The function's score of 'age' is 'old'",
        ),
        (unnamed, r"4 numbers for a picture, and no labels.*labels=FILE"),
        (lambda pictures: None, "lack its return"),
    ],
)
def test_a_wrong_answer_stops_an_audit_before_anything_is_edited(
    faces, tmp_path, function, message
):
    with pytest.raises((ClassifierError, ModelError), match=message) as error:
        gslopes.audit(faces.photos, tmp_path / "run", classifier=function, **faces.known)
    assert error.value.exit_code == 1
    assert not (tmp_path / "run").exists()


@dataclass
class Service:
    """A paid service that answers by the picture, or fails as it is told to."""

    name: str = "paid"
    version: str = "1"
    batch: int = 1
    traits: Traits = field(default_factory=lambda: Traits(Limits(price=1000.0, network=True)))
    fails: int = 0  # first pictures
    seen: list[bytes] = field(default_factory=list)

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.seen += pictures
        return [[["label", 7.0 if len(self.seen) <= self.fails else 0.5]] for _ in pictures]

    def parse(self, raw: Any) -> Answer:
        return Answer("answered", tuple((label, score) for label, score in raw))


def audit(faces: Any, folder: Path, service: Service, **options: Any) -> Any:
    known = {**faces.known, "placebo": False, "gate": False}
    cache = folder / "cache"
    return gslopes.audit(
        faces.photos,
        folder / "run",
        classifier=service,
        cache=cache,
        steps=3,
        yes=True,
        **known,
        **options,
    )


@pytest.mark.slow
def test_the_first_pictures_are_paid_once_and_never_asked_again(faces, tmp_path):
    service = Service()
    audit(faces, tmp_path, service)
    assert len(service.seen) == len(set(service.seen)) == 2 + 15
    again = Service()
    known = {**faces.known, "placebo": False, "gate": False}
    gslopes.audit(
        faces.photos,
        tmp_path / "new",
        classifier=again,
        cache=tmp_path / "cache",
        steps=3,
        yes=True,
        **known,
    )
    assert again.seen == []


def test_they_count_against_the_budget_and_one_for_a_single_picture_stops_before_anything_is_edited(
    faces, tmp_path
):
    with pytest.raises(BudgetReached):
        audit(faces, tmp_path, Service(), budget=1.0)
    assert not (tmp_path / "run").exists()
    service = Service()
    with pytest.raises(
        BudgetReached, match=r"The budget of 5\.00 USD is used up: 5\.00 USD were spent"
    ):
        audit(faces, tmp_path, service, budget=5.0)
    assert len(service.seen) == 5


@pytest.mark.slow
def test_failures_of_both_stop_and_of_one_do_not(faces, tmp_path):
    service = Service(fails=99)
    with pytest.raises(ClassifierError, match="failed on the first 2 pictures") as error:
        audit(faces, tmp_path, service)
    assert "Nothing more was asked. Mend it" in error.value.hint
    assert len(service.seen) == 2
    audit(faces, tmp_path, Service(fails=1))


@pytest.mark.slow
def test_a_number_in_a_unit_of_its_own_is_an_answer(faces, tmp_path):
    known = {**faces.known, "placebo": False, "gate": False}
    found = gslopes.audit(faces.photos, tmp_path / "run", classifier=of_an_age, steps=3, **known)
    (row,) = found.findings.to_dict("records")
    assert (row["label"], row["estimator"], row["unit"]) == (
        "age",
        "photo-measure",
        "of its number per unit",
    )
    assert row["n"] == 5


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    ramp = np.linspace(0, 255, 40).astype(np.uint8)
    Image.fromarray(np.stack([np.tile(ramp, (30, 1))] * 3, axis=-1)).save(tmp_path / "ramp.png")
    return tmp_path / "ramp.png"


class Narrow:
    """Takes JPEG alone, of at most 20 pixels, for 2 USD each."""

    name, version, batch = "paid", "1", 1
    traits = Traits(Limits(price=2000.0, network=True, formats=("JPEG",), max_side=20))

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.seen += pictures
        return [[["any", 0.5]] for _ in pictures]

    def parse(self, raw: Any) -> Answer:
        return Answer("answered", tuple((label, score) for label, score in raw))


def test_a_service_is_sent_a_file_within_its_limits_and_paid_once(photo, tmp_path):
    service = Narrow()
    found = try_classifier(service, [photo], tmp_path / "sent.png", tmp_path / "cache")
    assert found.sent.startswith("the file, 20 x 15,")
    assert "JPEG of quality 95, longer side 20 pixels" in found.sent
    with Image.open(tmp_path / "sent.png") as image:
        assert image.size == (20, 15)
    assert (found.usd, found.price, found.varying, found.failed) == (6.0, 2000.0, (), 0)
    again = try_classifier(service, [photo], tmp_path / "sent.png", tmp_path / "cache")
    assert (again.usd, again.seconds, len(service.seen)) == (0.0, 0.0, 3)


def test_a_torch_module_says_the_range_of_its_input(photo):
    import torch

    module = torch.nn.Sequential(
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Sigmoid()
    )
    made = as_classifier(module, ["a", "b", "c"], size=8, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    words, pixels = what_is_sent(made, photo.read_bytes())
    assert words == "8 x 8 float32, RGB, channels first, -0.678 to 0.671"
    assert pixels.shape == (8, 8, 3)
    assert (pixels.min(), pixels.max()) == (41, 213)  # from -0.678 and 0.671


@pytest.mark.slow
def test_labels_that_are_nearly_the_same_are_named_once_with_their_spellings(
    photo, tmp_path, faces
):
    labels = (
        "Smile",
        "smile",
        "caf\u00e9",
        "cafe\u0301",
        "two  words",
        "two words",
        "other",
        "\uff21",
        "A",
    )
    named = as_classifier(
        lambda picture: {label: float(picture.mean() / 255) for label in labels}, name="named"
    )
    found = try_classifier(named, [photo], tmp_path / "sent.png", tmp_path / "cache")
    sentence = (
        "These labels differ only in blanks, case or Unicode form, and count apart: 'A' and '\uff21'; "
        r"'Smile' and 'smile'; 'cafe\u0301' and 'caf\xe9'; 'two  words' and 'two words'."
    )
    assert found.notes == (sentence,)
    audit = gslopes.audit(faces.photos, tmp_path / "run", classifier=named, steps=3, **faces.known)
    assert f"named: {sentence}" in audit.notes
    page = html.unescape((tmp_path / "run/report/index.html").read_text("utf-8"))
    assert page.count(f"named: {sentence}") == 1


# -- training mode -----------------------------------------------------------------------------------------------------


def normalised(training: bool) -> Any:
    """A small network of convolutions with batch normalisation, from pictures (B, 3, 8, 8) to scores of two labels."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = (
            torch.nn.Conv2d(3, 4, 3),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1),
        )
        network = torch.nn.Sequential(
            *layers, torch.nn.Flatten(), torch.nn.Linear(4, 2), torch.nn.Sigmoid()
        )
    return network.train(training)


def of_torchscript(training: bool, folder: Path) -> Any:
    import torch

    from gslopes.ask.classifiers import load_classifier

    (folder / "labels.txt").write_text("a\nb\n")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # torch.jit is deprecated; the files that people have remain
        traced = torch.jit.trace(normalised(training), torch.rand(4, 3, 8, 8), check_trace=False)
        traced.save(str(folder / "model.pt"))
    name = f"torchscript:{folder / 'model.pt'},labels={folder / 'labels.txt'},size=8,threshold=0"
    return load_classifier(name, trust=True)


def of_onnx(training: bool, folder: Path) -> Any:
    """The same layers, written by hand: an exporter may take batch normalisation out of a training graph."""
    import onnx
    from onnx import helper

    from gslopes.ask.classifiers import load_classifier

    state = {
        name: value.numpy()
        for name, value in normalised(training).state_dict().items()
        if value.ndim
    }
    norm = ["1.weight", "1.bias", "1.running_mean", "1.running_var"]
    more = (["m", "v"], {"training_mode": 1}) if training else ([], {})
    nodes = [
        helper.make_node("Conv", ["x", "0.weight", "0.bias"], ["c"]),
        helper.make_node("BatchNormalization", ["c", *norm], ["n", *more[0]], **more[1]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "5.weight", "5.bias"], ["g"], transB=1),
        helper.make_node("Sigmoid", ["g"], ["y"]),
    ]
    shapes = {"x": ["batch", 3, 8, 8], "y": ["batch", 2]}
    ends = [
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)]
        for name, shape in shapes.items()
    ]
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in state.items()]
    graph = helper.make_graph(nodes, "normalised", *ends, weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        folder / "model.onnx",
    )
    (folder / "labels.txt").write_text("a\nb\n")
    return load_classifier(
        f"onnx:{folder / 'model.onnx'},labels={folder / 'labels.txt'},threshold=0"
    )


def of_function(training: bool, folder: Path) -> Any:
    import torch

    del folder
    network = normalised(training)

    def classify(pictures: list[Any]) -> list[dict[str, float]]:
        small = [
            np.asarray(Image.fromarray(picture).resize((8, 8))).transpose(2, 0, 1)
            for picture in pictures
        ]
        with torch.inference_mode():
            rows = network(torch.tensor(np.stack(small) / 255, dtype=torch.float32))
        return [{"a": float(row[0]), "b": float(row[1])} for row in rows]

    return as_classifier(classify)


KINDS = [of_torchscript, of_onnx, of_function]


@pytest.mark.parametrize("make", KINDS)
def test_a_model_in_training_mode_is_found_out_and_one_that_is_not_is_tried(make, photo, tmp_path):
    with pytest.raises(
        ModelError, match=r"otherwise in a batch than alone, by 0\.\d+\. .*call model\.eval\(\)"
    ):
        try_classifier(make(True, tmp_path), [photo], tmp_path / "sent.png", tmp_path / "cache")
    found = try_classifier(
        make(False, tmp_path), [photo], tmp_path / "sent.png", tmp_path / "cache"
    )
    assert found.failed == 0


@pytest.mark.parametrize("make", KINDS)
def test_an_audit_stops_before_anything_is_edited(make, faces, tmp_path):
    with pytest.raises(ModelError, match="in training mode"):
        gslopes.audit(
            faces.photos, tmp_path / "run", classifier=make(True, tmp_path), **faces.known
        )
    assert not (tmp_path / "run").exists()


def test_answers_by_chance_are_no_training_mode_and_services_are_not_asked_twice(photo, tmp_path):
    chance = np.random.default_rng(0)
    drawn = as_classifier(
        lambda pictures: [{"a": float(chance.random())} for _ in pictures], name="drawn"
    )
    assert try_classifier(drawn, [photo], tmp_path / "sent.png", tmp_path / "cache").failed == 0
    service = Service(batch=4)
    try_classifier(service, [photo], tmp_path / "sent.png", tmp_path / "cache")
    assert len(service.seen) == 3


def test_a_function_of_one_picture_at_a_time_and_one_of_numbers_are_compared_too(photo, tmp_path):
    def age(pictures: list[Any]) -> list[dict[str, float]]:
        middle = np.mean([picture.mean() for picture in pictures])
        return [{"age": 30 + float(picture.mean() - middle) / 50} for picture in pictures]

    with pytest.raises(ModelError, match="in training mode"):
        try_classifier(as_classifier(age), [photo], tmp_path / "sent.png", tmp_path / "cache")
    alone = as_classifier(lambda picture: {"bright": float(picture.mean() / 255)}, name="alone")
    assert try_classifier(alone, [photo], tmp_path / "sent.png", tmp_path / "cache").failed == 0


# -- softmax twice ----------------------------------------------------------------------------------------------------


def softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def drawn(labels: int, spread: float, alike: float, n: int = 60) -> np.ndarray:
    """Shares (n, 3, labels) of three pictures each; of 0.9 alike: one photo, mirrored and darker."""
    rng = np.random.default_rng(labels)
    of_photo, of_picture = rng.normal(size=(n, 1, labels)), rng.normal(size=(n, 3, labels))
    return softmax(spread * (of_photo * alike**0.5 + of_picture * (1 - alike) ** 0.5))


@pytest.mark.parametrize("alike", [0, 0.9])
@pytest.mark.parametrize("spread", [0.5, 1, 5])
@pytest.mark.parametrize("labels", [2, 3, 4, 5, 7, 1000])
def test_a_softmax_of_shares_is_told_from_an_undecided_model(labels, spread, alike):
    shares = drawn(labels, spread, alike)
    alarms = np.mean([bool(softmaxed_twice(pd.DataFrame(one))) for one in shares])
    assert alarms <= 0.02
    found = np.mean([bool(softmaxed_twice(pd.DataFrame(one))) for one in softmax(shares)])
    assert found > 0.98 or labels < 5


def test_what_is_nearly_the_same_for_every_picture_is_said_and_what_is_no_softmax_is_not():
    rows = [[0.336, 0.333, 0.331], [0.335, 0.334, 0.331]]
    assert softmaxed_twice(pd.DataFrame(rows)) == (
        "The scores of every picture add up to 1 and lie between 0.331 and 0.336, as if a softmax was applied twice: "
        "leave one out if so."
    )
    sure = softmax(np.array([[1.0, 0.0], [0.0, 1.0], [0.998, 0.002]]))
    assert softmaxed_twice(pd.DataFrame(sure))
    for others in (
        rows[:1],
        [[0.6, 0.3, 0.1], [0.35, 0.33, 0.32]],
        [[0.3, 0.3, 0.3], [0.3, 0.3, 0.3]],
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.5, 0.5, np.nan], [0.5, np.nan, 0.5]],
        [[1.0], [1.0]],
        [],
    ):
        assert not softmaxed_twice(pd.DataFrame(others))


def test_an_audit_and_a_trial_say_it(faces, tmp_path, photo):
    def classify(image):
        share = image.mean() / 255
        return dict(
            zip("abcde", softmax(np.array([share, 1 - share, 0, 0, 0])).tolist(), strict=True)
        )

    found = try_classifier(as_classifier(classify), [photo], tmp_path / "sent.png")
    assert any("as if a softmax was applied twice" in note for note in found.notes)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda bgr: {"blue": bgr[..., 0].mean() / 255}, "BGR, 0 to 255"),
        (lambda img_tensor: {"blue": img_tensor[2].mean()}, "a tensor, RGB, 0 to 1"),
        (lambda image_bytes: {"size": len(image_bytes)}, "the bytes of its file"),
    ],
)
def test_the_form_that_is_given_is_what_is_said_to_be_sent(photo, tmp_path, function, words):
    found = try_classifier(as_classifier(function), [photo], tmp_path / "sent.png")
    assert found.sent == f"the whole picture, 40 x 30, {words}"
    assert not found.failed
