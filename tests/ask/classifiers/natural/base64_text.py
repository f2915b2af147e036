# gslopes try base64_text.py
import base64
import io

from PIL import Image, ImageStat


def classify(image_b64: str) -> dict:
    image = Image.open(io.BytesIO(base64.b64decode(image_b64, validate=True)))
    return {"red": ImageStat.Stat(image).mean[0] / 255}
