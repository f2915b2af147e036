"""The tables of an editor's card, from readings that are planted; who is who, and what a two-sample test sees."""

from pathlib import Path

import numpy as np
import pytest

from gslopes.core.records import Face, Photo
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.gate.manipulation import Interval
from training.evaluation import measures
from training.evaluation.composites import PUBLISHED, VALUES, HeldOut, edited, ways
from training.evaluation.editor import (
    Composites,
    edited_table,
    group_table,
    leakage_table,
    reached,
    realism_table,
)
from training.evaluation.measures import nearest_itself, two_sample_auc
from training.evaluation.models import tables_as_text
from training.measure import group_names, thirds

WAY, OTHER_WAY = ("face", "difference"), ("skin", "ratio")
FACES = 60
STEPS = np.array(VALUES)


def reading(slope: float, centre: float = 0.5) -> np.ndarray:
    """(FACES, K) probabilities on a line, each face a little off."""
    off = np.random.default_rng(0).uniform(-0.02, 0.02, (FACES, 1))
    return centre + off + slope * STEPS


class Held:
    """Held-out faces: half of them men, all of one gray."""

    def __len__(self) -> int:
        return FACES

    def groups(self) -> dict[str, np.ndarray]:
        return {"gender": np.where(np.arange(FACES) % 2, "men", "women").astype(object)}

    def chips(self, size: int) -> np.ndarray:
        noise = np.random.default_rng(1).integers(0, 40, (FACES, size, size, 3))
        return (100 + noise).astype(np.uint8)


@pytest.fixture
def edited_faces() -> Composites:
    target = reading(0.2)
    target[1::2] = reading(0.1)[1::2]  # men move half as far
    readings = {
        "gender": target,
        "race": reading(0.0),
        "young": reading(-0.06),
        "smiling": reading(0.0),
        "luminance": reading(0.0),
        "sharpness": reading(0.0),
    }
    flat = {name: values * 0 + values[:, 2:3] for name, values in readings.items()}
    composites = Composites(WAY, {WAY: readings, OTHER_WAY: flat})
    composites.plain = {name: values[:, 2].copy() for name, values in readings.items()}
    composites.plain["luminance"] = np.arange(FACES, dtype=float)
    return composites


def test_the_shift_and_the_faces_that_follow_are_those_planted(edited_faces):
    table = edited_table(edited_faces, "gender")
    row = table["face, difference: reader"]
    span = STEPS[-1] - STEPS[0]
    assert row["shift"]["value"] == pytest.approx(0.15 * span, abs=1e-3)
    assert row["shift, -1 to 1"]["value"] == pytest.approx(0.15 * (STEPS[-2] - STEPS[1]), abs=1e-3)
    assert row["shift"]["low"] < row["shift"]["value"] < row["shift"]["high"]
    assert row["monotone"]["value"] == 1
    assert row["+0"]["value"] == pytest.approx(0.5, abs=0.01)
    assert table["skin, ratio: reader"]["shift"]["value"] == 0


def test_what_else_moves_is_a_share_of_the_targets_slope_with_its_sign(edited_faces):
    table = leakage_table(edited_faces, "gender")
    assert set(table) == {"race", "young", "smiling", "luminance", "sharpness"}
    assert table["young"]["face, difference"]["value"] == pytest.approx(-0.06 / 0.15, abs=0.02)
    assert table["smiling"]["face, difference"]["value"] == pytest.approx(0, abs=0.02)


def test_groups_have_their_own_shift_and_the_gap_between_them(edited_faces):
    table = group_table(edited_faces, Held(), "gender")
    span = STEPS[-1] - STEPS[0]
    assert table["women"] == {"faces": 30, "shift": table["women"]["shift"]}
    assert table["women"]["shift"]["value"] == pytest.approx(0.2 * span, abs=1e-3)
    assert table["men"]["shift"]["value"] == pytest.approx(0.1 * span, abs=1e-3)
    assert abs(table["gap by gender"]["shift"]["value"]) == pytest.approx(0.1 * span, abs=0.02)
    assert {"darkest third", "middle third", "lightest third", "gap by skin tone"} <= set(table)


