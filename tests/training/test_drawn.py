"""Rendered faces are what they claim: the truth that other tests and the calibration lean on."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from scipy.stats import spearmanr

from gslopes.core.errors import ConfigError, StorageError, UnknownName
from gslopes.photos import drawn
from training import drawn as rendered
from training.drawn import (
    COLUMNS,
    FaceParameters,
    gender_readout,
    render,
    sample,
    tone_readout,
)
from training.drawn.__main__ import main, readings, shipped

VALUES = np.linspace(-2, 2, 7)


@pytest.fixture(scope="module")
def faces() -> FaceParameters:
    return sample(12, seed=1)


def one_face(**columns: float) -> FaceParameters:
    """A frontal face in the middle of every range, some columns changed."""
    middle = {name: np.array([sum(column.drawn) / 2]) for name, column in COLUMNS.items()}
    return FaceParameters(**middle).replace(**columns)


def extremes() -> st.SearchStrategy[dict[str, float]]:
    """Each column at its lowest, middle or highest allowed value, or anywhere between."""
    ranges = {name: column.range for name, column in COLUMNS.items()}
    return st.fixed_dictionaries(
        {
            name: st.sampled_from([low, (low + high) / 2, high]) | st.floats(low, high, width=32)
            for name, (low, high) in ((n, map(float, np.float32(r))) for n, r in ranges.items())
        }
    )


# --- parameters


def test_the_same_seed_draws_the_same_faces_and_another_seed_others():
    first, again, other = sample(5, 3), sample(5, 3), sample(5, 4)
    assert all(np.array_equal(getattr(first, name), getattr(again, name)) for name in COLUMNS)
    assert not any(np.array_equal(getattr(first, name), getattr(other, name)) for name in COLUMNS)
    assert np.array_equal(render(first, 48).pixels, render(again, 48).pixels)


def test_drawn_columns_fill_their_ranges_and_are_independent():
    drawn = sample(4000, 0)
    table = np.stack([getattr(drawn, name) for name in COLUMNS])
    assert np.abs(np.corrcoef(table) - np.eye(len(table))).max() < 0.07
    for name, column in COLUMNS.items():
        low, high = column.drawn
        values = getattr(drawn, name)
        assert values.dtype == np.float32
        assert (
            low
            <= values.min()
            < low + 0.01 * (high - low)
            < high - 0.01 * (high - low)
            < values.max()
            <= high
        )


@pytest.mark.parametrize("correlation", [-1.0, 0.3])
def test_confounded_columns_correlate_as_asked_and_stay_uniform(correlation: float):
    drawn = sample(10_000, 5, confound={"hair": correlation, "background": -correlation})
    assert np.corrcoef(drawn.gender, drawn.hair)[0, 1] == pytest.approx(correlation, abs=0.02)
    assert np.corrcoef(drawn.gender, drawn.background)[0, 1] == pytest.approx(
        -correlation, abs=0.02
    )
    assert np.abs(np.quantile(drawn.hair, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.02


def test_wrong_parameters_are_named(faces: FaceParameters):
    for kind, said, wrong in (
        (UnknownName, "gender", lambda: faces.replace(gander=1.0)),
        (UnknownName, "hair", lambda: sample(3, 0, confound={"hiar": 0.5})),
        (ConfigError, "outside", lambda: faces.replace(tone=float("nan"))),
        (ConfigError, "outside", lambda: sample(30, 0, pose=100)),
        (ConfigError, "shape", lambda: faces.replace(smile=np.zeros(3))),
        (ConfigError, "correlate", lambda: sample(3, 0, confound={"hair": 1.5})),
        (ConfigError, "correlate", lambda: sample(3, 0, confound={"gender": 0.5})),
        (ConfigError, "too small", lambda: render(faces, size=16)),
    ):
        with pytest.raises(kind, match=said):
            wrong()


# --- rendering


@pytest.mark.parametrize("size", [32, 100])
def test_a_face_does_not_depend_on_its_batch(size: int):
    rng, ranges = (
        np.random.default_rng(0),
        {name: column.range for name, column in COLUMNS.items()},
    )
    crowd = FaceParameters(
        **{
            name: rng.choice([low, (low + high) / 2, high], 40)
            for name, (low, high) in ranges.items()
        }
    )
    together = render(crowd, size)
    for i in range(0, 40, 3):
        alone = render(crowd.take(slice(i, i + 1)), size)
        for name in ("pixels", "boxes", "points", "face_mask"):
            assert np.array_equal(getattr(together, name)[i], getattr(alone, name)[0]), name


@settings(max_examples=25, deadline=None)
@given(columns=extremes(), size=st.sampled_from([32, 47, 64]))
def test_the_cue_changes_nothing_outside_the_face_at_any_extreme(
    columns: dict[str, float], size: int
):
    face = one_face(**columns)
    low, high = render(face.replace(gender=-2), size), render(face.replace(gender=2), size)
    assert np.array_equal(low.face_mask, high.face_mask)
    assert np.array_equal(low.points, high.points)
    assert np.array_equal(low.boxes, high.boxes)
    change = np.abs(low.pixels.astype(int) - high.pixels).max(-1)
    assert not change[low.face_mask == 0].any()
    assert (change <= 255 * low.face_mask + 1).all()


def test_landmarks_lie_on_their_features():
    size = 256
    crowd = sample(40, 8, pose=2).replace(gender=-1.0, eye_colour=0.0, light=1.0)
    drawn = render(crowd, size)
    index = np.arange(len(crowd))
    at = np.rint(drawn.points).astype(int)
    eyes = np.stack([drawn.pixels[index, at[:, k, 1], at[:, k, 0]] for k in (0, 1)])
    assert eyes.max() < 60  # pupils are the darkest thing in a face
    assert (at[:, 0, 0] < at[:, 1, 0]).all()
    assert (at[:, 3, 0] < at[:, 4, 0]).all()  # left and right as the viewer sees them


# --- readouts


def test_the_gender_readout_follows_the_cue_on_random_faces():
    crowd = sample(300, 11)
    drawn = render(crowd, 64)
    seen = gender_readout(drawn.pixels, drawn.points)
    assert seen.dtype == np.float32
    assert spearmanr(seen, crowd.gender).statistic > 0.98
    assert np.polyfit(crowd.gender, seen, 1)[0] == pytest.approx(1, abs=0.1)


def test_the_tone_readout_follows_the_tone_and_not_the_cue():
    crowd = sample(150, 13)
    drawn = render(crowd, 64)
    assert spearmanr(tone_readout(drawn.pixels, drawn.points), crowd.tone).statistic > 0.98
    ends = [render(crowd.replace(gender=g), 64) for g in (-2, 2)]
    low, high = (tone_readout(d.pixels, d.points) for d in ends)
    assert np.array_equal(low, high)


# --- folder


def test_a_written_folder_reads_back_to_the_last_bit(faces: FaceParameters, tmp_path: Path):
    folder = tmp_path / "set"
    photos = rendered.write_folder(faces, folder, size=64)
    drawn = render(faces, 64)
    assert photos == folder / "photos"
    assert len(list(photos.iterdir())) == len(faces)
    for i in range(len(faces)):
        with (
            Image.open(photos / f"{i:06}.png") as picture,
            Image.open(folder / "masks" / f"{i:06}.png") as mask,
        ):
            assert (picture.mode, mask.mode) == ("RGB", "L")
            assert np.array_equal(np.asarray(picture), drawn.pixels[i])
            assert np.abs(np.asarray(mask) / 255 - drawn.face_mask[i]).max() <= 0.5 / 255 + 1e-6
    written = pd.read_csv(folder / "attributes.csv")
    assert all(
        np.array_equal(written[name].to_numpy(np.float32), getattr(faces, name)) for name in COLUMNS
    )


def test_a_folder_with_other_photos_or_no_folder_is_an_error(faces: FaceParameters, tmp_path: Path):
    rendered.write_folder(faces.take(slice(0, 3)), tmp_path, size=32)
    with pytest.raises(StorageError, match=r"000002\.png"):
        rendered.write_folder(faces.take(slice(0, 2)), tmp_path, size=32)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        rendered.write_folder(faces, tmp_path / "file", size=32)


# --- the faces that ship


def equal_sheets(folder: Path, other: Path) -> bool:
    """Whether the sheets show the same; their bytes depend on the library that writes them."""
    with Image.open(folder) as first, Image.open(other) as second:
        return np.array_equal(np.asarray(first.convert("RGB")), np.asarray(second.convert("RGB")))


def test_the_first_faces_that_ship_are_as_drawn_and_a_folder_is_written_as_of_drawn_ones(
    tmp_path: Path,
):
    faces = shipped().take(slice(0, 5))
    drawn.unpack(tmp_path / "unpacked", 5)
    rendered.write_folder(faces, tmp_path / "drawn", drawn.SIZE)
    files = sorted(f.relative_to(tmp_path / "drawn") for f in tmp_path.glob("drawn/**/*.*"))
    assert len(files) == 12
    assert files == sorted(
        f.relative_to(tmp_path / "unpacked") for f in tmp_path.glob("unpacked/**/*.*")
    )
    for file in files:
        both = [(tmp_path / folder / file).read_bytes() for folder in ("unpacked", "drawn")]
        assert both[0] == both[1], file
    # read at the mean place of five faces' landmarks, not of all
    np.testing.assert_allclose(drawn.readings()[:5], readings(faces), atol=0.03)


@pytest.mark.slow
def test_all_faces_that_ship_and_what_is_read_in_them_are_as_drawn(tmp_path: Path):
    main(tmp_path)
    for name in ("photos.webp", "masks.webp"):
        assert equal_sheets(tmp_path / name, drawn.DATA / name)
    for name in (drawn.FACES, drawn.ATTRIBUTES):
        assert (tmp_path / name).read_bytes() == (drawn.DATA / name).read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / drawn.READINGS), drawn.readings())
    np.testing.assert_array_equal(drawn.landmarks(), render(shipped(), 160).points.mean(0))


def test_faces_that_ship_are_not_written_between_others(tmp_path: Path):
    drawn.unpack(tmp_path, 3)
    with pytest.raises(StorageError, match=r"000002\.png"):
        drawn.unpack(tmp_path, 2)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        drawn.unpack(tmp_path / "file", 2)
