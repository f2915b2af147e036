"""What each stage of the walk reads and makes, for its stamp."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, summary, tables
from gslopes.core.config import to_dict
from gslopes.core.runfolder import SYNTHESIS
from gslopes.faces.gate.verdict import GateConfig
from gslopes.frame.sources import manifests
from gslopes.frame.stamps import digest, listed, program
from gslopes.slopes.config import FitConfig
from gslopes.slopes.plan import Plan, identity

FITTED = (
    *(tables.SLOPES, tables.SHAPE, tables.GROUPS, tables.DIFFERENCES, tables.BALANCE),
    *(tables.PLACEBOS, tables.REFUSALS, tables.REACH, tables.GATING, tables.ERROR_RATES, tables.ERROR_SLOPES),
    tables.OBSERVED,
)
READ = (
    "scores",
    "asked",
    "photos",
    "dropped-scores",
    "dropped-asked",
    "verdicts",
    "readings",
    "unedited/scores",
    "unedited/asked",
)


def synthesis_reads(plan: Plan, models: Mapping[str, Any]) -> dict[str, Any]:
    """What the tables of photos and pictures follow from: the run's identity, and who made the photos."""
    return {
        **program(),
        "run": identity(plan, dict(models)),
        "sources": list(map(digest, manifests(plan.config.photos))),
    }


def gate_reads(run: Path, config: GateConfig, reader: str) -> dict[str, Any]:
    """What the verdicts of a run follow from, and the thresholds that ``run.json`` tells.

    reader: the sha256 of who reads the pictures.
    """
    sentence = runfolder.read_manifest(run).get("gate", {}).get("thresholds")
    pictures = listed(run, run / "parts" / SYNTHESIS)
    return {**program(), "gate": to_dict(config), "reader": reader, "thresholds": sentence, "parts": pictures}


def fit_reads(run: Path, config: FitConfig, values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """What the slopes of a run follow from.

    values, seed: of the run.
    """
    files = {name: digest(run / f"{name}.parquet") for name in READ}
    about = None if config.photos_csv is None else digest(config.photos_csv)
    return {**program(), "files": files, "about": about, "fit": to_dict(config), "values": values, "seed": seed}


def fit_made(run: Path) -> list[Path]:
    """The tables that the fit writes."""
    return [run / f"{table.name}.parquet" for table in FITTED]


def report_reads(run: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the report of a run follows from: every table, ``run.json`` and the files next to them; the pictures
    by their names, sizes and times, since each is written once and they may be half a million; the models' cards.

    options: thresholds and what is embedded.
    """
    from gslopes.slopes.report.page import cards

    names = sorted(path.name for path in run.iterdir() if path.is_file() and path.name[0] != ".")
    files = {name: digest(run / name) for name in names if name != summary.NAME}  # which the report makes
    pictures = listed(run, run / "edits")
    known = [list(card) for card in cards(runfolder.read_manifest(run))]
    return {**program(), "files": files, "pictures": pictures, "cards": known, "options": dict(options)}


def report_made(run: Path) -> list[Path]:
    """The files of the report, and the summary."""
    return [run / summary.NAME, *(path for path in (run / "report").rglob("*") if path.is_file())]
