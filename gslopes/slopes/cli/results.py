"""How the plan and the result of a walk are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gslopes.frame.commands import print_json, say

if TYPE_CHECKING:
    from gslopes.slopes.outcome import Audit
    from gslopes.slopes.plan import Plan

# Of one counterfactual photo on one core of an AMD EPYC; see tests/benches/results/engine.md.
_SECONDS_A_PICTURE = 0.022


def print_plan(plan: Plan, as_json: bool) -> int:
    """What a walk would do; the exit code."""
    from gslopes.core.runfolder import show
    from gslopes.frame.executors import OneProcess
    from gslopes.frame.executors.engines import Engine

    engine = Engine(OneProcess(), plan.config.engine, plan.config.workers, plan.config.device)
    if as_json:
        facts = {"photos": len(plan.files), "images": plan.images, "calls": plan.calls, "values": plan.values}
        facts |= {"steps": {name: len(values) for name, values in plan.values.items()}, "parts": plan.parts}
        facts |= {"classifiers": list(plan.classifiers), "device": plan.device, "engine": engine.resolved}
        print_json({**facts, "parts_done": plan.done, "run": str(plan.run)})
        return 0
    lines = [
        f"photos       {len(plan.files):,} in {show(plan.config.photos)}",
        *(f"sweep        {name}: {', '.join(f'{v:.3g}' for v in values)}" for name, values in plan.values.items()),
        f"images       {plan.images:,} at most (photos without a usable face give none)",
        f"classifiers  {', '.join(plan.classifiers) or 'none'}",
        f"calls        {plan.calls:,} at most, a picture each",
        f"time         {_duration(plan.images)} or so for the pictures on one core",
        f"disk         {_size(plan)} or so for the pictures",
        f"parts        {plan.parts:,}, of which {plan.done:,} have their pictures already",
        f"device       {plan.device}",
        f"engine       {engine}",
        f"run folder   {show(plan.run)}",
        "Nothing was written.",
    ]
    say("\n".join(lines))
    return 0


def _duration(images: int) -> str:
    minutes = images * _SECONDS_A_PICTURE / 60
    return f"{minutes:,.0f} min" if minutes >= 1 else "under a minute"


def _size(plan: Plan) -> str:
    """An edited photo is about as large as the photo itself."""
    size = sum(file.path.stat().st_size for file in plan.files) * sum(map(len, plan.values.values()))
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def print_audit(audit: Audit, as_json: bool) -> int:
    """The slopes on stdout, what became of the photos and where everything is on stderr; the exit code."""
    from gslopes.core.runfolder import show
    from gslopes.slopes.outcome import answers
    from gslopes.slopes.report.loading import lost

    run = audit.folder
    said = answers(run) if (run / "asked.parquet").exists() else {}
    code = 3 if audit.errors or any(counts.get("failed") for counts in said.values()) else 0
    if as_json:
        print_json(audit.facts)
        return code
    if audit.fitted:
        say(str(audit))
    lines = ["", f"photos     {audit.used:,} edited of {audit.photos:,}"]
    lines += [f"           {count:,} skipped: {reason}" for reason, count in audit.skipped.items()]
    lines += [f"           {count:,} dropped: {reason}" for reason, count in audit.dropped.items()]
    lines += [f"answers    {name}: {text}" for name, text in lost(run).items()]
    lines += [f"tables     {show(run)}/*.parquet", f"pictures   {show(run)}/edits/"]
    lines += [] if audit.page is None else [f"page       {show(audit.page)}"]
    say("\n".join(lines), err=True)
    return code
