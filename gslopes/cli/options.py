"""Options that several verbs share, and how their results are printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import pandas as pd

    from gslopes.run.plan import Plan
    from gslopes.run.stages import Audit

Command = TypeVar("Command", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)


class Range(click.ParamType):  # type: ignore[type-arg]
    """``LOW,HIGH``, or one number for both sides of 0."""

    name = "low,high"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """-2,2 and 2 are the same."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = [float(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if len(numbers) == 1:
            numbers = [-abs(numbers[0]), abs(numbers[0])]
        if len(numbers) != 2:
            self.fail(f"{value!r} is not two numbers such as -2,2, nor one such as 2.", param, ctx)
        return numbers[0], numbers[1]


_ENGINE = (
    click.option(
        "--engine",
        metavar="one|processes|ray",
        help="Where the work runs: in one process; in several on this machine, one for each GPU; on a Ray "
        "cluster ($RAY_ADDRESS, or one started here) whose machines all have gslopes and see photos and run folder "
        "under the same paths. [default: one; with several GPUs processes]",
    ),
    click.option(
        "--workers", type=int, metavar="N", help="Number of workers. [default: one per GPU, or one per four cores]"
    ),
)

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
    click.option("--editor", metavar="MODEL", help="The model that edits. [default: fader-<attribute>]"),
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
    *_ENGINE,
    click.option(
        "--config",
        type=PATH,
        metavar="TOML",
        help="A TOML file with these options, in sections such as [edit] and [score].",
    ),
    click.option("--dry-run", is_flag=True, help="Print the plan and write nothing."),
)
open_option = click.option("--open", "show_page", is_flag=True, help="Open the page in your browser.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value on stdout.")
classifier_option = click.option(
    "--classifier",
    "-c",
    multiple=True,
    metavar="NAME",
    help="The classifier to audit; may be repeated. [default: celeba-tagger]",
)

trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Run torchscript:FILE, which is a program: it may read and write your files. Remembered for this run folder "
    "and file; without it, you are asked.",
)
cache_option = click.option(
    "--cache",
    type=PATH,
    metavar="DIR",
    help="Where answers are cached. [default: $GSLOPES_CACHE, or your cache folder]",
)
_TERMS = (
    cache_option,
    click.option("--budget", type=float, metavar="USD", help="Stop before more than this is spent."),
    click.option("--max-calls", type=int, metavar="N", help="Stop after this many requests to services."),
    click.option(
        "--confirm-above", type=float, metavar="USD", help="Ask for confirmation above this cost. [default: 10]"
    ),
    click.option("--yes", is_flag=True, default=None, help="Do not ask for confirmation of the cost."),
    click.option("--retry-failed", is_flag=True, default=None, help="Retry pictures that failed."),
)


def terms_options(command: Command) -> Command:
    """Add the options about where answers are kept and what they may cost."""
    for option in reversed(_TERMS):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Add the options about who does the work."""
    for option in reversed(_ENGINE):
        command = option(command)
    return command


def walk_options(command: Command) -> Command:
    """Add the options of a walk from photos."""
    for option in reversed(_WALK):
        command = option(command)
    return command


def examples(*commands: str) -> str:
    """The end of a verb's help: commands that work as they stand, never wrapped."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def print_json(content: Any) -> None:
    """One JSON value on stdout."""
    click.echo(json.dumps(content, indent=2, allow_nan=False))


def open_page(page: Path) -> None:
    """In the browser of this machine, if there is one."""
    click.launch(page.resolve().as_uri())


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as JSON rows; a missing number is null."""
    return json.loads(frame.to_json(orient="records", double_precision=15))


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
