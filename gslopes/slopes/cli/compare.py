"""``gslopes compare``: what changed between two runs."""

from pathlib import Path
from typing import Any

import click

from gslopes.ask.config import CostLimits
from gslopes.core import Names, UsageError, build, frozen, section, show
from gslopes.frame.commands import (
    PATH,
    condition_of,
    dry_run_option,
    fail_if_options,
    flags,
    json_option,
    judge,
    open_option,
    open_page,
    print_json,
    rows,
    say,
    verb,
)
from gslopes.slopes.config import FitConfig
from gslopes.slopes.measures.options import TEMPLATES


@frozen
class CompareConfig:
    """What is compared, or which classifier is asked again."""

    pair: Names = ()
    fit: FitConfig = section(FitConfig, flat=("photos_csv", "cluster"), group="general")
    out: Path | None = None
    drift: str | None = None
    limits: CostLimits = section(
        CostLimits, flat=("budget", "budget_total", "yes"), group="general"
    )


@verb(
    "gslopes compare run-before run-after",
    "gslopes compare run-before run-after --pair model-v1=model-v2",
    "gslopes compare run-before run-after --pair old=new:threshold=0.7 --open",
    "gslopes compare run-before run-after --fail-if changed",
    "gslopes compare run-before run-after --photos-csv people.csv --cluster person",
    "gslopes compare run-before run-after --json > changes.json",
    "gslopes compare run --drift llm:gpt-6-luna,prompt=occupation --budget 1",
)
@click.argument("run_a", type=PATH)
@click.argument("run_b", type=PATH, required=False)
@flags(
    CompareConfig, "pair", "photos_csv", "cluster", "out", "drift", "budget", "budget_total", "yes"
)
@fail_if_options("the changes", "changed and abs(difference) > 3")
@dry_run_option
@open_option
@json_option
def compare(
    run_a: Path,
    run_b: Path | None,
    fail_if: str | None,
    junit: Path | None,
    dry_run: bool,
    show_page: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Compare the slopes of two scored runs over the same photos, such as before and after a mitigation.

    Photos are paired: the interval covers the mean difference of each photo's two slopes.

    With --drift a classifier is asked again about a sample of the pictures that it answered in RUN_A. The
    requests bypass the cache and are billed; the run does not change. The exit code is 3 if another model answers or a
    label's mean changed, unless by less than would matter. --dry-run only tells what it will cost.
    """
    from gslopes.report.inline import plain
    from gslopes.slopes.compare import compare_runs, edits_differ, write_page
    from gslopes.slopes.drift import price_drift
    from gslopes.slopes.page.changes import CONDITION, changed, print_changes

    config = build(CompareConfig, options)
    fit = config.fit
    if config.drift is not None:
        given = {"run_b": run_b, "fail_if": fail_if, "junit": junit, "show_page": show_page}
        if idle := plain("idle.txt.j2", TEMPLATES, config=config, **given):
            raise UsageError(
                f"--drift does not take {idle}.",
                "Leave that out; the exit code is 3 if the answers changed.",
            )
        if dry_run:
            price = price_drift(run_a, config.drift)
            print_json(price.facts) if as_json else say(f"{price}")
            return 0
        return _ask_again(run_a, config.drift, config.limits, as_json)
    if dry_run:
        raise UsageError("--dry-run goes with --drift.", "Leave it out: comparing runs is free.")
    if run_b is None:
        raise UsageError("One run is given.", "Name a second one, or a classifier with --drift.")
    condition = condition_of(fail_if, junit, CONDITION)
    changes = compare_runs(
        run_a, run_b, config.pair, photos_csv=fit.photos_csv, cluster=fit.cluster
    )
    page = write_page(run_a, run_b, changes, config.out)
    print_json(rows(changed(changes))) if as_json else say(print_changes(changes))
    if note := edits_differ(run_a, run_b):
        say(note, err=True)
    say(f"page       {show(page)}", err=True)
    if show_page:
        open_page(page)
    return judge(condition, changed(changes), 0)


def _ask_again(run: Path, classifier: str, limits: CostLimits, as_json: bool) -> int:
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.drift import check_drift, print_drift

    asked = check_drift(run, classifier, OneProcess(progress=True), cost_limits=limits)
    print_json(asked.as_dict()) if as_json else say(print_drift(asked))
    return 3 if asked.changed else 0
