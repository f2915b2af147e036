"""``gslopes demo``: what gslopes does, without data and without network."""

from pathlib import Path

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
def demo(
    out: Path,
    faces: int,
    seed: int,
    device: str,
    as_json: bool,
) -> int:
    """Audit drawn faces with a classifier whose bias was planted, then sweep one real photo.

    It needs no data and no network. Each step tells how long it takes, once its first faces are done.
    """
    from gslopes.frame.executors import OneProcess
    from gslopes.report.inline import plain
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
    house = Path(__file__).parents[1] / "templates"
    recovered = result.recovered.to_dict("records")
    say(plain("demo.txt.j2", house, rows=recovered, reach=result.reach))
    say(
        f"\nsweep    {pages['sweep']}\npages    {pages['page']}\n         {pages['portrait_page']}",
        err=True,
    )
    return 0
