# gslopes try enum_and_score.py:top
from enum import StrEnum, auto


class Colour(StrEnum):
    RED = auto()
    OTHER = auto()


def top(pil_image):
    red = pil_image.resize((1, 1)).getpixel((0, 0))[0] / 255
    return [(Colour.RED, red), (Colour.OTHER, 1 - red)]
