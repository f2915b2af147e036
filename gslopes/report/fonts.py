"""Fonts for letters that matplotlib's own lacks: of this machine, or named to be installed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontEntry

CHIEF = "DejaVu Sans"  # comes with matplotlib
_FORMS = {"KATAKANA": "JP", "HIRAGANA": "JP", "HANGUL": "KR"}  # of Noto's families, by script


def fit(figure: Figure) -> None:
    """Give each text of a figure the fonts that have its letters, as far as there are any."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if families := _looked_up(text.get_text())[0]:
            text.set(fontfamily=[CHIEF, *families], fontweight="normal")  # few have a bold face


def advice(texts: Iterable[str]) -> list[str]:
    """The sentence that names the fonts to install, if figures with these texts need any."""
    missing = sorted(set().union(*(_looked_up(text)[1] for text in texts)))
    what = f"No font here has {''.join(missing[:8])}, which figures show as boxes."
    named = " and ".join(dict.fromkeys(map(_to_install, missing)))
    if missing:
        return [f"{what} Install {named} and make the report again."]
    return []


def isolated(text: str) -> str:
    """A text in a sentence that it must not turn round, if it runs from right to left."""
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in text):
        return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
    return text


def _to_install(char: str) -> str:
    if unicodedata.category(char) == "So" or "\U0001f000" <= char < "\U00020000":
        return "Noto Emoji or Symbola (fonts-symbola)"
    if unicodedata.east_asian_width(char) in "WF":
        return "Noto Sans CJK (fonts-noto-cjk)"
    return "Noto Sans (fonts-noto-core)"


@cache
def _looked_up(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The families that have what the chief font's bold face lacks of a text, and what none has."""
    if text.isascii():
        return (), frozenset()
    from matplotlib.font_manager import FontPath, FontProperties, findfont, get_font

    names = " ".join(unicodedata.name(char, "") for char in text)
    form = next((form for script, form in _FORMS.items() if script in names), "SC")
    rest = sorted(
        _installed(),
        key=lambda entry: (entry.name != CHIEF, not entry.name.endswith(form), entry.name),
    )
    bold = findfont(FontProperties(family=[CHIEF], weight="bold"))
    missing = {char for char in text if char.isprintable()}
    families = []
    for family, path in [
        ("", bold),
        *((entry.name, FontPath(entry.fname, entry.index)) for entry in rest),
    ]:
        covered = {char for char in missing if get_font(path).get_char_index(ord(char))}
        if covered:
            families.append(family)
        missing -= covered
    return tuple(filter(None, families)), frozenset(missing)


@cache
def _installed() -> list[FontEntry]:
    """What matplotlib knows, and what was installed since it last looked."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    for path in {*findSystemFonts()} - {entry.fname for entry in fontManager.ttflist}:
        with suppress(OSError, RuntimeError, NotImplementedError):  # as fonts of bitmaps
            fontManager.addfont(path)
    return [
        entry for entry in fontManager.ttflist if "resort" not in entry.name.lower()
    ]  # a box for every letter
