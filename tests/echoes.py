"""The forms in which an echoed key is taken out of every text and every answer; SECURITY.md names them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from urllib.parse import quote, quote_plus


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in capitals": str.upper,
    "percent": lambda secret: quote(secret, safe=""),
    "percent, of a form": quote_plus,
    "base64": _b64,
    "base64 of user:password": lambda secret: _b64(f"me:{secret}"),
    "base64 of another user": lambda secret: _b64(f"user:{secret}!"),
    "url-safe base64": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
}
