"""Who made a photo and under which licence, next to each photo shown: from the run folder, untrusted texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gslopes.core.tables import SOURCES
from gslopes.report import words
from gslopes.report.words import link
from gslopes.slopes.report import tally

_LONG = 200  # characters of a text


@dataclass(frozen=True, slots=True)
class Credit:
    """One photo's: texts that can be shown, addresses that may be followed; empty where the source does not say."""

    title: str
    creator: str
    creator_url: str
    licence: str
    licence_url: str
    page: str


def read(run: Path) -> dict[str, Credit]:
    """Photo to credit; none if the photos were not collected.

    Raises: TableError if the table is damaged.
    """
    names = ["photo", "title", "creator", "creator_url", "licence", "licence_url", "page"]
    rows = tally.read(SOURCES, run, names).to_dict("records")
    return {
        str(row["photo"]): Credit(
            title=_text(row["title"]),
            creator=_text(row["creator"]),
            creator_url=link(row["creator_url"]),
            licence=_text(row["licence"]),
            licence_url=link(row["licence_url"]),
            page=link(row["page"]),
        )
        for row in rows
    }


def listing(known: Mapping[str, Credit], photos: Iterable[str]) -> dict[int, dict[str, Any]]:
    """Place in the list of photos to credit, as the page's scripts read it."""
    return {place: asdict(known[photo]) for place, photo in enumerate(photos) if photo in known}


def _text(value: object) -> str:
    return words.shorten(words.printable(value), _LONG)
