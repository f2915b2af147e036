"""Audit, kill or interrupt, go on, again and again, against five services that fail and two that lie.

    python tests/benches/soak.py --seconds 1800 --seed 0 --out soak.json

Each round audits a folder of drawn faces (synthesise, score, fit; the page, most of whose time is drawing, is left out)
at the five fake services, with 20 % faults of every kind, and is killed, or stopped by Ctrl-C, at random moments until
one attempt ends by itself. Then its tables and pictures must equal an undisturbed audit's, and what was billed
beyond once a picture must be explained by answers that got lost on the way or were in flight at a kill.
Then two servers are asked that make up how many answers there are and what tokens they took, and that redirect: with
Ctrl-C at random moments the spending must be what they were sent, and nothing may reach whom they redirect to.
Prints one JSON object, whose runs are added to those that the file has; ends with 1 if a round differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import measure  # noqa: E402

from gslopes.core import tables  # noqa: E402
from tests.benches.liars import Liar, LiarHandler, Thief, ThiefHandler  # noqa: E402
from tests.fake_provider import FakeProvider  # noqa: E402
from tests.fake_provider.folder import write_run  # noqa: E402
from tests.fixtures import write_tiny_models  # noqa: E402
from tests.loopback import serving  # noqa: E402
from training.drawn import sample, write_folder  # noqa: E402

NAMES = [
    "google:images_per_minute=60000",
    *(f"{name}:rate=500,concurrency=4" for name in ("rekognition", "azure")),
]
NAMES += ["clarifai:rate=500,concurrency=4", "imagga:rate=500,concurrency=4"]
TABLES = ("photos", "edits", "asked", "scores", "slopes", "shape")
HANGS = 600.0  # seconds after which an attempt that nobody kills is a finding
LIES = [
    "http:{url}/judge,price=1000,batch=4,concurrency=4",
    "llm:liar,url={url}/v1,prompt=doctor-nurse,",
]
LIES[1] += (
    "scores=repeats,repeats=3,price=3000,concurrency=4"  # both a dollar a picture, or a request
)
# Imports once, then makes a child for each line it reads: an audit, ended by a signal after so many seconds. Prints its
# end; its sentences about money are added to a file.
NURSERY = """
import os, pathlib, shlex, signal, sys, time, traceback
import gslopes.faces.compose.masks, gslopes.faces.edit.editors, gslopes.faces.find
import gslopes.slopes.measures.analysis, gslopes.ask.client
import gslopes.slopes.audit, gslopes.faces.zoo
from gslopes.slopes import audit as stages
from gslopes.slopes.config import FitConfig
from tests.again import redo
class Notes:
    def note(self, text):
        with open(self.file, "a") as file:
            print(text, file=file)
