"""Points and chips are kept in the cache folder."""

from pathlib import Path

import numpy as np

from training import chips


def test_points_are_kept_whole_in_a_cache_folder_that_was_not_there(
    draw, tmp_path: Path, monkeypatch
):
    paths = tuple(sorted(draw(3, size=160).photos.iterdir()))
    cache = tmp_path / "not" / "there"
    first = chips.find_points(paths, cache / "held-out", "cpu")
    (cached,) = cache.iterdir()  # and nothing temporary
    assert cached.suffix == ".npz"

    def never(*args, **options):
        raise AssertionError("looked for again")

    monkeypatch.setattr(chips, "Mtcnn", never)
    again = chips.find_points(paths, cache / "held-out", "cpu")
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
        chips.find_points((tmp_path / name / "001.jpg",), tmp_path / "cache" / name, "cpu")[0]
        for name in ("neutral", "smiling")
    )
    assert first is not None
    assert second is not None
    assert not np.array_equal(first, second)
