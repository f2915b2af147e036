"""What all pages share: their templates, data that cannot end its script, and the hashes that their policies let in."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"


@cache
def templates(*folders: Path) -> Environment:
    """The templates of all pages, and of ``folders``: everything is escaped, and an unknown name is an error."""
    return Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, styles: Iterable[Path], *folders: Path, **known: Any) -> str:
    """A page as text.

    styles: the style sheets, which are joined in order.  folders: of more templates.  known: what the template uses.
    """
    css = "".join(path.read_text("utf-8") for path in styles)
    return templates(*folders).get_template(template).render(css=Markup(css), css_hash=csp_hash(css), **known)


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
