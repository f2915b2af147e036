"""Curves and contact sheets."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from PIL import Image

from gslopes.report import charts
from gslopes.report.charts import FORMS, render
from gslopes.slopes.report import figures, pictures
from gslopes.slopes.report.decisions import Decision
from gslopes.slopes.report.loading import ChangedLabel, Sweep

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


# -- test sheets ------------------------------------------------------------------------------------------------------

THREE = np.linspace(-2, 2, 3)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, ...]:
    paths = tuple(tmp_path / f"{step}.png" for step in range(3))
    for path, colour in zip(paths, [(250, 0, 0), (0, 250, 0), (0, 0, 250)], strict=True):
        Image.new("RGB", (60, 80), colour).save(path)
    return paths


def sweep(files: tuple[Path, ...], *labels: str) -> Sweep:
    changed = tuple(ChangedLabel(label, np.array([0.2, np.nan, 0.9]), 0.1) for label in labels)
    return Sweep("ab", "people/ab.png", None, files, changed)


def sheet(*sweeps: Sweep, run: Path) -> np.ndarray:
    png = render(figures.sweeps_figure(list(sweeps), THREE, attribute="gender", run=run))
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def test_pictures_stand_in_the_order_of_their_values(files: tuple[Path, ...], tmp_path: Path) -> None:
    image = sheet(sweep(files, "Hat"), run=tmp_path)
    middles = []
    for colour in ((250, 0, 0), (0, 250, 0), (0, 0, 250)):
        columns = np.flatnonzero((np.abs(image - colour).max(axis=2) <= 2).any(axis=0))
        middles.append(columns.mean())
    assert middles == sorted(middles)
    assert middles[2] - middles[0] > 100


def test_every_photo_has_a_row(files: tuple[Path, ...], tmp_path: Path) -> None:
    one, two = sheet(sweep(files), run=tmp_path), sheet(sweep(files), sweep(files), run=tmp_path)
    assert two.shape[0] > one.shape[0] * 1.5
    assert two.shape[1] == one.shape[1]


@pytest.mark.parametrize("label", ["$\\frac{", "口紅", "<script>", "a\nb", "\udc80"])
def test_any_label_and_name_can_be_drawn(files: tuple[Path, ...], tmp_path: Path, label: str) -> None:
    odd = Sweep("ab", label, None, files, sweep(files, label).changed)
    assert sheet(odd, run=tmp_path).size


def test_small_face_is_shown_with_its_surroundings_alone(tmp_path: Path) -> None:
    pixels = np.zeros((200, 400, 3), np.uint8)
    pixels[80:120, 280:320] = 255
    Image.fromarray(pixels).save(tmp_path / "small.png")
    shown = pictures.picture(tmp_path / "small.png", (290.0, 90.0, 310.0, 110.0), tmp_path)
    whole = pictures.picture(tmp_path / "small.png", None, tmp_path)
    assert shown is not None
    assert whole is not None
    assert shown.shape == whole.shape
    assert (shown > 128).mean() == pytest.approx(0.25, abs=0.02)
    assert (whole > 128).mean() < 0.03


@pytest.mark.parametrize("box", [(-50.0, -50.0, 20.0, 20.0), (350.0, 150.0, 500.0, 260.0), (0.0, 0.0, 400.0, 200.0)])
def test_window_never_leaves_the_photo(tmp_path: Path, box: tuple[float, float, float, float]) -> None:
    Image.new("L", (400, 200), 200).save(tmp_path / "white.png")
    shown = pictures.picture(tmp_path / "white.png", box, tmp_path)
    assert shown is not None
    assert (shown == 200).all()


@pytest.mark.parametrize("content", [None, b"", b"no picture", b"\xff\xd8\xff\xe0broken", b"\x89PNG\r\n\x1a\n"])
def test_picture_that_cannot_be_read_leaves_a_gap(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.jpg"
    if content is not None:
        path.write_bytes(content)
    assert pictures.picture(path, None, tmp_path) is None
    assert sheet(sweep((path, path, path)), run=tmp_path).size


def test_truncated_picture_leaves_a_gap(files: tuple[Path, ...], tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (80, 60, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "n.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "n.png").read_bytes()[:2000])
    assert pictures.picture(tmp_path / "cut.png", None, tmp_path) is None


def test_a_table_cannot_point_outside_its_run_folder(files: tuple[Path, ...], tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    assert pictures.picture(run / ".." / files[0].name, None, run) is None
    assert pictures.picture(files[0], None, run) is None
    assert pictures.picture(files[0], None, tmp_path) is not None


@pytest.mark.parametrize("form", FORMS)
def test_a_sheet_comes_out_the_same_in_every_form(files: tuple[Path, ...], tmp_path: Path, form: str) -> None:
    first, second = (
        render(figures.sweeps_figure([sweep(files, "Hat")], THREE, attribute="gender", run=tmp_path), form)
        for _ in range(2)
    )
    assert first == second
    assert len(first) > 2000
