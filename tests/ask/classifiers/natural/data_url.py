# gslopes try data_url.py
from io import BytesIO
from urllib.request import urlopen

from PIL import Image, ImageStat


def ask(image_url: str):
    with urlopen(image_url) as reply:
        assert reply.headers.get_content_type() in ("image/png", "image/jpeg")
        return {"red": ImageStat.Stat(Image.open(BytesIO(reply.read()))).mean[0] / 255}
