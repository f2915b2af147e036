"""``gslopes validate``: are the sweeps of a run folder fair counterfactuals?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, engine_options, examples, json_option, print_json


@click.command(
    short_help="Are the sweeps fair counterfactuals?",
    epilog=examples(
        "gslopes validate run",
        "gslopes validate run --photos-csv people.csv --groups gender --groups ethnicity",
        "gslopes validate run --tau 0.8 --off-target 0.1 --look all",
        "gslopes validate run --json > validity.json",
    ),
)
@click.argument("run", type=PATH)
@click.option(
    "--found", type=float, metavar="SHARE", help="Minimum share of values at which the face is found. [default: 1]"
)
@click.option("--tau", type=float, metavar="T", help="Minimum tau-b of the reading with the values. [default: 0.6]")
@click.option(
    "--shift", type=float, metavar="S", help="Minimum change of the reading, last minus first. [default: 0.1]"
)
@click.option("--off-target", type=float, metavar="S", help="Maximum slope of any other reading. [default: 0.15]")
@click.option("--look", metavar="ends|all", help="Values at which the face is looked for. [default: ends]")
@click.option("--photos-csv", type=PATH, metavar="CSV", help="A CSV with one row per photo, for --groups.")
@click.option("--groups", multiple=True, metavar="COLUMN", help="Column; the shift for each of its values.")
@click.option("--device", default="auto", metavar="auto|cpu|cuda[:N]", help="Where the networks run. [default: auto]")
@engine_options
@json_option
def validate(
    run: Path,
    photos_csv: Path | None,
    groups: tuple[str, ...],
    device: str,
    engine: str | None,
    workers: int | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Judge the sweeps of a run folder and summarise the verdicts.

    A sweep is kept if the face is still found, its reading follows the edit, other readings stay put, and mask and
    pixels change within bounds. New thresholds judge the sweeps anew without measuring again; gslopes score then asks
    about those that are kept.
    """
    from gslopes.core.config import from_dict
    from gslopes.core.runfolder import show
    from gslopes.core.runtime import pick_device
    from gslopes.executors import OneProcess
    from gslopes.executors.engines import Engine
    from gslopes.run import stages
    from gslopes.run.config import GateConfig
    from gslopes.run.likeness import compare_faces, recogniser
    from gslopes.run.validation import check_inputs, format_summary, keep_summaries, summarise

    config = from_dict(GateConfig, {name: value for name, value in given.items() if value is not None})
    executor = OneProcess(progress=True)
    several = Engine(executor, engine or "auto", workers, device)
    check_inputs(run, photos_csv, groups)
    stages.run_gate(run, several, config, device=pick_device(device))
    embed = recogniser()
    compared = compare_faces(run, embed, executor) if embed else None
    summaries = summarise(run, photos_csv, groups)
    keep_summaries(run, summaries)
    if as_json:
        print_json({"run": str(run), "attributes": [summary.facts() for summary in summaries]})
        return 0
    click.echo("\n\n".join(map(format_summary, summaries)) or "There are no sweeps.")
    if not any(summary.identity for summary in summaries) and embed is None:
        click.echo("\nWhether it is the same person was not measured: pip install 'gslopes[identity]'.", err=True)
    written = ["verdicts.parquet", "readings.parquet", *(["likeness.parquet"] if compared else [])]
    click.echo(f"\ntables     {show(run)}/{', '.join(written)}\nnext       {_next(run)}", err=True)
    return 0


def _next(run: Path) -> str:
    """The command that goes on from here: it depends on how far the run is."""
    from gslopes.core.runfolder import show

    if (run / "slopes.parquet").is_file():
        return f"gslopes report {show(run)}"
    return f"gslopes fit {show(run)}" if (run / "scores.parquet").is_file() else f"gslopes score {show(run)}"
