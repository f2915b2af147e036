"""``gslopes try``: what a classifier is sent and what it answers, before any audit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gslopes.cli.list_ import price_words
from gslopes.core.text import some_of
from gslopes.frame.commands import (
    PATH,
    flags,
    json_option,
    out_option,
    print_json,
    say,
    trust_option,
    verb,
)
from gslopes.slopes.config import RunConfig

if TYPE_CHECKING:
    from gslopes.ask.scoring.trial import Trial

_LABELS = 5  # of an answer, that are shown


@verb(
    "gslopes try celeba-tagger photo.jpg",
    "gslopes try model.onnx,labels=labels.txt,size=224,white=255 one.jpg two.jpg three.jpg",
    "gslopes try mine.py:hire one.jpg two.jpg three.jpg --json",
    name="try",
)
@click.argument("classifier")
@click.argument("photos", metavar="PHOTO...", type=PATH, nargs=-1, required=True)
@out_option(
    "PNG",
    "A thumbnail of what is sent is written here. [default: sent.png]",
    default=Path("sent.png"),
)
@flags(RunConfig, "device")
@trust_option
@json_option
def try_(
    classifier: str, photos: tuple[Path, ...], out: Path, device: str, trust: bool, as_json: bool
) -> int:
    """Try a classifier on three pictures: what it is sent, what it answers, what it costs, whether its answers vary.

    CLASSIFIER is a name as of ``gslopes list classifiers``, or a file. Of fewer than three photos, the first one is
    asked about mirrored and half as bright as well. The exit code is 1 if all failed, 3 if some did.
    """
    from gslopes.ask.classifiers import load_classifiers
    from gslopes.ask.scoring.trial import try_classifier

    (loaded,) = load_classifiers([classifier], device, trust)
    trial = try_classifier(loaded, photos, out)
    if as_json:
        print_json({**asdict(trial), "failed": trial.failed})
    else:
        say("\n".join(_lines(trial)))
    if not trial.failed:
        return 0
    if trial.failed == len(trial.pictures):
        return 1
    return 3


def _lines(trial: Trial) -> list[str]:
    lines = [
        f"classifier  {trial.classifier}",
        f"sent        {trial.sent}",
        f"            see {trial.thumbnail}",
    ]
    answers = [f"{picture['picture']}: {_answer(picture)}" for picture in trial.pictures]
    if trial.failed == len(answers) > 1 and len(reasons := {*map(_answer, trial.pictures)}) == 1:
        answers = [f"each picture {reasons.pop()}"]
    lines += [f"{'' if number else 'answers':<12}{answer}" for number, answer in enumerate(answers)]
    count = sum(picture["status"] == "answered" for picture in trial.pictures)
    if count < 2:
        lines.append("varies      cannot be said: fewer than two pictures were answered")
    elif trial.varying:
        lines.append(f"varies      yes: {some_of(trial.varying, _LABELS)}")
    else:
        lines.append(
            "varies      no: these answers are the same. Faces that are edited may change them; check what is sent."
        )
    price = price_words(trial.price)
    if trial.price == 0:
        price = "free"
    took = "answered before"
    if trial.seconds:
        took = f"{trial.seconds:.2f} s a picture"
    lines.append(f"cost        {price}; {trial.usd:,.4f} USD now, {took}")
    return [*lines, *(f"warning     {note}" for note in trial.notes)]


def _answer(picture: dict[str, object]) -> str:
    labels = picture["labels"]
    if picture["status"] != "answered" or not isinstance(labels, dict):
        status = str(picture["status"])
        reason = str(picture["reason"])
        if reason.startswith(status):
            return reason
        return f"{status}: {reason}"
    best = sorted(labels.items(), key=lambda pair: -pair[1])
    return some_of([f"{label} {score:.3g}" for label, score in best], _LABELS) or "no label"
