"""A walk on a Ray cluster of several nodes on this machine, with a shared disk and without, and with kills.

    python tests/benches/bench_cluster.py PHOTOS [--photos 240] [--kills 10000] [--out results/cluster.json]

Each node is the processes of ``ray start``, with a core; the head does no work. Without a shared disk the other nodes
see an empty file system in the place of photos and run folder (``unshare -m``, which needs root), so that all goes
through Ray's object store. Photos are of 224 px, values are three of gender, without placebos, in parts of 16; the runs
of one process, and of 1, 2 and 3 nodes with both, follow one another. A run includes the start of the workers, not of
the cluster. With kills: a worker, then a node, then the head, after which the same command goes on.

    python tests/benches/bench_cluster.py --growth [--out results/growth-cluster.json]

What grows with the photos at the process that deals parts: the merge of tables, the list of photos that a worker gets,
and the digest of a folder of pictures.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from bench_synthesis import prepare  # noqa: E402

from gslopes.core import hexdigest, runfolder, tables  # noqa: E402
from gslopes.frame.stamps import _digest  # noqa: E402
from gslopes.photos.folder import PhotoFile  # noqa: E402
from tests.frame.executors.nodes import Nodes, below, kill  # noqa: E402
from tests.frame.executors.test_walk import files  # noqa: E402

PART = 16
WALK = """
import json, sys, time
import gslopes, measure
from gslopes.frame.executors import ray as rays

photos, run, engine, workers = sys.argv[1:]
deal, spent = rays._done, [0.0]

def dealt(*args):
    began = time.process_time()
    yield from deal(*args)
    spent.append(time.process_time() - began)

