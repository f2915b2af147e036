"""``gslopes crops``: whom does an automatic crop keep?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gslopes.ask.config import CostLimits
from gslopes.core.options import numbers, options_of
from gslopes.crops.config import CropsSettings, configure
from gslopes.frame.commands import (
    PATH,
    Command,
    FailIf,
    Flag,
    Parsed,
    Verb,
    condition_of,
    dry_run_option,
    examples,
    fail_if_options,
    json_option,
    judge,
    options,
    out_option,
    print_json,
    rows,
    say,
    trust_option,
)

_SERVICES = tuple(options_of(CostLimits))
_SHARED = ("groups", "cropper", "files", "seed", "device", *_SERVICES)


class _Crops(click.Group):
    """``gslopes crops PEOPLE ...`` audits; ``gslopes crops sweep`` and others are sub-commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The first word decides; help without a word is that of the group."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["audit", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Crops,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "gslopes crops PEOPLE --people people.csv --groups gender --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --cropper faces --cropper centre --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --cropper fastgaze:fastgaze.vxm --out RUN",
        "gslopes crops sweep RUN_OF_SYNTHESISE --cropper spectral-residual --out RUN",
        "gslopes crops power --groups 213,606 --p 0.6",
    ),
)
def crops() -> None:
    """Two people side by side, one automatic crop: who is favoured, and who is kept?

    gslopes crops PEOPLE runs the audit; its options are those of gslopes crops audit --help.

    Parity of counts does not show that a crop is harmless. The remedy that the authors of the method recommend is to
    let people choose, or not to crop.
    """


def _verb(text: str, *commands: str) -> Callable[[Callable[..., Any]], click.Command]:
    return crops.command(cls=Verb, short_help=text, epilog=examples(*commands))


def _people(required: bool = True) -> Callable[[Command], Command]:
    text = "Who is on each photo, and of which groups."
    return click.option("--people", type=PATH, required=required, metavar="CSV", help=text)


def _only(*shown: str) -> list[str]:
    """The options of ``CropsSettings`` that a command does not have."""
    return [name for name in options_of(CropsSettings) if name not in shown]


