from dataclasses import replace

import cv2
import numpy as np
import pytest

from gslopes.core.geometry import around, similarity, warp
from gslopes.core.reasons import Reason
from gslopes.core.records import Detections
from gslopes.faces.compose.paste import compose, composite_of
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.faces.gate.sweep_measurer import Sweep, SweepMeasurer, luminance, sharpness
from gslopes.faces.gate.verdict import GateConfig, verdict
from gslopes.faces.zoo import load
from gslopes.faces.zoo.reader import FaceReader
from gslopes.photos.folder import photo_of

BOX = np.array([20.0, 20.0, 60.0, 80.0])
POINTS = np.array([(30.0, 40.0), (50.0, 40.0), (40.0, 52.0), (32.0, 65.0), (48.0, 65.0)])
VALUES = [-2.0, -1.0, 0.0, 1.0, 2.0]


class Brightness:
    """Reads how bright a chip is as gender and, half as steeply, as age; race and smile not at all."""

    labels = ("masculine", "white", "black", "young", "smiling")

    def __call__(self, chips):
        bright = chips.mean((1, 2, 3)) / 255
        even = {
            name: bright * 0 + share
            for name, share in (("white", 0.3), ("black", 0.1), ("smiling", 0.5))
        }
        return {"masculine": bright, "young": bright / 2, **even}


def sees(*boxes):
    """A detector that finds these faces in every picture, and counts the pictures."""

    def detector(pictures):
        detector.pictures += len(pictures)
        array = np.array(boxes, np.float32).reshape(-1, 4)
        nothing = np.zeros((len(array), 5, 2), np.float32), np.ones(len(array), np.float32)
        return [Detections(array, *nothing)] * len(pictures)

    detector.pictures = 0
    return detector


@pytest.fixture
def quick():
    """Measures without a network."""
    measurer = SweepMeasurer(Brightness(), "cpu", 32)
    measurer.near, measurer.far = sees(), sees(BOX)
    return measurer


def sweep(levels, **known) -> Sweep:
    pictures = [np.full((100, 80, 3), level, np.uint8) for level in levels]
    facts = {
        "attribute": "gender",
        "original": pictures[2],
        "box": BOX,
        "points": POINTS,
        "mask_area": 0.15,
    }
    facts |= known
    return Sweep(values=VALUES, pictures=pictures, **facts)


def test_a_reading_that_rises_follows_the_edit_and_the_steepest_other_is_named(quick):
    measured, readings = quick(sweep([40, 80, 120, 160, 200]))
    assert measured.tau == pytest.approx(1)
    assert measured.shift == pytest.approx(160 / 255)
    assert measured.off_target_reading == "young"
    assert measured.off_target == pytest.approx(20 / 255)
    assert readings["race"].tolist() == pytest.approx([0.75] * 6)
    assert readings["gender"].tolist() == pytest.approx(
        np.array([120, 40, 80, 120, 160, 200]) / 255
    )


def test_change_and_mask_are_measured_on_the_face_and_points_on_one_line_give_no_reading(quick):
    measured, readings = quick(sweep([118, 119, 120, 121, 125], points=np.full((5, 2), 40.0)))
    assert measured.change == pytest.approx(5)
    assert measured.mask_share == pytest.approx(0.15 * 100 * 80 / (40 * 60))
    assert readings == {}
    assert np.isnan([measured.tau, measured.shift, measured.off_target]).all()


@pytest.mark.parametrize(("look", "looked"), [(True, 3), (False, 0)])
def test_the_face_is_looked_for_near_where_it_was_and_then_in_the_whole_photo(quick, look, looked):
    quick.look = look
    measured, _ = quick(sweep([120] * 5))
    assert (measured.looked, measured.found) == (looked, looked)
    assert (quick.near.pictures, quick.far.pictures) == (looked, looked)


# -- with the shipped reader, on a real face --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def portrait():
    """The astronaut: pixels, box, points."""
    from gslopes.faces.networks.mtcnn import Mtcnn
    from gslopes.slopes.demo import astronaut

    pixels = np.asarray(astronaut())
    result = Mtcnn(60)([pixels])[0]
    return pixels, result.boxes[0].astype(float), result.points[0].astype(float)


@pytest.fixture(scope="module")
def measurer():
    return SweepMeasurer(FaceReader.load(), "cpu", 32)


def test_the_face_is_found_in_the_photo_itself_and_not_where_it_was_painted_over(
    portrait, measurer
):
    pixels, box, points = portrait
    grey = pixels.copy()
    x0, y0, x1, y1 = box.round().astype(int)
    grey[y0 - 20 : y1 + 20, x0 - 20 : x1 + 20] = 128
    measured, readings = measurer(
        Sweep("gender", [-1, 0, 1], [pixels, pixels, grey], pixels, box, points, 0.03)
    )
    assert (measured.looked, measured.found) == (3, 2)
    assert readings["gender"].shape == (4,)
    assert readings["gender"][0] == pytest.approx(readings["gender"][1])
    assert 0 <= readings["gender"][0] <= 1
    rolled = np.roll(pixels, 180, axis=0)  # a face somewhere else is another one
    measured, readings = measurer(
        Sweep("beard", [-1, 0, 1], [rolled, pixels, rolled], None, box, points, 0.03)
    )
    assert measured.found == 1
    assert np.isnan(measured.tau)  # the reader knows nothing of beards
    assert set(readings) == {"gender", "race", "young", "smiling", "luminance", "sharpness"}


