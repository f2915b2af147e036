"""The forms in which an echoed key is taken out of every text and every answer; SECURITY.md names them."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in capitals": str.upper,
    "percent": lambda secret: quote(secret, safe=""),
    "percent, of a form": quote_plus,
    "base64": lambda secret: b64encode(secret.encode()).decode(),
    "base64 of user:password": lambda secret: b64encode(f"me:{secret}".encode()).decode(),
    "base64 of another user": lambda secret: b64encode(f"user:{secret}!".encode()).decode(),
    "url-safe base64": lambda secret: urlsafe_b64encode(secret.encode()).decode(),
}
