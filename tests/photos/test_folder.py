import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from gslopes.core.errors import PhotoError, UsageError
from gslopes.photos.decode import formats
from gslopes.photos.folder import (
    PhotoFile,
    display_name,
    first_frames,
    left_out,
    list_files,
    list_photos,
    open_photo,
    passed_over,
    photo_batches,
    relative_name,
    same_bytes,
    set_aside,
)


def write(path: Path, size: tuple[int, int] = (4, 3)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (10, 20, 30)).save(path, "PNG")
    return path


def reason(path: Path) -> str:
    with pytest.raises(PhotoError) as caught:
        open_photo(path)
    return caught.value.reason


def names(root: Path, limit: int | None = None) -> list[str]:
    return [photo.relative for photo in list_files(root, limit)]


# --- Which files there are -------------------------------------------------------------------------------------------


def test_every_image_suffix_counts_in_any_case_and_nothing_else(tmp_path: Path) -> None:
    images = ["a.jpg", "b.JPEG", "c.Png", "d.webp", "e.BMP", "f.tif", "g.TIFF", "h.heic", "i.avif"]
    for name in [*images, "notes.txt", "jpg", "h.jpg.part", "i.gif", ".hidden.jpg", "._a.jpg"]:
        (tmp_path / name).touch()
    assert names(tmp_path) == images
    assert (
        passed_over(tmp_path)
        == f"4 files in {tmp_path} passed over, no photos: h.jpg.part, i.gif, jpg and 1 more."
    )


ASIDE = [
    "@eaDir/a.jpg/SYNOPHOTO_THUMB_M.jpg",
    ".thumbnails/normal/a.png",
    "Thumbs/a.jpg",
    "thumbnails/a.jpg",
    ".@__thumb/a.jpg",
    "@Recycle/a.jpg",
    "#recycle/2024/a.jpg",
    "$RECYCLE.BIN/S-1-5/a.jpg",
    "lost+found/#123.jpg",
    "__MACOSX/x/._a.jpg",
    ".AppleDouble/a.jpg",
    "._a.jpg",
    "System Volume Information/a.jpg",
    ".Trashes/501/a.jpg",
    ".Trash-1000/files/a.jpg",
    ".fseventsd/a.jpg",
    ".Spotlight-V100/a.jpg",
    ".picasaoriginals/a.jpg",
    ".comments/a.jpg",
    ".snapshot/daily.0/a.jpg",
    "~snapshot/a.jpg",
    ".zfs/snapshot/a.jpg",
    ".git/annex/a.jpg",
    ".ipynb_checkpoints/a-checkpoint.png",
    "Lightroom Catalog Previews.lrdata/a.jpg",
    "Photos Library.photoslibrary/resources/a.jpg",
    "iPod Photo Cache/a.jpg",
    "Network Trash Folder/a.jpg",
    "found.000/a.jpg",
]


@pytest.mark.parametrize("name", ASIDE)
def test_folders_of_storage_boxes_systems_and_programs_are_set_aside_and_told(
    tmp_path: Path, name: str
) -> None:
    write(tmp_path / "trip" / "a.jpg")
    write(tmp_path / "trip" / name)
    assert names(tmp_path) == ["trip/a.jpg"]
    top = name.partition("/")[0]
    assert (
        set_aside(tmp_path)
        == f"1 picture passed over, of storage boxes, systems and programs: {top} 1."
    )


def test_how_many_pictures_of_which_folder_are_set_aside_is_told_in_their_order(
    tmp_path: Path,
) -> None:
    for folder in ("x/@eaDir", "y/@eaDir", "Thumbs"):
        for number in range(3):
            write(tmp_path / folder / f"{number}.jpg")
    (tmp_path / "Thumbs" / "Thumbs.db").touch()
    (tmp_path / ".git").mkdir()
    sentence = "9 pictures passed over, of storage boxes, systems and programs: @eaDir 6, Thumbs 3."
    assert set_aside(tmp_path) == sentence
    assert set_aside(tmp_path / "x" / "@eaDir") == ""


def test_names_that_are_nearly_the_same_are_photos_and_a_folder_that_is_named_is_read(
    tmp_path: Path,
) -> None:
    kept = [
        "Thumbsup/a.jpg",
        "eaDir/a.jpg",
        "lost and found/a.jpg",
        "recycle/a.jpg",
        "my@eaDir/a.jpg",
        "photoslibrary/a.jpg",
    ]
    for name in [*kept, "@eaDir/b.jpg", "@eaDir/Thumbs/c.jpg"]:
        write(tmp_path / name)
    assert names(tmp_path) == sorted(kept)
    assert names(tmp_path / "@eaDir") == ["b.jpg"]
    assert names(tmp_path / "@eaDir" / "Thumbs") == ["c.jpg"]


