"""``gslopes power``: how many photos does a finding need?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gslopes.core import JsonObject, UsageError, build, frozen
from gslopes.frame.commands import flags, json_option, print_json, say, verb

if TYPE_CHECKING:
    from gslopes.slopes.measures.power import Pilot, Presence


@frozen
class PowerConfig:
    """The plan of an audit: two of size, slope and power, and what is known of the label."""

    photos: int | None = None
    people: int | None = None
    photos_each: int | None = None
    slope: float | None = None
    rate: float | None = None
    labels: int | None = None
    noise: float | None = None
    pilot: Path | None = None
    label: str | None = None
    classifier: str = ""
    attribute: str = ""
    placebo_photos: int | None = None
    power: float = 0.8


@verb(
    "gslopes power --photos 500 --rate 0.05 --labels 20",
    "gslopes power --slope 1 --rate 0.05 --labels 20 --noise 0.4",
    "gslopes power --people 30 --photos-each 4 --rate 0.3 --labels 20",
    "gslopes power --photos 500 --slope 1 --pilot my-run --label Smiling",
    "gslopes power --photos 2000 --rate 0.01 --json",
)
@flags(PowerConfig)
@json_option
def power(as_json: bool, **options: Any) -> int:
    """Plan the size of an audit.

    With the number of photos (or people): the smallest slope that becomes a finding. With a slope:
    how many make it one. With both: the chance that they do.

    A finding needs q below .05 over all labels, and a slope further than light alone. How much of that noise
    hides, a small run over your own photos tells best: --pilot. Its slopes are drawn from; if it was fitted by
    clusters, people are drawn with all their photos.
    """
    from gslopes.report.inline import plain
    from gslopes.slopes.measures import power as planning

    config = build(PowerConfig, options)
    slope, chance = config.slope, config.power
    if config.photos is not None and config.people is not None:
        raise click.UsageError(
            "Give --photos or --people: --photos-each says how they go together."
        )
    label, unit = _label(config)
    each = label.photos_each
    units = config.people
    if config.photos is not None:
        units = max(round(config.photos / each), 1)
    if units is None and slope is None:
        raise click.UsageError("Give --photos or --people, --slope, or both.")
    asked = config.placebo_photos
    say("plan       draws audits and decides them as the fit does: up to a minute.", err=True)
    if units is None:
        units = planning.units_needed(label, slope or 0, chance, asked)
    elif slope is None:
        slope = planning.smallest_slope(label, units, chance, asked)
    else:
        chance = planning.power(label, units, slope, asked)
    plan: JsonObject = {"photos": round(units * each), "slope": slope}
    plan |= {"power": chance, "unit": unit}
    plan["people"] = units if each > 1 or config.people is not None else None
    plan |= {"labels": label.labels, "placebo_photos": asked}
    if isinstance(label, planning.Presence):
        plan |= {"rate": label.rate, "noise": label.noise}
    if as_json:
        print_json(plan)
        return 0
    calm = None
    if isinstance(label, planning.Presence) and config.noise is None:
        calm = planning.power(replace(label, noise=0.0), units, plan["slope"], asked)
    house = Path(__file__).parents[1] / "templates"
    least = label.least
    say(plain("power.txt.j2", house, plan=plan, config=config, least=least, calm=calm))
    return 0


def _label(config: PowerConfig) -> tuple[Presence | Pilot, str]:
    """The label, and the unit of its slope.  Raises: UsageError."""
    from gslopes.report.units import UNITS
    from gslopes.slopes.measures.power import Presence
    from gslopes.slopes.pilot import read_pilot

    if config.pilot is None:
        if config.rate is None or config.label or config.classifier or config.attribute:
            raise UsageError(
                "A label is given by its rate, or by a pilot run.",
                "Give --rate, or --pilot and --label.",
            )
        noise = 1.0 if config.noise is None else config.noise
        return Presence(config.rate, noise, config.photos_each or 1, config.labels or 1), UNITS[
            "presence"
        ]
    if not config.label:
        raise UsageError("A pilot run tells about each of its labels.", "Give --label with it.")
    for name in ("rate", "noise", "labels", "photos_each"):
        if getattr(config, name) is not None:
            said = f"--{name.replace('_', '-')}"
            raise UsageError(f"A pilot run says what {said} is.", f"Leave {said} out.")
    label, unit = read_pilot(config.pilot, config.label, config.classifier, config.attribute)
    if config.people is not None and label.photos_each == 1:
        raise UsageError(
            "The pilot run has no people with several photos.",
            "Fit it by people: gslopes audit RUN --only fit --photos-csv CSV --cluster COLUMN.",
        )
    return label, unit
