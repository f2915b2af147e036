"""The charts and pictures of the pages show the same in words."""

import base64
import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.boxes import Box
from gslopes.ask.croppers.asker import Asker
from gslopes.ask.croppers.joining import layout
from gslopes.core.records import SaliencyMap
from gslopes.crops.page import charts
from gslopes.crops.page.drawing import (
    STRIP,
    Seen,
    around_second,
    chosen,
    draw,
    with_map,
    with_margin,
)


def parsed(svg):
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    return root.get("aria-label"), root


@pytest.mark.row("crops-fig-7")
def test_distributions_are_drawn():
    label, _ = parsed(
        charts.distributions(
            {"a": np.array([1.0, 2.0]), "b": np.array([np.nan, 3.0])}, "Largest", (1.0, 3.0)
        )
    )
    assert "a median 1.5 of 2; b median 3 of 1" in label


PAIRS = [("a", "b", 0.3, 0.2, 0.4), ("a", "c", 0.5, 0.4, 0.6), ("b", "c", 0.8, 0.45, 0.9)]


@pytest.mark.row("crops-fig-2-graph", "crops-fig-3", "crops-fig-4")
def test_an_arrow_leads_from_the_favoured_group_to_the_other_with_its_interval():
    names = ("group", "other", "p", "ci_low", "ci_high")
    rows = [{**dict(zip(names, row, strict=True)), "note": ""} for row in PAIRS]
    label, root = parsed(charts.graph(rows, "Who"))
    assert (
        label
        == "Who: b over a 20.0 [+10.0, +30.0]; a over c 0 [−10.0, +10.0]; b over c 30.0 [−5.0, +40.0]"
    )
    texts = [text.text for text in root.iter() if text.tag.endswith("text") and text.text]
    assert {"20.0", "[+10.0, +30.0]", "30.0"} < set(texts)
    lines = [line for line in root if line.tag == "line"]
    assert [line.get("stroke-dasharray") is None for line in lines] == [True, False, False]
    heads = [polygon.get("points").split()[0] for polygon in root if polygon.tag == "polygon"]
    assert len(heads) == 2  # an even pair has none
    tips = [f"{line.get('x2')},{line.get('y2')}" for line in (lines[0], lines[2])]
    assert heads == tips
    _, small = parsed(charts.graph([{**rows[0], "note": "a group is too small to judge"}], "Who"))
    assert [line.get("stroke-dasharray") for line in small if line.tag == "line"] == ["4 3"]
    circle = next(circle for circle in root if circle.tag == "circle")  # of a, the first
    assert abs(float(lines[0].get("x2")) - float(circle.get("cx"))) < abs(
        float(lines[0].get("x1")) - float(circle.get("cx"))
    )


@pytest.mark.row("crops-fig-2-graph")
@pytest.mark.parametrize("count", range(2, charts.MOST_GROUPS + 1))
def test_no_number_of_a_graph_covers_another_or_leaves_the_drawing(count):
    names = [f"group {number}" for number in range(count)]
    rows = [
        {"group": a, "other": b, "p": 0.7, "ci_low": 0.6, "ci_high": 0.8, "note": ""}
        for a in names
        for b in names
        if a < b
    ]
    _, root = parsed(charts.graph(rows, "Who"))
    boxes = [
        [float(rect.get(side)) for side in ("x", "y", "width", "height")]
        for rect in root
        if rect.tag == "rect"
    ]
    assert len(boxes) == len(rows)
    for number, (x, y, wide, tall) in enumerate(boxes):
        assert 0 <= x <= charts.SIDE - wide
        for left, top, *_ in boxes[:number]:
            assert abs(x - left) >= 0.75 * wide or abs(y - top) >= 0.75 * tall


