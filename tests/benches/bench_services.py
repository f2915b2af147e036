"""An audit of 100 photos by five services at once against the fake provider: is the quota used, is it ever passed?

The fake lives in this process and keeps the log; gslopes asks from a separate process. The quotas are low enough that
a busy machine keeps up with them. ``use`` is the number of requests (Google: of pictures) from the first to the last
one's arrival, over the seconds between them, over the quota; ``busiest`` is the largest number in any ``window``, over
what the quota allows there: a second, or the time of one request if that is longer. The fake throttles whatever is
more than the quota in any window.

OMP_NUM_THREADS=1 python -m tests.benches.bench_services > services.json
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gslopes.core import tables
from tests.again import redo
from tests.benches import measure
from tests.fake_provider import PLANTED, Call, FakeProvider
from tests.fake_provider.folder import write_run

ROOT = Path(__file__).resolve().parents[2]
PHOTOS, COPIES, PART = 100, 1, 32
WINDOW = 1.0  # seconds
QUOTA = {
    "google": 5.0,
    "rekognition": 5.0,
    "clarifai": 0.25,
    "azure": 5.0,
    "imagga": 5.0,
}  # a second
NAMES = [
    "google:images_per_minute=300",
    "rekognition:rate=5",
    "clarifai:rate=0.25",
    "azure:rate=5",
    "imagga:rate=5",
]
ASK = (
    "import sys; from gslopes.slopes.audit import score_photos as score\n"
    "score(sys.argv[1], sys.argv[3:], device='cpu', cache=sys.argv[2], yes=True)"
)


def weight(service: str, call: Call) -> int:
    return len(call.images) if service == "google" else 1


def window_of(service: str) -> float:
    """Seconds."""
    return max(WINDOW, (16 if service == "google" else 1) / QUOTA[service])


def about(
    service: str, calls: list[Call], pictures: set[str], billed: list[str]
) -> dict[str, object]:
    span = calls[-1].began - calls[0].began
    sent = sum(weight(service, call) for call in calls[:-1])
    window = window_of(service)
    windows = [
        [item for item in calls if first.began <= item.began < first.began + window]
        for first in calls
    ]
    most = max(sum(weight(service, call) for call in window) for window in windows)
    return {
        "calls": len(calls),
        "each_distinct_picture_once": sorted(billed) == sorted(pictures),
        "quota_per_second": QUOTA[service],
        "use": round(sent / span / QUOTA[service], 3),
        "window": round(window, 3),
        "busiest": round(most / QUOTA[service] / window, 3),
    }


def asked(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Seconds by the clock and of the processor that one command takes, interpreter and imports included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(time.perf_counter() - began, 2), "processor": round(processor, 2)}


def main() -> dict[str, object]:
    with FakeProvider() as provider, tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "run", PHOTOS, part=PART, copies=COPIES)
        command = [sys.executable, "-c", ASK, str(run), str(Path(folder) / "cache"), *NAMES]
        environment = os.environ | provider.environment
        first = asked(command, environment)
        calls = len(provider.log.calls)
        again = asked(command, environment)
        again["calls"] = len(provider.log.calls) - calls
        pictures = {
            hashlib.sha256(path.read_bytes()).hexdigest() for path in run.glob("edits/gender/*")
        }
        log = provider.log
        services = {name: about(name, log.of(name), pictures, log.billed(name)) for name in PLANTED}
        slopes = redo(run, "fit").tables["slopes"]
        tables.check(tables.SLOPES, slopes)
    paper = slopes[slopes["estimator"] == "paper"]
    table = paper.set_index(["classifier", "label"])
    planted = []
    for service, labels in PLANTED.items():
        for label, slope in labels.items():
            row = table.loc[(service, label)]
            inside = bool(row["ci_low"] - 1e-9 <= slope <= row["ci_high"] + 1e-9)
            ends = [round(float(row[end]), 4) for end in ("ci_low", "ci_high")]
            planted.append([service, label, slope, round(float(row["slope"]), 4), *ends, inside])
    return {
        "bench": "services",
        "machine": measure.machine(packages=()),
        "photos": PHOTOS,
        "pictures": len(pictures),
        "run": first,
        "rerun": again,
        "services": services,
        "slopes": {
            "columns": ["service", "label", "planted", "found", "low", "high", "inside"],
            "rows": planted,
        },
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(), indent=2) + "\n")
