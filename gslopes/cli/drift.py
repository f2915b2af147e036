"""``gslopes drift``: does a service still answer as it did?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, json_option, options, print_json, say, verb
from gslopes.core.options import build
from gslopes.run.config import CostLimits


@verb(
    "gslopes drift run --classifier google",
    "gslopes drift run --classifier llm:gpt-4o-2024-11-20,prompt=occupation --sample 20 --budget 1",
    "gslopes drift run --classifier rekognition --json",
)
@click.argument("run", type=PATH)
@click.option(
    "--classifier", required=True, metavar="NAME", help="The classifier's name as it was asked, with its parameters."
)
@click.option(
    "--sample", type=int, default=50, show_default=True, metavar="N", help="Number of pictures to ask about again."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="S", help="Seed of the sample.")
@options(CostLimits, chief=("yes", "max_calls"))
@json_option
def drift(run: Path, classifier: str, sample: int, seed: int, as_json: bool, options: dict[str, Any]) -> int:
    """Ask a classifier again about a sample of the pictures that it answered, and compare.

    The requests bypass the cache and are billed; the run does not change. Each label's mean score now,
    and its slope along the attribute, is compared with that in the run, picture by picture. The exit code is 3 if
    another model answers or a label has moved.
    """
    from gslopes.executors import OneProcess
    from gslopes.run.drift import check_drift, print_drift

    cost_limits = build(CostLimits, options)
    found = check_drift(run, classifier, OneProcess(progress=True), sample=sample, seed=seed, cost_limits=cost_limits)
    print_json(found.as_dict()) if as_json else say(print_drift(found))
    return 3 if found.drifted else 0