def test_other_names_count_by_their_content_and_what_is_left_is_named(tmp_path: Path) -> None:
    kinds = {
        "a.jfif": "JPEG",
        "b.jpe": "JPEG",
        "c.jpg_large": "JPEG",
        "d": "PNG",
        "e.gif": "GIF",
        "f.jpg?w=9": "WEBP",
    }
    kinds |= {"g.dib": "BMP", "h.avif.1": "AVIF", "i": "TIFF"}
    for name, kind in kinds.items():
        Image.new("RGB", (8, 6), (9, 9, 9)).save(tmp_path / name, kind)
        assert open_photo(tmp_path / name).pixels.shape == (6, 8, 3)
    texts = {"BMW.txt": b"BMW drivers like it", "clip.avi": b"RIFF\x10\0\0\0AVI LIST"}
    texts["k.mp4"] = b"\0\0\0\x18ftypmp42" + bytes(9)
    for name, data in texts.items():
        (tmp_path / name).write_bytes(data)
    Image.new("RGB", (8, 6)).save(tmp_path / "raw.NEF", "TIFF")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "x.jxl").write_bytes(b"\0\0\0\x0cJXL \r\n\x87\n" + bytes(20))
    assert names(tmp_path) == sorted([*kinds, "x.jxl"])
    assert "5 files" in passed_over(tmp_path)
    with pytest.raises(PhotoError, match=r"a kind of picture that is not read \(JPEG XL\)"):
        open_photo(tmp_path / "x.jxl")
    for name in [*texts, "raw.NEF", "pipe"]:
        (tmp_path / name).unlink()
    assert passed_over(tmp_path) == ""


def test_order_is_that_of_the_bytes_of_the_name_below_the_root(tmp_path: Path) -> None:
    for name in [
        "b/1.jpg",
        "a/2.jpg",
        "a.jpg",
        "B.jpg",
        "a/10.jpg",
        "é.jpg",
        "z.jpg",
        "a b.jpg",
        "line\nbreak.jpg",
    ]:
        write(tmp_path / name)
    found = names(tmp_path)
    assert found == sorted(found, key=lambda name: name.encode())
    assert len(found) == 9
    assert names(tmp_path, 2) == found[:2]
    assert names(tmp_path, 99) == found


def test_a_photo_that_lies_there_twice_is_listed_once_with_its_other_names(tmp_path: Path) -> None:
    write(tmp_path / "a.png")
    for name in ("b.png", "c/a.png"):
        write(tmp_path / name)
    big = 5000 * b"x"  # of one size, and of one end
    for name, content in (
        ("d.jpg", b"1" + big),
        ("e.jpg", b"2" + big),
        ("f.jpg", b"1" + big),
        ("g.jpg", b""),
    ):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "h.jpg").write_bytes(b"")
    same = same_bytes(list_files(tmp_path))
    assert same == {"b.png": "a.png", "c/a.png": "a.png", "f.jpg": "d.jpg"}
    found = list_photos(tmp_path)
    assert [file.relative for file in found] == ["a.png", "d.jpg", "e.jpg", "g.jpg", "h.jpg"]
    assert found[0] == PhotoFile(tmp_path / "a.png", "a.png", ("b.png", "c/a.png"))
    assert left_out(same).startswith(
        "3 photos left out, same bytes as another photo: b.png (as a.png), "
    )
    assert left_out({}) == ""


def test_links_in_a_circle_end_and_broken_ones_are_listed_and_say_so_when_opened(
    tmp_path: Path,
) -> None:
    write(tmp_path / "z" / "a.png")
    (tmp_path / "z" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "z")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (tmp_path / "loop.jpg").symlink_to("loop.jpg")
    assert names(tmp_path) == ["gone.jpg", "loop.jpg", "z/a.png"]
    for name in ("gone.jpg", "loop.jpg"):
        assert reason(tmp_path / name) == "unreadable: a broken link"


def test_what_was_swapped_after_the_listing_is_skipped_with_its_reason(tmp_path: Path) -> None:
    for name in ("huge", "pipe", "zero", "proc"):
        write(tmp_path / f"{name}.jpg")
    files = {file.relative: file.path for file in list_files(tmp_path)}
    for path in files.values():
        path.unlink()
    with files["huge.jpg"].open("wb") as file:
        file.write(b"\xff\xd8\xff\xe0" + bytes(60))
        file.truncate(40 << 30)
    os.mkfifo(files["pipe.jpg"])
    files["zero.jpg"].symlink_to("/dev/zero")
    files["proc.jpg"].symlink_to("/proc/self/maps")
    assert {name: reason(path) for name, path in files.items()} == {
        "huge.jpg": "unreadable: too large (42,950 MB, limit 817)",
        "pipe.jpg": "unreadable: not a file",
        "zero.jpg": "unreadable: not a file",
        "proc.jpg": "unreadable: empty file",
    }


