"""Fonts for letters that matplotlib's own lacks: looked for among those of this machine, or named to be installed.

Shaping and direction are matplotlib's, from 3.11 on.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from gslopes.core.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontEntry

CHIEF = "DejaVu Sans"  # comes with matplotlib
BOLD = 600


def fit(figure: Figure) -> None:
    """Give each text of a figure the fonts that have its letters, as far as there are any."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        fonts = _fonts(text.get_text())[0]
        if fonts:
            text.set_fontfamily([CHIEF, *fonts])
            bold = {entry.name for entry in _installed() if int(entry.weight) >= BOLD}
            text.set_fontweight(text.get_fontweight() if bold.issuperset(fonts) else "normal")


def advice(texts: Iterable[str]) -> list[str]:
    """The sentence that says which fonts to install, if figures with these texts need any."""
    missing = sorted(set().union(*(_fonts(text)[1] for text in texts)))
    if not missing:
        return []
    named = " and ".join(dict.fromkeys(map(_advised, missing)))
    letters = printable("".join(missing[:8]) + "…" * (len(missing) > 8))
    return [f"No font here has {letters}, which figures show as boxes. Install {named} and make the report again."]


def isolated(text: str) -> str:
    """A text within a sentence whose order it must not turn round: between FSI and PDI where it runs to the left."""
    turned = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if turned else text


def _advised(char: str) -> str:
    if unicodedata.category(char) == "So" or "\U0001f000" <= char < "\U00020000":
        return "Symbola (fonts-symbola)"
    wide = unicodedata.east_asian_width(char) in "WF"
    return "Noto Sans CJK (fonts-noto-cjk)" if wide else "Noto Sans (fonts-noto-core)"


@cache
def _fonts(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The families that have what the chief font lacks of a text, and what none has."""
    if text.isascii():
        return (), frozenset()
    from matplotlib.font_manager import FontPath, findfont, get_font

    def lacking(chars: Iterable[str], path: FontPath | str) -> set[str]:
        font = get_font(path)
        return {char for char in chars if not font.get_char_index(ord(char))}

    missing = lacking(filter(_seen, text), findfont(CHIEF))
    names = " ".join(unicodedata.name(char, "") for char in text)
    form = "JP" if "KATAKANA" in names or "HIRAGANA" in names else "KR" if "HANGUL" in names else "SC"
    fonts: list[str] = []
    for entry in sorted(_installed(), key=lambda entry: (not entry.name.endswith(form), entry.name)):
        if missing and entry.style == "normal":
            left = lacking(missing, FontPath(entry.fname, entry.index))
            fonts += [entry.name] if left < missing else []
            missing = left
    return tuple(fonts), frozenset(missing)


def _seen(char: str) -> bool:
    """Whether a letter is drawn; the last are variations, as of emoji."""
    return unicodedata.category(char) not in ("Cc", "Cf", "Cn", "Co") and not "\ufe00" <= char <= "\ufe0f"


@cache
def _installed() -> list[FontEntry]:
    """What matplotlib knows, and what was installed since it last looked."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    for path in sorted({*findSystemFonts()} - {entry.fname for entry in fontManager.ttflist}):
        with suppress(OSError, RuntimeError, NotImplementedError):  # as fonts of bitmaps
            fontManager.addfont(path)
    return [entry for entry in fontManager.ttflist if "resort" not in entry.name.lower()]  # a box for every letter
