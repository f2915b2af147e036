"""The page of a crop audit: tables of a run folder in, one page out; no torch, no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_crops_report"]


def write_crops_report(run: Path | str, *, photos: Mapping[str, Path] | None = None, embed: str = "thumbs") -> Path:
    """Write RUN/report/index.html and parity, aggregates and policies as CSV, Markdown and LaTeX; return the page.

    run: the run folder of ``gslopes crops``.  photos: path in people.csv to file, for pictures; none without it.
    embed: ``thumbs``: small pictures in the page; ``full``: larger ones; ``none``: no picture, no file name.

    Raises: UsageError if it is no such run folder, or for another ``embed``; TableError, StorageError.
    """
    from gslopes.crops.report.page import write

    return write(Path(run), photos or {}, embed)