def test_a_sub_folder_that_may_not_be_read_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.png")
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def refuse(path: bytes) -> object:
        if path.endswith(b"locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == ["a.png", "locked/"]


@pytest.mark.parametrize("name", ["missing", "file.png"])
def test_a_root_that_is_no_folder_is_a_usage_error(tmp_path: Path, name: str) -> None:
    write(tmp_path / "file.png")
    with pytest.raises(UsageError, match=name):
        list_files(tmp_path / name)


# --- Names -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS file names are always UTF-8")
def test_a_name_that_is_no_utf8_can_be_shown_stored_and_opened(tmp_path: Path) -> None:
    source = write(tmp_path / "ok.png")
    raw = os.fsencode(tmp_path) + b"/caf\xe9.png"
    os.rename(os.fsencode(source), raw)
    (photo,) = list_files(tmp_path)
    assert photo.relative == "caf\\xe9.png"
    assert photo.relative.encode("utf-8")
    assert open_photo(photo.path).pixels.shape == (3, 4, 3)
    assert relative_name(photo.path, tmp_path) == photo.relative


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_two_names_are_never_shown_as_one(a: bytes, b: bytes) -> None:
    assert (display_name(a) == display_name(b)) == (a == b)
    display_name(a).encode("utf-8")


def test_relative_name_agrees_with_the_listing_and_keeps_what_lies_outside(tmp_path: Path) -> None:
    path = write(tmp_path / "photos" / "sub" / "a.png")
    assert relative_name(path, tmp_path / "photos") == "sub/a.png" == names(tmp_path / "photos")[0]
    assert relative_name(path, tmp_path / "other") == str(path)


# --- Opening ---------------------------------------------------------------------------------------------------------


def test_the_id_is_the_sha256_of_the_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.png")
    photo = open_photo(path)
    assert photo.id == hashlib.sha256(path.read_bytes()).hexdigest()
    assert photo.path == path
    assert photo.pixels.dtype == np.uint8
    assert photo.pixels.flags.writeable


def test_reasons_of_the_operating_system_are_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason(tmp_path) == "unreadable: not a file"
    assert reason(tmp_path / "never.jpg") == "unreadable: gone"
    for error, wanted in [
        (PermissionError(13, "Permission denied"), "unreadable: permission denied"),
        (OSError(5, "Input/output error"), "unreadable: disk error (Input/output error)"),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(
                "gslopes.photos.folder.read_regular",
                lambda *_, error=error: (_ for _ in ()).throw(error),
            )
            assert reason(tmp_path / "a.jpg") == wanted


# --- Photos that are held at once ------------------------------------------------------------------------------------


def test_batches_hold_so_many_pixels_or_one_photo_and_leave_out_what_is_not_read(
    tmp_path: Path,
) -> None:
    for name, size in {
        "a": (4, 3),
        "b": (4, 3),
        "c": (30, 30),
        "d": (4, 3),
        "e": (4, 3),
        "f": (4, 3),
    }.items():
        write(tmp_path / f"{name}.png", size)
    found = photo_batches(
        list_files(tmp_path),
        lambda file: None if file.relative == "b.png" else open_photo(file.path),
        24,
    )
    assert [[file.relative for file, _ in batch] for batch in found] == [
        ["a.png"],
        ["c.png"],
        ["d.png", "e.png"],
        ["f.png"],
    ]


@pytest.mark.parametrize("kind", ["gif", "png", "webp", "tiff", "avif"])
def test_it_is_told_of_what_only_the_first_frame_is_read(tmp_path, kind):
    frames = [Image.new("RGB", (40, 30), (shade, 90, 60)) for shade in (20, 120, 220)]
    if kind == "avif" and "AVIF" not in formats():
        pytest.skip("This installation reads no AVIF.")
    frames[0].save(tmp_path / f"moving.{kind}", save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / f"still.{kind}")
    told = first_frames(list_files(tmp_path))
    assert told == f"Of 1 photo only the first frame or page is read: moving.{kind}."
    assert abs(int(open_photo(tmp_path / f"moving.{kind}").pixels[0, 0, 0]) - 20) < 12


def test_the_second_picture_of_a_phone_is_no_frame_and_what_cannot_be_read_is_not_told(tmp_path):
    frames = [Image.new("RGB", (40, 30), (shade, 90, 60)) for shade in (20, 120)]
    frames[0].save(tmp_path / "gain-map.jpg", format="MPO", save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / "cut.gif", save_all=True, append_images=frames[1:])
    whole = (tmp_path / "cut.gif").read_bytes()
    (tmp_path / "cut.gif").write_bytes(whole[: len(whole) // 3])
    (tmp_path / "text.png").write_text("no picture")
    assert first_frames(list_files(tmp_path)) == ""
