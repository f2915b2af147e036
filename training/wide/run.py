"""Train a Fader Network of the published widths: pack the photos, train, measure. Run again, it resumes.

    python training/wide/run.py RUN --data DATA                       on the CPU, by training/wide/fader.toml
    python training/wide/run.py RUN --checkpoint                      weights and metrics.json of the checkpoint so far
    python -m training evaluate RUN/gender-fader/checkpoint --data DATA   what it edits, what else moves, for whom

Without a copy of the photos, carry RUN/packed/ along and leave out --data. RUN holds photos of people: never commit it.
With --minutes a short trial measures the rate and the run gets as many steps as fit; two runs may share a GPU.
Beside packed/, RUN is a home of its own (see ``gslopes.faces.zoo.spec``): its models/ holds the spec that is trained.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from gslopes.core.runfolder import write_bytes, write_json  # noqa: E402
from gslopes.faces.zoo import loading  # noqa: E402
from gslopes.faces.zoo.spec import find_spec  # noqa: E402
from training.measure import measure  # noqa: E402
from training.recipe import run_recipe  # noqa: E402
from training.sets import SETS, packed, write_packed  # noqa: E402

TRIAL, WARM = 300, 100  # steps of the trial that measures the rate, and how many of them are not counted


def main() -> None:
    """The command."""
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the folder for the packed photos, the checkpoint and the weights")
    parser.add_argument("--data", type=Path, help="the folder that holds the data sets, if RUN/packed has no file yet")
    parser.add_argument("--model", default="gender-fader", choices=("gender-fader", "race-fader"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, help="instead of the recipe's")
    parser.add_argument("--minutes", type=float, help="as many steps as fit, packing and start included")
    parser.add_argument("--checkpoint", action="store_true", help="write the weights of the checkpoint, do not train")
    args = parser.parse_args()

    recipe = tomllib.loads((HERE / "fader.toml").read_text(encoding="utf-8"))
    spec_text = (ROOT / "models" / args.model / "spec.toml").read_text(encoding="utf-8")
    home = args.run / "models" / args.model / "spec.toml"
    home.parent.mkdir(parents=True, exist_ok=True)
    kept = [line for line in spec_text.splitlines() if not line.startswith("config =")]
    write_bytes(home, "\n".join([*kept, *toml({"config": recipe.pop("config")})]).encode())
    os.environ["GSLOPES_HOME"] = str(args.run.resolve())

    photos = args.run / "packed" / f"{args.model}.npz"
    if not photos.is_file():
        if args.data is None:
            parser.error(f"There is no {photos}: name the data sets with --data, or copy it there.")
        write_packed(SETS[recipe["set"]](find_spec(args.model), args.data, args.device), photos)

    folder = args.run / args.model
    if args.checkpoint:
        write_checkpoint(args.model, folder, photos.parent, args.device)
        return
    recipe["model"] = args.model
    cuda = recipe.pop("cuda")
    if args.device.startswith("cuda"):
        recipe["train"]["optimisation"] |= cuda.pop("optimisation")
        recipe["train"] |= cuda
    plan = args.run / f"{args.model}.toml"
    done = plan.is_file() and (folder / "training/state.pt").is_file()
    steps = args.steps
    if args.minutes and not done:
        follow(recipe | {"train": recipe["train"] | {"save_every": TRIAL}}, plan, photos.parent, args, TRIAL, "trial")
        left = 60 * args.minutes - (time.monotonic() - began)
        steps = int(0.93 * left * rate(args.run / f"{args.model}-trial/training/log.jsonl"))
        recipe["train"]["adversary"]["ramp"] = steps // 3
    if args.minutes and done:  # a run that was cut off keeps its number of steps
        recipe = tomllib.loads(plan.read_text(encoding="utf-8"))
        steps = None
    follow(recipe, plan, photos.parent, args, steps)


def follow(
    recipe: dict[str, Any], plan: Path, data: Path, args: argparse.Namespace, steps: int | None, suffix: str = ""
) -> None:
    """Write the recipe with its steps to ``plan`` and train by it."""
    if steps is not None:
        recipe["train"]["optimisation"]["steps"] = steps
    write_bytes(plan, "\n".join([*toml(recipe), ""]).encode())
    out = args.run / "-".join([args.model, *([suffix] if suffix else [])])
    run_recipe(plan, data=data, device=args.device, out=out)


def toml(table: dict[str, Any], name: str = "") -> list[str]:
    """Lines of TOML: JSON writes its numbers, strings and lists in the same way."""
    lines = [f"[{name}]"] if name else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += toml(value, f"{name}.{key}" if name else key)
    return lines


def rate(log: Path) -> float:
    """Steps a second of the trial, without its first ones, in which the network is compiled."""
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    at = {row["step"]: row["step"] / row["steps_per_s"] for row in rows}
    return (TRIAL - WARM) / (at[TRIAL] - at[WARM])


def write_checkpoint(model: str, folder: Path, data: Path, device: str) -> None:
    """Weights and metrics.json of the checkpoint in ``folder``/training, as they are, to ``folder``/checkpoint."""
    spec, out = find_spec(model), folder / "checkpoint"
    stored = torch.load(folder / "training/state.pt", map_location="cpu", weights_only=True)
    digest = loading.save_weights(out, spec, stored["state"]["network"])
    photos = packed(spec, data)
    held_out = photos.part(np.flatnonzero(photos.held_out))
    numbers = measure(spec, out, held_out, device)
    facts = {"recipe": "wide/fader.toml", "steps": stored["step"], "sha256": digest}
    write_json(out / "metrics.json", facts | {"trained_on": int((~photos.held_out).sum())} | numbers)


if __name__ == "__main__":
    main()
