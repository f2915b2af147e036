"""Audit, kill, go on, again and again, against five services of which a fifth of the requests fails.

    python tests/benches/soak.py --seconds 1800 --seed 0 --out soak.json

Each round audits a folder of drawn faces (synthesise, score, fit; the page, most of whose time is drawing, is left out)
at the five fake services, with 20 % faults of every kind, and is killed at random moments until one attempt ends by
itself. Then its tables and pictures must equal those of an undisturbed audit, and what was billed beyond once a picture
must be explained by answers that got lost on the way or were in flight at a kill.
Prints one JSON object, whose runs are added to those that the file has; ends with 1 if a round differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import measure  # noqa: E402

from gslopes.core import tables  # noqa: E402
from gslopes.datasets.drawn import sample, write_folder  # noqa: E402
from tests.fake_provider import FakeProvider  # noqa: E402
from tests.fixtures import write_tiny_models  # noqa: E402

NAMES = ["google:images_per_minute=60000", *(f"{name}:rate=500,concurrency=4" for name in ("rekognition", "azure"))]
NAMES += ["clarifai:rate=500,concurrency=4", "imagga:rate=500,concurrency=4"]
TABLES = ("photos", "edits", "asked", "scores", "slopes", "shape", "joint")
HANGS = 600.0  # seconds after which an attempt that nobody kills is a finding
# Imports once, then makes a child for each line it reads: an audit, killed after so many seconds. Prints its end.
NURSERY = """
import os, pathlib, shlex, signal, sys, time, traceback
import gslopes.compose.known, gslopes.edit.sweep, gslopes.find.known, gslopes.fit.analysis, gslopes.score.client
import gslopes.run.stages, gslopes.zoo
from gslopes.run.config import FitConfig
for line in sys.stdin:
    seconds, folder, run, cache, *names = shlex.split(line)
    known = {"landmarks": f"{folder}/faces.csv", "masks": f"{folder}/masks", "placebo": False, "gate": False}
    ends, child = time.monotonic() + float(seconds), os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            gslopes.run.walk.synthesise(f"{folder}/photos", run, config=f"{folder}/part.toml", device="cpu", **known)
            gslopes.run.walk.score_photos(run, names, device="cpu", cache=cache, yes=True)
            gslopes.run.stages.run_fit(pathlib.Path(run), FitConfig(permutations=200, bootstrap=200))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    ended = (0, 0)
    while ended[0] == 0 and time.monotonic() < ends:
        time.sleep(0.01)
        ended = os.waitpid(child, os.WNOHANG)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(ended[1]), flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--photos", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lot, counts, differing = random.Random(options.seed), Counter[str](), []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, FakeProvider(seed=options.seed) as provider:
        folder = Path(name)
        write_folder(sample(options.photos, options.seed), folder, size=96)
        (folder / "part.toml").write_text("part = 3\n")  # so that a kill finds parts done and parts not
        home = {"GSLOPES_HOME": str(write_tiny_models(folder / "home")), "OMP_NUM_THREADS": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        environment = os.environ | provider.environment | home
        with subprocess.Popen([sys.executable, "-c", NURSERY], cwd=ROOT, env=environment, **pipes) as nursery:
            calm, run = folder / "calm", folder / "run"
            if attempt(nursery, folder, calm, HANGS) != 0:
                raise SystemExit("The undisturbed audit failed.")
            expected = made(calm)
            while time.monotonic() < began + options.seconds:
                provider.reset()
                provider.trouble(0.2, delay=0.01)
                codes = [-9]
                while codes[-1] != 0 and len(codes) < 30:
                    codes.append(attempt(nursery, folder, run, lot.uniform(0.2, 4.0) if len(codes) < 13 else HANGS))
                kills = codes.count(-9) - 1
                wrong = differences(provider, made(run) if codes[-1] == 0 else ({}, {}), expected, kills)
                differing += [f"round {counts['rounds']}, ends {codes[1:]}: {one}" for one in wrong]
                counts.update(rounds=1, kills=kills, requests=len(provider.log.calls))
                counts["other ends"] += len(codes) - 2 - kills
                counts["failed requests"] += sum(bool(call.trouble) for call in provider.log.calls)
                counts["pictures judged"] += sum(len(call.billed) for call in provider.log.calls)
                shutil.rmtree(run)
                shutil.rmtree(f"{run}-cache")
            nursery.stdin.close()
    facts = {"machine": measure.machine(), "seconds": round(time.monotonic() - began), "seed": options.seed}
    facts |= {"photos": options.photos, "pictures": len(expected[1]), **counts, "differing": differing}
    before = json.loads(options.out.read_text())["runs"] if options.out and options.out.exists() else []
    measure.say({"bench": "soak", "runs": [*before, facts]}, options.out)
    return bool(differing)


def attempt(nursery: subprocess.Popen[str], folder: Path, run: Path, seconds: float) -> int:
    """Audit, killed after so many seconds; its exit code, -9 where it was killed."""
    nursery.stdin.write(shlex.join([str(seconds), str(folder), str(run), f"{run}-cache", *NAMES]) + "\n")
    return int(nursery.stdout.readline())


def made(run: Path) -> tuple[dict[str, pd.DataFrame], dict[str, bytes]]:
    """Tables by name, and pictures by path."""
    read = {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TABLES}
    return read, {path.name: path.read_bytes() for path in (run / "edits").rglob("*.jpg")}


def differences(provider: FakeProvider, found: tuple, expected: tuple, kills: int) -> list[str]:
    """What is not as in the undisturbed audit."""
    wrong = [name for name, frame in expected[0].items() if name not in found[0] or not frame.equals(found[0][name])]
    wrong += [] if found[1] == expected[1] else ["pictures"]
    for service in ("google", "rekognition", "azure", "clarifai", "imagga"):
        calls = provider.log.of(service)
        again = sum(count - 1 for count in Counter(image for call in calls for image in call.billed).values())
        lost = sum(len(call.billed) for call in calls if not call.delivered)
        if again > lost + kills * 4 * max((len(call.images) for call in calls), default=1):
            wrong.append(f"{service} billed {again} pictures again, {lost} answers were lost, {kills} kills")
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
