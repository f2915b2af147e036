"""``gslopes try``: what a classifier is sent and what it answers, or what an editor draws, before any audit."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gslopes.core import Names, UsageError
from gslopes.frame.commands import (
    dry_run_option,
    flags,
    json_option,
    out_option,
    print_json,
    say,
    trust_option,
    verb,
)
from gslopes.slopes.config import RunConfig


@verb(
    "gslopes try celeba-tagger photo.jpg",
    "gslopes try model.onnx,labels=labels.txt,size=224,white=255 one.jpg two.jpg three.jpg",
    "gslopes try mine.py:hire one.jpg two.jpg three.jpg --json",
    "gslopes try google photo.jpg --dry-run",
    "gslopes try --editor gender-field photo.jpg --out edited.png",
    "gslopes try --attribute race --ends black,white photo.jpg --out edited.png",
    name="try",
)
@click.argument("names", metavar="[CLASSIFIER] PHOTO...", nargs=-1, required=True)
@out_option(
    "PNG",
    "What is sent, or the photo with its edits, is written here. [default: sent.png]",
    default=Path("sent.png"),
)
@flags(RunConfig, "editor", "attribute", "ends", "device", "yes")
@trust_option
@dry_run_option
@json_option
def try_(
    names: Names,
    out: Path,
    editor: str,
    attribute: Names,
    ends: Names,
    device: str,
    yes: bool,
    trust: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Try a classifier on three pictures: what it is sent, what it answers, what it costs, whether its answers vary.

    CLASSIFIER is a name as of ``gslopes list classifiers``, or a file. Of fewer than three photos, the first one is
    asked about mirrored and half as bright as well. The exit code is 1 if all failed, 3 if some did. --dry-run tells
    what it will cost; above 10 USD it needs a yes.

    With --editor, as of ``gslopes list editors``, there is no classifier: one photo is edited at both ends of an
    attribute and at its centre, which is three pictures to pay for, or at each end that has a name. --ends names some
    of these; without --editor they are those of the attribute's editor that ships.
    """
    from gslopes.ask.config import CostLimits
    from gslopes.ask.scoring.cost import confirm_cost, estimate
    from gslopes.frame.executors import OneProcess
    from gslopes.report.inline import plain

    trial: Any
    if editor or ends:
        from gslopes.slopes.trial import try_editor

        if len(names) > 1 or len(attribute) > 1:
            raise UsageError("One photo is edited along one attribute.", "Leave out the others.")
        if dry_run:
            hint = "Write gslopes audit PHOTOS --editor NAME --dry-run."
            raise UsageError("The price of an editor is told by another command.", hint)
        trial = try_editor(editor, Path(names[0]), attribute[0], out, device, ends, yes)
    else:
        from gslopes.ask.classifiers import load_classifiers
        from gslopes.ask.scoring.trial import PICTURES, try_classifier

        if len(names) < 2:
            raise UsageError("No photo is given.", "Write gslopes try CLASSIFIER PHOTO.")
        (loaded,) = load_classifiers([names[0]], device, trust)
        price = estimate(loaded, [PICTURES], stage="try")
        if dry_run:
            print_json(price.facts) if as_json else say(f"{price}")
            return 0
        if price.usd:
            confirm_cost([price], CostLimits(yes=yes), OneProcess(progress=True))
        trial = try_classifier(loaded, list(map(Path, names[1:])), out)
    if as_json:
        print_json({**asdict(trial), "failed": trial.failed})
    else:
        template = "try_editor.txt.j2" if editor or ends else "try.txt.j2"
        say(plain(template, __file__, trial=trial))
    if not trial.failed:
        return 0
    return 1 if trial.failed == len(trial.pictures) else 3