def test_blur_lowers_sharpness_and_light_raises_luminance_within_the_mask_alone() -> None:
    photos = np.random.default_rng(0).integers(60, 240, (3, 32, 32, 3)).astype(np.uint8)
    soft = ((photos.astype(int) + np.roll(photos, 1, 1) + np.roll(photos, 1, 2)) // 3).astype(
        np.uint8
    )
    masks = np.zeros((3, 32, 32), np.float32)
    masks[:, 12:20, 12:20] = 1
    assert (sharpness(soft, masks) < sharpness(photos, masks)).all()
    assert (luminance((photos * 0.5).astype(np.uint8), masks) < luminance(photos, masks)).all()
    second = photos.copy()
    second[:, :8] = 0
    for measure in (luminance, sharpness):
        np.testing.assert_array_equal(measure(photos, masks), measure(second, masks))


def test_the_background_is_what_lies_around_the_face() -> None:
    box = np.array([30.0, 30, 60, 60])
    picture = np.random.default_rng(0).integers(60, 200, (96, 96, 3), np.uint8)
    darker, inside = picture.copy(), picture.copy()
    darker[:, :10] = 0
    inside[30:60, 30:60] = 0
    lights = luminance([picture, darker, inside], [around(box, 0.5, picture)] * 3)
    assert lights[1] < lights[0] == lights[2], "the face itself is no background"
    assert not around(np.array([0.0, 0, 96, 96]), 0.5, picture).any()
    assert np.isnan(luminance([picture], [np.zeros((96, 96), bool)])).all()


def test_of_others_pictures_the_reader_checks_the_names_that_it_knows_and_no_others(
    portrait, measurer
) -> None:
    pixels, box, points = portrait
    darker = (pixels * 0.6).astype(np.uint8)
    expected, unknown, numbers = (
        measurer(Sweep(name, values, [pixels, darker], pixels, box, points, 1.0))
        for name, values in (
            ("race: Black − White", [0, 1]),
            ("ethnicity: Roma − White", [0, 1]),
            ("young", [20, 80]),
        )
    )
    assert np.isfinite([expected[0].tau, expected[0].shift, expected[0].off_target]).all()
    assert {"race", "background"} & set(expected[1]) == {"background"}, (
        "race is read under the name that others gave it"
    )
    assert np.isnan([unknown[0].tau, unknown[0].shift, unknown[0].off_target]).all()
    assert {"race", "background"} <= set(unknown[1])
    moved = [numbers[1][name][2] - numbers[1][name][1] for name in ("gender", "race", "smiling")]
    assert abs(numbers[0].off_target) == pytest.approx(np.abs(moved).max() / 4), (
        "as if from -2 to 2, whatever the unit"
    )
    assert expected[0].mask_share != expected[0].mask_share


def test_whether_a_beard_is_seen_is_read_along_gender_and_of_our_own_edits_alone(
    portrait, measurer
):
    pixels, box, points = portrait
    shown = [pixels, pixels]
    _, readings = measurer(Sweep("gender", [-1, 1], shown, pixels, box, points, 0.1))
    assert readings["beard"].shape == (3,)
    assert readings["beard"].max() < 0.1, "the astronaut has none"
    _, others = measurer(Sweep("race", [-1, 1], shown, pixels, box, points, 0.1))
    assert "beard" not in others


def test_identity_is_a_cosine_with_the_unit_as_it_was_where_faces_are_recognised(
    portrait, measurer, monkeypatch
):
    pixels, box, points = portrait
    monkeypatch.setattr(
        measurer, "embed", lambda photos, where: np.array([[1, 0], [1, 0], [0, 1]], float)
    )
    _, readings = measurer(
        Sweep("race: a − b", [0, 1], [pixels, pixels[::-1]], pixels, box, points, 1.0)
    )
    assert readings["identity"].tolist() == [1, 1, 0]
    assert (
        "identity"
        not in measurer(Sweep("gender", [0, 1], [pixels, pixels], pixels, box, points, 0.1))[1]
    )


# -- of an editor of others, which was asked: only what lies within the mask is its own -------------------------------


def two(levels, attribute, **known) -> Sweep:
    """A sweep of as many values as levels, of an editor that was asked."""
    made = sweep(
        [*levels, 0, 0, 0][: max(3, len(levels))], attribute=attribute, asked=True, **known
    )
    return replace(made, values=list(range(len(levels))), pictures=made.pictures[: len(levels)])