def test_composites_that_are_the_photos_pass_and_those_of_another_colour_do_not(
    edited_faces, monkeypatch
):
    def two_sample_auc(photos, composites, most):
        return Interval(0.5 if np.array_equal(photos, composites) else 1.0, 0.5, 1.0)

    monkeypatch.setattr("training.evaluation.measures.two_sample_auc", two_sample_auc)
    faces = Held()
    chips = np.repeat(faces.chips(64)[:, None], len(VALUES), axis=1)
    chips[:, -1, :, :, 0] = 250
    edited_faces.chips = {WAY: chips}
    edited_faces.masks = {"face": np.ones((FACES, 64, 64), np.float32)}
    edited_faces.found = np.ones((10, len(VALUES)), bool)
    edited_faces.found[:5, 0] = False
    table = realism_table(edited_faces, faces)
    alike, red = table["face, difference at +0"], table[f"face, difference at {VALUES[-1]:+g}"]
    assert (alike["two-sample AUC"]["value"], red["two-sample AUC"]["value"]) == (0.5, 1.0)
    assert table[f"face, difference at {VALUES[0]:+g}"]["face found"]["value"] == 0.5
    tables = {
        "what it edits, London": edited_table(edited_faces, "gender"),
        "what else moves, London": leakage_table(edited_faces, "gender"),
        "for whom, London": group_table(edited_faces, faces, "gender"),
        "how natural, London": table,
    }
    rows = reached("gender", "face, difference", tables)
    assert rows["shift of P(masculine) from -2 to 2, London"]["number"]["value"] == pytest.approx(
        0.6, abs=1e-3
    )
    assert rows["two-sample AUC at +2, London"]["number"]["value"] == 1
    assert rows["face still found, worst value, London"]["number"]["value"] == 0.5
    assert "gap by gender of the shift, London" in rows
    assert not any("UTKFace" in name or name.startswith(("men", "sharpness")) for name in rows)
    text = tables_as_text({"note": "A note.", "tables": tables})
    assert text.startswith(
        "A note.\n\n| what it edits, London | -2 | -1 | +0 | +1 | +2 | shift | shift, -1 to 1 |"
    )


def test_thirds_are_by_rank_and_hold_as_many_each():
    names = thirds(np.array([5.0, 1.0, 9.0, 2.0, 7.0, 3.0]))
    assert [name.split()[0] for name in names] == [
        "middle",
        "darkest",
        "lightest",
        "darkest",
        "lightest",
        "middle",
    ]


def test_a_photo_without_known_race_is_in_no_group():
    labels = ("masculine", "white", "black", "asian", "indian", "other", "young", "smiling")
    values = np.array([[1, 0, 1, 0, 0, 0, 1, np.nan], [1, *[np.nan] * 6, 1]], np.float32)
    assert group_names(labels, values).tolist() == ["black, young", ""]


@pytest.fixture
def people() -> HeldOut:
    pixels = np.zeros((2, 2, 3), np.uint8)
    photos = [Photo(f"{n:064x}", Path(f"some/{n:03}.jpg"), pixels) for n in range(200)]
    face = Face(np.zeros(4, "f4"), np.zeros((5, 2), "f4"), 1.0, 1, np.zeros((2, 3)))
    return HeldOut("set", photos, [face] * 200, {"age": np.arange(200, dtype=np.float32)})


def test_the_halves_share_no_one_and_leave_no_one_out(people):
    halves = [
        {photo.path.stem for photo in people.half(which).photos} for which in ("choose", "card")
    ]
    assert not halves[0] & halves[1]
    assert len(halves[0] | halves[1]) == 200
    assert 75 < len(halves[0]) < 125


def test_who_is_in_a_half_depends_on_the_person_alone(people):
    first = {photo.path.stem for photo in people.half("card").photos}
    fewer = people.take(np.arange(50, 150)[::-1])
    assert {photo.path.stem for photo in fewer.half("card").photos} == first & {
        f"{n:03}" for n in range(50, 150)
    }
    elsewhere = [
        Photo(photo.id, Path("smiling") / photo.path.name, photo.pixels) for photo in people.photos
    ]
    moved = HeldOut("set", elsewhere, people.faces, people.labels)
    assert {photo.path.stem for photo in moved.half("card").photos} == first


