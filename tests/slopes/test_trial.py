"""``gslopes try --editor``: one photo, its edits beside it, and what is wrong with them in words."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.slopes.demo import astronaut

pytestmark = [pytest.mark.slow, pytest.mark.evidence]

FUNCTIONS = """
import numpy as np

def redder(image, value):
    with open("calls", "a") as calls:
        calls.write(".")
    lift = np.array([10 * (value or 0), 0, 0])
    return np.clip(image + lift, 0, 255).astype(np.uint8)

def cut(image, value):
    return image[:100]

def picky(image, value):
    return None if value > 0 else image

def broken(image, value):
    return image.nothing
"""


@pytest.fixture
def photo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    Path("editors_to_try.py").write_text(FUNCTIONS)
    Image.fromarray(astronaut()).save("astronaut.png")
    return Path("astronaut.png")


def test_an_editor_of_the_zoo_is_tried_at_both_ends_and_the_centre(
    gslopes: Callable, photo: Path
) -> None:
    done = gslopes("try", "--editor", "gender-field", photo, "--device", "cpu", "--out", "e.png")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[:2] == ["editor      gender-field", "photo       512 x 512"]
    assert lines[2] == "pictures    gender -2: moved 0.00 %, background 0.0 of 255"
    assert lines[5] == "see         e.png: the photo, then its pictures"
    assert lines[6].startswith("cost        free; ")
    sheet = np.asarray(Image.open("e.png"))
    assert sheet.shape == (512, 4 * 512, 3)
    own, low, _, high = np.split(sheet, 4, axis=1)
    assert (own == astronaut()).all()
    assert (low != high).any()
    assert (low[:40] == own[:40]).all()  # above the face


def test_what_cannot_be_tried_is_told_before_or_instead(gslopes: Callable, photo: Path) -> None:
    Image.new("RGB", (300, 300), "gray").save("empty.png")
    for names, code, words in (
        (["empty.png"], 1, "empty.png: no face found"),
        (["none.png"], 1, "none.png"),
        ([photo, photo], 2, "One photo is edited along one attribute."),
    ):
        done = gslopes("try", "--editor", "gender-field", *names, "--device", "cpu")
        assert done.code == code, done.err
        assert words in done.err
    wrong = gslopes("try", "--editor", "gendr-field", photo)
    assert wrong.code == 2
    assert "Did you mean 'gender-field'?" in wrong.err
    alone = gslopes("try", photo)
    assert alone.code == 2
    assert "No photo is given" in alone.err


def test_a_function_is_tried_with_what_it_changed_and_drawn_once(
    gslopes: Callable, photo: Path
) -> None:
    for _ in range(2):
        done = gslopes("try", "--editor", "editors_to_try.py:redder", photo, "--json")
        assert done.code == 0, done.err
        content = json.loads(done.out)
        assert [picture["value"] for picture in content["pictures"]] == [-2, 0, 2]
        low, centre, high = (picture["background"] for picture in content["pictures"])
        assert centre == 0
        assert 2 < low < 7
        assert 2 < high < 7
        assert (content["price"], content["failed"]) == (0, 0)
    # one form is found with three pictures
    assert Path("calls").read_text().count(".") <= 6
    sheet = np.asarray(Image.open("sent.png")).astype(int)
    own, low, _, high = np.split(sheet, 4, axis=1)
    assert (low[..., 0] <= own[..., 0]).all()
    assert (high[..., 0] > low[..., 0]).any()
    assert (high[:20] == own[:20]).all()  # outside of the mask all is the photo's


@pytest.mark.parametrize(
    ("function", "code", "words"),
    [
        ("cut", 1, "gender 2: failed, the editor gave another size (512×100 for 512×512)"),
        ("picky", 3, "gender 2: refused, the editor refused (the function returned None)"),
    ],
)
def test_what_does_not_come_through_is_told_by_value(
    gslopes: Callable, photo: Path, function: str, code: int, words: str
) -> None:
    done = gslopes("try", "--editor", f"editors_to_try.py:{function}", photo)
    assert done.code == code, done.err
    assert words in done.out
    assert "see         nothing" in done.out
    assert not Path("sent.png").exists()


def test_a_broken_function_is_told_with_its_line(gslopes: Callable, photo: Path) -> None:
    done = gslopes("try", "--editor", "editors_to_try.py:broken", photo)
    assert done.code == 1
    assert "(editors_to_try.py:17: return image.nothing)" in done.err
