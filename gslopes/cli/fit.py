"""``gslopes fit``: answers to slopes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, examples, json_option, print_json, rows


@click.command(
    short_help="Fit slopes to the answers.",
    epilog=examples(
        "gslopes fit run",
        "gslopes fit run --photos-csv people.csv --groups gender --groups 'gender + ethnicity' --cluster id",
        "gslopes fit run --estimator paper --bootstrap 0 --permutations 0",
        "gslopes fit run --presence 0.6",
        "gslopes fit run --correction max-t --permutations 20000",
        "gslopes fit run --json > slopes.json",
    ),
)
@click.argument("run", type=PATH)
@click.option(
    "--estimator",
    "estimators",
    multiple=True,
    metavar="NAME",
    help="An estimator; may be repeated. [default: all but photo-censored]",
)
@click.option("--bootstrap", type=int, metavar="B", help="Bootstrap resamples of photos; 0 for none. [default: 2000]")
@click.option("--permutations", type=int, metavar="M", help="Permutations within photos; 0 for none. [default: 10000]")
@click.option(
    "--correction", metavar="bh|by|holm|max-t", help="Correction for q, over a classifier's labels. [default: bh]"
)
@click.option(
    "--min-varying", type=int, metavar="N", help="Labels varying on fewer photos are not judged. [default: 10]"
)
@click.option(
    "--presence",
    metavar="vendor|none|SCORE",
    help="Which labels count: those that the vendor returns unless asked for more, all, or from a score on."
    " [default: vendor]",
)
@click.option(
    "--photos-csv", type=PATH, metavar="CSV", help="A CSV with one row per photo, for --groups and --cluster."
)
@click.option(
    "--groups", multiple=True, metavar="COLUMN", help="Column; slopes for each of its values. 'a + b' crosses two."
)
@click.option("--cluster", metavar="COLUMN", help="Column; photos with the same value are one unit.")
@click.option("--seed", type=int, metavar="S", help="Seed of resamples and permutations. [default: the run's]")
@json_option
def fit(run: Path, as_json: bool, **options: Any) -> int:
    """Fit the slope of every label of a scored run folder.

    Beside the estimator of Joo and Kärkkäinen (2020), paper, stand those whose unit is the photo: photo-rate (the one
    that is printed), photo-score, photo-censored (only when named), photo-z and photo-logodds, with bootstrap intervals
    and permutation tests.
    """
    from gslopes.core.config import from_dict
    from gslopes.core.runfolder import show
    from gslopes.executors import OneProcess
    from gslopes.report.evidence import print_evidence
    from gslopes.report.funnel import funnels
    from gslopes.run import stages
    from gslopes.run.config import FitConfig

    config = from_dict(FitConfig, {name: value for name, value in options.items() if value not in (None, ())})
    slopes = stages.run_fit(run, config, OneProcess(progress=True))
    if as_json:
        print_json(rows(slopes))
        return 0
    click.echo(print_evidence(slopes, correction=config.correction, funnels=funnels(run)))
    if config.groups:
        from gslopes.report.evidence import print_groups

        click.echo(f"\n{print_groups(run)}")
    click.echo(f"\ntables     {show(run)}/*.parquet\nnext       gslopes report {show(run)}", err=True)
    return 0
