"""``gslopes report``: tables and pictures to a page."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from gslopes.frame.commands import PATH, json_option, open_option, open_page, print_json, say, verb


@verb(
    "gslopes report run",
    "gslopes report run --p 0.01 --slope 0.05",
    "gslopes report run --embed none",
    "gslopes report run --label nurse --label doctor",
)
@click.argument("run", type=PATH)
@click.option(
    "--p", type=float, default=0.001, show_default=True, metavar="P", help="Pulled labels have a p below this."
)
@click.option(
    "--slope", type=float, default=0.03, show_default=True, metavar="B", help="Pulled labels have a |slope| above this."
)
@click.option(
    "--embed",
    type=click.Choice(["full", "thumbs", "none"]),
    default="thumbs",
    show_default=True,
    help="Pictures in the report: whole copies, small squares around the face, or none (and no file names).",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="A label to show in Figures 2 and 3; may be repeated. [default: the commonest, and those that change most]",
)
@open_option
@json_option
def report(
    run: Path,
    p: float,
    slope: float,
    embed: Literal["full", "thumbs", "none"],
    labels: tuple[str, ...],
    show_page: bool,
    as_json: bool,
) -> int:
    """Write the page of a fitted run folder, with the tables and figures of the paper, and say how large it is.

    RUN/report opens from disk, and can be copied to any server as it is. With --embed none no picture leaves the run
    folder: photos are named by the first digits of their checksum.
    """
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes import stages
    from gslopes.slopes.report.pictures import size as folder_size

    page = stages.run_report(run, OneProcess(progress=True), p=p, slope=slope, embed=embed, labels=labels).page
    assert page is not None
    size = folder_size(page.parent)
    print_json({"run": str(run), "page": str(page), "bytes": size}) if as_json else say(show(page))
    say(f"size       {size / 1e6:.1f} MB", err=True)
    if show_page:
        open_page(page)
    return 0
