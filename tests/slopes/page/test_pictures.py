"""The page's strips: decoded no larger than they are shown, made once, and of whole sweeps only."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from gslopes.core import tables
from gslopes.photos.decode import named_picture
from gslopes.slopes.page import page_data, pictures
from gslopes.slopes.page.pictures import Wanted, picture, window

SIDE = 128


def photo(file: Path, size: tuple[int, int], seed: int = 0, **options: object) -> Image.Image:
    """A photo of sorts: soft in most places, sharp in some."""
    rough = np.random.default_rng(seed).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    image = Image.fromarray(rough).resize(size, Image.Resampling.BICUBIC)
    image.paste((250, 240, 10), (size[0] // 3, size[1] // 3, size[0] // 2, size[1] // 2))
    image.save(file, quality=95, **options)  # type: ignore[arg-type]
    return image


@pytest.mark.parametrize("size", [(900, 701), (517, 1033), (150, 152), (4000, 999), (64, 48)])
@pytest.mark.parametrize("box", [None, (20.0, 12.0, 45.0, 44.0)])
def test_a_square_is_what_it_would_be_of_the_whole_picture(
    tmp_path: Path, size: tuple[int, int], box: pictures.Corners | None
) -> None:
    photo(tmp_path / "a.jpg", size)
    found = picture(tmp_path / "a.jpg", box, tmp_path, SIDE)
    assert found is not None
    with Image.open(tmp_path / "a.jpg") as whole:
        expected = whole.resize((SIDE, SIDE), Image.Resampling.LANCZOS, box=window(size, box))
    assert np.abs(found.astype(int) - np.asarray(expected)).mean() < 2, "levels of 255"


def test_a_jpeg_is_decoded_no_larger_than_twice_what_is_needed(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg", (1601, 1200))
    asked = []

    def enough(size: tuple[int, int]) -> tuple[int, int]:
        asked.append(size)
        return 300, 225

    found = named_picture("a.jpg", folder=tmp_path, enough=enough)
    assert asked == [(1601, 1200)]
    assert found.size == (401, 300)


def test_pictures_keep_their_colours_whatever_their_profile(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    photo(tmp_path / "a.jpg", (700, 700))
    photo(tmp_path / "b.jpg", (700, 700), icc_profile=profile)
    plain, profiled = (picture(tmp_path / name, None, tmp_path) for name in ("a.jpg", "b.jpg"))
    assert plain is not None
    assert profiled is not None
    assert np.abs(plain.astype(int) - profiled).max() <= 2


def strips(folder: Path, sweeps: list[Wanted]) -> tuple[list[str], list[int]]:
    """Names of the strips, and how often progress was told."""
    ticks: list[int] = []
    names = pictures.write(folder / "report", folder, sweeps, "thumbs", ticks.append)
    return [*names.values()], ticks


def test_a_second_report_makes_the_strips_again_whose_pictures_changed_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        photo(tmp_path / f"{number}.jpg", (200, 200), number)
    sweeps = [Wanted(f"{n:064x}"[::-1], "gender", None, (f"{n}.jpg",) * 3) for n in range(4)]
    names, ticks = strips(tmp_path, sweeps)
    assert len(names) == sum(ticks) == 4
    made = []
    monkeypatch.setattr(pictures, "picture", lambda file, *rest: made.append(file.name))
    assert strips(tmp_path, sweeps)[0] == names
    assert made == []
    later = (tmp_path / "report" / names[2]).stat().st_mtime + 5
    os.utime(tmp_path / "2.jpg", (later, later))
    (tmp_path / "report" / names[0]).unlink()  # as if a report had been stopped here
    strips(tmp_path, sweeps)
    assert {*made} == {"0.jpg", "2.jpg"}


def test_sweeps_that_lack_a_picture_have_no_strip_and_the_list_says_which(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=5)
    edits = tables.read(tables.EDITS, run / "edits.parquet").query("attribute == 'gender'")
    lost = sorted({*edits["photo"]})[1]
    part = edits[(edits["photo"] != lost) | (edits["step"] != 3)]
    tables.write(tables.EDITS, part, run / "edits.parquet")
    steps = {"gender": edits["step"].nunique()}
    album = page_data.build_album(run, run / "report", steps, "thumbs", lambda _: None)
    listed = page_data.photo_listing(album, ["gender"], [], {})
    strips = listed["strips"]["gender"]
    assert strips["without"] == [album.index[lost]]
    for place, name in enumerate(listed["ids"]):
        file = run / "report" / strips["folder"] / f"{name}.webp"
        assert file.exists() == (place not in strips["without"])
