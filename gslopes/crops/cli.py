"""``gslopes crops``: whom does an automatic crop keep?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import PATH, examples, json_option, print_json, rows, terms_options, trust_option
from gslopes.crops.cli_options import (
    CROPPER,
    DEVICE,
    EMBED,
    RATIOS,
    SEED,
    how_joined,
    numbers,
    symmetric,
    what_is_asked,
    who_and_where,
)


class _Crops(click.Group):
    """``gslopes crops PEOPLE ...`` audits; ``gslopes crops show`` and ``power`` are sub-commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The first word decides; help without a word is that of the group."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["audit", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Crops,
    short_help="Whom does an automatic crop keep?",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "gslopes crops PEOPLE --people people.csv --groups gender --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --cropper faces --cropper centre --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --cropper fastgaze:fastgaze.vxm --out RUN",
        "gslopes crops sweep RUN_OF_SYNTHESISE --cropper spectral-residual --out RUN",
        "gslopes crops show PICTURE --cropper spectral-residual --ratios 0.56,1,2 --out crops.png",
        "gslopes crops power --groups 213,606 --p 0.6",
    ),
)
def crops() -> None:
    """Two people side by side, one automatic crop: who is favoured, and who is kept?

    gslopes crops PEOPLE runs the audit; its options are those of gslopes crops audit --help.

    Parity of counts does not show that a crop is harmless. The remedy that the authors of the method recommend is to
    let people choose, or not to crop.
    """


