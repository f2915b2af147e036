"""Held-out faces and their halves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gslopes.core.records import Face, Photo
from gslopes.faces.edit.editors import editor_of
from training.evaluation.composites import HeldOut, ways


@pytest.fixture
def held() -> HeldOut:
    pixels = np.zeros((2, 2, 3), np.uint8)
    photos = [Photo(f"{n:064x}", Path(f"some/{n:03}.jpg"), pixels) for n in range(200)]
    face = Face(np.zeros(4, "f4"), np.zeros((5, 2), "f4"), 1.0, 1, np.zeros((2, 3)))
    return HeldOut("set", photos, [face] * 200, {"age": np.arange(200, dtype=np.float32)})


def test_the_halves_share_no_one_and_leave_no_one_out(held):
    halves = [{photo.path.stem for photo in held.half(which).photos} for which in ("choose", "card")]
    assert not halves[0] & halves[1]
    assert len(halves[0] | halves[1]) == 200
    assert 75 < len(halves[0]) < 125


def test_who_is_in_a_half_depends_on_the_person_alone(held):
    first = {photo.path.stem for photo in held.half("card").photos}
    fewer = held.take(np.arange(50, 150)[::-1])
    assert {photo.path.stem for photo in fewer.half("card").photos} == first & {f"{n:03}" for n in range(50, 150)}
    elsewhere = [Photo(photo.id, Path("smiling") / photo.path.name, photo.pixels) for photo in held.photos]
    moved = HeldOut("set", elsewhere, held.faces, held.labels)
    assert {photo.path.stem for photo in moved.half("card").photos} == first


@pytest.mark.parametrize(
    ("name", "reader", "published"), [("drawn-fader", None, True), ("gender-field", "labeller", False)]
)
def test_a_fader_network_is_judged_as_published_too(name, reader, published):
    found = ways(editor_of(name, reader=reader))
    assert (("skin", "paste") in found) == published
    assert found[0][0] == "face"
