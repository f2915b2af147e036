"""How time grows with photos, with values and with labels: the exponents of a line through logarithms.

    python tests/benches/bench_scaling.py PHOTOS [--out results/scaling.json]

Photos: the walk from photos to counterfactual photos. Values: the same steps for 48 photos at K = 3 to 49; what is
done once a face does not grow with K, so that the exponent is that of edit, compose and encode, over the K + 1 pictures
that are decoded (the face's own values are one more). Labels: the fit, with a returned label in 12.5 as in bench_fit.
Medians of three rounds, sizes in turn.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import bench_fit  # noqa: E402
import measure  # noqa: E402
from bench_synthesis import SMALLEST, prepare  # noqa: E402

from gslopes.core import tables  # noqa: E402
from gslopes.faces.components import default_components  # noqa: E402
from gslopes.faces.config import values_for  # noqa: E402
from gslopes.slopes import audit as stages  # noqa: E402
from gslopes.slopes.config import configure  # noqa: E402
from gslopes.slopes.fit.analysis import analyse  # noqa: E402
from gslopes.slopes.fit.options import FitOptions  # noqa: E402
from tests.benches.bench_machine import time_steps  # noqa: E402

PHOTOS, VALUES, LABELS, ROUNDS = (250, 500, 1000, 2000), (3, 7, 17, 49), (250, 500, 1000, 2000), 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=["photos", "values", "labels"])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        kinds = {"photos": in_photos, "values": in_values, "labels": in_labels}
        found = {
            name: run(args.folder, Path(place) / name)
            for name, run in kinds.items()
            if args.only in (None, name) and (Path(place) / name).mkdir() is None
        }
    measure.say({"bench": "scaling", "machine": measure.machine(), **found}, args.out)


def in_photos(source: Path, place: Path) -> dict[str, object]:
    for count in PHOTOS:  # each from all over the set, so that as many of them hold a face
        prepare(source, place / str(count), count, 0)
    options = {"min_face": SMALLEST}
    components = default_components(configure(place / str(PHOTOS[0]), options), "cpu")

    def walk(count: int) -> Callable[[], object]:
        def run() -> None:
            shutil.rmtree(place / "run", ignore_errors=True)
            stages.synthesise(place / str(count), place / "run", components=components, **options)

        return run

    return time_growth({count: walk(count) for count in PHOTOS})


def in_values(source: Path, place: Path) -> dict[str, object]:
    prepare(source, place / "all", 48, 0)
    seconds: dict[int, list[float]] = {}
    whole: dict[int, list[float]] = {}
    for _ in range(ROUNDS):
        for count in VALUES:
            values = values_for("gender", count)
            steps, _ = time_steps(place / "all", place, "gender", "cpu", stages.QUIET, values)
            seconds.setdefault(count + 1, []).append(sum(steps[n] for n in ("edit", "compose", "encode and write")))
            whole.setdefault(count, []).append(sum(steps.values()))
    total = {str(count): measure.spread(times) for count, times in whole.items()}
    return exponent(seconds) | {"seconds_of_all_rooms_by_values": total}


def in_labels(source: Path, place: Path) -> dict[str, object]:
    def fit(count: int) -> Callable[[], object]:
        folder = place / str(count)
        folder.mkdir()
        bench_fit.RETURNED = count * 80 // 1000
        bench_fit.write(folder, 1000, count)
        scores, asked = (
            tables.read_arrow(table, folder / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED)
        )
        return lambda: analyse(scores, asked, options=FitOptions(permutations=200))

    return time_growth({count: fit(count) for count in LABELS})


def time_growth(runs: dict[int, Callable[[], object]]) -> dict[str, object]:
    seconds: dict[int, list[float]] = {count: [] for count in runs}
    runs[min(runs)]()  # what only the first run does
    for _ in range(ROUNDS):
        for count, run in runs.items():
            began = time.perf_counter()
            run()
            seconds[count].append(time.perf_counter() - began)
    return exponent(seconds)


def exponent(seconds: dict[int, list[float]]) -> dict[str, object]:
    sizes = np.log(np.array(list(seconds), float))
    medians = np.array([np.median(times) for times in seconds.values()])
    slope = float(np.polyfit(sizes, np.log(medians), 1)[0])
    return {
        "exponent": round(slope, 3),
        "seconds": {str(count): measure.spread(times) for count, times in seconds.items()},
    }


if __name__ == "__main__":
    main()
