"""What editors give for a picture: how it is kept, as JSON, and how a picture is told from anything else."""

import base64
import re
from typing import Any

from gslopes.ask.pictures import in_base64
from gslopes.ask.secrets import PICTURE
from gslopes.core.records import Answer

_FILE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|RIFF....WEBP", re.DOTALL)
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,")
_URL_SAFE = str.maketrans("-_", "+/")  # to the usual base64


def is_picture(data: bytes) -> bool:
    """Whether these are the bytes of a PNG, JPEG or WebP file, by how they begin.

    >>> is_picture(b"<html>"), is_picture(bytes.fromhex("ffd8ffe0"))
    (False, True)
    """
    return bool(_FILE.match(data))


def kept(picture: bytes, version: str = "") -> dict[str, str]:
    """The raw answer with a picture.  picture: the bytes of its file.  version: of the model, if it is told."""
    return {"picture": in_base64(picture), "version": version}


def answer_of(raw: Any) -> Answer:
    """The answer that a raw one holds, as ``kept`` makes it; ``{"refused": reason}`` is a refusal."""
    version = raw.get("version", "")
    if "refused" in raw:
        return Answer("refused", (), str(raw["refused"]), version)
    return Answer("answered", picture=base64.b64decode(raw["picture"]), version=version)


def picture_within(text: str) -> bytes:
    """The file that a text is in base64, also as a ``data:`` address; empty if it is none."""
    plain = "".join(_DATA_URL.sub("", text, count=1).split()).translate(_URL_SAFE).rstrip("=")
    if not PICTURE.fullmatch(plain) or len(plain) % 4 == 1:
        return b""
    data = base64.b64decode(plain + "=" * (-len(plain) % 4))
    return data if is_picture(data) else b""
