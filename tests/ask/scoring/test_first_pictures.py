"""A mistake in a classifier costs two pictures, before anything is edited; no picture is asked about twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gslopes
from gslopes.ask.cost import Limits
from gslopes.core.errors import BudgetReached, ClassifierError, ModelError, Refused
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


def not_a_number(pictures: list[Any]) -> list[Any]:
    return [{"hire": float("nan")} for _ in pictures]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (in_words, r"failed on the first 2 pictures: not a valid answer \(The function's score of 'age' is 'old'"),
        (unnamed, r"4 numbers for a picture, and no labels.*labels=FILE"),
        (
            not_a_number,
            r"'hire' is nan, not a finite number; a picture that cannot be judged",
        ),
    ],
)
def test_a_wrong_answer_stops_an_audit_before_anything_is_edited(faces, tmp_path, function, message):
    with pytest.raises(ClassifierError, match=message) as error:
        gslopes.audit(faces.photos, tmp_path / "run", classifier=function, **faces.known)
    assert error.value.exit_code == 1
    assert "Nothing more was asked. Mend it" in error.value.hint
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda pictures: {"hire": 0.5}, "one mapping for 2 pictures"),
        (lambda pictures: [{"hire": 0.5}], "one answer for 2 pictures"),
        (lambda pictures: None, "lack its return"),
    ],
)
def test_an_answer_of_another_length_stops_it_too(faces, tmp_path, function, message):
    with pytest.raises(ModelError, match=message):
        gslopes.audit(faces.photos, tmp_path / "run", classifier=function, **faces.known)
    assert not (tmp_path / "run").exists()


@dataclass
class Service:
    """A paid service that answers by the picture, or fails as it is told to."""

    name: str = "paid"
    version: str = "1"
    batch: int = 1
    limits: Limits = field(default_factory=lambda: Limits(price=1000.0, network=True))
    fails: int = 0  # first pictures
    refuses: bool = False
    seen: list[bytes] = field(default_factory=list)

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.seen += pictures
        if self.refuses:
            return [Refused("policy") for _ in pictures]
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


def test_they_count_against_the_budget(faces, tmp_path):
    service = Service()
    with pytest.raises(BudgetReached, match=r"The budget of 5\.00 USD is used up: 5\.00 USD were spent"):
        audit(faces, tmp_path, service, budget=5.0)
    assert len(service.seen) == 5


def test_a_budget_for_one_picture_stops_before_anything_is_edited(faces, tmp_path):
    with pytest.raises(BudgetReached):
        audit(faces, tmp_path, Service(), budget=1.0)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_failures_of_both_stop_and_of_one_do_not(faces, tmp_path):
    service = Service(fails=99)
    with pytest.raises(ClassifierError, match="failed on the first 2 pictures"):
        audit(faces, tmp_path, service)
    assert len(service.seen) == 2
    audit(faces, tmp_path, Service(fails=1))


@pytest.mark.slow
def test_refusals_are_answers(faces, tmp_path):
    service = Service(refuses=True)
    audit(faces, tmp_path, service)
    assert len(service.seen) == 2 + 15


@pytest.mark.slow
def test_a_number_in_a_unit_of_its_own_is_an_answer(faces, tmp_path):
    known = {**faces.known, "placebo": False, "gate": False}
    found = gslopes.audit(faces.photos, tmp_path / "run", classifier=of_an_age, steps=3, **known)
    (row,) = found.findings.to_dict("records")
    assert (row["label"], row["estimator"], row["unit"]) == ("age", "photo-measure", "of its number per unit")
    assert row["n"] == 5
