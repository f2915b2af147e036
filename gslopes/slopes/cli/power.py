"""``gslopes power``: how many photos does a finding need?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gslopes.core import frozen
from gslopes.core.errors import UsageError
from gslopes.core.options import build, option
from gslopes.core.text import many
from gslopes.frame.commands import flags, json_option, print_json, say, verb

if TYPE_CHECKING:
    from gslopes.slopes.measures.power import Design, Measured, Presence


@frozen
class PowerConfig:
    """The plan of an audit: two of photos, slope and power, and what is known of the label."""

    photos: int | None = option(None, help="Number of photos.", metavar="N")
    slope: float | None = option(
        None, help="Percentage points per unit of the attribute.", metavar="B"
    )
    rate: float | None = option(
        None, help="Share of photos with the label, such as 0.05.", metavar="Y"
    )
    labels: int | None = option(
        None,
        help="How many labels are judged.",
        metavar="L",
        shown="1, or the pilot run's",
    )
    noise: float | None = option(
        None,
        help="1: each answer is by chance; 0: only the edit changes an answer.",
        metavar="S",
        shown="1",
    )
    pilot: Path | None = option(
        None, help="A fitted run that says how the answers to --label vary.", metavar="RUN"
    )
    label: str | None = option(None, help="The label, of a pilot run.", metavar="LABEL")
    classifier: str = option("", help="The classifier, of a pilot run with several.")
    attribute: str = option("", help="The attribute, of a pilot run with several.")
    placebo_photos: int | None = option(
        None, help="Photos with placebo sweeps.", metavar="N", shown="all"
    )
    power: float = option(0.8, help="The chance of a finding.", metavar="P")


@verb(
    "gslopes power --photos 500 --rate 0.05 --labels 20",
    "gslopes power --slope 1 --rate 0.05 --labels 20 --noise 0.4",
    "gslopes power --photos 500 --slope 1 --pilot my-run --label Smiling",
    "gslopes power --photos 2000 --rate 0.01 --json",
)
@flags(PowerConfig)
@json_option
def power(as_json: bool, **options: Any) -> int:
    """Plan the size of an audit.

    With --photos: the smallest slope that becomes a finding. With --slope: how many photos make it one. With both: the
    chance that they do.

    A finding needs q below .05 over all labels, and a slope further than every placebo sweep's. How much of that noise
    hides, a small run over your own photos tells best: --pilot.
    """
    from gslopes.slopes.measures import power as planning

    config = build(PowerConfig, options)
    photos, slope, chance = config.photos, config.slope, config.power
    if photos is None and slope is None:
        raise click.UsageError("Give --photos, --slope or both.")
    label, judged, unit = _label(config)
    labels = judged if config.labels is None else config.labels
    design = planning.Design(label, labels, placebo_photos=config.placebo_photos)
    if photos is None:
        photos = planning.photos_needed(design, slope or 0, chance)
    elif slope is None:
        slope = planning.smallest_slope(design, photos, chance)
    else:
        chance = planning.power(design, photos, slope)
    plan = {"photos": photos, "slope": slope, "power": chance, "unit": unit}
    plan |= {"labels": labels, "placebo_photos": config.placebo_photos}
    if isinstance(label, planning.Presence):
        plan |= {"rate": label.rate, "noise": label.noise, "spread": label.spread}
    if as_json:
        print_json(plan)
    else:
        _print(config, design, plan)
    return 0


def _label(config: PowerConfig) -> tuple[Presence | Measured, int, str]:
    """The label, how many are judged, and the unit of its slope.  Raises: UsageError."""
    from gslopes.report.units import UNITS
    from gslopes.slopes.measures.power import Presence
    from gslopes.slopes.pilot import read_pilot

    if config.pilot is not None:
        if not config.label or config.rate is not None or config.noise is not None:
            hint = "Give --label with it, and neither --rate nor --noise."
            raise UsageError("A pilot run says the rate and the noise of one label.", hint)
        return read_pilot(config.pilot, config.label, config.classifier, config.attribute)
    if config.rate is None or config.label or config.classifier or config.attribute:
        raise UsageError(
            "A label is given by its rate, or by a pilot run.",
            "Give --rate, or --pilot and --label.",
        )
    noise = 1.0 if config.noise is None else config.noise
    return Presence(config.rate, noise), 1, UNITS["presence"]


def _print(config: PowerConfig, design: Design, plan: dict[str, Any]) -> None:
    from gslopes.report.numbers import share
    from gslopes.slopes.measures import power as planning

    photos, label = plan["photos"], design.label
    size = abs(plan["slope"])
    labels = f"one of {many(design.labels, 'label')}" if design.labels > 1 else "one label"
    known = f"on {share(config.rate)} of the photos"
    if config.pilot is not None:
        known = f"“{config.label}”, whose answers vary as in the pilot run"
    say(
        f"{many(photos, 'photo')} make a slope of {size:.2g} {plan['unit']} a finding with a chance of "
        f"{share(plan['power'], 0)}:\n{labels}, {known}."
    )
    if not isinstance(label, planning.Presence):
        return
    if config.pilot is None and config.noise is None:
        calm = replace(design, label=planning.Presence(label.rate, 0.0))
        say(
            "That is for a classifier whose answers are by chance. If only the edit changes its answers, the "
            f"chance is {share(planning.power(calm, photos, size), 0)}.\n"
            "A small run over your own photos says which it is: --pilot RUN --label LABEL."
        )
    if photos * min(label.rate, 1 - label.rate) < design.least:
        say(
            f"Fewer than {design.least} photos would have the label, or lack it: the fit may not judge it."
        )
