"""Score, kill, go on, again and again, against five services of which a fifth of the requests fails.

    python tests/benches/soak.py --seconds 1800 --seed 0

Each round scores a run folder of painted pictures at the five fake services, with 20 % faults of every kind, and is
killed at random moments until one attempt ends by itself. Then its tables must equal those of an undisturbed run, and
what was billed beyond once a picture must be explained by answers that got lost on the way or were in flight at a kill.
Prints one JSON object; ends with 1 if a round differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gslopes.core import tables  # noqa: E402
from tests.fake_provider import FakeProvider  # noqa: E402
from tests.fake_provider.folder import write_run  # noqa: E402

NAMES = ["google:images_per_minute=60000", *(f"{name}:rate=500,concurrency=4" for name in ("rekognition", "azure"))]
NAMES += ["clarifai:rate=500,concurrency=4", "imagga:rate=500,concurrency=4"]
BATCH = 16  # pictures in flight of one service, at most four requests of so many
# Imports once, then makes a child for each line it reads; the child scores and is killed from outside.
NURSERY = """
import os, shlex, sys
import gslopes.run.stages, gslopes.score.client
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        run, cache, *names = shlex.split(line)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            gslopes.run.stages.score_photos(run, names, device="cpu", cache=cache, yes=True)
            os._exit(0)
        except BaseException:
            os._exit(1)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--photos", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    lot, counts, differing = random.Random(options.seed), Counter[str](), []
    with tempfile.TemporaryDirectory() as name, FakeProvider(seed=options.seed) as provider:
        folder = Path(name)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        environment = os.environ | provider.environment
        with subprocess.Popen([sys.executable, "-c", NURSERY], cwd=ROOT, env=environment, **pipes) as nursery:
            calm = write_run(folder / "calm", options.photos, part=6)
            attempt(nursery, calm, folder / "calm-cache", None)
            expected = answers(calm)
            pictures = len(set(provider.log.billed("azure")))
            ends = time.monotonic() + options.seconds
            while time.monotonic() < ends:
                provider.reset()
                provider.trouble(0.2, delay=0.01)
                run, cache = write_run(folder / "run", options.photos, part=6), folder / "cache"
                kills = 0
                while not attempt(nursery, run, cache, lot.uniform(0.2, 3.0) if kills < 12 else None):
                    kills += 1
                differing += [
                    f"round {counts['rounds']}: {one}" for one in differences(provider, answers(run), expected, kills)
                ]
                counts.update(rounds=1, kills=kills, requests=len(provider.log.calls))
                counts["failed requests"] += sum(bool(call.trouble) for call in provider.log.calls)
                shutil.rmtree(run)
                shutil.rmtree(cache)
            nursery.stdin.close()
    print(json.dumps({"seconds": options.seconds, "pictures": pictures, **counts, "differing": differing}, indent=1))  # noqa: T201
    return bool(differing)


def attempt(nursery: subprocess.Popen[str], run: Path, cache: Path, seconds: float | None) -> bool:
    """Score, killed after so many seconds; whether it ended by itself."""
    nursery.stdin.write(" ".join([str(run), str(cache), *NAMES]) + "\n")
    child = int(nursery.stdout.readline())
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)  # not waited for yet: the number is still the child's
    return int(nursery.stdout.readline()) == 0


def answers(run: Path) -> list[pd.DataFrame]:
    return [tables.read(table, run / f"{table.name}.parquet") for table in (tables.ASKED, tables.SCORES)]


def differences(
    provider: FakeProvider, found: list[pd.DataFrame], expected: list[pd.DataFrame], kills: int
) -> list[str]:
    """What is not as in the undisturbed run."""
    wrong = [
        f"table {number}"
        for number, pair in enumerate(zip(found, expected, strict=True))
        if not pair[0].equals(pair[1])
    ]
    for service in ("google", "rekognition", "azure", "clarifai", "imagga"):
        calls = provider.log.of(service)
        again = sum(count - 1 for count in Counter(image for call in calls for image in call.billed).values())
        lost = sum(len(call.billed) for call in calls if not call.delivered)
        if again > lost + kills * 4 * BATCH:
            wrong.append(f"{service} billed {again} pictures again, {lost} answers were lost, {kills} kills")
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