@crops.command(
    short_help="Join people of different groups two by two, and ask (the default).",
    epilog=examples(
        "gslopes crops PEOPLE --people people.csv --groups gender --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --policy sample --policy average --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --preset published --seed 42 --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender,ethnicity --together 5000 --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --cropper https://crop.example/v1,answer=image,"
        "token=CROP_TOKEN --pairs 500 --max-calls 4000 --out RUN",
        "gslopes crops PEOPLE --people people.csv --groups gender --dry-run --out RUN",
    ),
)
@who_and_where
@click.option(
    "--preset",
    type=click.Choice(["exact", "published"]),
    default="exact",
    help="Our defaults, or the choices of Yee et al. 2021. [default: exact]",
)
@click.option("--pairs", type=int, metavar="N", help="At most N pairs of photos, balanced over people. [default: all]")
@click.option("--max-pairs", type=int, metavar="N", help="Pictures above which pairs are balanced. [default: 20000]")
@how_joined
@RATIOS
@what_is_asked
@click.option("--epsilon", type=float, metavar="E", help="Parity fails below a ratio of 1-E. [default: 0.2]")
@click.option("--min-group", type=int, metavar="N", help="Smaller groups are not judged. [default: 10]")
@click.option(
    "--ambiguous", type=click.Choice(["drop", "first", "sample"]), help="People with several values. [default: drop]"
)
@click.option(
    "--photos-per-person", type=click.Choice(["all", "one"]), help="All, or one drawn at random. [default: all]"
)
@click.option("--bootstrap", type=int, metavar="B", help="Bootstrap resamples of people. [default: 2000]")
@click.option("--keep-maps", is_flag=True, default=None, help="Keep each photo's own map in the table saliency.")
@click.option("--limit", type=int, metavar="N", help="Only the first N photos.")
@EMBED
@SEED
@DEVICE
@terms_options
@click.option("--dry-run", is_flag=True, help="Print the plan and write nothing.")
@json_option
def audit(
    photos: Path,
    people: Path,
    groups: str,
    out: Path,
    cropper: tuple[str, ...],
    preset: str,
    policy: tuple[str, ...],
    embed: str,
    dry_run: bool,
    trust: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Whom do croppers favour, whom do they keep, of two people of different groups side by side?

    All pairs, both orders, intervals over people. PEOPLE.csv names a file (or an id) a row and its groups in columns.
    """
    from gslopes.crops.audit import audit_crops, plan_crops
    from gslopes.crops.config import PRESETS, CropsConfig
    from gslopes.executors import OneProcess

    terms = _terms(options)
    given = {name: value for name, value in options.items() if value is not None}
    if cropper:
        given["cropper"] = cropper
    if policy:
        given["policies"] = policy
    names = _columns(groups)
    config = CropsConfig(**{**PRESETS[preset], "groups": names, **given})
    if dry_run:
        return _print_plan(plan_crops(photos, people, config, terms), as_json)
    progress = OneProcess(progress=True)
    found = audit_crops(
        photos, out, people=people, config=config, executor=progress, embed=embed, terms=terms, trust=trust
    )
    return _print(found, as_json)


def _columns(groups: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in groups.split(",") if name.strip())


def _terms(options: dict[str, Any]) -> Any:
    """The options about services, taken out of the others."""
    from gslopes.run.config import ScoreConfig

    names = ("cache", "budget", "max_calls", "confirm_above", "yes", "retry_failed")
    given = {name: options.pop(name, None) for name in names}
    return ScoreConfig(**{name: value for name, value in given.items() if value is not None})


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
    click.echo("\n".join([*lines, "Nothing was written."]))
    return 0


def _print(found: Any, as_json: bool) -> int:
    from gslopes.core.runfolder import show

    code = 3 if found.skipped else 0
    if as_json:
        print_json(
            {
                "run": str(found.out),
                "page": str(found.page),
                "photos": {"found": len(found.people), "skipped": found.skipped},
                **{name: rows(getattr(found, name)) for name in ("parity", "aggregates", "positions", "policies")},
            }
        )
        return code
    from gslopes.crops.report.words import print_parity

    click.echo(print_parity(found.parity, found.positions))
    used = len(found.people) - found.skipped
    lines = [f"\nphotos     {used:,} used of {len(found.people):,}"]
    lines += [f"page       {show(found.page)}", f"tables     {show(found.out)}/*.parquet"]
    click.echo("\n".join(lines), err=True)
    return code


@crops.command(
    short_help="The intervals to expect, before any cropper is run.",
    epilog=examples("gslopes crops power --groups 213,606 --p 0.6"),
)
@click.option("--groups", required=True, metavar="M,N", callback=numbers, help="People in each group.")
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
    click.echo(
        f"With {int(groups[0]):,} and {int(groups[1]):,} persons a share of {share:.1%} is known to ± {half:.1%} "
        f"(95 %, Hanley and McNeil 1982).\n10,000 draws alone would promise ± {draws_half(share, 10_000):.1%}: more "
        "draws do not help, more people do."
    )
    return 0


@crops.command(
    short_help="Edit one face of each pair step by step and crop again.",
    epilog=examples(
        "gslopes synthesise PHOTOS --attribute gender --placebo --out SWEEP",
        "gslopes crops sweep SWEEP --cropper spectral-residual --out RUN",
        "gslopes crops sweep SWEEP --people people.csv --groups gender,ethnicity --out RUN",
    ),
)
@click.argument("run", type=PATH)
@click.option("--out", "-o", type=PATH, required=True, metavar="RUN", help="The run folder, made if missing.")
@CROPPER
@trust_option
@click.option(
    "--people", type=PATH, metavar="CSV", help="Who is on each photo: opponents are then balanced over groups."
)
@click.option("--groups", metavar="COLUMN,COLUMN", help="Columns of it; several are crossed. [default: gender]")
@click.option("--files", metavar="PATTERN", help="Where photos are, such as '{id}.jpg', by the CSV's columns.")
@click.option("--others", type=int, default=8, metavar="N", help="Opponents of each person. [default: 8]")
@click.option("--height", type=int, metavar="PX", help="Resize photos to this height before joining.")
@RATIOS
@SEED
@DEVICE
@terms_options
@json_option
def sweep(
    run: Path,
    out: Path,
    cropper: tuple[str, ...],
    people: Path | None,
    groups: str | None,
    others: int,
    trust: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """The causal version: the same two people, one of them moved along perceived gender or race.

    RUN is a folder of gslopes synthesise; its placebo sweeps, if it has them, go through the same.
    """
    from gslopes.core.runfolder import show
    from gslopes.crops.config import CropsConfig
    from gslopes.crops.report.sweep import print_sweep
    from gslopes.crops.sweep.audit import sweep_crops
    from gslopes.executors import OneProcess

    terms = _terms(options)
    given = {name: value for name, value in options.items() if value is not None}
    if cropper:
        given["cropper"] = cropper
    if groups and people is None:
        raise click.UsageError("--groups names columns of a table of people: name it with --people.")
    if groups:
        given["groups"] = _columns(groups)
    bar = OneProcess(progress=True)
    config = CropsConfig(**given)
    found = sweep_crops(run, out, people=people, config=config, others=others, executor=bar, terms=terms, trust=trust)
    if as_json:
        tables = {"slopes": found.slopes, "intervals": found.intervals, "duels": found.duels}
        print_json({"run": str(out), "page": str(found.page), **{name: rows(frame) for name, frame in tables.items()}})
        return 0
    click.echo(print_sweep(found.intervals, found.duels))
    click.echo(f"\npage       {show(found.page)}\ntables     {show(out)}/*.parquet", err=True)
    return 0


@crops.command(
    short_help="Photos alone: is the focal point off the head, and what is there?",
    epilog=examples(
        "gslopes crops regions PEOPLE --people people.csv --groups gender --cropper fine-grained --out RUN",
        "gslopes crops regions PEOPLE --people people.csv --groups gender --out RUN --review review.csv",
    ),
)
@who_and_where
@click.option("--tall", type=float, default=1.25, metavar="R", help="Smallest height/width of a photo. [default: 1.25]")
@click.option(
    "--per-group", type=int, default=100, metavar="N", help="Photos of each group, drawn at random. [default: 100]"
)
@click.option(
    "--mask", type=click.Choice(["grid", "published"]), default="grid", help="How regions are found. [default: grid]"
)
@click.option("--review", type=PATH, metavar="CSV", help="What people marked, or boxes. [default: RUN/review.csv]")
@EMBED
@SEED
@DEVICE
@terms_options
@json_option
def regions(
    photos: Path,
    people: Path,
    groups: str,
    out: Path,
    cropper: tuple[str, ...],
    tall: float,
    per_group: int,
    mask: str,
    review: Path | None,
    embed: str,
    trust: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Where on the body do croppers look, by group?

    The focal point and the crop of ratio 1 against the head, and the salient regions of each photo alone. What the
    regions show is marked on RUN/review.html, whose review.csv, saved into RUN, is read by the same command.
    """
    from gslopes.core.runfolder import show
    from gslopes.crops.config import CropsConfig
    from gslopes.crops.regions.audit import regions_crops
    from gslopes.crops.report.regions import print_gaze
    from gslopes.executors import OneProcess

    terms = _terms(options)
    given = {name: value for name, value in options.items() if value is not None}
    given |= {"cropper": cropper} if cropper else {}
    names = _columns(groups)
    found = regions_crops(
        photos, out, people=people, config=CropsConfig(**{**given, "groups": names}), per_group=per_group, tall=tall,
        mask="published" if mask == "published" else "grid", review=review, embed=embed, terms=terms, trust=trust,
        executor=OneProcess(progress=True),
    )  # fmt: skip
    if as_json:
        tables = {"gaze": found.gaze, "gaps": found.gaps, "kinds": found.kinds}
        frames = {name: rows(frame) for name, frame in tables.items()}
        print_json({"run": str(out), "page": str(found.page), "review": str(found.review), **frames})
        return 0
    click.echo(print_gaze(found.gaze, found.gaps))
    click.echo(
        f"\npage       {show(found.page)}\nreview     {show(found.review)}\ntables     {show(out)}/*.parquet", err=True
    )
    return 0


@crops.command(
    short_help="One picture: its map, its focal points, its crops.",
    epilog=examples("gslopes crops show PICTURE --cropper fine-grained --ratios 0.56,1,2 --out crops.png"),
)
@click.argument("picture", type=PATH)
@click.option("--out", "-o", type=PATH, required=True, metavar="PNG", help="Where the drawing goes.")
@CROPPER
@trust_option
@RATIOS
@symmetric
@SEED
@DEVICE
@json_option
def show(
    picture: Path,
    out: Path,
    cropper: tuple[str, ...],
    ratios: tuple[float, ...] | None,
    seed: int | None,
    device: str | None,
    trust: bool,
    symmetry: Any,
    symmetric_crop: Any,
    as_json: bool,
) -> int:
    """Draw what croppers make of one picture, and print their rectangles."""
    from gslopes.crops.annotate import show_picture

    answers = show_picture(
        picture,
        out,
        cropper or ("spectral-residual",),
        ratios,
        seed=seed or 0,
        device=device or "auto",
        trust=trust,
        symmetry=symmetry,
        symmetric_crop=symmetric_crop,
    )
    if as_json:
        print_json({"picture": str(out), "crops": answers})
        return 0
    for row in answers:
        click.echo(
            f"{row['cropper']} {row['ratio']:g}: left {row['left']}, top {row['top']}, {row['width']} × {row['height']}"
        )
    click.echo(f"\npicture    {out}", err=True)
    return 0
