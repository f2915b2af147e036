import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from PIL import Image

from gslopes.report import charts
from gslopes.slopes.report import figures
from gslopes.slopes.report.decisions import Decision

pytestmark = pytest.mark.figures

VALUES = np.linspace(-2, 2, 5)


def rows(*slopes: tuple[str, float, float]) -> pd.DataFrame:
    frame = pd.DataFrame(slopes, columns=["label", "slope", "p"])
    return frame.assign(ci_low=frame["slope"] - 2, ci_high=frame["slope"] + 2, n=40)


def decided(table: pd.DataFrame) -> dict[str, Decision]:
    codes = zip(table["label"], table["p"], strict=True)
    return {label: Decision("finding" if p < 0.001 else "none", "") for label, p in codes}


def drawn(table: pd.DataFrame, **options: Any) -> Image.Image:
    curves = []
    for _, row in table.iterrows():
        share = 40 + row["slope"] * VALUES
        ends = (row["ci_low"], row["ci_high"])
        line = (40.0, float(row["slope"]))
        curves.append(
            figures.Curve(row["label"], share, share - 5, share + 5, line, row["slope"], ends, bool(row["p"] < 0.001))
        )
    figure = figures.curves_figure(curves, VALUES, classifier="c", attribute="gender", photos=40, **options)
    return Image.open(io.BytesIO(charts.render(figure))).convert("RGB")


def coloured(image: Image.Image, colour: str) -> np.ndarray:
    """Columns in which a colour occurs."""
    wanted = [int(colour[index : index + 2], 16) for index in (1, 3, 5)]
    return np.flatnonzero((np.abs(np.asarray(image).astype(int) - wanted).max(axis=2) <= 2).any(axis=0))


def test_steepest_labels_past_the_thresholds_come_first_for_each_end() -> None:
    table = rows(("a", -0.1, 1e-5), ("b", -0.4, 1e-5), ("c", -9, 0.5), ("d", 0.2, 1e-5), ("e", np.nan, np.nan))
    chosen = figures.steepest(table, decided(table), least=2)
    assert chosen["label"].tolist() == ["b", "a", "d"]
    assert chosen["moves"].tolist() == [True, True, True]


def test_an_end_with_few_findings_is_filled_up_with_the_next_best() -> None:
    table = rows(("a", 0.3, 0.2), ("b", 0.01, 0.04), ("c", 8.0, 0.9), ("d", 0.5, 1e-5))
    chosen = figures.steepest(table, decided(table), most=6, least=3)
    assert chosen["label"].tolist() == ["d", "b", "a"]
    assert chosen["moves"].tolist() == [True, False, False]


def test_at_most_six_labels_an_end_are_drawn() -> None:
    table = rows(*((f"l{index}", 0.1 + index, 1e-5) for index in range(20)))
    assert figures.steepest(table, decided(table), most=6, least=3)["label"].tolist() == [
        "l19",
        "l18",
        "l17",
        "l16",
        "l15",
        "l14",
    ]


def test_the_negative_end_is_left_and_the_positive_one_right() -> None:
    image = drawn(rows(("down", -8.0, 1e-5), ("up", 8.0, 1e-5)))
    assert coloured(image, charts.LIGHT.negative[0]).max() < coloured(image, charts.LIGHT.positive[0]).min()


@pytest.mark.parametrize("label", ["$\\frac{", "口紅", "<script>", "a\nb\x1b", "x" * 300, "", "_^\\"])
def test_any_label_can_be_drawn(label: str) -> None:
    assert drawn(rows((label, -8.0, 1e-5))).width > 1000


@pytest.mark.parametrize("table", [rows(), rows(("up only", 8.0, 1e-5))])
def test_ends_without_labels_are_drawn_empty(table: pd.DataFrame) -> None:
    assert coloured(drawn(table), charts.LIGHT.shade).max() > 1000


def test_a_figure_has_the_width_of_a_journal() -> None:
    assert drawn(rows(("up", 8.0, 1e-5), ("down", -8.0, 1e-5))).width == round(200 * figures.WIDTH)


@pytest.mark.parametrize("measure", ["presence", "log-odds"])
@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_no_text_lies_on_another_or_is_cut(attribute: str, measure: str) -> None:
    table = rows(*((f"Wearing_Lipstick_{i}", s * (20.0 - i), 1e-5) for i in range(5) for s in (-1, 1)))
    table[["slope", "ci_low", "ci_high"]] /= 100 if measure == "log-odds" else 1
    values = np.linspace(-2, 2, 7)
    curves = [
        figures.Curve(r.label, 40 + values, 35 + values, 45 + values, (40.0, 1.0), r.slope, (r.ci_low, r.ci_high), True)
        for r in table.itertuples()
    ]
    figure = figures.curves_figure(
        curves, values, classifier="celeba-tagger", attribute=attribute, photos=94, measure=measure
    )
    figure.canvas.draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    page = figure.bbox
    for text, box in zip(texts, boxes, strict=True):
        assert box.x0 >= page.x0, text
        assert box.x1 <= page.x1, text
        assert box.y0 >= page.y0, text
        assert box.y1 <= page.y1, text
    for at, one in enumerate(boxes):
        for other, text in zip(boxes[at + 1 :], texts[at + 1 :], strict=True):
            assert not (one.shrunk(0.9, 0.9).overlaps(other.shrunk(0.9, 0.9))), (texts[at], text)


def test_an_axis_of_shares_has_no_share_below_none_or_above_all() -> None:
    """Lines may leave what there is: 40 % less 30 points a unit is −20 % at 2."""
    curve = figures.Curve(
        "steep",
        np.clip(40 - 30 * VALUES, 0, 100),
        VALUES * 0,
        VALUES * 0 + 100,
        (40.0, -30.0),
        -30.0,
        (-32.0, -28.0),
        True,
    )
    figure = figures.curves_figure([curve], VALUES, classifier="c", attribute="gender", photos=40)
    for axis in figure.axes:
        low, high = axis.get_ylim()
        shown = [tick for tick in axis.get_yticks() if low <= tick <= high]
        assert shown
        assert min(shown) == 0
        assert max(shown) <= 100
