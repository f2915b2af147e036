"""Composing K edited chips into their photo, for small and large faces, gray and in colour, each blend, with the head.

    python tests/benches/bench_compose.py [--rounds 9] [--out FILE]

One face, an astronaut's, in a photo made as large as puts so many pixels from side to side of the chip; K = 7 values of
gender, or of race with the head. Milliseconds of the processor a face on one thread, and the floor: each pixel of the
box sampled once a picture if parts move, and once for each layer, the motion and the mask, at the rate of OpenCV's
cubic ``remap``; and the layers, 12 bytes a pixel, read twice and the pictures, 3 bytes, written once at the rate of a
copy. A gray edit has one channel, so that it may be below that floor.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.core.geometry import scale_of, warp  # noqa: E402
from gslopes.core.records import Face, Photo  # noqa: E402
from gslopes.faces import zoo  # noqa: E402
from gslopes.faces.compose.paste import compose  # noqa: E402
from gslopes.faces.compose.skin import ParserMasker  # noqa: E402
from gslopes.faces.edit.editors import editor_of  # noqa: E402
from gslopes.faces.find import MtcnnFinder, choose  # noqa: E402
from gslopes.slopes.demo import astronaut  # noqa: E402

VALUES = np.linspace(-2, 2, 7, dtype=np.float32)
SIZE = 128
SIDES = (64, 128, 256, 512, 1024)  # of the chip in the photo, pixels
WAYS = (
    ("ratio", False, False), ("ratio", True, False), ("difference", False, False), ("difference", True, False),
    ("paste", False, False), ("ratio", False, True), ("ratio", True, True),
)  # blend, gray, with the head  # fmt: skip


class Case:
    """A photo in which the chip is so many pixels wide, and everything that comes before composing."""

    def __init__(self, side: int, gray: bool) -> None:
        whole = astronaut()
        (found,) = MtcnnFinder()([Photo("", Path(), whole)])
        first = choose(found, whole.shape[1], whole.shape[0], 20)
        assert isinstance(first, Face)
        factor = side / SIZE * scale_of(first.matrix)
        pixels = cv2.resize(whole, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        if gray:
            pixels = np.repeat(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)[..., None], 3, 2)
        matrix = first.matrix.copy()
        matrix[:, :2] /= factor
        self.photo = Photo("", Path(), pixels, gray)
        self.face = Face(first.box * factor, first.points * factor, 1.0, 1, matrix)
        self.chips = warp(pixels, matrix, SIZE)[None]
        masker = ParserMasker(zoo.load("face-parser"))
        arguments = [self.photo], [self.face], self.chips
        self.mask = masker(*arguments)[0]
        self.head = masker.heads(*arguments)[0]
        self.swept = {}
        for name in ("gender-field", "race-field"):
            editor = editor_of(name)
            self.swept[name, True] = editor.sweep_ends(self.chips, VALUES)
            self.swept[name, False] = editor.sweep(self.chips, VALUES)

    def composed(self, blend: str, head: bool):
        swept = self.swept["race-field" if head else "gender-field", blend == "ratio"].of(0)
        place = self.mask, self.face.matrix, blend, self.head if head else None
        return compose(self.photo.pixels, self.photo.gray, swept, *place)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    picture = np.random.default_rng(0).random((256, 256, 3), np.float32)
    y, x = np.mgrid[:256, :256].astype(np.float32) + np.float32(0.3)
    runs = {"remap": lambda: cv2.remap(picture, x, y, cv2.INTER_CUBIC)}
    cubic = min(measure.in_turn(runs, 15, clock=time.thread_time)["remap"]) / 256**2  # a pixel
    memory = 1 / measure.copy_rate()  # a byte
    cases = {(side, gray): Case(side, gray) for side in SIDES for gray in (False, True)}
    rows = []
    for side in SIDES:
        runs = {
            (blend, gray, head): partial(cases[side, gray].composed, blend, head)
            for blend, gray, head in WAYS
        }
        seconds = measure.in_turn(runs, args.rounds, clock=time.thread_time)
        for (blend, gray, head), times in seconds.items():
            composite = runs[blend, gray, head]()
            pixels = composite.weight.size
            layers = 2 if blend == "ratio" and not head else len(VALUES)
            samples = len(VALUES) * (composite.motion is not None) + layers + 2
            floor = pixels * (samples * cubic + (2 * 12 * layers + 3 * len(VALUES)) * memory)
            rows.append(
                {
                    "side": side, "box": list(composite.weight.shape), "blend": blend, "gray": gray, "head": head,
                    "ms": round(1000 * float(np.median(times)), 2), "floor_ms": round(1000 * floor, 2),
                }
            )  # fmt: skip
    machine = measure.machine(packages=("torch", "opencv-contrib-python-headless"))
    facts = {"bench": "compose", "machine": machine, "values": len(VALUES), "rounds": args.rounds}
    facts |= {
        "cubic_ns_a_pixel": round(1e9 * cubic, 2),
        "copy_gb_a_second": round(1e-9 / memory, 1),
    }
    measure.say({**facts, "faces": rows}, args.out)


if __name__ == "__main__":
    main()
