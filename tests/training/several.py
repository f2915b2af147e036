"""What torchrun starts in test_parallel: a few steps of one loop on drawn or real faces.

    torchrun --nproc-per-node 2 several.py CASE FOLDER STEPS [DIES]

DIES: the step at which the second process ends without a word. With DOUBLE in the environment it computes in 64 bits,
where rounding is so small that equal means equal.
"""

import os
import sys
from pathlib import Path

import cv2
import numpy as np
import torch

from gslopes.core.errors import GslopesError
from gslopes.faces import zoo
from gslopes.faces.zoo.spec import find_spec
from training import distillation, drawn as rendered, edit_field, fader, group_field, loop, parallel
from training.recipe import LOOPS
from training.sets import drawn_chips

FACTS = {"summary": "", "licence": "", "data": (), "paper": "", "recipe": ""}
SMALL = zoo.ModelSpec(
    name="small",
    network="fader",
    labels=("gender",),
    ends=("feminine", "masculine"),
    size=32,
    config={"widths": [8, 16, 16]},
    **FACTS,
)
REAL = ("fader", "edit-field", "edit-ends", "edit-groups", "tagger", "feature-pyramid")


def photos(size):
    """Some of the photos that the environment names, as chips."""
    files = sorted(Path(os.environ["FACES"]).rglob("*.jpg"))[:48]
    read = [cv2.imread(str(file))[..., ::-1] for file in files]
    return np.stack([cv2.resize(p, (size, size), interpolation=cv2.INTER_AREA) for p in read])


def signs(rng, rows, columns):
    return rng.choice(np.float32([-1, 1]), (rows, columns))


def case(name, steps):
    """Specification, chips, labels and options of a loop."""
    rng = np.random.default_rng(0)
    if name == "small":
        looks = rendered.sample(48, seed=5)
        options = {
            "optimisation": fader.Optimisation(steps, batch=8, ema=0.9),
            "adversary": fader.Adversary(ramp=4, memory=2, widths=(16,), aim=0.6),
        }
        return SMALL, drawn_chips(looks, 32), np.sign(looks.gender)[:, None], options
    models = {
        "fader": "gender-fader", "edit-field": "gender-teacher", "edit-ends": "gender-field",
        "edit-groups": "race-groups", "tagger": "celeba-tagger", "feature-pyramid": "face-parser",
    }  # fmt: skip
    spec = find_spec(models[name])
    if name == "feature-pyramid":
        side = spec.size * 3 // 2
        chips = photos(side)
        classes = rng.integers(0, 19, chips.shape[:3]).astype(np.uint8)
        return spec, chips, classes, {"steps": steps, "batch": 4, "mirrored": 0.3}
    chips = photos(spec.size)
    labels = signs(rng, len(chips), len(spec.labels))
    if name == "tagger":
        known = np.where(rng.random(labels.shape) < 0.2, np.nan, labels > 0)
        return spec, chips, known.astype(np.float32), {"steps": steps, "batch": 8}
    if name == "fader":
        options = {
            "optimisation": fader.Optimisation(steps, 8, 4e-4, 0.9),
            "adversary": fader.Adversary(0.12, 2, widths=(512,), dropout=0.3, aim=0.62),
            "pictures": fader.Pictures(0.3, 0.15, 0.1, 0.2, gone=("beard",)),
        }
        return spec, chips, labels, options
    if name == "edit-field":
        options = {
            "optimisation": edit_field.Optimisation(steps, 4, warm=1, rise=2, clip=0.5),
            "loss_weights": edit_field.LossWeights(brows=0.1, beard=0.3),
            "features": True,
        }
        return spec, chips, labels, options
    if name == "edit-ends":
        options = {"optimisation": distillation.Optimisation(steps, 4), "teacher": "gender-teacher"}
        return spec, chips, labels, options
    ends = np.eye(len(spec.ends), dtype=np.float32)[np.arange(len(chips)) % len(spec.ends)]
    options = {
        "optimisation": group_field.Optimisation(steps, 4, warm=1, rise=2),
        "loss_weights": group_field.GroupLossWeights(guide=0.1),
    }
    return spec, chips, np.concatenate([ends, signs(rng, len(chips), 3)], 1), options


def train(name, folder, steps, dies=0, save_every=4):
    """Train and keep the weights of the first process."""
    if os.environ.get("DOUBLE"):
        torch.set_default_dtype(torch.float64)
        torch.Tensor.float = torch.Tensor.double
    with parallel.processes("cpu") as device:
        spec, chips, labels, options = case(name, steps)
        if os.environ.get("DOUBLE") and labels.dtype == np.float32:
            labels = labels.astype(np.float64)
        if dies and parallel.rank() == 1:
            keep = loop.seed_step
            fader.seed_step = lambda seed, step, *more: (
                os._exit(9) if step == dies else keep(seed, step, *more)
            )
        folder.mkdir(parents=True, exist_ok=True)
        odds = np.random.default_rng(1).random(len(chips)) + 0.5
        state = LOOPS[spec.network](
            spec, np.ascontiguousarray(chips), labels, odds, folder,
            device=device, report_every=1, save_every=save_every, **options,
        )  # fmt: skip
        if parallel.rank() == 0:
            torch.save(state, folder / "weights.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    try:
        train(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int((sys.argv[4:] or ["0"])[0]))
    except GslopesError as error:
        sys.exit(f"gslopes: {error}")
