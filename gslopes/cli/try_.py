"""``gslopes try``: what a classifier is sent and what it answers, before any audit."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gslopes.cli.list_ import words
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
        answers = [f"{picture['picture']}: {_answer(picture)}" for picture in trial.pictures]
        if trial.failed == len(answers) > 1 and len(alike := {*map(_answer, trial.pictures)}) == 1:
            answers = [f"each picture {alike.pop()}"]
        varying = some_of(trial.varying, _LABELS)
        say(words("try.txt.j2", trial=trial, answers=answers, varying=varying))
    if not trial.failed:
        return 0
    if trial.failed == len(trial.pictures):
        return 1
    return 3


def _answer(picture: dict[str, Any]) -> str:
    status = picture["status"]
    if status != "answered":
        reason = picture["reason"]
        return str(reason if reason.startswith(status) else f"{status}: {reason}")
    best = sorted(picture["labels"].items(), key=lambda pair: -pair[1])
    return some_of([f"{label} {score:.3g}" for label, score in best], _LABELS) or "no label"