@_verb(
    "Join people of different groups two by two, and ask (the default).",
    "gslopes crops PEOPLE --people people.csv --groups gender --out RUN",
    "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --policy sample --policy average --out RUN",
    "gslopes crops PEOPLE --people people.csv --groups gender --preset published --seed 42 --out RUN",
    "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --together 5000 --out RUN",
    "gslopes crops PEOPLE --people people.csv --groups gender --cropper https://crop.example/v1,answer=image,"
    "token=CROP_TOKEN --pairs 500 --max-calls 4000 --out RUN",
    "gslopes crops PEOPLE --people people.csv --groups gender --dry-run --out RUN",
    "gslopes crops PEOPLE --people people.csv --groups gender --fail-if finding --out RUN",
)
@click.argument("photos", type=PATH)
@_people()
@out_option()
@options(CropsSettings)
@trust_option
@fail_if_options("the findings", "finding and abs(value) > 5", advanced=True)
@dry_run_option
@json_option
def audit(
    photos: Path,
    people: Path,
    out: Path,
    dry_run: bool,
    trust: bool,
    fail_if: FailIf,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Whom do croppers favour, whom do they keep, of two people of different groups side by side?

    All pairs, both orders, intervals over people. PEOPLE.csv names a file (or an id) a row and its groups in columns.
    """
    from gslopes.core.runfolder import show
    from gslopes.core.summary import CONDITION, gated
    from gslopes.crops.audit import audit_crops, plan_crops
    from gslopes.crops.report.words import print_parity
    from gslopes.frame.executors import OneProcess

    condition = condition_of(fail_if, CONDITION)
    if dry_run:
        settings = configure(options)
        return _print_plan(plan_crops(photos, people, settings.crops, settings.cost_limits), as_json)
    found = audit_crops(photos, out, people=people, executor=OneProcess(progress=True), trust=trust, **options)
    code = 3 if found.skipped else 0
    if as_json:
        counts = {"found": found.photos, "skipped": found.skipped}
        frames = {name: rows(found.tables[name]) for name in ("parity", "aggregates", "positions", "policies")}
        print_json({"run": str(found.folder), "page": str(found.page), "photos": counts, **frames})
        return judge(condition, fail_if, gated(found.findings), code)
    pairs = found.tables.get("pairs")  # none where photos are not joined
    say(print_parity(found.tables["parity"], found.tables["positions"], pairs))
    lines = [f"\nphotos     {found.photos - found.skipped:,} used of {found.photos:,}"]
    lines += [f"page       {show(found.page)}", f"tables     {show(found.folder)}/*.parquet"]
    say("\n".join(lines), err=True)
    return judge(condition, fail_if, gated(found.findings), code)


def _print_plan(plan: Any, as_json: bool) -> int:
    if as_json:
        print_json({name: getattr(plan, name) for name in plan.__dataclass_fields__})
        return 0
    lines = [
        f"persons      {plan.persons:,} on {plan.photos:,} photos",
        f"pairs        {plan.pairs:,} of photos of different groups",
        f"pictures     {plan.pictures:,} for each of {', '.join(plan.croppers)}",
    ]
    lines += [f"together     {plan.together:,} pictures with one person of each group"] * bool(plan.together)
    lines += [f"requests     {estimate}" for estimate in plan.estimates]
    for column, counts in plan.groups.items():
        lines.append(f"{column:<12} {', '.join(f'{name} {count}' for name, count in counts.items())}")
    for column, why in plan.left_out.items():
        lines.append(f"left out     of {column}: {', '.join(f'{count} with {name}' for name, count in why.items())}")
    say("\n".join([*lines, "Nothing was written."]))
    return 0


@_verb(
    "The intervals to expect, before any cropper is run.",
    "gslopes crops power --groups 213,606 --p 0.6",
)
@click.option("--groups", required=True, metavar="M,N", type=Parsed(numbers), help="People in each group.")
@click.option("--p", "share", type=float, default=0.5, metavar="P", help="The share to assume. [default: 0.5]")
@json_option
def power(groups: tuple[float, ...], share: float, as_json: bool) -> int:
    """The half-width of the interval over people, and what the draws alone would promise."""
    from gslopes.crops.measures.parity import draws_half, half_width

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


@_verb(
    "Edit one face of each pair step by step and crop again.",
    "gslopes synthesise PHOTOS --attribute gender --placebo --out SWEEP",
    "gslopes crops sweep SWEEP --cropper spectral-residual --out RUN",
    "gslopes crops sweep SWEEP --people people.csv --groups gender,ethnicity --out RUN",
)
@click.argument("run", type=PATH)
@out_option()
@_people(required=False)
@options(CropsSettings, leave_out=_only("height", "ratios", *_SHARED))
@click.option("--others", type=int, default=8, metavar="N", help="Opponents of each person. [default: 8]")
@trust_option
@json_option
def sweep(
    run: Path, out: Path, people: Path | None, others: int, trust: bool, as_json: bool, options: dict[str, Any]
) -> int:
    """The causal version: the same two people, one of them moved along perceived gender or race.

    RUN is a folder of gslopes synthesise; its placebo sweeps, if it has them, go through the same. With --people
    opponents are balanced over groups.
    """
    from gslopes.crops.report.sweep import print_sweep
    from gslopes.crops.sweep.audit import sweep_crops
    from gslopes.frame.executors import OneProcess

    if "groups" in options and people is None:
        raise click.UsageError("--groups names columns of a table of people: name it with --people.")
    settings = configure(options)
    found = sweep_crops(
        run,
        out,
        people=people,
        config=settings.crops,
        others=others,
        executor=OneProcess(progress=True),
        cost_limits=settings.cost_limits,
        trust=trust,
    )
    if as_json:
        _print_frames(found, "slopes", "intervals", "duels")
        return 0
    say(print_sweep(found.intervals, found.duels))
    _print_places(found.page, out)
    return 0


def _print_frames(found: Any, *tables: str, **more: str) -> None:
    frames = {name: rows(getattr(found, name)) for name in tables}
    print_json({"run": str(found.out), "page": str(found.page), **more, **frames})


def _print_places(page: Path, out: Path, review: Path | None = None) -> None:
    from gslopes.core.runfolder import show

    lines = [f"\npage       {show(page)}", *([f"review     {show(review)}"] if review else [])]
    say("\n".join([*lines, f"tables     {show(out)}/*.parquet"]), err=True)


@_verb(
    "Photos alone: is the focal point off the head, and what is there?",
    "gslopes crops regions PEOPLE --people people.csv --groups gender --cropper fine-grained --out RUN",
    "gslopes crops regions PEOPLE --people people.csv --groups gender --out RUN --review review.csv",
)
@click.argument("photos", type=PATH)
@_people()
@out_option()
@options(CropsSettings, leave_out=_only("source", "embed", *_SHARED))
@click.option("--tall", type=float, default=1.25, metavar="R", help="Smallest height/width of a photo. [default: 1.25]")
@click.option(
    "--per-group", type=int, default=100, metavar="N", help="Photos of each group, drawn at random. [default: 100]"
)
@click.option(
    "--mask", type=click.Choice(["grid", "published"]), default="grid", help="How regions are found. [default: grid]"
)
@click.option(
    "--percentile",
    cls=Flag,
    advanced=True,
    type=float,
    default=90.0,
    metavar="P",
    help="Percentile of a map above which regions lie. [default: 90]",
)
@click.option(
    "--min-area",
    cls=Flag,
    advanced=True,
    type=float,
    metavar="SHARE",
    help="Smallest area of a region. [default: by the mask]",
)
@click.option(
    "--min-regions",
    cls=Flag,
    advanced=True,
    type=int,
    default=0,
    metavar="N",
    help="Photos with fewer salient regions do not count; the paper's is 2. [default: 0]",
)
@click.option("--review", type=PATH, metavar="CSV", help="What people marked, or boxes. [default: RUN/review.csv]")
@trust_option
@json_option
def regions(
    photos: Path,
    people: Path,
    out: Path,
    tall: float,
    per_group: int,
    mask: Any,
    percentile: float,
    min_area: float | None,
    min_regions: int,
    review: Path | None,
    trust: bool,
    as_json: bool,
    options: dict[str, Any],
) -> int:
    """Where on the body do croppers look, by group?

    The focal point and the crop of ratio 1 against the head, and the salient regions of each photo alone. What the
    regions show is marked on RUN/review.html, whose review.csv, saved into RUN, is read by the same command.
    """
    from gslopes.crops.regions.audit import regions_crops
    from gslopes.crops.report.regions import print_gaze
    from gslopes.frame.executors import OneProcess

    settings = configure(options)
    found = regions_crops(
        photos,
        out,
        people=people,
        config=settings.crops,
        per_group=per_group,
        tall=tall,
        mask=mask,
        percentile=percentile,
        min_area=min_area,
        min_regions=min_regions,
        review=review,
        embed=settings.embed,
        cost_limits=settings.cost_limits,
        trust=trust,
        executor=OneProcess(progress=True),
    )
    if as_json:
        _print_frames(found, "gaze", "gaps", "kinds", review=str(found.review))
        return 0
    say(print_gaze(found.gaze, found.gaps))
    _print_places(found.page, out, found.review)
    return 0
