"""What servers make of a key that they echo: each form is taken out of every text and every answer."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus


def plain(text: str) -> str:
    """Letters and digits, in lower case."""
    return "".join(char for char in text.lower() if char.isalnum())


def _every(pattern: str) -> Callable[[str], str]:
    return lambda secret: "".join(pattern.format(ord(char)) for char in secret)


def _between(filling: str) -> Callable[[str], str]:
    return lambda secret: filling.join(secret)


def _b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "url": lambda secret: quote(secret, safe=""),
    "plus": quote_plus,
    "url twice": lambda secret: quote(quote(secret, safe=""), safe=""),
    "url three times": lambda secret: quote(quote(quote(secret, safe=""), safe=""), safe=""),
    "url, every character": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "url of old scripts": _every("%u{:04x}"),
    "hex": lambda secret: secret.encode().hex(),
    "HEX": lambda secret: secret.encode().hex().upper(),
    "hex with colons": lambda secret: secret.encode().hex(":"),
    "hex with blanks": lambda secret: secret.encode().hex(" "),
    "hex of C": lambda secret: " ".join(f"0x{byte:02x}" for byte in secret.encode()),
    "hex of base64": lambda secret: _b64(secret).encode().hex(),
    "decimal": lambda secret: ", ".join(map(str, secret.encode())),
    "base64": _b64,
    "base64 in small letters": lambda secret: _b64(secret).lower(),
    "base64 twice": lambda secret: _b64(_b64(secret)),
    "base64 of it reversed": lambda secret: _b64(secret.encode()[::-1]),
    "base64 reversed": lambda secret: _b64(secret)[::-1],
    "base64 in an address": lambda secret: quote(_b64(secret), safe=""),
    "base64 in lines": lambda secret: "\n".join(_b64(secret)[at : at + 4] for at in range(0, 99, 4)).strip(),
    "url-safe base64": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "base64 of user:password": lambda secret: _b64(f"me:{secret}"),
    "base64 of another user": lambda secret: _b64(f"user:{secret}!"),
    "base64 in a sentence": lambda secret: _b64(f"a key: {secret} and more"),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "base32 of user:password": lambda secret: base64.b32encode(f"me:{secret}".encode()).decode(),
    "base64 of base32": lambda secret: _b64(base64.b32encode(secret.encode())),
    "JSON": lambda secret: json.dumps(secret)[1:-1].replace("/", "\\/"),
    "JSON, every character": _every("\\u{:04x}"),
    "JSON, within JSON": lambda secret: json.dumps("".join(f"\\u{ord(char):04X}" for char in secret))[1:-1],
    "JSON, some characters": lambda secret: "".join(
        f"\\u{ord(char):04x}" if place % 3 == 0 else char for place, char in enumerate(secret)
    ),
    "Python": _every("\\x{:02x}"),
    "octal": _every("\\{:03o}"),
    "newer scripts": _every("\\u{{{:x}}}"),
    "HTML": _every("&#{};"),
    "HTML, hex": _every("&#x{:X};"),
    "HTML, without ends": _every("&#x{:04x}"),
    "HTML, twice": lambda secret: "".join(f"&amp;#{ord(char)};" for char in secret),
    "HTML, tags": _between("<b></b>"),
    "HTML, names": _between("&ZeroWidthSpace;"),
    "HTML in JSON": lambda secret: "".join(f"\\u0026#{ord(char)};" for char in secret),
    "code points": lambda secret: " ".join(f"U+{ord(char):04X}" for char in secret),
    "with blanks": _between(" "),
    "with dashes": _between("-"),
    "with dots": _between(". "),
    "with newlines": _between("\n"),
    "with newlines of JSON": _between("\\n"),
    "with characters that do not show": _between("\u200b"),
    "with soft hyphens of JSON": _between("\\u00ad"),
    "with accents": _between("\u0308"),
    "with NUL": _between("\0"),
    "in capitals": str.upper,
    "in small letters": str.lower,
    "cases swapped": str.swapcase,
    "wide": lambda secret: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in secret),
    "reversed": lambda secret: secret[::-1],
    "reversed, with blanks": lambda secret: " ".join(secret[::-1]),
    "reversed, in an address": lambda secret: quote(secret[::-1], safe=""),
}
