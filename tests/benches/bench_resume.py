"""The same command again, and commands that only tell: seconds from their start to their end, imports and all.

    python tests/benches/bench_resume.py [--photos 40] [--rounds 7] [--out results/resume.json]

Each command is a process of its own, all in turn. The peers are what most of the time goes into, ``import pandas``,
and what no such command needs, ``import torch``. ``again`` is a finished audit of drawn faces from Python, ``again
(command)`` the same by the command line. ``goes on, first line`` is the time until an audit says its first word whose
answers, and all that is made of them, are missing; it is killed then. Modules are compiled beforehand, as they are once
installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

FUNCTION = """
def instant(pictures):
    return [{"bright": 0.5, "dark": 0.25} for _ in pictures]
"""
AGAIN = """
import sys
from pathlib import Path
from gslopes.slopes.audit import audit
drawn = Path("drawn")
options = {"landmarks": drawn / "faces.csv", "masks": drawn / "masks", "editor": "drawn-confounded", "gate": False}
print(audit(drawn / "photos", sys.argv[1], classifier="judge.py:instant", placebo=False, steps=3, **options))
"""
COMMAND = "audit run --classifier judge.py:instant"
LATER = (
    "asked",
    "scores",
    "asked.parquet",
    "scores.parquet",
    "slopes.parquet",
    "report",
    "summary.json",
)


def timed(command: list[str], folder: Path, first_line: bool = False) -> dict[str, float]:
    """Seconds by the clock and of the processor.  first_line: by the clock only until it says something."""
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment |= {
        "PYTHONPATH": str(ROOT),
        "GSLOPES_CACHE": str(folder / "cache"),
        "PYTHONUNBUFFERED": "1",
    }
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read(1) if first_line else process.stdout.read()
        seconds = time.perf_counter() - began
        if first_line:
            process.kill()
    assert said
    assert first_line or process.returncode == 0, said
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "processor": processor}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    from training.drawn import SIZE, drawn_in_place, write_folder

    gslopes = [sys.executable, "-m", "gslopes"]
    python = [sys.executable, "-c"]
    said = "; print(1)"
    runs = {
        "import pandas": [*python, f"import pandas{said}"],
        "import torch": [*python, f"import torch{said}"],
        "again": [*python, AGAIN, "run"],
        "again (command)": [*gslopes, *COMMAND.split()],
        "goes on, first line": [*gslopes, *COMMAND.replace("run", "cut").split()],
        "--help": [*gslopes, "--help"],
        "list models": [*gslopes, "list", "models"],
        "list classifiers": [*gslopes, "list", "classifiers"],
        "audit --dry-run": [*gslopes, *COMMAND.split(), "--dry-run"],
    }
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in runs}
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        write_folder(drawn_in_place(args.photos, 100), folder / "drawn", SIZE)
        (folder / "judge.py").write_text(FUNCTION)
        timed(runs["again"], folder)
        for turn in range(args.rounds + 1):
            for name, command in runs.items():
                if name.startswith("goes on"):
                    shutil.rmtree(folder / "cut", ignore_errors=True)
                    shutil.copytree(folder / "run", folder / "cut", ignore=lambda *_: LATER)
                one = timed(command, folder, name.endswith("first line"))
                if turn:
                    taken[name].append(one)
    facts = {
        "bench": "resume",
        "machine": measure.machine(packages=("numpy", "pandas", "pyarrow", "torch")),
        "photos": args.photos,
        "rounds": args.rounds,
        "commands": {
            name: {key: measure.spread([one[key] for one in each], 3) for key in each[0]}
            for name, each in taken.items()
        },
    }
    measure.say(facts, args.out)


if __name__ == "__main__":
    main()
