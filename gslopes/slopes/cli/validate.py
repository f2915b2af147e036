"""``gslopes validate``: are the sweeps of a run folder fair counterfactuals?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.options import build
from gslopes.faces.gate.verdict import GateConfig
from gslopes.frame.commands import PATH, flags, json_option, options, print_json, say, verb
from gslopes.slopes.config import RunConfig


@verb(
    "gslopes validate run",
    "gslopes validate run --photos-csv people.csv --groups gender --groups ethnicity",
    "gslopes validate run --tau 0.8 --off-target 0.1 --look all",
    "gslopes validate run --json > validity.json",
)
@click.argument("run", type=PATH)
@options(GateConfig, leave_out=("gate",))
@click.option("--photos-csv", type=PATH, metavar="CSV", help="A CSV with one row per photo, for --groups.")
@click.option("--groups", multiple=True, metavar="COLUMN", help="Column; the shift for each of its values.")
@flags(RunConfig, "device", "engine", "workers")
@json_option
def validate(
    run: Path,
    photos_csv: Path | None,
    groups: tuple[str, ...],
    device: str,
    engine: str,
    workers: int | None,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Judge the sweeps of a run folder and summarise the verdicts.

    A sweep is kept if the face is still found, its reading follows the edit, other readings stay put, and mask and
    pixels change within bounds. New thresholds judge the sweeps again without measuring again; gslopes score then asks
    about those that are kept.
    """
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess
    from gslopes.frame.executors.engines import Engine
    from gslopes.slopes.validation import format_summary
    from gslopes.slopes.walk import judge_run

    config = build(GateConfig, options)
    executor = Engine(OneProcess(progress=True), engine, workers, device)
    summaries = judge_run(run, config, photos_csv, groups, device=device, executor=executor)
    if as_json:
        print_json({"run": str(run), "attributes": [summary.facts() for summary in summaries]})
        return 0
    say("\n\n".join(map(format_summary, summaries)) or "There are no sweeps.")
    written = [name for name in ("verdicts", "readings") if (run / f"{name}.parquet").is_file()]
    tables = ", ".join(f"{name}.parquet" for name in written)
    say(f"\ntables     {show(run)}/{tables}\nnext       {_next(run)}", err=True)
    return 0


def _next(run: Path) -> str:
    """The command that goes on from here: it depends on how far the run is."""
    from gslopes.core.runfolder import show

    done = {"slopes": "report", "scores": "fit"}
    verb = next((verb for table, verb in done.items() if (run / f"{table}.parquet").is_file()), "score")
    return f"gslopes {verb} {show(run)}"
