"""How every page is made: one shell template, one style sheet, and a policy that lets in only their hashes."""

import base64
import io
import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup
from pandas import DataFrame
from PIL import Image

from gslopes.report import numbers, units, words

TEMPLATES = Path(__file__).parent / "templates"
_VENDOR = Path(__file__).parent / "vendor"
_LIBRARY = ("d3.min.js", "plot.umd.min.js")
# The style that Observable Plot puts into each of its plots, so that the policy can let it in.
_PLOT_STYLE = """\
:where(.chart) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.chart text),
:where(.chart tspan) {
  white-space: pre;
}"""


class _Compiled(FileSystemBytecodeCache):
    """Where Python keeps compiled modules; a folder that cannot be written keeps none."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


@cache
def templates(house: Path | str | None = None, escape: bool = True) -> Environment:
    """The templates of all pages and those in the folder ``house``; an unknown name is an error.

    house: a folder, or the ``__file__`` of a module beside which they lie.  escape: all is escaped, as in every page.
    """
    if isinstance(house, str):
        house = Path(house).parent
    environment = Environment(
        loader=FileSystemLoader([*filter(None, [house]), TEMPLATES]),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # what is compiled holds no result of our own functions, which may change
        bytecode_cache=None
        if sys.dont_write_bytecode
        else _Compiled(str(TEMPLATES.parent / "__pycache__"), f"{escape:d}-%s.j2c"),
    )
    environment.globals |= {"numbers": numbers, "units": units, "words": words}
    environment.filters |= {
        "csp_hash": csp_hash,
        "printable": words.printable,
        "model": words.model,
        "many": words.many,
        "thousands": lambda number: f"{number:,}",
        "decimal": numbers.decimal,
        "size": numbers.size,
    }
    return environment


def render(
    template: str,
    *,
    house: Path | None = None,
    styles: Iterable[str] = (),
    scripts: Iterable[str] = (),
    data: Any = None,
    plots: bool = False,
    **variables: Any,
) -> str:
    """A page as text; its template extends ``shell.html.j2``.

    house: the folder of more templates, styles and scripts.  styles: after page.css.  scripts: in order, after fold.js.
    data: what the scripts read as JSON.  plots: with the plotting library, and data files next to the page.
    variables: what the template uses.
    """
    css = "".join(_read(name, house) for name in ("page.css", *styles))
    js = "".join(_read(name, house) for name in ("fold.js", *scripts))
    code = [f'"use strict";\n(() => {{\n{js}}})();\n']
    if plots:
        code.insert(0, "\n".join((_VENDOR / name).read_text(encoding="utf-8") for name in _LIBRARY))
    return (
        templates(house)
        .get_template(template)
        .render(
            css=Markup(css),
            scripts=[Markup(text) for text in code],
            data=None if data is None else Markup(inline_json(data)),
            styles=[css, *[_PLOT_STYLE] * plots],
            plots=plots,
            **variables,
        )
    )


def plain(template: str, house: Path | str | None = None, **variables: Any) -> str:
    """A text that is no page, such as lines for a terminal: nothing is escaped, and the last line has no break.

    house: as of ``templates``.
    """
    return templates(house, False).get_template(template).render(**variables).rstrip("\n")


def listed(
    cells: Mapping[str, str],
    rows: Iterable[Mapping[Any, Any]],
    house: Path | None = None,
    **variables: Any,
) -> DataFrame:
    """Texts, a row for each row: column to its cell, a template of plain text as TOML has it.

    house, variables: as of ``render``, next to the row's own columns and the ``row`` as a whole.

    >>> listed({"pair": "{{ a }} over {{ b }}"}, [{"a": 1, "b": 2}])["pair"].tolist()
    ['1 over 2']
    """
    environment = templates(house, False)
    made = {column: environment.from_string(text) for column, text in cells.items()}
    texts = [[cell.render(row, row=row, **variables) for cell in made.values()] for row in rows]
    return DataFrame(texts, columns=list(cells), dtype=object)


def _read(name: str, house: Path | None) -> str:
    path = house / name if house is not None and (house / name).is_file() else TEMPLATES / name
    return path.read_text(encoding="utf-8")


def inline_json(content: Any) -> str:
    r"""JSON without line breaks for a script element; untrusted text cannot close the element.

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


def data_uri(data: bytes, kind: str) -> str:
    """An encoded picture as an address.  kind: png, jpeg."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def jpeg_uri(picture: Image.Image, quality: int = 80) -> str:
    """A picture as an address, encoded as JPEG."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return data_uri(buffer.getvalue(), "jpeg")
