"""The figures as pictures: sizes, colours, any label."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from gslopes.report.charts import LIGHT, render
from gslopes.slopes.report.paper_drawing import (
    Answered,
    LabelCell,
    Line,
    Pipeline,
    answers_figure,
    label_figure,
    pipeline_figure,
)

VALUES = np.array([-2.0, 0.0, 2.0])
GREY = np.full((40, 40, 3), 128, np.uint8)
ODD = ["$\\frac{", "口紅", "<script>", "a\nb", "\udc80"]


def drawn(figure) -> np.ndarray:
    with Image.open(io.BytesIO(render(figure))) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def has(pixels: np.ndarray, colour: str) -> bool:
    wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return bool((np.abs(pixels - wanted).max(axis=2) <= 2).any())


def answered(*labels: LabelCell, classifiers: int = 1) -> Answered:
    by_step = [(labels, 0)] * len(VALUES)
    return Answered("a.jpg", [GREY] * len(VALUES), [(f"c{number}", by_step) for number in range(classifiers)])


@pytest.mark.parametrize("label", ODD)
def test_any_label_can_be_drawn(label):
    line = Line(label, np.array([1.2, 1.0, 0.8]), 1.0, -0.1)
    assert drawn(label_figure([line], VALUES, label=label, attribute="gender")).size
    assert drawn(answers_figure([answered(LabelCell(label, 1))], VALUES, attribute="gender")).size
    walked = Pipeline(None, [], np.empty((0, 2)), [None] * 3, [GREY] * 3, label, label, np.array([0.2, np.nan, 0.4]))
    assert drawn(pipeline_figure(walked, VALUES, attribute="gender")).size


@pytest.mark.figures
def test_each_classifier_has_a_curve_of_its_own_colour():
    lines = [Line(f"c{number}", 1 + 0.1 * number * VALUES, 1.0, 0.1 * number) for number in range(1, 4)]
    pixels = drawn(label_figure(lines, VALUES, label="nurse", attribute="gender"))
    assert all(has(pixels, colour) for colour in LIGHT.series[:3])
    assert not has(pixels, LIGHT.series[3])


@pytest.mark.figures
def test_labels_towards_either_end_are_coloured_and_others_are_not():
    both = drawn(answers_figure([answered(LabelCell("up", 1), LabelCell("down", -1))], VALUES, attribute="gender"))
    assert has(both, LIGHT.positive[1])
    assert has(both, LIGHT.negative[1])
    still = drawn(answers_figure([answered(LabelCell("always", 0))], VALUES, attribute="gender"))
    assert not has(still, LIGHT.positive[1])


@pytest.mark.figures
def test_more_classifiers_and_photos_make_the_figure_taller():
    one = drawn(answers_figure([answered(LabelCell("a", 0))], VALUES, attribute="gender"))
    two = drawn(answers_figure([answered(LabelCell("a", 0), classifiers=3)], VALUES, attribute="gender"))
    three = drawn(answers_figure([answered(LabelCell("a", 0))] * 2, VALUES, attribute="gender"))
    assert len(one) < len(two)
    assert len(one) < len(three)
    assert one.shape[1] == two.shape[1] == three.shape[1]
