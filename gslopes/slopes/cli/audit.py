"""``gslopes audit``: the whole walk, or one of its stages; ``gslopes synthesise``: the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gslopes.frame.commands import (
    PATH,
    FailIf,
    Flag,
    condition_of,
    dry_run_option,
    fail_if_options,
    json_option,
    judge,
    open_option,
    open_page,
    options,
    out_option,
    print_json,
    say,
    trust_option,
    verb,
)
from gslopes.slopes.config import FitConfig, RunConfig, configure

if TYPE_CHECKING:
    from gslopes.frame.plan import Plan
    from gslopes.slopes.outcome import Audit
    from gslopes.slopes.validation import Summary

# Options that have no flag: by --set, as in a TOML file.
SELDOM = (
    *("part", "workers", "min_face", "find_device", "landmarks", "masks", "format", "blend", "unedited"),
    *("confirm_above", "placebo_sample", "dropped_sample", "embed"),
)
STAGES = ("synthesise", "gate", "score", "unedited", "fit", "report")
# Of one counterfactual photo on one core of an AMD EPYC; see tests/benches/results/engine.md.
_SECONDS_A_PICTURE = 0.022


@verb(
    "gslopes audit photos --out run",
    "gslopes audit photos --attribute gender --attribute race --out run",
    "gslopes audit photos --classifier onnx:model.onnx,labels=labels.txt --limit 100 --out run",
    "gslopes audit photos --steps 5 --range -1,1 --region skin --out run --dry-run",
    "gslopes audit photos --set fit.permutations=1000 --set min_face=20 --out run",
    "gslopes audit photos --fail-if finding --out run",
    "gslopes audit run --only score --classifier google --classifier rekognition --budget 25 --yes",
    "gslopes audit run --photos-csv people.csv --groups gender --groups 'gender + ethnicity' --cluster id",
    "gslopes audit run --only gate --set gate.tau=0.8 --set gate.look=all",
    "gslopes audit run --only report --set embed=none",
    "gslopes audit --method --out run",
    "gslopes audit --config audit.toml --out run --json > slopes.json",
)
@click.argument("photos", type=PATH, required=False)
@out_option(default=None)
@options(RunConfig, leave_out=SELDOM)
@click.option("--only", type=click.Choice(STAGES), multiple=True, help="Only this stage of the run; may be repeated.")
@dry_run_option
@click.option(
    "--method",
    is_flag=True,
    cls=Flag,
    advanced=True,
    help="Only list how the run in --out, or these options, differ from the paper, and why.",
)
@trust_option
@fail_if_options("the findings", "finding and abs(slope) > 5", advanced=True)
@open_option
@json_option
def audit(
    photos: Path | None,
    out: Path | None,
    only: tuple[str, ...],
    dry_run: bool,
    method: bool,
    fail_if: FailIf,
    show_page: bool,
    trust: bool,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Measure how a classifier's labels change with the look of the face in a folder of photos.

    PHOTOS and its sub-folders are searched for JPEG, PNG, WebP, BMP and TIFF files. In each photo the face nearest the
    centre is edited. To resume a stopped audit, run the same command again.

    PHOTOS may also be the folder of a run: then what depends on the options is done again there, such as the fit with
    --groups, and nothing else. No classifier is asked about the same picture twice.
    """
    from gslopes.core.summary import gated
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.audit import plan_walk, walk
    from gslopes.slopes.report.decisions import CONDITION

    if method:
        return print_differences(out or photos, options, as_json)
    condition = condition_of(fail_if, CONDITION)
    asks = not only or bool({"score", "unedited"} & set(only))
    made = plan_walk(photos, out, options, asks=asks)
    if dry_run:
        return print_plan(made, as_json)
    result = walk(made, OneProcess(progress=True), only, trust=trust)
    if show_page and result.page is not None:
        open_page(result.page)
    code = print_result(result, only, as_json, made.config.fit)
    return judge(condition, fail_if, gated(result.findings), code) if condition is not None else code


@verb(
    "gslopes synthesise photos --out run",
    "gslopes synthesise photos --attribute race --steps 9 --set format=png --out run",
    "gslopes synthesise photos --out run --dry-run",
)
@click.argument("photos", type=PATH, required=False)
@out_option()
@options(RunConfig, only=("attribute", "steps", "limit", "placebo", "device"))
@dry_run_option
@json_option
def synthesise(photos: Path | None, out: Path, dry_run: bool, as_json: bool, options: dict[str, Any]) -> int:
    """Make the counterfactual photos of a folder: the first stage of an audit. No classifier is asked."""
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes.audit import plan_walk, walk

    made = plan_walk(photos, out, options, asks=False)
    if dry_run:
        return print_plan(made, as_json)
    result = walk(made, OneProcess(progress=True), ["synthesise"])
    return print_result(result, ["synthesise"], as_json, made.config.fit)


# -- the plan ---------------------------------------------------------------------------------------------------------


