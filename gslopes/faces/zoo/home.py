"""Where models/, training/ and weights/ are: a folder of the user's, the checkout, or inside the installed package."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
VARIABLE = "GSLOPES_HOME"


def homes() -> list[Path]:
    """Every folder that may hold models/, training/ and weights/, first come first served."""
    folders = [Path(os.environ[VARIABLE])] if os.environ.get(VARIABLE) else []
    checkout = PACKAGE.parent  # of an installed package this is site-packages, where others' folders may lie
    if (checkout / "pyproject.toml").is_file():
        folders.append(checkout)
    return [*folders, PACKAGE / "_assets"]


def find(folder: str, name: str) -> Path | None:
    """``<home>/<folder>/<name>`` in the first home that has it."""
    return next((home / folder / name for home in homes() if (home / folder / name).exists()), None)


def names(folder: str, inside: str = "") -> list[str]:
    """Names in a folder of all homes, sorted; ``inside`` keeps only folders that hold a file of that name."""
    found: set[str] = set()
    for home in homes():
        if (home / folder).is_dir():
            found.update(p.name for p in (home / folder).iterdir() if not inside or (p / inside).is_file())
    return sorted(found)
