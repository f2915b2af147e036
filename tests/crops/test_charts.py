"""The charts and pictures of the pages say the same in words."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.boxes import SaliencyMap
from gslopes.crops import charts
from gslopes.crops.drawing import STRIP, chosen, with_map


def parsed(svg):
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    return root.get("aria-label"), root


@pytest.mark.row("crops-fig-7")
def test_distributions_are_drawn():
    label, _ = parsed(
        charts.distributions({"a": np.array([1.0, 2.0]), "b": np.array([np.nan, 3.0])}, "Largest", (1.0, 3.0))
    )
    assert "a median 1.5 of 2; b median 3 of 1" in label


def test_untrusted_text_is_text_in_a_drawing():
    name = "<script>\"'&"
    label, root = parsed(charts.distributions({name: np.array([1.0, 2.0])}, name, (1.0, 2.0)))
    assert label.startswith(f"{name}: {name} median")
    assert name in [text.text for text in root.iter() if text.tag.endswith("text")]


@pytest.mark.row("crops-fig-1", "crops-fig-6")
def test_a_map_its_peaks_and_its_scores_stand_below_the_pair():
    scores = np.zeros((4, 8), np.float32)
    scores[1, 6] = 5
    saliency = SaliencyMap(scores, np.arange(20, 320, 40, np.float32), np.arange(20, 160, 40, np.float32))
    drawn = Image.new("RGB", (320, 160), "gray")
    sheet = np.asarray(with_map(drawn, drawn, saliency), np.int64)
    assert sheet.shape == (160 + 160 + 2 + STRIP, 320, 3)
    assert (sheet[:160] == 128).all()
    below = sheet[162:322]
    assert below[60 - 12, 260 - 12, 1] > below[130, 40, 1] + 60  # yellow beside the peak, violet elsewhere
    assert (below[60 - 6, 260] == 255).all()  # the peak's own disc
    line = sheet[322:]
    violet = (line[..., 2] - line[..., 1]) > 70
    highest = np.argmax(violet.any(axis=1))
    assert abs(int(np.argmax(violet[highest])) - (14.5 / 32) * 320) < 4


def test_pairs_with_the_largest_and_smallest_margin_show_nobody_twice():
    generator = np.random.default_rng(0)
    left, right = (generator.choice([f"{side}{index}" for index in range(15)], 200) for side in "ab")
    frame = pd.DataFrame({"left": left, "right": right, "status": "answered", "reason": ""})
    frame = frame.assign(max_left=generator.random(200), max_right=generator.random(200))
    (_, middle), (_, largest), (_, smallest) = chosen(frame).items()
    assert smallest["margin"].max() < middle["margin"].item() < largest["margin"].min()
    assert largest["margin"].min() > smallest["margin"].max()
    for six in (largest, smallest):
        assert len({*six["left"], *six["right"]}) == 12
    assert [len(rows) for rows in chosen(frame.assign(max_left=np.nan)).values()] == [6]
