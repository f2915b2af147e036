"""``gslopes try``: what a classifier is sent, what it answers, and whether that varies."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    paths = []
    for name, colour in {"red": (255, 0, 0), "blue": (0, 0, 255), "dark": (40, 40, 40)}.items():
        paths.append(tmp_path / f"{name}.png")
        Image.new("RGB", (40, 30), colour).save(paths[-1])
    return paths


def test_what_is_sent_stands_in_words_and_as_a_picture(gslopes, make_onnx, photos):
    name = f"{make_onnx()},threshold=0,channels=bgr,white=255,mean=10/20/30,std=255/255/255,activation=sigmoid"
    done = gslopes("try", name, *photos)
    assert done.code == 0, done.err
    assert "sent        16 x 16 float32, BGR, channels first, -0.0784 to 0.882" in done.out
    assert np.asarray(Image.open("sent.png"))[0, 0].tolist() == [0, 0, 255]
    assert "varies      yes: other, red" in done.out
    assert "cost        free; 0.0000 USD now" in done.out


def test_the_same_as_json_and_one_photo_gets_two_more_pictures_of_itself(
    gslopes, make_onnx, photos
):
    done = gslopes("try", f"{make_onnx()},threshold=0", photos[0], "--json", "--out", "seen.png")
    content = json.loads(done.out)
    assert [picture["picture"] for picture in content["pictures"]] == [
        str(photos[0]),
        f"{photos[0]}, mirrored",
        f"{photos[0]}, half as bright",
    ]
    assert [round(picture["labels"]["red"], 2) for picture in content["pictures"]] == [1, 1, 0.5]
    assert content["varying"] == ["red"]
    assert content["failed"] == 0
    assert Path("seen.png").is_file()


def test_answers_that_never_vary_are_said(gslopes, photos, tmp_path):
    (tmp_path / "same_to_try.py").write_text("def same(picture):\n    return {'any': 0.5}\n")
    done = gslopes("try", "same_to_try.py:same", *photos)
    assert done.code == 0
    assert (
        "varies      no: these answers are the same. Faces that are edited may change them"
        in done.out
    )
    assert "the whole picture, 40 x 30, RGB, 0 to 255" in done.out


def test_failures_are_the_exit_code(gslopes, photos, tmp_path):
    (tmp_path / "odd_to_try.py").write_text(
        "def age(picture):\n    return {'age': float('nan')}\n\n"
        "def some(picture):\n    return {'bright': picture.mean() / 255 if picture.mean() > 60 else float('inf')}\n"
    )
    assert gslopes("try", "odd_to_try.py:age", *photos).code == 1
    done = gslopes("try", "odd_to_try.py:some", *photos)
    assert done.code == 3
    assert "failed: not a valid answer" in done.out
    missing = gslopes("try", "odd_to_try.py:some", "none.jpg")
    assert missing.code == 1
    assert "none.jpg" in missing.err
