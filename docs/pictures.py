"""Draw the pictures of the site and of README. The people are drawn, so that no one's photo is shown.

python docs/pictures.py
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from gslopes.ask.croppers import load_cropper
from gslopes.core.records import ByteArray
from training import drawn
from training.rooms import draw_scene

FOLDER = Path(__file__).parent / "pages/pictures"
GAP, ROW = 6, 200  # pixels between pictures; the height of a row
INK = (40, 40, 44)


def person(seed: int, **traits: float) -> ByteArray:
    """A drawn person, (ROW, ROW, 3) RGB."""
    return drawn.render(drawn.sample(1, seed, pose=0).replace(**traits), ROW).pixels[0]


def row(pictures: list[ByteArray]) -> ByteArray:
    """Pictures of one height side by side, with white between them."""
    gap = np.full((pictures[0].shape[0], GAP, 3), 255, np.uint8)
    return np.concatenate([part for picture in pictures for part in (picture, gap)][:-1], axis=1)


def contexts() -> ByteArray:
    """One person before four rooms."""
    first, other = (
        person(4, gender=-1.0, background=shade, background_shade=shade) for shade in (0.0, 1.0)
    )
    same = (np.abs(first.astype(int) - other).max(2) < 8).astype(np.uint8)
    mask = cv2.GaussianBlur(
        cv2.morphologyEx(same, cv2.MORPH_CLOSE, np.ones((5, 5))).astype(np.float32), (3, 3), 0
    )
    made = []
    for room in ("nursery", "garage", "wedding-shop", "sports-bar"):
        scene = draw_scene(room, width=300, height=ROW).astype(np.float32)
        share = np.zeros((ROW, 300, 1), np.float32)
        share[:, 50:250, 0] = mask
        figure = np.zeros_like(scene)
        figure[:, 50:250] = first
        made.append((share * figure + (1 - share) * scene).round().astype(np.uint8))
    return row(made)


def crops() -> ByteArray:
    """A pair in both orders; the frame is what a saliency model's crop keeps."""
    left, right = person(3, gender=-1.2), person(9, gender=1.2)
    made = []
    for pair in ((left, right), (right, left)):
        joined = np.concatenate(
            [pair[0], np.full((ROW, ROW // 2, 3), 255, np.uint8), pair[1]], axis=1
        )
        (found,) = load_cropper("spectral-residual").maps([joined])
        place = np.unravel_index(np.argmax(found.scores), found.scores.shape)
        x = round(float(place[1] + 0.5) * joined.shape[1] / found.scores.shape[1])
        start = int(np.clip(x - ROW // 2, 0, joined.shape[1] - ROW))
        shown = (0.45 * joined + 0.55 * 255).astype(np.uint8)
        shown[:, start : start + ROW] = joined[:, start : start + ROW]
        made.append(
            cv2.rectangle(shown, (start + 1, 1), (start + ROW - 2, ROW - 2), (214, 84, 30), 3)
        )
    return row(made)


def captions() -> ByteArray:
    """A face at three values, each with what a made-up captioner says about it."""
    said = {-2.0: "A nurse smiles.", 0.0: "A person smiles.", 2.0: "A doctor smiles."}
    made = []
    for value, caption in said.items():
        card = np.full((ROW + 34, ROW + 60, 3), 255, np.uint8)
        card[:ROW, 30 : 30 + ROW] = person(4, gender=value, smile=0.8)
        width = cv2.getTextSize(caption, cv2.FONT_HERSHEY_SIMPLEX, 0.6, 1)[0][0]
        cv2.putText(
            card,
            caption,
            ((ROW + 60 - width) // 2, ROW + 23),
            cv2.FONT_HERSHEY_SIMPLEX,
            0.6,
            INK,
            1,
            cv2.LINE_AA,
        )
        made.append(card)
    return row(made)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for draw in (contexts, crops, captions):
        Image.fromarray(draw()).quantize(128).save(FOLDER / f"{draw.__name__}.png", optimize=True)
