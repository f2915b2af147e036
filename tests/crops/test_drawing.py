from __future__ import annotations

import base64
import io

import numpy as np
import pandas as pd
from PIL import Image

from gslopes.crops.drawing import chosen, draw

ROW = {"width": 200, "height": 100, "x": 50, "y": 50, "margin": 0.25}
CROPS = pd.DataFrame(
    [{"ratio": 1.0, "left_px": 0, "top": 0, "crop_width": 100, "crop_height": 100, "kept_left": 1.0, "kept_right": 0.0}]
)


def test_a_pair_with_its_frames(tmp_path):
    files = []
    for index, colour in enumerate(["navy", "olive"]):
        files.append(tmp_path / f"{index}.png")
        Image.new("RGB", (100, 100), colour).save(files[-1])
    found = draw(ROW, CROPS, files, ("a", "b"), vertical=False, width=360)
    assert found["alt"] == "a next to b; ratio 1 keeps a"
    assert found["margin"] == "0.25"
    picture = Image.open(io.BytesIO(base64.b64decode(found["uri"].partition(",")[2])))
    assert picture.size == (360, 180)
    assert picture.getpixel((300, 90))[2] < 60 < picture.getpixel((300, 90))[0]  # olive on the right
    assert draw(ROW, CROPS, [tmp_path / "gone.png"] * 2, ("a", "b"), vertical=False, width=360) is None


def test_pairs_with_the_largest_and_smallest_margin_show_nobody_twice():
    generator = np.random.default_rng(0)
    names = [f"p{index}" for index in range(30)]
    frame = pd.DataFrame(
        {"left": generator.choice(names[:15], 200), "right": generator.choice(names[15:], 200),
         "max_left": generator.random(200), "max_right": generator.random(200), "status": "answered", "reason": ""}
    )  # fmt: skip
    far, near = chosen(frame)
    assert far["margin"].min() > near["margin"].max()
    for six in (far, near):
        people = [*six["left"], *six["right"]]
        assert len(six) == 6
        assert len(people) == len(set(people))
    some, nothing = chosen(frame.assign(max_left=np.nan))
    assert len(some) == 6
    assert nothing.empty
