""""""

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, strategies as st

from gslopes.core.errors import UsageError
from gslopes.core.geometry import similarity, warp
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Detections, Photo
from gslopes.faces.find import BOX, POINTS, KnownFinder, MtcnnFinder, choose
from gslopes.faces.zoo.framing import CHIP
from gslopes.slopes.demo import astronaut

FIVE = (CHIP * 60 + 40).astype(np.float32)


def detections(*boxes: tuple[float, float, float, float]) -> Detections:
    array = np.array(boxes, np.float32).reshape(-1, 4)
    points = (
        np.stack([FIVE + box[:2] for box in array])
        if len(array)
        else np.zeros((0, 5, 2), np.float32)
    )
    return Detections(array, points, np.full(len(array), 0.99, np.float32))


@pytest.mark.row("slopes-4.2-centre")
def test_the_face_nearest_the_centre_is_chosen_and_the_others_are_counted():
    face = choose(detections((0, 0, 60, 60), (80, 60, 140, 130), (150, 0, 200, 60)), 220, 200, 32)
    assert face.box.tolist() == [80, 60, 140, 130]
    assert face.faces == 3


LINE = np.array([[0, 0, 99, 99]], np.float32)


@pytest.mark.row("slopes-0-smallest")
@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (detections(), "no face found"),
        (detections((90, 90, 121.9, 150)), "face too small (31 px, at least 32 wanted)"),
        *(
            (
                Detections(LINE, np.full((1, 5, 2), place, np.float32), np.ones(1, np.float32)),
                "face cannot be aligned (its five points do not span a plane)",
            )
            for place in (7, np.nan)
        ),
    ],
)
def test_an_unusable_face_gives_its_reason(found, reason):
    assert choose(found, 200, 200, 32) == reason


@given(
    angle=st.floats(-3.1, 3.1),
    scale=st.floats(0.05, 20),
    x=st.floats(-500, 500),
    y=st.floats(-500, 500),
)
def test_a_similarity_is_recovered_from_the_points_it_moved(angle, scale, x, y):
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    source = CHIP * 100
    matrix = similarity(source, source @ turn.T + (x, y))
    np.testing.assert_allclose(matrix[:, :2], turn, atol=1e-7 * max(1, scale))
    np.testing.assert_allclose(matrix[:, 2], (x, y), atol=1e-5)


def test_the_chip_shows_what_the_matrix_says_and_a_large_face_is_smoothed_before_it_is_made_small():
    rng = np.random.default_rng(0)
    photo = cv2.GaussianBlur(rng.integers(0, 256, (300, 400, 3), dtype=np.uint8), (0, 0), 4)
    matrix = np.array([[1.0, 0.0, -100.0], [0.0, 1.0, -50.0]])
    np.testing.assert_array_equal(warp(photo, matrix, 128), photo[50:178, 100:228])
    stripes = np.zeros((1000, 1000, 3), np.uint8)
    stripes[:, ::2] = 255
    chip = warp(stripes, np.array([[0.13, 0, 0], [0, 0.13, 0]]), 128)
    assert chip[8:-8, 8:-8].std() < 3
    assert abs(chip.mean() - 127.5) < 3


def test_a_face_on_its_side_or_upside_down_is_left_out_with_its_reason() -> None:
    """The detector finds it as well, with eyes in the mouth's place."""
    upright = np.pad(astronaut(), ((0, 0), (60, 60), (0, 0)), mode="edge")
    for turn, expected in (
        (0, False),
        (15, False),
        (-15, False),
        (90, True),
        (135, True),
        (150, True),
    ):
        middle = (upright.shape[1] / 2, upright.shape[0] / 2)
        turned = cv2.warpAffine(
            upright, cv2.getRotationMatrix2D(middle, -turn, 1), upright.shape[1::-1]
        )
        result = MtcnnFinder(32)([Photo("0" * 64, Path(), turned)])[0]
        face = choose(result, upright.shape[1], upright.shape[0], 32)
        assert isinstance(face, SkipReason) == expected, turn
        if isinstance(face, SkipReason):
            assert face == "face not upright (turn the photo)"