def print_plan(made: Plan, as_json: bool) -> int:
    """What a walk would do; the exit code."""
    from gslopes.core.runfolder import show
    from gslopes.slopes.plan import Walk

    walk: Walk = made.inputs.content
    config, done = walk.config, walk.done(made.folder)
    if as_json:
        facts = {"photos": len(walk.files), "images": walk.images, "calls": walk.calls, "values": walk.values}
        facts |= {"steps": {name: len(values) for name, values in walk.values.items()}, "parts": walk.parts}
        facts |= {"classifiers": list(walk.classifiers), "device": walk.device, "engine": config.engine}
        print_json({**facts, "parts_done": done, "run": str(made.folder) if made.folder else None})
        return 0
    lines = [
        f"photos       {len(walk.files):,} in {show(config.photos)}",
        *(f"sweep        {name}: {', '.join(f'{v:.3g}' for v in values)}" for name, values in walk.values.items()),
        f"images       {walk.images:,} at most (photos without a usable face give none)",
        f"classifiers  {', '.join(walk.classifiers) or 'none'}",
        f"calls        {walk.calls:,} at most, a picture each",
        f"time         {_duration(walk.images)} or so for the pictures on one core",
        f"disk         {_size(walk)} or so for the pictures",
        f"parts        {walk.parts:,}, of which {done:,} have their pictures already",
        f"device       {walk.device}",
        f"engine       {config.engine}",
        *([f"run folder   {show(made.folder)}"] if made.folder else []),
        "Nothing was written.",
    ]
    say("\n".join(lines))
    return 0


def _duration(images: int) -> str:
    minutes = images * _SECONDS_A_PICTURE / 60
    return f"{minutes:,.0f} min" if minutes >= 1 else "under a minute"


def _size(walk: Any) -> str:
    """An edited photo is about as large as the photo itself."""
    size = sum(file.path.stat().st_size for file in walk.files) * sum(map(len, walk.values.values()))
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def print_differences(run: Path | None, options: Mapping[str, Any], as_json: bool) -> int:
    """Print how the run in a folder differs from the paper; of a folder without one, how these options do."""
    from gslopes.core.config import to_dict
    from gslopes.core.runfolder import MANIFEST
    from gslopes.report.choices import SLOPES, print_method
    from gslopes.slopes.method import choices, of_run

    there = run is not None and (run / MANIFEST).is_file()
    found = of_run(run) if run is not None and there else choices(to_dict(configure("PHOTOS", options)))
    if as_json:
        print_json([{**asdict(choice), "same": choice.same} for choice in found])
    else:
        say(print_method(found, SLOPES))
    return 0


# -- the result -------------------------------------------------------------------------------------------------------


def print_result(result: Audit, only: Sequence[str], as_json: bool, fit: FitConfig) -> int:
    """What was found on stdout; on stderr what became of the photos and where everything is.  The exit code.

    only: the stages that were done; all if empty.  fit: of the run, whose groups the gate's shifts are printed of.
    """
    from gslopes.core.runfolder import show
    from gslopes.slopes.outcome import answers, load_audit
    from gslopes.slopes.report.loading import lost

    run = result.folder
    fitted = load_audit(run) if {"fit", "report"} & set(only) else result
    judged = _summaries(run, fit) if "gate" in only else []
    counts = answers(run) if (run / "asked.parquet").exists() else {}
    code = 3 if result.errors or any(one.get("failed") for one in counts.values()) else 0
    if as_json:
        facts = {"attributes": [summary.facts() for summary in judged]} if "gate" in only else {}
        print_json(fitted.facts | facts | ({"answers": counts} if "score" in only else {}))
        return code
    for text in _texts(fitted, only, counts, judged):
        say(text)
    lines = ["", f"photos     {result.used:,} edited of {result.photos:,}"]
    lines += [f"           {count:,} skipped: {reason}" for reason, count in result.skipped.items()]
    lines += [f"           {count:,} dropped: {reason}" for reason, count in result.dropped.items()]
    lines += [f"answers    {name}: {text}" for name, text in lost(run).items()]
    lines += [f"tables     {show(run)}/*.parquet", f"pictures   {show(run)}/edits/"]
    lines += [] if fitted.page is None else [f"page       {show(fitted.page)}"]
    say("\n".join(lines), err=True)
    return code


def _summaries(run: Path, fit: FitConfig) -> list[Summary]:
    from gslopes.slopes.audit import columns
    from gslopes.slopes.validation import summarise

    return summarise(run, fit.photos_csv, columns(fit))


def _texts(
    result: Audit, only: Sequence[str], counts: Mapping[str, Mapping[str, int]], judged: Sequence[Summary]
) -> list[str]:
    from gslopes.core.runfolder import show
    from gslopes.slopes.validation import format_summary

    texts: list[str] = []
    if "gate" in only:
        texts.append("\n\n".join(map(format_summary, judged)) or "There are no sweeps.")
    if "score" in only:
        answered = {name: ", ".join(f"{n:,} {status}" for status, n in one.items()) for name, one in counts.items()}
        texts += [f"{name}: {text or 'no pictures'}" for name, text in answered.items()]
    if result.fitted and (not only or "fit" in only):
        texts.append(str(result))
    return [*texts, show(result.page)] if result.page and list(only) == ["report"] else texts
