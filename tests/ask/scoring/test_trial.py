"""A mistake in a classifier costs two pictures before anything is edited; what a classifier is sent."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import gslopes
from gslopes.ask.classifiers.in_memory import as_classifier
from gslopes.ask.cost import Limits
from gslopes.ask.scoring.trial import try_classifier, what_is_sent
from gslopes.core.errors import BudgetReached, ClassifierError, ModelError
from gslopes.core.records import Answer


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
        (in_words, r"failed on the first 2 pictures: not a valid answer \(The function's score of 'age' is 'old'"),
        (unnamed, r"4 numbers for a picture, and no labels.*labels=FILE"),
        (lambda pictures: None, "lack its return"),
    ],
)
def test_a_wrong_answer_stops_an_audit_before_anything_is_edited(faces, tmp_path, function, message):
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
    limits: Limits = field(default_factory=lambda: Limits(price=1000.0, network=True))
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
        faces.photos, folder / "run", classifier=service, cache=cache, steps=3, yes=True, **known, **options
    )


@pytest.mark.slow
def test_the_first_pictures_are_paid_once_and_never_asked_again(faces, tmp_path):
    service = Service()
    audit(faces, tmp_path, service)
    assert len(service.seen) == len(set(service.seen)) == 2 + 15
    again = Service()
    known = {**faces.known, "placebo": False, "gate": False}
    gslopes.audit(
        faces.photos, tmp_path / "new", classifier=again, cache=tmp_path / "cache", steps=3, yes=True, **known
    )
    assert again.seen == []


def test_they_count_against_the_budget_and_one_for_a_single_picture_stops_before_anything_is_edited(faces, tmp_path):
    with pytest.raises(BudgetReached):
        audit(faces, tmp_path, Service(), budget=1.0)
    assert not (tmp_path / "run").exists()
    service = Service()
    with pytest.raises(BudgetReached, match=r"The budget of 5\.00 USD is used up: 5\.00 USD were spent"):
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
    assert (row["label"], row["estimator"], row["unit"]) == ("age", "photo-measure", "of its number per unit")
    assert row["n"] == 5


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    ramp = np.linspace(0, 255, 40).astype(np.uint8)
    Image.fromarray(np.stack([np.tile(ramp, (30, 1))] * 3, axis=-1)).save(tmp_path / "ramp.png")
    return tmp_path / "ramp.png"


class Narrow:
    """Takes JPEG alone, of at most 20 pixels, for 2 USD each."""

    name, version, batch = "paid", "1", 1
    limits = Limits(price=2000.0, network=True, formats=("JPEG",), max_side=20)

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

    module = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Sigmoid())
    made = as_classifier(module, ["a", "b", "c"], size=8, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    words, pixels = what_is_sent(made, photo.read_bytes())
    assert words == "8 x 8 float32, RGB, channels first, -0.678 to 0.671"
    assert pixels.shape == (8, 8, 3)
    assert (pixels.min(), pixels.max()) == (41, 213)  # from -0.678 and 0.671