@pytest.mark.slow
def test_named_ends_are_as_far_apart_as_ours_and_three_values_are_a_sweep(quick) -> None:
    ends, _ = quick(two([40, 200], "gender: man − woman"))
    assert ends.tau == 1
    assert ends.shift == pytest.approx(160 / 255)
    assert (ends.off_target_reading, ends.off_target) == ("young", pytest.approx(20 / 255))
    assert quick(two([200, 40], "gender: man − woman"))[0].shift == pytest.approx(-160 / 255)
    still, _ = quick(two([90, 90], "gender: man − woman"))
    assert (still.tau, still.shift) == (0, 0)
    three, _ = quick(two([40, 120, 200], "gender"))
    assert (three.tau, three.off_target) == (1, pytest.approx(40 / 255)), "in the editor's own unit"
    assert quick(two([40, 200, 120], "gender"))[0].tau < 0.6
    assert three.mask_share == ends.mask_share > 0


def test_along_what_the_reader_does_not_know_nothing_follows_and_nothing_moves_too(quick) -> None:
    measured, readings = quick(two([40, 120, 200], "beard"))
    assert np.isnan([measured.tau, measured.shift, measured.off_target]).all()
    assert {"gender", "young"} <= set(readings)
    age, readings = quick(two([200, 120, 40], "age"))
    assert (age.tau, age.shift > 0.3, age.off_target_reading) == (1, True, "gender")
    assert "young" not in readings


def test_skin_tone_is_read_as_the_step_of_its_lightness_and_race_may_move_with_it(
    quick, monkeypatch
) -> None:
    measured, readings = quick(two([200, 120, 90], "tone"))
    assert measured.tau == 1
    darker = readings["luminance"][1] - readings["luminance"][3]
    assert darker > 20
    assert readings["tone"][3] == pytest.approx((1 + 9 * (80 - readings["luminance"][3]) / 58) / 10)
    assert measured.shift == pytest.approx(readings["tone"][3] - readings["tone"][1])
    assert quick(two([118, 119, 120], "tone"))[0].shift < 0
    monkeypatch.setattr(
        quick,
        "reader",
        lambda chips: Brightness()(chips) | {"white": (chips.mean((1, 2, 3)) - 30) / 255},
    )
    assert quick(two([200, 120, 40], "tone"))[0].off_target_reading == "gender"
    assert quick(two([40, 120, 200], "gender"))[0].off_target_reading == "race"


def test_identity_is_judged_at_the_value_at_which_it_is_lowest(quick) -> None:
    likeness = iter([[1, 0], [0.8, 0.6], [1, 0], [0.6, 0.8]] * 9)
    quick.embed = lambda photos, points: np.array([next(likeness) for _ in photos])
    measured, readings = quick(two([40, 120, 200], "gender"))
    assert readings["identity"].tolist() == pytest.approx([1, 0.8, 1, 0.6])
    assert measured.identity == pytest.approx(0.6)
    assert np.isnan(quick(two([40, 120, 200], "gender", original=None))[0].identity)
    ours, readings = quick(sweep([40, 80, 120, 160, 200]))
    assert np.isnan(ours.identity)
    assert "identity" not in readings
    quick.embed = None
    assert np.isnan(quick(two([40, 120, 200], "gender"))[0].identity)


@pytest.mark.slow
@pytest.mark.evidence
def test_our_edits_keep_a_person_and_another_face_in_the_photo_mostly_does_not(
    measurer, unpacked
) -> None:
    if measurer.embed is None:
        pytest.skip("the extra identity is not installed: pip install 'gslopes[identity]'")
    files = sorted((unpacked("london") / "neutral").glob("*.jpg"))[1::10][:10]
    photos = [photo_of(file.read_bytes(), file) for file in files]
    faces = [choose(found, 675, 675, 32) for found in MtcnnFinder(100)(photos)]
    editor = editor_of("gender-field")
    masker = ParserMasker(load("face-parser"), "face", 128, "cpu")
    ours, others = [], []
    for row, (photo, face) in enumerate(zip(photos, faces, strict=True)):
        chips = warp(photo.pixels, face.matrix, 128)[None]
        mask = masker([photo], [face], chips, editor.border)
        swept = editor.sweep(chips, np.array([-2, 0, 2], np.float32))
        place = mask[0], face.matrix, editor.blend
        edited = compose(photo.pixels, photo.gray, swept.of(0), *place).pictures
        matrix = similarity(faces[row - 1].points, face.points)
        another = cv2.warpAffine(photos[row - 1].pixels, matrix, (675, 675), flags=cv2.INTER_CUBIC)
        pasted = composite_of(photo, face, mask[0], another[None], "paste").picture(0)
        for pictures, found in ((edited, ours), ([edited[0], edited[1], pasted], others)):
            made = ("gender", [-2, 0, 2], pictures, photo.pixels, face.box, face.points, 0.1, True)
            found.append(
                verdict(measurer(Sweep(*made))[0], GateConfig()).reason is Reason.IDENTITY_GONE
            )
    assert sum(ours) <= 1
    assert sum(others) >= 6


def test_a_unit_without_a_face_is_lost(quick) -> None:
    measured, readings = quick(
        sweep([120] * 5, box=np.empty(0), points=np.empty((0, 5, 2)), mask_area=1.0)
    )
    assert (measured.looked, measured.found, readings) == (1, 0, {})
