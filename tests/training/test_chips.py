"""Faces are looked for, and read, once for each photo."""

from pathlib import Path

import numpy as np
import pytest

from training import chips
from training.chips import find_faces, find_points
from training.sources import LabelledPhotos


def labelled(paths, name="few"):
    return LabelledPhotos(name, tuple(paths), (), np.zeros((len(paths), 0), np.float32))


def test_points_are_found_once(draw, monkeypatch):
    paths = tuple(sorted(draw(3, size=160).photos.iterdir()))
    first = find_points(paths, "cpu")

    def never(*args, **options):
        raise AssertionError("looked for again")

    monkeypatch.setattr(chips, "Mtcnn", never)
    again = find_points(paths, "cpu")
    assert len(first) == len(again) == 3
    for points, points_again in zip(first, again, strict=True):
        assert (points is None) == (points_again is None)
        assert points is None or np.array_equal(points, points_again)


def test_pictures_of_the_same_names_in_two_sets_have_points_of_their_own(draw, tmp_path: Path):
    faces = sorted(draw(2, size=160).photos.iterdir())
    for name, face in zip(("neutral", "smiling"), faces, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "001.jpg").write_bytes(face.read_bytes())
    first, second = (
        find_points((tmp_path / name / "001.jpg",), "cpu")[0] for name in ("neutral", "smiling")
    )
    assert first is not None
    assert second is not None
    assert not np.array_equal(first, second)


def test_a_file_that_is_no_picture_is_left_out_and_named_at_every_start(draw, tmp_path, capsys):
    paths = [tmp_path / "notes.jpg", *sorted(draw(2, size=160).photos.iterdir())]
    paths[0].write_bytes(b"no picture")
    for _ in range(2):
        faces = find_faces(labelled(paths))
        assert faces.photos.paths == tuple(paths[1:])
        assert f"1 file left out, no pictures: {paths[0]}" in capsys.readouterr().err


def test_chips_readings_and_tones_are_made_once_and_are_those_of_the_photo(draw, monkeypatch):
    paths = sorted(draw(4, size=160).photos.iterdir())
    faces = find_faces(labelled(paths))
    made = faces.chips(), faces.read("labeller")["masculine"], faces.tones()
    backwards = find_faces(labelled(paths[::-1]))

    def never(*args, **options):
        raise AssertionError("made again")

    monkeypatch.setattr(chips, "warp", never)
    again = backwards.chips(), backwards.read("labeller")["masculine"], backwards.tones()
    for first, second in zip(made, again, strict=True):
        np.testing.assert_array_equal(first[::-1], second)
    with pytest.raises(AssertionError, match="made again"):
        faces.chips(size=64)


def test_other_weights_read_again(draw, monkeypatch):
    faces = find_faces(labelled(sorted(draw(2, size=160).photos.iterdir())))
    faces.read("labeller")
    spec, _ = chips.identify("labeller")
    monkeypatch.setattr(chips, "identify", lambda name: (spec, "0" * 64))
    reads = []
    monkeypatch.setattr(
        chips, "network", lambda *about: reads.append(about) or chips.load("labeller")
    )
    faces.read("labeller")
    assert len(reads) == 1


def test_tones_in_small_batches_are_those_of_one_batch(draw, monkeypatch):
    faces = find_faces(labelled(sorted(draw(3, size=160).photos.iterdir())))
    parser = chips.load("face-parser")
    few = chips.tones_of(parser, faces.chips(), "cpu")
    monkeypatch.setattr(chips, "PARSED", {"cpu": 1})
    np.testing.assert_allclose(chips.tones_of(parser, faces.chips(), "cpu"), few, atol=0.5)
