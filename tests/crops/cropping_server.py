"""A loopback service that keeps the lighter half of a picture, and misbehaves."""

import io
import json
import threading
from collections import Counter
from contextlib import AbstractContextManager
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

from tests.loopback import QuietHandler, serving


def lighter(picture, ratio):
    """(left, top, width, height) of the lighter half, at height/width."""
    height, width = picture.shape[:2]
    wide, tall = (
        (min(round(height / ratio), width), height)
        if height / width <= ratio
        else (width, round(ratio * width))
    )
    left = picture[:, : width // 2].mean() > picture[:, width // 2 :].mean()
    return (0 if left else width - wide), 0, wide, tall


class Service:
    """troubles: the first answers, one after the other, instead of a rectangle.  refuse: whether it will not judge."""

    def __init__(self):
        self.troubles: list[str] = []
        self.refuse = lambda picture: False
        self.token = ""
        self.down = False
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.port = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/crop"


class _Handler(QuietHandler):
    def do_POST(self):  # noqa: N802 - the name that http.server looks up
        service, url = self.service, urlsplit(self.path)
        data = self.rfile.read(int(self.headers["Content-Length"]))
        ratio = float(parse_qs(url.query)["ratio"][0])
        with service.lock:
            service.asked[f"{sha256(data).hexdigest()}@{ratio:g}"] += 1
            trouble = service.troubles.pop(0) if service.troubles else ""
        if service.down:
            return self.send(503, b"down", "text/plain", {"Retry-After": "0"})
        if service.token and self.headers.get("Authorization") != f"Bearer {service.token}":
            return self.send(401, b"who are you", "text/plain")
        if trouble == "throttle":
            return self.send(429, b"", "text/plain", {"Retry-After": "0"})
        if trouble == "busy":
            return self.send(503, b"", "text/plain", {"Retry-After": "0"})
        if trouble == "page":
            return self.send(200, b"<html>Bad gateway</html>", "text/html")
        if trouble == "cut":
            return self.send(200, b'{"crop": {"x": 1, "y"', "application/json")
        picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        if service.refuse(picture):
            return self.send(422, b"policy", "text/plain")
        left, top, wide, tall = lighter(picture, ratio)
        answer = {"x": left, "y": top, "width": wide, "height": tall}
        return self.send(200, json.dumps(answer).encode(), "application/json")


def serve() -> AbstractContextManager[Service]:
    return serving(Service(), _Handler)
