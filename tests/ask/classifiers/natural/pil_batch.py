# gslopes try pil_batch.py
from collections.abc import Sequence

from PIL import Image, ImageStat


def rate(pics: Sequence[Image.Image]) -> list[tuple[str, float]]:
    return [("red", ImageStat.Stat(pic.convert("RGB")).mean[0] / 255) for pic in pics]
