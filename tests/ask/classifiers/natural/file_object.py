# gslopes try file_object.py
from typing import BinaryIO

from PIL import Image, ImageStat


def predict(file: BinaryIO):
    file.seek(0)
    return {"red": ImageStat.Stat(Image.open(file)).mean[0] / 255}