@pytest.mark.parametrize(
    ("name", "reader", "published"),
    [("drawn-fader", None, True), ("gender-field", "labeller", False)],
)
def test_a_fader_network_is_judged_as_published_too(name, reader, published):
    edited_ways = ways(editor_of(name, reader=reader))
    assert (("skin", "paste") in edited_ways) == published
    assert edited_ways[0][0] == "face"
    assert len(set(edited_ways)) == len(edited_ways)


def test_an_editor_that_draws_as_published_by_default_is_judged_in_that_way_once():
    assert ways(editor_of("gender-fader")) == (PUBLISHED, ("face", "paste"))


@pytest.mark.evidence
@pytest.mark.slow
def test_the_cards_row_as_published_is_of_the_values_themselves_and_the_others_are_by_the_table(
    portrait_chip,
):
    editor, values = editor_of("gender-fader"), np.array([-2, 1], np.float32)
    for way in ways(editor):
        as_in_audit = editor_of("gender-fader", calibrated=way != PUBLISHED)
        result = edited(editor, portrait_chip, values, way[1], way == PUBLISHED)
        np.testing.assert_array_equal(
            result.edited, as_in_audit.sweep(portrait_chip, values).edited
        )


def test_a_face_is_nearest_to_itself_only_if_no_other_photo_is_nearer() -> None:
    photos = np.eye(4)
    edited = photos + 0.4 * np.roll(photos, 1, 1)
    assert nearest_itself(edited, photos).value == 1
    edited[0] = [0.6, 0.8, 0, 0]  # more like the second person
    assert nearest_itself(edited, photos).value == 0.75
    assert nearest_itself(photos[:3], np.vstack([photos[:2], photos[:1]])).value == pytest.approx(
        1 / 3
    )  # ties
    photos[3] = np.nan  # a face without an embedding is not itself, and spoils no other
    assert nearest_itself(photos, photos).value == 0.75


def blots(n: int, size: int = 32, seed: int = 0) -> np.ndarray:
    """Blots of skin colour on grey, one a photo, with noise: photos enough for a test."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] / size - 0.5
    out = np.full((n, size, size, 3), 120.0)
    for row in range(n):
        radius = random.uniform(0.3, 0.45)
        out[row][x**2 + y**2 < radius**2] = random.uniform(0.6, 1.1) * np.array([220, 170, 140])
    return (out + random.normal(0, 6, out.shape)).clip(0, 255).astype(np.uint8)


@pytest.mark.evidence
@pytest.mark.slow
def test_equal_pictures_cannot_be_told_apart() -> None:
    photos = blots(120)
    auc = two_sample_auc(photos, photos, draws=1)
    assert auc.low < 0.5 < auc.high


@pytest.mark.evidence
@pytest.mark.slow
def test_a_seam_around_the_face_is_seen() -> None:
    photos = blots(100)
    seamed = photos.copy()
    seamed[:, 8:24, [8, 9, 22, 23]] //= 2
    auc = two_sample_auc(photos, seamed, draws=1)
    assert auc.low > 0.8


def test_a_draw_holds_no_more_photos_than_asked_and_each_in_one_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    halves = []

    def by_brightness(chips, fake, train, test, seed):
        halves.append((train, test))
        return -chips[test].mean((1, 2, 3))

    monkeypatch.setattr(measures, "_train_and_score", by_brightness)
    photos = np.full((100, 32, 32, 3), 200, np.uint8)
    assert (
        two_sample_auc(photos, photos - 9, most=20, draws=3).value == 1
    )  # faces outside of a draw are not judged
    assert len(halves) == 6
    for train, test in halves:
        assert not (train & test).any()
        assert train.sum() == test.sum() == 10
    assert len({(train | test).tobytes() for train, test in halves}) == 3
