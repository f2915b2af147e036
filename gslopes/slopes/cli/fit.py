"""``gslopes fit``: answers to slopes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.options import build
from gslopes.frame.commands import PATH, json_option, options, print_json, say, verb
from gslopes.slopes.config import FitConfig


@verb(
    "gslopes fit run",
    "gslopes fit run --photos-csv people.csv --groups gender --groups 'gender + ethnicity' --cluster id",
    "gslopes fit run --photos-csv people.csv --truth profession --truth Smiling=smiles",
    "gslopes fit run --estimator paper --bootstrap 0 --permutations 0",
    "gslopes fit run --presence 0.6",
    "gslopes fit run --json > audit.json",
)
@click.argument("run", type=PATH)
@options(FitConfig)
@json_option
def fit(run: Path, as_json: bool, options: dict[str, Any]) -> int:
    """Fit the slope of every label of a scored run folder.

    Next to the estimator of Joo and Kärkkäinen (2020), paper, there are those whose unit is the photo: photo-rate (the
    one that is printed), photo-measure (in its place where a label is on practically every picture: by its score or its
    number, see --measure), photo-score, photo-z and photo-logodds, with bootstrap
    intervals and permutation tests.
    """
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes import stages
    from gslopes.slopes.outcome import load_audit
    from gslopes.slopes.report.evidence import print_evidence, print_groups
    from gslopes.slopes.report.loading import funnels, unanswered
    from gslopes.slopes.report.observed import print_errors, print_observed

    config = build(FitConfig, options)
    slopes = stages.run_fit(run, config, OneProcess(progress=True))
    if as_json:
        print_json(load_audit(run).facts)
        return 0
    silent = unanswered(run)
    say(print_evidence(slopes, correction=config.correction, funnels=funnels(run), unanswered=silent))
    if config.truth:
        say(f"\n{print_errors(run)}")
    if config.groups:
        say(f"\n{print_groups(run)}")
        if real := print_observed(run):
            say(f"\n{real}")
    say(f"\ntables     {show(run)}/*.parquet\nnext       gslopes report {show(run)}", err=True)
    return 0
