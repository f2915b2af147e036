"""The options of the walk, and how its plan and its result are printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gslopes.core.commands import ENGINE, PATH, Command, Range, print_json, rows

if TYPE_CHECKING:
    from gslopes.run.plan import Plan
    from gslopes.run.stages import Audit

# In the order in which the help shows them. None means "not given": the defaults are those of run.plan.
_WALK = (
    click.option("--out", "-o", type=PATH, required=True, metavar="RUN", help="The run folder, made if missing."),
    click.option(
        "--attribute",
        "-a",
        multiple=True,
        metavar="NAME",
        help="The attribute to edit; may be repeated. [default: gender]",
    ),
    click.option("--steps", type=int, metavar="K", help="Number of values in a sweep, odd. [default: 7; race: 5]"),
    click.option("--range", type=Range(), metavar="LOW,HIGH", help="Ends of a sweep, or one number. [default: -2,2]"),
    click.option("--editor", metavar="MODEL", help="The model that edits. [default: <attribute>-field]"),
    click.option("--min-face", type=int, metavar="PX", help="Smallest face to edit, pixels. [default: 32]"),
    click.option("--region", metavar="face|skin|head", help="Which part of the face may change. [default: face]"),
    click.option(
        "--blend",
        metavar="auto|difference|ratio|paste",
        help="How an edit is blended into the photo. [default: the editor's own]",
    ),
    click.option("--format", metavar="jpeg|png", help="File format of the pictures. [default: jpeg]"),
    click.option("--landmarks", type=PATH, metavar="CSV", help="Known faces instead of a face detector."),
    click.option("--masks", type=PATH, metavar="DIR", help="Known masks instead of a face parser."),
    click.option(
        "--skin-weights",
        type=PATH,
        metavar="FILE",
        help="A public face parser instead of the shipped one: a CelebAMask-HQ BiSeNet with a ResNet-18, such as "
        "79999_iter.pth, or the same as .safetensors. About half a second a face on a CPU core.",
    ),
    click.option(
        "--placebo/--no-placebo",
        default=None,
        help="Add three sweeps that should move nothing, which findings must exceed. Four times the pictures; paid "
        "classifiers are asked about a sample of them. [default: --placebo]",
    ),
    click.option(
        "--gate/--no-gate",
        default=None,
        help="Ask only about sweeps in which the face is found again and its reading follows the edit while little "
        "else changes. [default: --gate, but --no-gate with --landmarks]",
    ),
    click.option(
        "--as-published",
        is_flag=True,
        default=None,
        help="Follow Joo and Kärkkäinen (2020) in all that can be set: skin, paste, no gate, their estimator. "
        "gslopes method lists what still differs.",
    ),
    click.option("--limit", type=int, metavar="N", help="Only the first N photos."),
    click.option("--seed", type=int, metavar="S", help="Seed of all random draws. [default: 0]"),
    click.option("--device", metavar="auto|cpu|cuda[:N]", help="Where the networks run. [default: auto]"),
    *ENGINE,
    click.option(
        "--config",
        type=PATH,
        metavar="TOML",
        help="A TOML file with these options, in sections such as [edit] and [score].",
    ),
    click.option("--dry-run", is_flag=True, help="Print the plan and write nothing."),
)


def walk_options(command: Command) -> Command:
    """Add the options of a walk from photos."""
    for option in reversed(_WALK):
        command = option(command)
    return command


# Of one counterfactual photo on one core of an AMD EPYC; see tests/benches/results/engine.md.
_SECONDS_A_PICTURE = 0.022


def _duration(images: int) -> str:
    minutes = images * _SECONDS_A_PICTURE / 60
    return f"{minutes:,.0f} min" if minutes >= 1 else "under a minute"


def _size(plan: Plan) -> str:
    """An edited photo is about as large as the photo itself."""
    sweeps = sum(len(values) for values in plan.values.values())
    size = sum(file.path.stat().st_size for file in plan.files) * sweeps
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def print_plan(plan: Plan, as_json: bool) -> None:
    """What a walk would do."""
    from gslopes.executors import OneProcess
    from gslopes.executors.engines import Engine

    engine = Engine(OneProcess(), plan.config.engine, plan.config.workers, plan.config.device)
    steps = {name: len(values) for name, values in plan.values.items()}
    if as_json:
        facts = {"photos": len(plan.files), "steps": steps, "images": plan.images, "calls": plan.calls}
        more = {"values": plan.values, "classifiers": list(plan.classifiers), "device": plan.device}
        more |= {"engine": engine.resolved}
        print_json({**facts, **more, "parts": plan.parts, "parts_done": plan.done, "run": str(plan.run)})
        return
    from gslopes.core.runfolder import show

    lines = [
        f"photos       {len(plan.files):,} in {show(plan.config.photos)}",
        *(f"sweep        {name}: {', '.join(f'{v:.3g}' for v in values)}" for name, values in plan.values.items()),
        f"images       {plan.images:,} at most (photos without a usable face give none)",
        f"classifiers  {', '.join(plan.classifiers) or 'none'}",
        f"calls        {plan.calls:,} at most, a picture each",
        f"time         {_duration(plan.images)} or so for the pictures on one core; gslopes bench measures yours",
        f"disk         {_size(plan)} or so for the pictures",
        f"parts        {plan.parts:,}, of which {plan.done:,} have their pictures already",
        f"device       {plan.device}",
        f"engine       {engine}",
        f"run folder   {show(plan.run)}",
        "Nothing was written.",
    ]
    click.echo("\n".join(lines))


def print_audit(audit: Audit, as_json: bool) -> int:
    """The slopes on stdout, what became of the photos and where everything is on stderr; the exit code."""
    from gslopes.core.runfolder import show
    from gslopes.report.funnel import funnels

    code = 3 if audit.errors else 0
    if as_json:
        counts = {"found": audit.photos, "used": audit.used, "skipped": audit.skipped, "errors": audit.errors}
        counts |= {"dropped": audit.dropped} if audit.dropped else {}
        page = None if audit.page is None else str(audit.page)
        slopes = None if audit.slopes is None else rows(audit.slopes)
        funnel = [] if audit.slopes is None else [asdict(one) for one in funnels(audit.run)]
        print_json({"run": str(audit.run), "page": page, "photos": counts, "funnel": funnel, "slopes": slopes})
        return code
    if audit.slopes is not None:
        from gslopes.report.evidence import print_evidence

        click.echo(print_evidence(audit.slopes, funnels=funnels(audit.run)))
    lines = ["", f"photos     {audit.used:,} edited of {audit.photos:,}"]
    lines += [f"           {count:,} skipped: {reason}" for reason, count in audit.skipped.items()]
    lines += [f"           {count:,} dropped: {reason}" for reason, count in audit.dropped.items()]
    lines += [f"tables     {show(audit.run)}/*.parquet", f"pictures   {show(audit.run)}/edits/"]
    lines += [] if audit.page is None else [f"page       {show(audit.page)}"]
    click.echo("\n".join(lines), err=True)
    return code
