"""``gslopes power``: how many photos does an audit need?"""

from __future__ import annotations

import click

from gslopes.core.text import many
from gslopes.frame.commands import json_option, print_json, say, verb


@verb(
    "gslopes power --photos 500 --rate 0.05",
    "gslopes power --photos 500 --rate 0.05 --slope 1",
    "gslopes power --photos 2000 --rate 0.01 --json",
)
@click.option("--photos", type=int, metavar="N", help="Number of photos.")
@click.option("--rate", type=float, required=True, metavar="Y", help="Share of photos with the label, such as 0.05.")
@click.option("--slope", type=float, metavar="B", help="Percentage points per unit of the attribute.")
@click.option(
    "--power",
    "chance",
    type=float,
    default=0.8,
    metavar="P",
    help="Power: the chance of showing the slope. [default: 0.8]",
)
@json_option
def power(
    photos: int | None,
    rate: float,
    slope: float | None,
    chance: float,
    as_json: bool,
) -> int:
    """Plan the size of an audit.

    With --photos: the smallest slope that they show. With --slope: how many photos show it. With both: the chance that
    they do.
    """
    if photos is None and slope is None:
        raise click.UsageError("Give --photos, --slope or both.")
    from gslopes.report import numbers
    from gslopes.slopes.fit import power as planning

    design = planning.Design(rate)
    plan: dict[str, float | int | None] = {"photos": photos, "rate": rate, "slope": slope, "power": chance}
    if photos is None and slope is not None:
        plan["photos"] = planning.photos_needed(design, slope, chance)
    elif photos is not None and slope is None:
        plan["slope"] = planning.smallest_slope(design, photos, chance)
    elif photos is not None and slope is not None:
        plan["power"] = planning.power(design, photos, slope)
    slope_shown = abs(plan["slope"] or 0)
    if as_json:
        print_json({**plan, "deviation": design.deviation(slope_shown), "clipped": design.clipped(slope_shown)})
        return 0
    size = "less than 0.1" if 0 < slope_shown < 0.05 else numbers.size(slope_shown)
    say(
        f"{many(int(plan['photos'] or 0), 'photo')} show a slope of {size} percentage points per unit with a chance of "
        f"{numbers.share(plan['power'])},\nfor a label on {numbers.share(rate)} of the photos. "
        f"Two-sided t of the photos' slopes at 5 %,\n"
        f"true slopes with a standard deviation of {planning.SPREAD:g} times their mean."
    )
    if design.clipped(slope_shown):
        kind, end, one, two = ("rare", "below 0", 0.01, 0.02) if rate < 0.5 else ("common", "above 1", 0.99, 0.98)
        say(
            f"The label is too {kind} to move by as much in all photos, since no share goes {end}: the chance is "
            f"smaller\nthan planned (in simulations 64 % at a share of {one} and 73 % at {two}, instead of 80 %). "
            "Plan for more photos."
        )
    if (plan["photos"] or 0) * rate < 10:
        say("Fewer than 10 photos would have the label: the fit would call it too rare to judge.")
    return 0
