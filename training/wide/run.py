"""Train the Fader Networks of the published widths, both on one GPU at once, in a given time.

    python training/wide/run.py pack DATA PACKED       where the photos are: PACKED/photos.npz, 40 MB, never committed
    python training/wide/run.py train PACKED RUN 455   on the GPU: 50 seconds give the rate, then as many steps as fit
    python training/wide/run.py look PACKED RUN gender-fader sheet.png      held-out chips, read by the judge

RUN/models/<model>/model.safetensors is what was learned. RUN is a home of its own (see ``gslopes.faces.zoo.spec``).
Run ``train`` again after a cut: it goes on from the last checkpoint.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from gslopes.core.runfolder import write_bytes  # noqa: E402
from gslopes.faces.zoo import build  # noqa: E402
from gslopes.faces.zoo.loading import save_weights  # noqa: E402
from gslopes.faces.zoo.reader import FaceReader, attribute  # noqa: E402
from gslopes.faces.zoo.spec import find_spec  # noqa: E402
from training.augment import to_float  # noqa: E402
from training.recipe import run_recipe  # noqa: E402
from training.sets import SETS, packed, write_packed  # noqa: E402

MODELS = ("gender-fader", "race-fader")
KEPT = 170  # held-out photos of each end that travel along
FIRST = 50  # seconds of training that give the rate; starting twice is in them and in SPARE
SPARE = 22
EVERY = 250  # steps between checkpoints while the rate is measured


def pack(data: Path, out: Path) -> None:
    """Both sets in one file: a photo that both use is in it once."""
    place: dict[bytes, int] = {}
    columns: dict[str, Any] = {}
    for model in MODELS:
        full = out / f"{model}.npz"
        if not full.is_file():
            write_packed(SETS["fader-even"](find_spec(model), data, "cpu"), full)
        with np.load(full) as file:
            webp, ends, labels, aside = file["webp"], file["ends"], file["labels"], file["held_out"]
            weights = file["weights"]
        chosen = ~aside
        for end in (-1, 1):
            rows = np.flatnonzero(aside & (np.sign(labels[:, 0]) == end))
            chosen[np.random.default_rng(5).permutation(rows)[:KEPT]] = True
        files = [webp[a:b].tobytes() for a, b in pairwise([0, *ends])]
        columns[f"{model} rows"] = [place.setdefault(files[row], len(place)) for row in np.flatnonzero(chosen)]
        for name, column in (("labels", labels), ("weights", weights), ("held_out", aside)):
            columns[f"{model} {name}"] = column[chosen]
    sizes = np.cumsum([len(file) for file in place])
    np.savez(out / "photos.npz", webp=np.frombuffer(b"".join(place), np.uint8), ends=sizes, **columns)


def unpack(photos: Path, out: Path) -> None:
    """The file of each model, as ``training.sets.packed`` reads it."""
    out.mkdir(parents=True, exist_ok=True)
    with np.load(photos) as file:
        webp, bounds = file["webp"], list(pairwise([0, *file["ends"]]))
        for model in MODELS:
            files = [webp[slice(*bounds[row])] for row in file[f"{model} rows"]]
            columns = {name: file[f"{model} {name}"] for name in ("labels", "weights", "held_out")}
            sizes = np.cumsum([len(one) for one in files])
            np.savez(out / f"{model}.npz", webp=np.concatenate(files), ends=sizes, **columns)


def train(photos: Path, run: Path, seconds: float) -> None:
    """Both models at once; ends ``seconds`` after it began."""
    began = time.monotonic()
    unpack(photos / "photos.npz", run / "packed")
    steps = dict.fromkeys(MODELS, 1_000_000)
    if all((run / model / "training/log.jsonl").is_file() for model in MODELS):
        print("going on", flush=True)
    else:
        follow(run, steps, began + FIRST, every=EVERY)
    for model in MODELS:
        rows = [json.loads(line) for line in (run / model / "training/log.jsonl").read_text().splitlines()]
        first, last = rows[len(rows) // 3], rows[-1]
        passed = last["step"] / last["steps_per_s"] - first["step"] / first["steps_per_s"]
        rate = (last["step"] - first["step"]) / passed
        done = last["step"] // EVERY * EVERY
        steps[model] = int(done + 0.96 * rate * (seconds - SPARE - (time.monotonic() - began)))
        print(model, f"{rate:.1f} steps a second, {steps[model]} steps", flush=True)
    follow(run, steps, began + seconds + 15)
    for model in MODELS:
        if not (run / "weights" / model / "sha256").is_file():  # cut off: the last checkpoint
            state = torch.load(run / model / "training/state.pt", map_location="cpu", weights_only=True)
            print(model, "was cut off; its checkpoint is of step", state["step"])
            save_weights(run / "weights" / model, find_spec(model), state["state"]["network"])
        else:
            print(model, "is done")


def follow(run: Path, steps: dict[str, int], until: float, every: int | None = None) -> None:
    """Train both models in processes of their own until they are done or ``until``, a time of ``time.monotonic``."""
    processes = []
    for model, count in steps.items():
        recipe = tomllib.loads((HERE / f"{model}.toml").read_text(encoding="utf-8"))
        recipe["train"]["optimisation"]["steps"] = count
        recipe["train"]["adversary"]["ramp"] = 5000 if every else max(2000, count // 5)
        recipe["train"]["save_every"] = every or recipe["train"]["save_every"]
        config = recipe.pop("config")
        spec = (ROOT / "models" / model / "spec.toml").read_text(encoding="utf-8").splitlines()
        kept = [line for line in spec if not line.startswith("config =")]
        (run / "models" / model).mkdir(parents=True, exist_ok=True)
        write_bytes(run / "models" / model / "spec.toml", "\n".join([*kept, *toml({"config": config})]).encode())
        write_bytes(run / f"{model}.toml", "\n".join([*toml(recipe), ""]).encode())
        (run / model / "training/options.json").unlink(missing_ok=True)  # the number of steps differs
        command = [sys.executable, __file__, "one", str(run), model]
        with (run / f"{model}.log").open("a") as log:
            processes.append(subprocess.Popen(command, stdout=log, stderr=log))
    while any(one.poll() is None for one in processes) and time.monotonic() < until:
        time.sleep(0.2)
    for one in processes:
        if one.poll() is None:
            one.send_signal(signal.SIGINT)
    for one in processes:
        one.wait()


def one(run: Path, model: str) -> None:
    """Train one model by RUN/<model>.toml and write its weights to RUN/weights."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = run_recipe(run / f"{model}.toml", data=run / "packed", device=device, out=run / model)
    weights = run / "weights" / model
    weights.mkdir(parents=True, exist_ok=True)
    for name in ("model.safetensors", "metrics.json", "sha256"):
        write_bytes(weights / name, (folder / name).read_bytes())


