"""Hostile files in a folder of photos: the rest is audited, and each has its reason, in bounded time and memory."""

import io
import os
import struct
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core import tables
from tests.attack.conftest import GIB, Attacked
from tests.collect.server import bomb

pytestmark = pytest.mark.slow


def saved(kind: str, side: int = 96, **options: object) -> bytes:
    """A picture of noise."""
    file = io.BytesIO()
    noise = np.random.default_rng(side).integers(0, 256, (side, side, 3), np.uint8)
    Image.fromarray(noise).save(file, kind, **options)
    return file.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_with(*chunks: bytes) -> bytes:
    """A PNG with chunks after its header."""
    full = saved("PNG")
    return full[:33] + b"".join(chunks) + full[33:]


def many_scans(count: int) -> bytes:
    """A progressive JPEG of 16 million pixels in 100 kB, whose last scan comes again and again."""
    file = io.BytesIO()
    Image.new("L", (4000, 4000), 128).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    scan = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + count * scan + b"\xff\xd9"


def segments(marker: bytes, head: bytes, megabytes: int) -> bytes:
    """A JPEG with so much metadata."""
    item = b"\xff" + marker + struct.pack(">H", 65_000) + head.ljust(64_998, b"\x2a")
    return b"\xff\xd8" + item * (megabytes * 1_000_000 // len(item)) + saved("JPEG")[2:]


def endless_tiff() -> bytes:
    """A TIFF whose directory is followed by itself."""
    full = bytearray(saved("TIFF"))
    start = int.from_bytes(full[4:8], "little")
    entries = int.from_bytes(full[start : start + 2], "little")
    full[start + 2 + 12 * entries : start + 6 + 12 * entries] = struct.pack("<I", start)
    return bytes(full)


def greedy_tiff() -> bytes:
    """A TIFF of 90 million pixels that are not there."""
    full = bytearray(saved("TIFF"))
    start = int.from_bytes(full[4:8], "little")
    for entry in range(
        start + 2, start + 2 + 12 * int.from_bytes(full[start : start + 2], "little"), 12
    ):
        if int.from_bytes(full[entry : entry + 2], "little") in (256, 257):  # width, height
            full[entry + 2 : entry + 12] = struct.pack("<HII", 4, 1, 9_400)
    return bytes(full)


DAMAGED = ("unreadable: damaged",)
READ = ("no face found",)  # such a file is a picture: it has been read, and has no face


@cache  # half a gigabyte is packed twice
def hostile() -> dict[bytes, tuple[bytes, tuple[str, ...]]]:
    """Name: bytes, or a file system's own; and how its reason begins."""
    return {
        b"bomb.png": (bomb(), ("unreadable: too large",)),
        b"scans.jpg": (many_scans(2000), ("unreadable: too large",)),
        b"cut.jpg": (saved("JPEG")[:900], ("unreadable: truncated",)),
        b"page.jpg": (b"<script>alert(1)</script>" * 40, ("unreadable: not a picture",)),
        b"a-png.jpg": (saved("PNG", 97), READ),
        b"exif.jpg": (segments(b"\xe1", b"Exif\0\0II*\0\x08\0\0\0\xff\xff", 60), READ),
        b"icc.jpg": (segments(b"\xe2", b"ICC_PROFILE\0\x01\x01", 20), READ),
        b"xmp.png": (
            png_with(chunk(b"zTXt", b"XML:com.adobe.xmp\0\0" + zlib.compress(bytes(1 << 29)))),
            ("unreadable: damaged",),
        ),
        b"profile.png": (
            png_with(chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(1 << 29)))),
            DAMAGED,
        ),
        b"texts.png": (
            png_with(
                *(chunk(b"zTXt", b"t\0\0" + zlib.compress(bytes(1 << 20))) for _ in range(400))
            ),
            ("unreadable: damaged",),
        ),
        b"endless.tif": (endless_tiff(), READ),
        b"greedy.tif": (greedy_tiff(), ()),
        b"empty.jpg": (b"", ("unreadable: empty file",)),
        b"\x1b[2J\x1b]0;owned\x07\n<b>.jpg": (saved("JPEG", 98), READ),
        b"\xff\xfe" + b"n" * 249 + b".jpg": (saved("JPEG", 99), READ),
        "\u202egpj.exe.jpg".encode(): (saved("JPEG", 100), READ),
        b"=cmd|'-C calc'!A1.jpg": (b"GIF89a", ("unreadable",)),
    }


def lay(folder: Path) -> dict[bytes, tuple[str, ...]]:
    """Put what is hostile into the folder; the names that are to be listed, and how their reasons begin."""
    top, expected = os.fsencode(folder), {}
    for name, (data, reasons) in hostile().items():
        with open(os.path.join(top, name), "wb") as file:
            file.write(data)
        expected[name] = reasons
    with open(folder / "sparse.jpg", "wb") as sparse:
        sparse.write(b"\xff\xd8\xff")
        sparse.truncate(4 << 30)
    (folder.parent / "secret.txt").write_text("key = 0123456789\n")
    (folder / "out.jpg").symlink_to("../secret.txt")
    (folder / "gone.jpg").symlink_to("../nowhere")
    (folder / "circle.jpg").symlink_to("circle.jpg")
    expected |= {
        b"sparse.jpg": ("unreadable: too large",),
        b"out.jpg": ("unreadable: not a picture",),
    }
    expected |= dict.fromkeys((b"gone.jpg", b"circle.jpg"), ("unreadable: a broken link",))
    # Nobody hears of these: they are no files.
    (folder / "zeros.jpg").symlink_to("/dev/zero")
    (folder / "folder.jpg").mkdir()
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe.jpg")
    return expected


def test_the_rest_is_audited_and_each_hostile_file_has_its_reason(
    attacked: Attacked, draw, toy, tmp_path
):
    faces = draw(4)
    expected = lay(faces.photos)
    run = tmp_path / "run"
    done = attacked(
        "audit", faces.photos, "--out", run, "--steps", 3, "--classifier", toy, *faces.args
    )
    assert done.code == 3, done.err[-2000:]
    assert done.cpu < 90
    assert done.peak < 2.5 * GIB
    photos = tables.read(tables.PHOTOS, run / "photos.parquet").set_index("path")
    assert (photos["status"] == "used").sum() == 4
    wrong = []
    for name, reasons in expected.items():
        row = photos.loc[name.decode("utf-8", "backslashreplace")]
        if row["status"] != "skipped" or not row["reason"].startswith(reasons or "unreadable"):
            wrong.append((name, row["status"], row["reason"], row["detail"]))
    assert wrong == []
    assert set(tables.read(tables.SLOPES, run / "slopes.parquet")["label"])
    assert not {"\x1b", "\x07", "\u202e"} & {*done.out, *done.err}
    assert b"0123456789" not in b"".join(
        path.read_bytes() for path in run.rglob("*") if path.is_file()
    )
    page = (run / "report/index.html").read_text()
    assert "\x1b" not in page
    assert "\n<b>" not in page