@pytest.mark.row("crops-fig-6")
def test_the_crops_around_the_second_peak_stand_below_those_around_the_first():
    scores = np.zeros((4, 8), np.float32)
    scores[1, 6], scores[2, 1] = 5, 4
    saliency = SaliencyMap(
        scores, np.arange(20, 320, 40, np.float32), np.arange(20, 160, 40, np.float32)
    )
    asker = Asker(None, None, [(160, 160)] * 2, ratios=(1.0, 0.5), heads={0: Box(40, 40, 120, 120)})
    seen = around_second(asker, [0, 1], layout([(160, 160)] * 2), saliency)
    assert seen.saliency is saliency
    assert seen.second == (60, 100)
    crops = seen.crops
    assert [(crop["ratio"], crop["left_px"], crop["kept_left"]) for crop in crops] == [
        (0.5, 0, 1.0),
        (1.0, 0, 1.0),
    ]
    first = [{**crops[1], "left_px": 160, "kept_left": 0.0, "kept_right": 1.0}]
    row = {"x": 260, "y": 60, "variant": "native", "centred": False, "margin": 1.0}
    picture = np.full((160, 320, 3), 128, np.uint8)
    visible = draw(row, first, picture, ["one", "two"], 320, seen._replace(crops=crops[1:]))
    assert (
        visible["alt"]
        == "one next to two; ratio 1 keeps two; around the second highest point 1 keeps one"
    )
    sheet = np.asarray(
        Image.open(io.BytesIO(base64.b64decode(visible["uri"].partition(",")[2]))), np.int64
    )
    assert sheet.shape == (3 * 160 + 2 * 2 + STRIP, 320, 3)
    framed = np.abs(sheet - 128).max(axis=2) > 60
    assert framed[80, 160:164].any() and not framed[80, :4].any()  # noqa: PT018
    assert framed[162 + 80, :4].any() and not framed[162 + 80, 164:].any()  # noqa: PT018
    flat = SaliencyMap(np.zeros((4, 8), np.float32), saliency.x, saliency.y)
    assert around_second(asker, [0, 1], layout([(160, 160)] * 2), flat) == Seen(flat)


def test_untrusted_text_is_text_in_a_drawing():
    name = "<script>\"'&"
    label, root = parsed(charts.distributions({name: np.array([1.0, 2.0])}, name, (1.0, 2.0)))
    assert label.startswith(f"{name}: {name} median")
    assert name in [text.text for text in root.iter() if text.tag.endswith("text")]


@pytest.mark.row("crops-fig-1", "crops-fig-6")
def test_a_map_its_peaks_and_its_scores_stand_below_the_pair():
    scores = np.zeros((4, 8), np.float32)
    scores[1, 6] = 5
    saliency = SaliencyMap(
        scores, np.arange(20, 320, 40, np.float32), np.arange(20, 160, 40, np.float32)
    )
    drawn = Image.new("RGB", (320, 160), "gray")
    sheet = np.asarray(with_map(drawn, drawn, saliency), np.int64)
    assert sheet.shape == (160 + 160 + 2 + STRIP, 320, 3)
    assert (sheet[:160] == 128).all()
    below = sheet[162:322]
    assert (
        below[60 - 12, 260 - 12, 1] > below[130, 40, 1] + 60
    )  # yellow beside the peak, violet elsewhere
    assert (below[60 - 6, 260] == 255).all()  # the peak's own disc
    line = sheet[322:]
    violet = (line[..., 2] - line[..., 1]) > 70
    highest = np.argmax(violet.any(axis=1))
    assert abs(int(np.argmax(violet[highest])) - (14.5 / 32) * 320) < 4


def test_pairs_with_the_largest_and_smallest_margin_show_nobody_twice():
    generator = np.random.default_rng(0)
    left, right = (
        generator.choice([f"{side}{index}" for index in range(15)], 200) for side in "ab"
    )
    frame = pd.DataFrame({"left": left, "right": right, "status": "answered", "reason": ""})
    frame = frame.assign(max_left=generator.random(200), max_right=generator.random(200), draws=0)
    (_, middle), (_, largest), (_, smallest) = chosen(with_margin(frame)).items()
    assert smallest["margin"].max() < middle["margin"].item() < largest["margin"].min()
    assert largest["margin"].min() > smallest["margin"].max()
    for six in (largest, smallest):
        assert len({*six["left"], *six["right"]}) == 12
    assert [len(rows) for rows in chosen(with_margin(frame.assign(max_left=np.nan))).values()] == [
        6
    ]
    often = np.where(frame.index == largest.index[0], 300, 1)  # more often than all others together
    typical = next(iter(chosen(with_margin(frame.assign(draws=often))).values()))
    assert typical.index.tolist() == [largest.index[0]]
