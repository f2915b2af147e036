"""``gslopes compare``: what changed between two runs."""

from pathlib import Path

import click

from gslopes.ask.config import CostLimits
from gslopes.core.errors import UsageError
from gslopes.core.options import build
from gslopes.frame.commands import (
    PATH,
    FailIf,
    condition_of,
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


@verb(
    "gslopes compare run-before run-after",
    "gslopes compare run-before run-after --pair model-v1=model-v2",
    "gslopes compare run-before run-after --pair old=new:threshold=0.7 --open",
    "gslopes compare run-before run-after --fail-if changed",
    "gslopes compare run-before run-after --photos-csv people.csv --cluster person",
    "gslopes compare run-before run-after --json > changes.json",
    "gslopes compare run --drift llm:gpt-4o-2024-11-20,prompt=occupation --budget 1",
)
@click.argument("run_a", type=PATH)
@click.argument("run_b", type=PATH, required=False)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="OLD=NEW",
    help="Classifiers to compare. [default: same names]",
)
@flags(FitConfig, "photos_csv", "cluster")
@click.option(
    "--out", type=PATH, metavar="DIR", help="Where the page is written. [default: RUN_B/compare]"
)
@click.option(
    "--drift",
    metavar="CLASSIFIER",
    help="Without RUN_B: ask this classifier of RUN_A again about 50 pictures, by its name as it was asked.",
)
@flags(CostLimits, "budget", "yes")
@fail_if_options("the changes", "changed and abs(difference) > 3")
@open_option
@json_option
def compare(
    run_a: Path,
    run_b: Path | None,
    pairs: tuple[str, ...],
    photos_csv: Path | None,
    cluster: str,
    out: Path | None,
    drift: str | None,
    budget: float | None,
    yes: bool,
    fail_if: FailIf,
    show_page: bool,
    as_json: bool,
) -> int:
    """Compare the slopes of two scored runs over the same photos, such as before and after a mitigation.

    Photos are paired: the interval covers the mean difference of each photo's two slopes.

    With --drift a classifier is asked again about a sample of the pictures that it answered in RUN_A. The
    requests bypass the cache and are billed; the run does not change. The exit code is 3 if another model answers or a
    label has moved.
    """
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.compare import compare_runs, edits_differ, write_page
    from gslopes.slopes.drift import check_drift, print_drift
    from gslopes.slopes.page.changes import CONDITION, changed, print_changes

    if drift is not None:
        idle: dict[str, object] = {
            "RUN_B": run_b,
            "--pair": pairs,
            "--photos-csv": photos_csv,
            "--cluster": cluster,
        }
        idle |= {"--out": out, "--fail-if": fail_if[0], "--junit": fail_if[1], "--open": show_page}
        if names := ", ".join(name for name, value in idle.items() if value):
            hint = "Leave that out; the exit code is 3 where the classifier has drifted."
            raise UsageError(f"--drift does not take {names}.", hint)
        limits = build(CostLimits, {"budget": budget, "yes": yes})
        asked = check_drift(run_a, drift, OneProcess(progress=True), cost_limits=limits)
        print_json(asked.as_dict()) if as_json else say(print_drift(asked))
        if asked.drifted:
            return 3
        return 0
    if run_b is None:
        raise UsageError("One run is given.", "Name a second one, or a classifier with --drift.")
    condition = condition_of(fail_if, CONDITION)
    changes = compare_runs(run_a, run_b, pairs, photos_csv=photos_csv, cluster=cluster)
    page = write_page(run_a, run_b, changes, out)
    print_json(rows(changes)) if as_json else say(print_changes(changes))
    if note := edits_differ(run_a, run_b):
        say(note, err=True)
    say(f"page       {show(page)}", err=True)
    if show_page:
        open_page(page)
    return judge(condition, fail_if, changed(changes), 0)
