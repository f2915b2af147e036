"""What functions of users take and return: read where it is unambiguous, else explained."""

from __future__ import annotations

import doctest
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gslopes.ask.answers import check_answer
from gslopes.ask.classifiers.python import FunctionCaller
from gslopes.core.errors import AnswerError, ModelError
from gslopes.core.records import Answer

DARK, BRIGHT = np.full((4, 6, 3), 51, np.uint8), np.full((5, 5, 3), 204, np.uint8)
PICTURES = [DARK, BRIGHT]
WANTED = [{"bright": pytest.approx(0.2)}, {"bright": pytest.approx(0.8)}]


def share(picture: Any) -> float:
    return float(picture.mean() / 255)


def of_one_picture(picture: Any) -> Any:
    return {"bright": share(picture)}


def of_one_x(x: Any) -> Any:
    return {"bright": share(x)}


def columns(pictures: Any) -> Any:
    return {"bright": np.array([share(one) for one in pictures])}


def generated(pictures: Any) -> Any:
    return ({"bright": share(one)} for one in pictures)


def pairs(pictures: Any) -> Any:
    return [[("bright", share(one))] for one in pictures]


def records(pictures: Any) -> Any:
    return [[{"label": "bright", "score": np.float32(share(one))}] for one in pictures]


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(sys.modules[FunctionCaller.__module__]).failed


@pytest.mark.parametrize("function", [of_one_picture, of_one_x, columns, generated, pairs, records])
def test_what_can_be_read_in_one_way_is_read(function: Callable[..., Any]) -> None:
    call = FunctionCaller(function)
    assert call(PICTURES) == WANTED
    assert call(PICTURES[1:]) == WANTED[1:]


@pytest.mark.parametrize("shape", ["array", "lists", "tensor"])
def test_numbers_get_the_labels_in_their_order(shape: str) -> None:
    torch = pytest.importorskip("torch")
    make = {"array": np.array, "lists": list, "tensor": lambda rows: torch.tensor(rows, requires_grad=True)}[shape]

    def classify(pictures: Any) -> Any:
        return make([[share(one), 1 - share(one)] for one in pictures])

    for pictures, wanted in ((PICTURES, [0.2, 0.8]), (PICTURES[:1], [0.2])):
        found = FunctionCaller(classify, ["bright", "dark"])(pictures)
        assert [one["bright"] for one in found] == pytest.approx(wanted)
        assert [one["dark"] for one in found] == pytest.approx([1 - share for share in wanted])
    unnamed = FunctionCaller(classify)(PICTURES)
    assert all("give labels=FILE" in str(one) for one in unnamed)
    short = FunctionCaller(classify, ["bright", "dark", "gray"])(PICTURES)
    assert all("2 numbers for a picture, and there are 3 labels" in str(one) for one in short)


def test_a_function_of_one_picture_may_return_a_row_of_its_own() -> None:
    torch = pytest.importorskip("torch")
    call = FunctionCaller(lambda image: torch.tensor([[share(image), 0.5]]), ["bright", "other"])
    assert call(PICTURES) == [{**one, "other": 0.5} for one in WANTED]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda pictures: {"bright": 0.5}, "returned one mapping for 2 pictures. Return one mapping of label"),
        (lambda pictures: [{"bright": 0.5}], "returned one answer for 2 pictures. Return one mapping"),
        (lambda pictures: [{"bright": 0.5}] * 3, "returned 3 answers for 2 pictures."),
        (lambda pictures: None, "returned None: it may lack its return."),
        (lambda pictures: 0.5, "returned 0.5 for 2 pictures."),
    ],
)
def test_what_does_not_fit_the_pictures_is_said_at_once(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        FunctionCaller(function)(PICTURES)


def test_only_the_picture_whose_answer_is_odd_fails() -> None:
    first, second = FunctionCaller(lambda pictures: [{"bright": "high"}, {"bright": 0.5}])(PICTURES)
    assert isinstance(first, AnswerError)
    assert "score of 'bright' is 'high', not a number" in str(first)
    assert second == {"bright": 0.5}


def test_a_function_that_failed_on_a_list_and_on_one_picture_is_told_of_its_own_way() -> None:
    def broken(image: Any) -> Any:
        return {"bright": image.no_such_thing}

    with pytest.raises(AttributeError, match=r"ndarray.*no_such_thing"):
        FunctionCaller(broken)(PICTURES)


@pytest.mark.parametrize(
    ("score", "remedy"),
    [
        (37.9, "percentages are divided by 100, logits need a softmax or sigmoid"),
        (-2.5, "logits need a softmax or sigmoid first"),
        (float("nan"), "a picture that cannot be judged is answered with None"),
    ],
)
def test_a_number_that_is_no_share_says_what_to_change(score: float, remedy: str) -> None:
    with pytest.raises(AnswerError, match=rf"not a number in \[0, 1\]; {remedy}"):
        check_answer(Answer("answered", (("hire", score),)))
