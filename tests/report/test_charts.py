"""The one palette, names pushed apart, and parts of an SVG."""

import doctest
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from gslopes.report import charts
from gslopes.report.inline import TEMPLATES

HOUSES = ("contexts", "crops", "captions")


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(charts).failed


def test_the_palette_is_the_pages_own_in_light_and_dark() -> None:
    css = (TEMPLATES / "page.css").read_text("utf-8")
    for theme in (charts.LIGHT, charts.DARK):
        for colour in (theme.ink, theme.ground, *theme.negative, *theme.positive, *theme.series):
            assert colour in css


def test_no_other_style_sheet_has_a_colour_of_its_own() -> None:
    folders = [TEMPLATES, *(TEMPLATES.parents[1] / house / "templates" for house in HOUSES)]
    sheets = [path for folder in folders for path in folder.glob("*.css") if path.name != "page.css"]
    assert len(sheets) >= len(HOUSES)
    assert [
        path.name for path in sheets if re.search(r"#[0-9a-f]{3,8}\b|rgb|hsl|prefers-color", path.read_text("utf-8"))
    ] == []


def test_dots_stand_with_their_intervals() -> None:
    axes = charts.new_figure(3, 3).subplots()
    rows = pd.DataFrame({"value": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.3, np.nan]})
    charts.dots(axes, [0, 1], rows, ("value", "low", "high"), colour=charts.LIGHT.ink, scale=100, across=True)
    assert axes.lines[0].get_xdata().tolist() == [10, 20]
    assert axes.collections[0].get_segments()[0].tolist() == [[0, 0], [30, 0]]


def test_an_interval_that_reaches_beyond_its_strip_is_cut() -> None:
    assert charts.whisker(-50.0, 0.5, np.inf, 1.0) == charts.Whisker(2.0, 118.0, 89.0, cut=True)
    assert not charts.whisker(-0.5, 0.0, 0.5, 1.0).cut


def test_untrusted_text_is_text_in_an_svg() -> None:
    label = "<script>\"'&"
    root = ElementTree.fromstring(charts.svg(10, 10, label, [charts.svg_text(1, 2, label)]))
    assert root.get("aria-label") == root[0].text == label


@given(st.lists(st.floats(-1, 11), max_size=8))
def test_spread_names_lie_apart_inside_and_in_order(heights: list[float]) -> None:
    positions = charts.spread(heights, 1.0, 0.0, 10.0)
    order = np.argsort(heights, kind="stable")
    assert all(-1e-9 <= place <= 10 + 1e-9 for place in positions)
    assert (np.diff(np.array(positions)[order]) >= 1 - 1e-9).all()


@given(st.lists(st.integers(0, 20), unique=True, max_size=8))
def test_names_with_room_stay_where_they_are(heights: list[int]) -> None:
    assert charts.spread([float(height) for height in heights], 1.0, 0.0, 20.0) == heights
