"""``gslopes score``: counterfactual photos to a classifier's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.ask.config import ScoreConfig
from gslopes.frame.commands import PATH, flags, json_option, options, print_json, say, trust_option, verb
from gslopes.slopes.config import RunConfig


@verb(
    "gslopes score run",
    "gslopes score run --classifier celeba-tagger:threshold=0.3",
    "gslopes score run --classifier celeba-tagger --classifier onnx:model.onnx,labels=labels.txt",
    "gslopes score run --classifier google --classifier rekognition --budget 25 --yes",
)
@click.argument("run", type=PATH)
@options(ScoreConfig, chief=("yes", "max_calls", "retry_failed"))
@flags(RunConfig, "device")
@click.option("--gate/--no-gate", default=True, help="Leave out what the gate dropped. [default: --gate]")
@trust_option
@json_option
def score(run: Path, device: str, gate: bool, trust: bool, as_json: bool, options: dict[str, Any]) -> int:
    """Ask classifiers about every picture of a run folder. No classifier is asked about the same picture twice.

    Before the first request it prints the time and cost to expect. Ctrl-C finishes the requests in flight; the same
    command resumes from there. The exit code is 3 if some pictures failed.
    """
    from gslopes.core.runfolder import show
    from gslopes.slopes.outcome import answers
    from gslopes.slopes.walk import score_photos

    score_photos(run, progress=True, device=device, gate=gate, trust=trust, **options)
    found = answers(run)
    code = 3 if any(counts.get("failed") for counts in found.values()) else 0
    scores = run / "scores.parquet"
    if as_json:
        print_json({"run": str(run), "scores": str(scores), "answers": found})
        return code
    for name, counts in found.items():
        summary = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        say(f"{name}: {summary or 'no pictures'}")
    say(f"\nscores     {show(scores)}\nnext       gslopes fit {show(run)}", err=True)
    return code
