"""``gslopes power``: how many photos does a finding need?"""

from pathlib import Path

import click

from gslopes.core.errors import UsageError
from gslopes.core.text import many
from gslopes.frame.commands import PATH, json_option, print_json, say, verb


@verb(
    "gslopes power --photos 500 --rate 0.05 --labels 20",
    "gslopes power --slope 1 --rate 0.05 --labels 20 --noise 0.4",
    "gslopes power --photos 500 --slope 1 --pilot my-run --label Smiling",
    "gslopes power --photos 2000 --rate 0.01 --json",
)
@click.option("--photos", type=int, metavar="N", help="Number of photos.")
@click.option(
    "--slope", type=float, metavar="B", help="Percentage points per unit of the attribute."
)
@click.option(
    "--rate", type=float, metavar="Y", help="Share of photos with the label, such as 0.05."
)
@click.option(
    "--labels",
    type=int,
    metavar="L",
    help="How many labels are judged. [default: 1, or the pilot run's]",
)
@click.option(
    "--noise",
    type=float,
    metavar="S",
    help="1: each answer is by chance; 0: only the edit changes an answer. [default: 1]",
)
@click.option(
    "--pilot",
    type=PATH,
    metavar="RUN",
    help="A fitted run that says how the answers to --label vary.",
)
@click.option("--label", metavar="LABEL", help="The label, of a pilot run.")
@click.option(
    "--classifier", default="", metavar="NAME", help="The classifier, of a pilot run with several."
)
@click.option(
    "--attribute", default="", metavar="NAME", help="The attribute, of a pilot run with several."
)
@click.option(
    "--placebo-photos", type=int, metavar="N", help="Photos with placebo sweeps. [default: all]"
)
@click.option(
    "--power",
    "chance",
    type=float,
    default=0.8,
    metavar="P",
    help="The chance of a finding. [default: 0.8]",
)
@json_option
def power(
    photos: int | None,
    slope: float | None,
    rate: float | None,
    labels: int | None,
    noise: float | None,
    pilot: Path | None,
    label: str | None,
    classifier: str,
    attribute: str,
    placebo_photos: int | None,
    chance: float,
    as_json: bool,
) -> int:
    """Plan the size of an audit.

    With --photos: the smallest slope that becomes a finding. With --slope: how many photos make it one. With both: the
    chance that they do.

    A finding needs q below .05 over all labels, and a slope further than every placebo sweep's. How much of that noise
    hides, a small run over your own photos tells best: --pilot.
    """
    from gslopes.report import numbers, units
    from gslopes.slopes.measures import power as planning
    from gslopes.slopes.pilot import read_pilot

    if photos is None and slope is None:
        raise click.UsageError("Give --photos, --slope or both.")
    unit = units.UNITS["presence"]
    known = f"on {numbers.share(rate)} of the photos"
    if pilot is not None:
        if not label or rate is not None or noise is not None:
            hint = "Give --label with it, and neither --rate nor --noise."
            raise UsageError("A pilot run says the rate and the noise of one label.", hint)
        one, judged, unit = read_pilot(pilot, label, classifier, attribute)
        known = f"“{label}”, whose answers vary as in the pilot run"
    elif rate is None or label or classifier or attribute:
        raise UsageError(
            "A label is given by its rate, or by a pilot run.",
            "Give --rate, or --pilot and --label.",
        )
    else:
        one = planning.Presence(rate, 1.0 if noise is None else noise)
        judged = 1
    design = planning.Design(
        one, judged if labels is None else labels, placebo_photos=placebo_photos
    )
    plan: dict[str, float | int | str | None] = {
        "photos": photos,
        "slope": slope,
        "power": chance,
        "unit": unit,
    }
    plan |= {"labels": design.labels, "placebo_photos": placebo_photos}
    if isinstance(one, planning.Presence):
        plan |= {"rate": one.rate, "noise": one.noise, "spread": one.spread}
    if photos is None:
        photos = planning.photos_needed(design, float(slope or 0), chance)
    elif slope is None:
        slope = planning.smallest_slope(design, photos, chance)
    else:
        chance = planning.power(design, photos, slope)
    plan |= {"photos": photos, "slope": slope, "power": chance}
    if as_json:
        print_json(plan)
        return 0
    size = abs(float(slope or 0))
    of = f"one of {many(design.labels, 'label')}, " if design.labels > 1 else "one label, "
    say(
        f"{many(photos, 'photo')} make a slope of {size:.2g} {unit} a finding with a chance of "
        f"{numbers.share(chance, 0)}:\n{of}{known}."
    )
    if isinstance(one, planning.Presence):
        if pilot is None and noise is None:
            calm = planning.Design(
                planning.Presence(one.rate, 0.0), design.labels, placebo_photos=placebo_photos
            )
            other = numbers.share(planning.power(calm, photos, size), 0)
            say(
                "That is for a classifier whose answers are by chance. If only the edit changes its answers, the "
                f"chance is {other}.\nA small run over your own photos says which it is: --pilot RUN --label LABEL."
            )
        if photos * min(one.rate, 1 - one.rate) < design.least:
            say(
                f"Fewer than {design.least} photos would have the label, or lack it: the fit may not judge it."
            )
    return 0
