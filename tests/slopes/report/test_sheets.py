import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.report.charts import FORMS, render
from gslopes.slopes.report import pictures, sheets
from gslopes.slopes.report.tally import ChangedLabel, Sweep

pytestmark = pytest.mark.figures

VALUES = np.linspace(-2, 2, 3)


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
    png = render(sheets.sweeps_figure(list(sweeps), VALUES, attribute="gender", run=run))
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
        render(sheets.sweeps_figure([sweep(files, "Hat")], VALUES, attribute="gender", run=tmp_path), form)
        for _ in range(2)
    )
    assert first == second
    assert len(first) > 2000
