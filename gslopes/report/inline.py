"""What a page carries in itself: data that cannot end its script, and the hashes that its policy lets in."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any


def inline_json(content: Any) -> str:
    r"""JSON without line breaks for a script element; texts of strangers cannot close the element.

    >>> inline_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def csp_hash(text: str) -> str:
    """The SHA-256 by which a Content-Security-Policy lets in an inline script or style, in base64.

    >>> csp_hash("alert('Hello, world.');")
    'qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='
    """
    return base64.b64encode(sha256(text.encode()).digest()).decode()
