"""``gslopes crops``: whom does an automatic crop keep?  Its siblings ``sweep`` and ``regions``, and ``power``."""

from __future__ import annotations

import click

from gslopes.core.options import numbers
from gslopes.crops.audit import CROPS
from gslopes.crops.regions import REGIONS
from gslopes.crops.sweep import SWEEP
from gslopes.frame.commands import Parsed, json_option, print_json, say
from gslopes.frame.commands import verb as command
from gslopes.frame.verb import verb, verbs


@command("gslopes crops power --groups 213,606 --p 0.6", name="power")
@click.option("--groups", required=True, metavar="M,N", type=Parsed(numbers), help="People in each group.")
@click.option("--p", "share", type=float, default=0.5, metavar="P", help="The share to assume. [default: 0.5]")
@json_option
def power(groups: tuple[float, ...], share: float, as_json: bool) -> int:
    """The half-width of the interval over people, before any cropper is run, and what the draws alone would promise."""
    from gslopes.crops.parity import draws_half, half_width

    if len(groups) != 2 or min(groups) < 2 or not 0 < share < 1:
        raise click.UsageError("Give two groups of 2 persons at least, such as 213,606, and a share between 0 and 1.")
    half = half_width(share, int(groups[0]), int(groups[1]))
    if as_json:
        print_json({"groups": [int(n) for n in groups], "p": share, "half_width": half})
        return 0
    say(
        f"With {int(groups[0]):,} and {int(groups[1]):,} persons a share of {share:.1%} is known to ± {half:.1%} "
        f"(95 %, Hanley and McNeil 1982).\n10,000 draws alone would promise ± {draws_half(share, 10_000):.1%}: more "
        "draws do not help, more people do."
    )
    return 0


crops = verbs(verb(CROPS), verb(SWEEP), verb(REGIONS), power)
