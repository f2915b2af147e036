# gslopes try enum_labels.py:classify
from enum import Enum


class Colour(Enum):
    RED = "red"
    GREEN = "green"


def classify(image):
    red, green, _ = image.reshape(-1, 3).mean(0) / 255
    return {Colour.RED: red, Colour.GREEN: green}