HEADER = ",".join(("path", "faces", "detection", *BOX, *POINTS))
COORDINATES = "10,20,50,70,20,30,40,31,30,45,22,60,38,61"


def photo(root: Path, name: str) -> Photo:
    return Photo("0" * 64, root / name, np.zeros((80, 80, 3), np.uint8))


def finder(tmp_path: Path, *rows: str, header: str = HEADER) -> KnownFinder:
    table = tmp_path / "faces.csv"
    table.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return KnownFinder(table, tmp_path / "photos")


def test_a_photo_has_the_faces_of_its_rows_in_order(tmp_path: Path) -> None:
    rows = [
        f"a/b.png,2,0.9,{COORDINATES}",
        f"a/b.png,2,0.5,11{COORDINATES[2:]}",
        f"c.png,1,,{COORDINATES}",
    ]
    find = finder(tmp_path, *rows)
    root = tmp_path / "photos"
    two, item, none = find([photo(root, "a/b.png"), photo(root, "c.png"), photo(root, "d.png")])
    np.testing.assert_array_equal(two.scores, np.float32([0.9, 0.5]))
    np.testing.assert_array_equal(two.boxes, np.float32([[10, 20, 50, 70], [11, 20, 50, 70]]))
    np.testing.assert_array_equal(
        two.points[0], np.float32([(20, 30), (40, 31), (30, 45), (22, 60), (38, 61)])
    )
    assert item.scores.tolist() == [1]
    assert len(finder(tmp_path, "a.png,0" + "," * 15)([photo(root, "a.png")])[0].scores) == 0
    second = finder(
        tmp_path, f"smiling,a.png,{COORDINATES}", header=",".join(("mood", "path", *BOX, *POINTS))
    )
    assert second([photo(root, "a.png")])[0].scores.tolist() == [1]
    assert (none.boxes.shape, none.points.shape, none.scores.shape) == ((0, 4), (0, 5, 2), (0,))


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (f"a.png,1,1,{COORDINATES.replace('45', 'nan')}", "nose_y in line 2"),
        (f"a.png,1,1,{COORDINATES.replace('10', 'left')}", "x0 in line 2"),
        ("a.png,1,1,10,20", "line 2: it has 5 cells"),
        (f"a.png,1,1,{COORDINATES.replace('10,20,50', '50,20,10')}", "box in line 2"),
        (f"a.png,2,1,{COORDINATES}\na.png,2,0.9,{COORDINATES}", "line 3: .* is in line 2 as well"),
    ],
)
def test_a_bad_row_is_named_before_any_work(tmp_path: Path, row: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        finder(tmp_path, row)


def test_a_bad_table_is_named_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no column x1"):
        finder(tmp_path, header="path,faces,x0,y0")
    with pytest.raises(UsageError, match="There is no file"):
        KnownFinder(tmp_path / "none.csv", tmp_path)


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ("20,30,22,60", "above one another"),  # a quarter turn
        ("40,60,20,61", "the wrong way round"),  # a half turn
        ("70,90,79,91", "outside of the photo"),
    ],
)
def test_landmarks_that_cannot_be_of_the_photo_are_its_problem(
    tmp_path: Path, points: str, why: str
) -> None:
    rows = [f"a.png,1,1,10,20,50,70,{points},30,45,22,60,38,61", f"b.png,1,1,{COORDINATES}"]
    bad, good = finder(tmp_path, *rows)(
        [photo(tmp_path / "photos", name) for name in ("a.png", "b.png")]
    )
    assert why in bad.problem
    assert good.problem == ""
    why_not = choose(bad, 80, 80, 1)
    assert isinstance(why_not, SkipReason)
    assert why_not.reason is Reason.FACE_NOT_ALIGNED