rays._done = dealt
began = time.perf_counter()
options = {"engine": engine, "workers": int(workers)}
gslopes.synthesise(photos, run, config=run + ".toml", device="cpu", placebo=False, **options)
facts = {"seconds": time.perf_counter() - began, "peak": measure.peak_mib(), "dealing": sum(spent)}
print(json.dumps(facts))
"""
MILLION = 1_000_000
PRICES = (0.01, 0.03, 0.05)  # assumed, in any currency, of a core for an hour


class Command:
    """A walk in a process of its own."""

    def __init__(self, photos: Path, run: Path, address: str = "", workers: int = 1) -> None:
        lines = f"part = {PART}\n[edit]\nsteps = 3\nattributes = ['gender']\n"
        Path(f"{run}.toml").write_text(lines)
        self.photos, self.run = len([*photos.iterdir()]), run
        command = [sys.executable, "-c", WALK, photos, run]
        command += ["ray" if address else "one", str(workers)]
        path = f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'benches'}"
        env = os.environ | {"RAY_ADDRESS": address, "PYTHONPATH": path}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=env, text=True, **pipes)

    def parts(self) -> dict[str, int]:
        """The parts that are there, with the nanosecond at which each was written."""
        folder = self.run / "parts" / "synthesise"
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("photos-*.parquet")}

    def wait_for(self, share: float) -> None:
        """Until this share of the parts is there."""
        while len(self.parts()) * PART < share * self.photos and self.process.poll() is None:
            time.sleep(0.2)
        assert self.process.poll() is None, self.process.communicate()

    def ended(self) -> dict[str, Any]:
        """Seconds, photos a second, and the most memory of this process."""
        out, said = self.process.communicate()
        assert self.process.returncode == 0, said
        told = json.loads(out.splitlines()[-1])
        rate = self.photos / told["seconds"]
        return {
            "seconds": round(told["seconds"], 1),
            "photos_a_second": round(rate, 2),
            "driver_peak_mib": told["peak"],
            "driver_ms_a_photo": round(told["dealing"] / self.photos * 1000, 2),
        }


def compared(expected: dict[str, bytes], run: Path) -> None:
    """Raises: AssertionError unless all tables and pictures are equal to the byte."""
    found = files(run)
    assert expected.keys() == found.keys()
    assert [name for name in expected if found[name] != expected[name]] == []


def store_mib(nodes: Nodes) -> float:
    """The most that the object store of a node has held: pages of its memory that were ever written."""
    held = [0.0]
    for node in (nodes.head, *nodes.others):
        for pid, command in below(node.pid):
            if command.endswith("raylet"):
                status = Path(f"/proc/{pid}/status").read_text()
                held += [int(size) / 1024 for size in re.findall(r"RssShmem:\s+(\d+)", status)]
    return round(max(held), 1)


def moved(photos: Path, run: Path) -> dict[str, float]:
    """Kilobytes a photo that go to a machine that sees nothing, and come back."""
    count = len([*photos.iterdir()])
    there = sum(path.stat().st_size for path in photos.iterdir())
    there += (run / "run.json").stat().st_size * -(-count // PART)
    made = [*run.glob("edits/**/*"), *run.glob("parts/synthesise/*.parquet")]
    back = sum(path.stat().st_size for path in made if path.is_file())
    return {"sent": round(there / count / 1000, 2), "sent_back": round(back / count / 1000, 2)}


def rates(home: Path, facts: dict[str, Any]) -> dict[str, bytes]:
    """One process, then clusters of 1, 2 and 3 nodes with both kinds of disk; the files of the first."""
    photos = home / "shared" / "photos"
    one = home / "shared" / "one"
    facts["one_process"] = Command(photos, one).ended()
    expected = files(one)
    facts["kilobytes_a_photo"] = moved(photos, one)
    facts["runs"] = []
    for count in (1, 2, 3):
        for disk, hidden in (("shared disk", None), ("object store", home / "shared")):
            run = home / "shared" / f"run{count}{disk[:6]}"
            with Nodes(count, hidden, head_cores=0) as nodes:
                told = Command(photos, run, nodes.address, count).ended()
                about = {"nodes": count, "files": disk, "store_peak_mib": store_mib(nodes)}
                facts["runs"].append(about | told)
            compared(expected, run)
    return expected


def on_paper(facts: dict[str, Any]) -> dict[str, Any]:
    """A million such photos, if each core is as fast as that of the node that works alone through the object store."""
    alone = facts["runs"][1]
    busiest = facts["runs"][-1]["driver_ms_a_photo"]
    hours = MILLION / alone["photos_a_second"] / 3600
    return {
        "core_hours": round(hours),
        "hours_on_32_cores": round(hours / 32, 1),
        "cores_that_one_dealing_process_keeps_busy": round(
            1000 / busiest / alone["photos_a_second"]
        ),
        "gigabytes": {way: round(size) for way, size in facts["kilobytes_a_photo"].items()},
        "pictures": 3 * MILLION,
        "costs": [{"core_hour": price, "all": round(hours * price, 2)} for price in PRICES],
    }


def with_kills(home: Path) -> dict[str, Any]:
    """A worker, a node and the head of a cluster without a shared disk are killed; the same command goes on."""
    photos = home / "shared" / "many"
    one, run = (home / "shared" / name for name in ("many-one", "many-run"))
    facts: dict[str, Any] = {"one_process": Command(photos, one).ended()}
    with Nodes(3, home / "shared", head_cores=0) as nodes:
        command = Command(photos, run, nodes.address, 3)
        command.wait_for(0.1)
        workers = [pid for pid, name in below(nodes.others[0].pid) if "RayWorker" in name]
        os.kill(workers[0], signal.SIGKILL)
        command.wait_for(0.2)
        kill(nodes.others[1])
        command.wait_for(0.3)
        nodes.behead()
        began = time.perf_counter()
        _, said = command.process.communicate()
        facts["seconds_to_the_sentence"] = round(time.perf_counter() - began, 1)
        # what is left may be done before the head counts as gone
        facts["sentence"] = [*re.findall(r"WorkerLost: (.*)", said), ""][0]
    before = command.parts()
    with Nodes(3, home / "shared", head_cores=0) as nodes:
        facts["again"] = Command(photos, run, nodes.address, 3).ended()
    after = Command.parts(command)
    assert before.items() <= after.items(), "a part was done again"
    facts |= {"parts_before": len(before), "parts": len(after)}
    compared(files(one), run)
    return facts | {"files": f"{len(files(one))}, equal to the byte"}


# -- growth -----------------------------------------------------------------------------------------------------------


def timed(does: Callable[[], Any]) -> float:
    """Seconds."""
    began = time.perf_counter()
    does()
    return round(time.perf_counter() - began, 2)


def growth(home: Path) -> dict[str, Any]:
    """Two sizes of each, so that it is seen whether time is in proportion."""
    facts: dict[str, Any] = {"merges": [], "lists": [], "folders": []}
    for parts in (250, 1000):
        run = home / str(parts)
        for part in range(parts):
            _write_part(run, part)
        merges = {
            table.name: timed(partial(runfolder.merge, run, table, ["synthesise"], parts))
            for table in (tables.PHOTOS, tables.EDITS)
        }
        facts["merges"].append({"parts": parts, **merges})
    for count in (20_000, 80_000):
        names = [f"{number:09d}.jpg" for number in range(count)]
        data = pickle.dumps([PhotoFile(Path("/photos", name), name) for name in names])
        seconds = timed(partial(pickle.loads, data))
        facts["lists"].append({"photos": count, "bytes": len(data), "seconds_to_read": seconds})
        folder = home / f"edits{count}"
        folder.mkdir()
        making = timed(partial(_fill, folder, names))
        tracemalloc.start()
        digest = timed(partial(_digest, folder))
        held = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        about = {"pictures": count, "make": making, "digest": digest, "digest_mib": round(held, 1)}
        facts["folders"].append(about)
    return facts


def _fill(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).write_bytes(b"x")


def _write_part(run: Path, part: int) -> None:
    """A part's tables: 32 photos, seven values of each."""
    ids = [hexdigest(f"{part} {row}") for row in range(32)]
    photos = [
        {**tables.PHOTOS.blank, "photo": name, "path": name, "status": "used"} for name in ids
    ]
    edits = [
        {"photo": name, "attribute": "gender", "step": step, "value": step - 3.0}
        | {"file": f"edits/gender/{name[:16]}-{step}.jpg", "mask_area": 0.1}
        for name in ids
        for step in range(7)
    ]
    for table, rows in ((tables.PHOTOS, photos), (tables.EDITS, edits)):
        path = runfolder.part_path(run, "synthesise", table, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        tables.write(table, tables.frame_of(table, rows), path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, nargs="?")
    parser.add_argument("--photos", type=int, default=240)
    parser.add_argument("--kills", type=int, default=0, help="photos of the run with kills")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    facts: dict[str, Any] = {"bench": "cluster"}
    facts["machine"] = measure.machine(packages=("torch", "ray"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if args.growth:
            measure.say(facts | growth(home), args.out)
            return
        (home / "shared").mkdir()
        if args.photos:
            prepare(args.source, home / "shared" / "photos", args.photos, 224)
            facts["photos"] = args.photos
            rates(home, facts)
            facts["million"] = on_paper(facts)
        if args.kills:
            prepare(args.source, home / "shared" / "many", args.kills, 224)
            facts |= {"photos_with_kills": args.kills, "kills": with_kills(home)}
    facts["files"] = "tables and pictures equal to the byte in all runs"
    measure.say(facts, args.out)


if __name__ == "__main__":
    main()
