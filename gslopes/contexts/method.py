"""How a run of ``gslopes contexts`` differs from its paper."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gslopes.contexts.tables import TABLES
from gslopes.core import runfolder, tables
from gslopes.core.files import read_json
from gslopes.report.choices import Choice, read_choices

FILE = Path(__file__).parent / "data" / "method.toml"
SETTINGS = Path("report", "settings.json")  # in a run folder: of its last analysis
DRAWN = {"rendered", "packaged"}


def of_run(run: Path) -> tuple[str, list[Choice]]:
    """The paper, and its choices next to those of the run.

    Raises: UsageError if there is no manifest.
    """
    pictures = runfolder.read_manifest(run).get("config") or {}
    file = run / SETTINGS
    analysis = read_json(file) if file.is_file() else {}
    made = {
        "photographs": _photographs(run),
        "backgrounds from": ", ".join(DRAWN & set(pictures.get("backgrounds") or ())) or "photographs",
        "colours": _colours(pictures),
        "typology": list(analysis.get("typology") or ["celeba or starter, by the tagger"]),
        "level": [analysis.get("alpha", 0.05), analysis.get("family", "contexts")],
    }
    return read_choices(FILE, {**pictures, **analysis, **made})


def _colours(pictures: Mapping[str, Any]) -> str:
    """Whose colours the backgrounds have."""
    if pictures.get("palettes"):
        return f"each room in {', '.join(pictures['palettes'])}"
    return "drawn" if DRAWN & set(pictures.get("backgrounds") or ()) else "its photograph's"


def _photographs(run: Path) -> str:
    """How many pictures a context has."""
    if not (run / "backgrounds.parquet").is_file():
        return "not known"
    rows = tables.read(TABLES["backgrounds"], run / "backgrounds.parquet")
    many = sorted(set(rows.loc[rows["status"] == "used", "context"].value_counts()))
    return "one" if many == [1] else " to ".join(map(str, dict.fromkeys([many[0], many[-1]]))) if many else "none"