def toml(table: dict[str, Any], name: str = "") -> list[str]:
    """Lines of TOML: JSON writes its numbers, strings and lists in the same way."""
    lines = [f"[{name}]"] if name else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += toml(value, f"{name}.{key}" if name else key)
    return lines


@torch.inference_mode()
def look(run: Path, model: str, sheet: Path) -> None:
    """Print the judge's mean reading at each condition, by end; write six faces of each end to ``sheet``."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    spec, judge = find_spec(model), FaceReader.load(device)
    state = torch.load(run / model / "training/state.pt", map_location=device, weights_only=True)
    network: Any = build(spec).to(device).eval()
    network.load_state_dict(state["state"]["network"], strict=False)
    photos = packed(spec, run / "packed")
    aside = np.flatnonzero(photos.held_out)
    ends = [aside[photos.labels[aside, 0] == end] for end in (-1, 1)]
    rows = np.concatenate(ends)
    chips, a = np.array(photos.pixels[rows]), torch.from_numpy(photos.labels[rows]).to(device)
    x = to_float(torch.from_numpy(chips).to(device), spec.mean, spec.std)
    z = network.encode(x)
    columns = [chips]

    def say(name: str, pictures: torch.Tensor) -> None:
        levels = ((pictures + 1) * 127.5).clamp(0, 255).round().byte().permute(0, 2, 3, 1).cpu().numpy()
        read = attribute(judge(levels, 64), spec.labels[0])
        print(f"{name:>8}  low {read[: len(ends[0])].mean():.3f}  high {read[len(ends[0]) :].mean():.3f}", flush=True)
        columns.append(levels)

    print("step", state["step"])
    say("photo", x)
    say("own", network.decode(z, a))
    print("L1 of [-1, 1]:", round(float((network.decode(z, a) - x).abs().mean()), 4))
    for value in (-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2):
        say(f"{value:+}", network.decode(z, network.condition(a, value)))
    shown = [*range(6), *range(len(ends[0]), len(ends[0]) + 6)]
    halves = [np.concatenate([np.concatenate(list(c[half])) for c in columns], 1) for half in (shown[:6], shown[6:])]
    cv2.imwrite(str(sheet), np.concatenate(halves)[..., ::-1])


def main(what: str, *arguments: str) -> None:
    """The command."""
    paths = [Path(argument).resolve() for argument in arguments]
    match what:
        case "pack":
            pack(*paths)
        case "train":
            os.environ["GSLOPES_HOME"] = str(paths[1])
            train(paths[0], paths[1], float(arguments[2]))
        case "one":
            one(paths[0], arguments[1])
        case "look":
            os.environ["GSLOPES_HOME"] = str(paths[1])
            look(paths[1], arguments[2], paths[3])
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
