"""Collecting photos: how many a second come from a loopback server, beside a plain loop over the same addresses.

    OMP_NUM_THREADS=1 PYTHONPATH=. python tests/benches/bench_collect.py PHOTOS [--rounds 5] [--out collect.json]

PHOTOS: a folder of folders of JPEGs, such as IdenProf's. Ours: ``gslopes collect`` from a list of addresses, without a
pause between requests: robots asked, addresses checked, photos decoded, hashed, compared with all others, synced to the
disk and written into a manifest. The peer: httpx on one open connection and Pillow's ``load``, sha256, a file each;
nothing is checked, compared, synced or resumed. The server is another process; both meet it in turn.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
from PIL import Image

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
import measure  # noqa: E402

from gslopes.collect.config import CollectConfig  # noqa: E402
from gslopes.collect.photos import collect, plan_collection  # noqa: E402
from tests.collect.server import PhotoServer, aim, serving  # noqa: E402


def serve(photos: Path, pipe: Connection) -> None:
    """Serve until the other end of the pipe writes."""
    with serving(PhotoServer(photos)) as server:
        pipe.send(
            [
                (f"{server.base}/photo/fine/{file.parent.name}/{file.name}", file.parent.name)
                for file in files(photos)
            ]
        )
        pipe.recv()


def files(photos: Path, most: int = 300) -> list[Path]:
    return sorted(photos.glob("*/*.jpg"))[:most]


def ours(addresses: Path, root: Path) -> Callable[[], None]:
    numbers = count()

    def run() -> None:
        config = CollectConfig(source=f"urls:{addresses}", per_query=1000, gap=0.0)
        done = collect(plan_collection(config, root / f"ours-{next(numbers)}"))
        assert not done.statuses.get("failed"), done.reasons

    return run


def peer(listed: list[str], root: Path) -> Callable[[], None]:
    numbers = count()

    def run() -> None:
        folder = root / f"peer-{next(numbers)}"
        folder.mkdir()
        with httpx.Client() as client:
            for url in listed:
                content = client.get(url).content
                Image.open(io.BytesIO(content)).load()
                (folder / f"{hashlib.sha256(content).hexdigest()[:16]}.jpg").write_bytes(content)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    first, present = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(options.photos, present), daemon=True)
    server.start()
    pairs = first.recv()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        addresses = root / "list.csv"
        with addresses.open("w", newline="") as file:
            csv.writer(file).writerows([("url", "occupation"), *pairs])
        aim("/".join(pairs[0][0].split("/")[:3]))
        runs = {"ours": ours(addresses, root), "plain loop": peer([url for url, _ in pairs], root)}
        seconds = measure.in_turn(runs, options.rounds)
    first.send("enough")
    server.join(5)
    facts = {
        "photos": len(pairs),
        "megabytes": round(sum(file.stat().st_size for file in files(options.photos)) / 1e6, 1),
        "rounds": options.rounds,
        "photos_a_second": {
            name: measure.spread([len(pairs) / took for took in times], 1)
            for name, times in seconds.items()
        },
        "ours_is_faster_by": measure.ratios(seconds)["plain loop"],
        "machine": measure.machine(),
    }
    measure.say(facts, options.out)


if __name__ == "__main__":
    main()
