"""``gslopes demo``: what gslopes does, without data and without network."""

import math
from pathlib import Path
from typing import cast

import click

from gslopes.frame.commands import flags, json_option, out_option, print_json, rows, say, verb
from gslopes.slopes.config import RunConfig


@verb(
    "gslopes demo",
    "gslopes demo --out somewhere --faces 60",
)
@out_option(
    "DIR", "The folder, made if missing. [default: gslopes-demo]", default=Path("gslopes-demo")
)
@click.option(
    "--faces",
    type=click.IntRange(30, 240),
    default=240,
    metavar="N",
    help="Drawn faces to audit. [default: 240]",
)
@flags(RunConfig, "seed", "device")
@json_option
def demo(out: Path, faces: int, seed: int, device: str, as_json: bool) -> int:
    """Audit drawn faces with a classifier whose bias was planted, then sweep one real photo.

    It needs no data and no network, and takes a few minutes on two cores at most.
    """
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.demo import demo as run_demo

    result = run_demo(out, OneProcess(progress=True), faces=faces, seed=seed, device=device)
    pages = {
        "page": result.rendered.page,
        "portrait_page": result.portrait.page,
        "sweep": result.sweep,
    }
    if as_json:
        files = {name: str(path) for name, path in pages.items()}
        print_json({"slopes": rows(result.recovered), "reach": result.reach, **files})
        return 0
    say(
        "\nThe planted bias, and what the walk recovered (percentage points per unit of the cue):\n"
    )
    say(f"{'label':<12}{'planted':>10}{'recovered':>12}   95 % interval      photos")
    for row in result.recovered.itertuples(index=False):
        low, high = (float(cast("float", end)) for end in (row.ci_low, row.ci_high))
        interval = (
            "none" if math.isnan(low) else f"[{low:+.1f}, {high:+.1f}]"
        )  # where no face changes its answer
        say(f"{row.label:<12}{row.planted:>+10.1f}{row.slope:>+12.1f}   {interval:<18}{row.n:>7}")
    say(
        f"\nThe editor moves the drawn cue {result.reach:.2f} times as far per unit as drawing the face again does."
    )
    say(
        "Planted: every face drawn again at each value. Recovered: through the editor, as on the page.\n"
        "The single portrait shows what an edit of a real photo looks like; of one photo nothing is judged."
    )
    say(
        f"\nsweep    {pages['sweep']}\npages    {pages['page']}\n         {pages['portrait_page']}",
        err=True,
    )
    return 0
