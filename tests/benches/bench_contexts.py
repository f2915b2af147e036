"""The context audit of the London portraits on the rendered backgrounds: seconds, memory, a kill, and planted slopes.

Stages: cut out and compose; five fake services, each with a planted slope on congruence, killed once by SIGKILL in the
middle and started again; celeba-tagger; analysis and page.

OMP_NUM_THREADS=1 python -m tests.benches.bench_contexts neutral people.csv FOLDER > contexts.json
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from gslopes.contexts import TABLES
from gslopes.core import tables
from tests.benches import measure
from tests.benches.planted_contexts import SLOPES, plant
from tests.fake_provider import FakeProvider

ROOT = Path(__file__).resolve().parents[2]
STAGE = (
    "import sys; from gslopes.contexts.audit import audit_contexts; from gslopes.frame.executors import OneProcess\n"
    "people, table, run = sys.argv[1:]\n"
    "audit_contexts(people, run, people=table, classifier=[], executor=OneProcess(progress=True))"
)
ASK = (
    "import sys; from gslopes.contexts.audit import audit_contexts\n"
    "audit_contexts(sys.argv[1], classifier=sys.argv[3:], device='cpu', cache=sys.argv[2], yes=True)"
)
ANALYSE = (
    "import sys; from gslopes.contexts.audit import audit_contexts\n"
    "audit_contexts(sys.argv[1], typology='starter-wide')"
)


def timed(
    code: str, *arguments: str, environment: dict[str, str] | None = None
) -> dict[str, float]:
    """Seconds by the clock and of the processor, and the peak of memory, of Python code in a separate process."""
    began = time.perf_counter()
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | (environment or {}), stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, arguments
    process.returncode = 0
    processor = usage.ru_utime + usage.ru_stime
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor": round(processor, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
    }


def killed(provider: FakeProvider, after: int, *arguments: str) -> int:
    """Ask until so many calls were answered, then SIGKILL; the calls that were made."""
    command = [sys.executable, "-c", ASK, *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | provider.environment, stdout=subprocess.DEVNULL
    )
    while len(provider.log.calls) < after and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return len(provider.log.calls)


def recovered(run: Path) -> list[list[object]]:
    """Each service's planted and found slope in points per unit of congruence, with its interval."""
    rows = tables.read(TABLES["congruence"], run / "congruence.parquet")
    start = (rows["measure"] == "correct") & (rows["group"] == "all") & (rows["tags"] == "gross")
    rows = rows[start & (rows["gender"] == "all") & (rows["estimator"] == "person")].set_index(
        "classifier"
    )
    result = []
    for service, slope in SLOPES.items():
        row = rows.loc[service]
        numbers = [round(float(row[name]), 2) for name in ("slope", "ci_low", "ci_high")]
        holds = numbers[0] == slope == 0 or bool(numbers[1] <= 100 * slope <= numbers[2])
        result.append([service, 100 * slope, *numbers, holds])
    return result


def services(run: Path, cache: Path) -> dict[str, object]:
    """The five services, killed once and started again."""
    with FakeProvider() as provider:
        provider.known = plant(run)
        pictures = len(next(iter(provider.known.values())))
        before = killed(provider, pictures, str(run), str(cache), *SLOPES)
        numbers = timed(ASK, str(run), str(cache), *SLOPES, environment=provider.environment)
        again = len(provider.log.calls)
        timed(ASK, str(run), str(cache), *SLOPES, environment=provider.environment)
        billed = Counter(
            (call.service, name) for call in provider.log.calls for name in call.billed
        )
        return {
            "pictures": pictures,
            "calls_before_the_kill": before,
            "calls": again,
            "calls_of_a_third_start": len(provider.log.calls) - again,
            "asked_more_than_once": sum(count > 1 for count in billed.values()),
            "after_the_kill": numbers,
        }


def main(people: str, table: str, folder: Path) -> dict[str, object]:
    """Each step once: what an earlier start of the bench measured is in FOLDER/steps.json."""
    run, cache, retained = folder / "run", folder / "cache", folder / "steps.json"
    folder.mkdir(parents=True, exist_ok=True)
    steps: dict[str, object] = json.loads(retained.read_text()) if retained.exists() else {}
    work = {
        "cut out and compose": lambda: timed(STAGE, people, table, str(run)),
        "services": lambda: services(run, cache),
        "celeba-tagger": lambda: timed(ASK, str(run), str(cache), "celeba-tagger"),
        "analysis and page": lambda: timed(ANALYSE, str(run)),
    }
    for name, step in work.items():
        if name not in steps:
            steps[name] = step()
            retained.write_text(json.dumps(steps))
    cutouts = tables.read(TABLES["cutouts"], run / "cutouts.parquet")
    return {
        "bench": "contexts",
        "machine": measure.machine(packages=()),
        "photos": len(cutouts),
        "flagged": int((cutouts["status"] == "flagged").sum()),
        **steps,
        "slopes": {
            "columns": ["service", "planted", "found", "low", "high", "inside"],
            "rows": recovered(run),
        },
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])), indent=2) + "\n")
