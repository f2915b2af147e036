"""Begin an editor of named ends from a folder of labelled photos: a home with its spec, its recipe and its card.

python -m training begin FOLDER HOME                   one folder of photos a label, or a CSV with path and label
GSLOPES_HOME=HOME python -m training NAME --data FOLDER
GSLOPES_HOME=HOME python -m training evaluate NAME --data FOLDER
GSLOPES_HOME=HOME gslopes audit PHOTOS --editor NAME ...
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from gslopes.core.errors import UsageError
from gslopes.core.runfolder import write_bytes
from gslopes.faces.zoo import ModelSpec
from gslopes.faces.zoo.spec import find_spec
from training.group_sets import OTHERS, groups, read_labelled, tones_of
from training.masks import group_masks

TRUNK = "race-field"
PHOTOS_OF_A_TONE = 150  # of an end: the parser takes a core 25 ms a photo
NAME = re.compile(r"[a-z][a-z0-9-]*")

SPEC = """\
name = {name}
summary = {summary}
network = "edit-groups"
edits = {attribute}
size = {size}
labels = {labels}
ends = {ends}
crop = "chip"
licence = {licence}
data = [{data}]
paper = "Sauer et al. 2021, arXiv 2111.01007"
recipe = {name}
blend = "ratio"
border = 6.0
region = "head"
config = {{ widths = {widths}, tones = {tones} }}
"""

RECIPE = """\
# GSLOPES_HOME={home} python -m training {name} --data {folder}
# Two seconds a step of 16 photos on one core of an AMD EPYC. 300 steps show where it goes; a critic needs thousands.
model = {quoted}
set = "groups"
eight_bits = true

[train]
trunk = "{trunk}"
bfloat16 = true
report_every = 10
save_every = 20

[train.optimisation]
steps = {steps}
batch = 16
lr = 3e-4
critic_lr = 3e-4
ema = 0.99
warm = 20
rise = 20
clip = 0.5

[train.loss_weights]
size = 0.4
rough = 0.9
colour = 25.0
broad = 1.0
brows = 0.3
moved = 0.015
others = 1.0
beard = 0.3
"""

CARD = """\
---
name: {name}
---

# {name}

## What it does

Edits how a face is perceived: as {ends}. It learned what faces of each look like from labelled photos alone.

## Intended and out of scope

Intended: counterfactual photos for audits of classifiers. Out of scope: pictures of real people presented as real, any
use against the person in a photo, reading from anybody's face which of these they are.

## Training data and consent

{counts}. Say here where the photos are from, and what the people in them agreed to.

## Numbers

<!-- numbers -->
Not measured yet: `python -m training evaluate {name}`.
<!-- /numbers -->

## Known failures

Look at its pictures first, at every end, and write here on how many of how many faces something is wrong.
"""


def begin_home(
    folder: Path,
    home: Path,
    name: str = "",
    attribute: str = "",
    steps: int = 300,
    device: str = "cpu",
) -> ModelSpec:
    """Write ``models/NAME`` (spec and card) and ``training/NAME.toml`` below ``home``; returns the spec.

    folder: as of ``group_sets.read_labelled``.  name: of the editor, ``<attribute>-groups`` by default.
    attribute: what its ends are values of, the folder's name by default.  steps: of the recipe.

    Raises: UsageError for a name that is none, or is taken in this home; DataMissing.
    """
    attribute = attribute or re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    name = name or f"{attribute}-groups"
    for what, text in (("attribute", attribute), ("name", name)):
        if not NAME.fullmatch(text):
            problem = f"{text!r} is no {what}: it takes letters from a to z, digits and hyphens."
            raise UsageError(problem, f"Give another one with --{what}.")
    described = home / "models" / name
    if described.exists():
        raise UsageError(f"{described} is there already.", "Give another --name, or delete it.")
    photos = read_labelled(folder)
    for label in photos.names:
        if not NAME.fullmatch(label):
            problem = (
                f"{label!r} is no name of an end: it takes letters from a to z, digits and hyphens."
            )
            raise UsageError(problem, f"Rename it in {folder}, as in east-asian.")
    trunk = find_spec(TRUNK)
    spec = ModelSpec(
        name=name,
        summary=f"Edits an aligned face to a named end of {attribute}: {', '.join(photos.names)}.",
        network="edit-groups",
        size=trunk.size,
        labels=(attribute, *OTHERS),
        licence="research only (the terms of its photos)",
        data=(folder.resolve().name,),
        paper="",
        recipe=name,
        ends=photos.names,
    )
    learned = groups(spec, [photos], device)
    learned = learned.part(~learned.held_out)
    own = learned.labels[:, : len(spec.ends)].argmax(1)
    few = np.concatenate(
        [np.flatnonzero(own == end)[:PHOTOS_OF_A_TONE] for end in range(len(spec.ends))]
    )
    skin = group_masks(learned.pixels[few], device)[:, 2].cpu().numpy() > 127
    tones = tones_of(learned.pixels[few], skin, own[few])
    counts = ", ".join(
        f"{int((own == end).sum())} photos of {label}" for end, label in enumerate(spec.ends)
    )
    texts = {
        described / "spec.toml": SPEC.format(
            **{
                key: json.dumps(getattr(spec, key)) for key in ("name", "summary", "labels", "ends")
            },
            attribute=json.dumps(attribute),
            size=spec.size,
            licence=json.dumps(spec.licence),
            data=json.dumps(spec.data[0]),
            widths=json.dumps(trunk.config["widths"]),
            tones=json.dumps(tones),
        ),
        described / "card.md": CARD.format(
            name=name, ends=" or ".join(spec.ends), counts=f"It learns from {counts}"
        ),
        home / "training" / f"{name}.toml": RECIPE.format(
            name=name, quoted=json.dumps(name), home=home, folder=folder, steps=steps, trunk=TRUNK
        ),
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, text.encode())
    return spec