for line in sys.stdin:
    seconds, number, folder, run, cache, *names = shlex.split(line)
    known = {"landmarks": f"{folder}/faces.csv", "masks": f"{folder}/masks", "placebo": False, "gate": False}
    ends, child = time.monotonic() + float(seconds), os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        notes = Notes()
        notes.file = f"{run}-notes"
        try:
            if "liar" not in line:
                stages.synthesise(f"{folder}/photos", run, config=f"{folder}/part.toml", device="cpu", **known)
            stages.score_photos(run, names, device="cpu", cache=cache, yes=True, executor=notes)
            if "liar" not in line:
                redo(run, "fit", FitConfig(permutations=200))
            os._exit(0)
        except KeyboardInterrupt:
            os._exit(130)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    ended = (0, 0)
    while ended[0] == 0 and time.monotonic() < ends:
        time.sleep(0.01)
        ended = os.waitpid(child, os.WNOHANG)
    if ended[0] == 0:
        os.kill(child, int(number))
    while ended[0] == 0 and time.monotonic() < ends + 60:
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
        (folder / "part.toml").write_text(
            "part = 3\n"
        )  # so that a kill finds parts done and parts not
        home = {"GSLOPES_HOME": str(write_tiny_models(folder / "home")), "OMP_NUM_THREADS": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        environment = os.environ | provider.environment | home
        with subprocess.Popen(
            [sys.executable, "-c", NURSERY], cwd=ROOT, env=environment, **pipes
        ) as nursery:
            calm, run = folder / "calm", folder / "run"
            if attempt(nursery, folder, calm, HANGS) != 0:
                raise SystemExit("The undisturbed audit failed.")
            expected = made(calm)
            while time.monotonic() < began + options.seconds:
                provider.reset()
                provider.trouble(0.2)
                codes = [-9]
                while codes[-1] != 0 and len(codes) < 30:
                    seconds = lot.uniform(0.2, 4.0) if len(codes) < 13 else HANGS
                    codes.append(
                        attempt(
                            nursery,
                            folder,
                            run,
                            seconds,
                            lot.choice([signal.SIGKILL, signal.SIGINT]),
                        )
                    )
                kills = codes.count(-9) - 1
                wrong = differences(
                    provider, made(run) if codes[-1] == 0 else ({}, {}), expected, kills
                )
                differing += [
                    f"round {counts['rounds']}, ends {codes[1:]}: {item}" for item in wrong
                ]
                counts.update(rounds=1, kills=kills, requests=len(provider.log.calls))
                stops = codes.count(130)
                counts.update(interrupts=stops)
                counts["other ends"] += len(codes) - 2 - kills - stops
                counts["failed requests"] += sum(bool(call.trouble) for call in provider.log.calls)
                counts["pictures judged"] += sum(len(call.billed) for call in provider.log.calls)
                differing += lied_to(nursery, folder, lot, counts)
                shutil.rmtree(run)
                shutil.rmtree(f"{run}-cache")
            nursery.stdin.close()
    facts = {
        "machine": measure.machine(),
        "seconds": round(time.monotonic() - began),
        "seed": options.seed,
    }
    facts |= {
        "photos": options.photos,
        "pictures": len(expected[1]),
        **counts,
        "differing": differing,
    }
    before = (
        json.loads(options.out.read_text())["runs"] if options.out and options.out.exists() else []
    )
    measure.say({"bench": "soak", "runs": [*before, facts]}, options.out)
    return bool(differing)


def attempt(
    nursery: subprocess.Popen[str],
    folder: Path,
    run: Path,
    seconds: float,
    number: int = signal.SIGKILL,
    names: Sequence[str] = NAMES,
) -> int:
    """Audit, ended by a signal after so many seconds; its exit code, -9 if it was killed."""
    sent = [str(seconds), str(int(number)), str(folder), str(run), f"{run}-cache", *names]
    nursery.stdin.write(shlex.join(sent) + "\n")
    return int(nursery.stdout.readline())


def lied_to(
    nursery: subprocess.Popen[str], folder: Path, lot: random.Random, counts: Counter[str]
) -> list[str]:
    """Ask the liars until all is answered, with Ctrl-C at random moments; what was spent beyond, or less than, sent."""
    run = write_run(folder / f"liar-{counts['rounds']}", 6, part=2)
    thief, codes = Thief(), [130]
    with (
        serving(thief, ThiefHandler),
        serving(Liar(lot.randrange(1 << 30), thief), LiarHandler) as liar,
    ):
        names = [name.format(url=f"http://127.0.0.1:{liar.port}") for name in LIES]
        while codes[-1] != 0 and len(codes) < 30:
            seconds = lot.uniform(0.5, 4.0) if len(codes) < 13 else HANGS
            codes.append(attempt(nursery, folder, run, seconds, signal.SIGINT, names))
    text = Path(f"{run}-notes").read_text()
    spent = dict.fromkeys(("http", "llm"), 0.0)
    for name, usd in re.findall(r"score +(http|llm):.*? ([\d,]+\.\d\d) USD spent", text):
        spent[name] += float(usd.replace(",", ""))
    counts.update({"lying rounds": 1, "interrupts among lies": codes.count(130) - 1})
    counts.update({"sent to liars": sum(liar.judged.values()), "redirected": liar.redirected})
    wrong = [
        f"a liar counted {liar.judged[kind]} and {spent[name]:g} were spent at {name}"
        for kind, name in (("judge", "http"), ("chat", "llm"))
        if spent[name] != liar.judged[kind]
    ]
    wrong += [f"{thief.came} requests followed a redirect"] if thief.came else []
    wrong += [f"the liars' rounds ended with {codes}"] if codes[-1] not in (0, 1) else []
    return wrong


def made(run: Path) -> tuple[dict[str, pd.DataFrame], dict[str, bytes]]:
    """Tables by name, and pictures by path."""
    read = {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TABLES}
    return read, {path.name: path.read_bytes() for path in (run / "edits").rglob("*.jpg")}


def differences(provider: FakeProvider, result: tuple, expected: tuple, kills: int) -> list[str]:
    """What is not as in the undisturbed audit."""
    wrong = [
        name
        for name, frame in expected[0].items()
        if name not in result[0] or not frame.equals(result[0][name])
    ]
    wrong += [] if result[1] == expected[1] else ["pictures"]
    for service in ("google", "rekognition", "azure", "clarifai", "imagga"):
        calls = provider.log.of(service)
        again = sum(
            count - 1
            for count in Counter(image for call in calls for image in call.billed).values()
        )
        lost = sum(len(call.billed) for call in calls if not call.delivered)
        if again > lost + kills * 4 * max((len(call.images) for call in calls), default=1):
            wrong.append(
                f"{service} billed {again} pictures again, {lost} answers were lost, {kills} kills"
            )
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
