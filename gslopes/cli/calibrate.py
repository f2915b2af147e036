"""``gslopes calibrate``: the whole walk against planted biases whose truth is known."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.core.commands import flags, json_option, out_option, print_json, rows, say, verb
from gslopes.run.config import RunConfig


@verb(
    "gslopes calibrate",
    "gslopes calibrate --faces 3000 --sets 30 --out calibration --json",
)
@out_option("DIR", "The folder, made if missing. [default: gslopes-calibration]", default=Path("gslopes-calibration"))
@click.option(
    "--faces", type=click.IntRange(min=100), default=1000, metavar="N", help="Number of faces to draw. [default: 1000]"
)
@click.option(
    "--sets",
    type=click.IntRange(min=2),
    default=10,
    metavar="N",
    help="Number of audits to split them into. [default: 10]",
)
@flags(RunConfig, "seed", "device")
@json_option
def calibrate(out: Path, faces: int, sets: int, seed: int, device: str, as_json: bool) -> int:
    """Plant biases in a classifier of drawn faces, audit it, and compare with the truth.

    The truth is known because a drawn face can be drawn again with nothing but the cue changed. The editor has learned
    from faces whose hair, background and smile correlate with the cue. It needs no data and no network.
    """
    from gslopes.executors import OneProcess
    from gslopes.synthetic.planted import calibrate as run_calibration

    found = run_calibration(out, OneProcess(progress=True), faces=faces, sets=sets, seed=seed, device=device)
    if as_json:
        print_json(
            {"labels": rows(found.labels), "summary": found.summary, "reach": found.reach}
            | {"table": str(found.table), "picture": str(found.picture), "run": str(found.run)}
        )
        return 0
    say(f"\n{'planted':<28}{'truth':>8}{'recovered':>11}{'covered':>9}{'flagged':>9}{'naive':>8}{'flagged':>9}")
    for row in found.labels.itertuples(index=False):
        say(
            f"{row.label:<28}{row.truth:>+8.2f}{row.recovered:>+11.2f}{row.covered:>9.0%}{row.flagged:>9.0%}"
            f"{row.naive:>+8.2f}{row.naive_flagged:>9.0%}"
        )
    summary = found.summary
    say(
        f"\nPercentage points per unit of the attribute (photo-rate), means of {sets} audits of {faces // sets} photos."
        f"\nThe edit moves the drawn cue {found.reach:.2f} times as far as drawing the face again."
        f"\nerror (root mean square)       walk {summary['error']:.2f}, per unit of the cue seen "
        f"{summary['error_per_reach']:.2f}, naive {summary['error_naive']:.2f}"
        f"\n95 % intervals hold a planted  {summary['covered']:.0%}, per unit of the cue seen "
        f"{summary['covered_per_reach']:.0%}"
        f"\nflagged with nothing planted   walk {summary['false_positives_nothing']:.1%}, naive "
        f"{summary['naive_false_positives_nothing']:.1%}"
        f"\nflagged, confounder alone      walk {summary['false_positives_confounder_only']:.1%}, naive "
        f"{summary['naive_false_positives_confounder_only']:.1%}"
        f"\nfinding, nothing or confounder walk {summary['findings_nothing']:.1%}, "
        f"{summary['findings_confounder_only']:.1%}"
    )
    say(f"\ntable    {found.table}\npicture  {found.picture}", err=True)
    return 0
