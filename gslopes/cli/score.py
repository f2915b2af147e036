"""``gslopes score``: counterfactual photos to a classifier's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gslopes.core.commands import (
    PATH,
    classifier_option,
    examples,
    json_option,
    print_json,
    terms_options,
    trust_option,
)


@click.command(
    short_help="Ask classifiers about the edited photos.",
    epilog=examples(
        "gslopes score run",
        "gslopes score run --classifier celeba-tagger:threshold=0.3",
        "gslopes score run --classifier celeba-tagger --classifier onnx:model.onnx,labels=labels.txt",
        "gslopes score run --classifier google --classifier rekognition --budget 25 --yes",
    ),
)
@click.argument("run", type=PATH)
@classifier_option
@click.option("--device", default="auto", metavar="auto|cpu|cuda[:N]", help="Where the networks run. [default: auto]")
@click.option("--gate/--no-gate", default=True, help="Leave out what the gate dropped. [default: --gate]")
@terms_options
@trust_option
@json_option
def score(run: Path, classifier: tuple[str, ...], device: str, gate: bool, as_json: bool, **terms: Any) -> int:
    """Ask classifiers about every picture of a run folder. No classifier is asked about the same picture twice.

    Before the first request it prints the time and cost to expect. Ctrl-C finishes the requests in flight; the same
    command resumes from there.
    """
    from gslopes.core.runfolder import show
    from gslopes.executors import OneProcess
    from gslopes.run import stages

    names = classifier or (stages.DEFAULT_CLASSIFIER,)
    scores = stages.score_photos(run, names, device=device, executor=OneProcess(progress=True), gate=gate, **terms)
    if as_json:
        print_json({"run": str(run), "scores": str(scores), "answers": stages.answers(run)})
        return 0
    for name, counts in stages.answers(run).items():
        summary = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        click.echo(f"{name}: {summary or 'no pictures'}")
    click.echo(f"\nscores     {show(scores)}\nnext       gslopes fit {show(run)}", err=True)
    return 0
