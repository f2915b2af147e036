"""``gslopes bench``: how fast this machine is."""

from __future__ import annotations

from pathlib import Path

import click

from gslopes.core.commands import PATH, flags, json_option, print_json, say, verb
from gslopes.run.config import RunConfig


@verb(
    "gslopes bench",
    "gslopes bench photos --count 500",
    "gslopes bench --attribute race --device cuda --json",
)
@click.argument("photos", type=PATH, required=False)
@click.option("--count", type=click.IntRange(min=1), default=96, metavar="N", help="Number of photos. [default: 96]")
@click.option("--attribute", default="gender", metavar="NAME", help="Which editor. [default: gender]")
@flags(RunConfig, "device")
@json_option
def bench(photos: Path | None, count: int, attribute: str, device: str, as_json: bool) -> int:
    """Measure photos per second from photo to counterfactual photos, and what the paper's 64,500 photos would cost.

    PHOTOS is a folder; without it the portrait of an astronaut is cut in many ways, at 224 pixels. Nothing is kept.
    """
    from dataclasses import asdict

    from gslopes.executors import OneProcess
    from gslopes.run.bench import PAPER_PHOTOS
    from gslopes.run.bench import bench as measure

    found = measure(photos, OneProcess(progress=True), count=count, attribute=attribute, device=device)
    if as_json:
        more: dict[str, object] = {"paper_minutes": found.paper_minutes, "paper_watt_hours": found.paper_watt_hours}
        more |= {"busy": found.busy, "planned": found.planned, "bound": found.bound}
        print_json({**asdict(found), **more})
        return 0
    total = sum(found.steps.values())
    say(f"{'step':<18} {'photos/s':>9} {'ms/photo':>9} {'share':>6}   one core, on {found.device}")
    for step, seconds in found.steps.items():
        rate, cost = found.photos / seconds, seconds / found.photos * 1000
        say(f"{step:<18} {rate:>9,.1f} {cost:>9.1f} {seconds / total:>6.0%}")
    say(f"\n{found.faces} of {found.photos} photos had a face to edit.")
    say(f"Files to counterfactual files, all cores: {found.walk:,.1f} photos a second.")
    say(f"At most {found.planned:,.1f} if no step waited; what bounds them: {found.bound}.")
    energy = f", {found.paper_watt_hours:,.0f} Wh ({found.metered})" if found.paper_watt_hours is not None else ""
    without = "" if energy else " The machine has no meter of its power that can be read."
    say(f"The paper's {PAPER_PHOTOS:,} photos would take {found.paper_minutes:,.1f} minutes{energy}.{without}")
    return 0
