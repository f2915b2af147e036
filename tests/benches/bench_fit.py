"""Speed and memory of the fit at 36 million rows, beside a loop of statsmodels over labels on a subsample.

OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 python tests/benches/bench_fit.py --out fit.json

64,500 photos, 7 values, 80 labels returned a picture out of 1,000, as a run has them; from
scores.parquet to all tables of the fit, with 1,000 resamples and 1,000 permutations, in a separate process whose peak
memory is the kernel's (ru_maxrss). The loop does for a few labels of a thousand photos, one after the
other, what the fit does for all at once: the slopes of the photos, their t test, resamples and permutations.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.core import tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions

SEED, REPLICATES = 0, 1000
VALUES = np.linspace(-2, 2, 7)
RETURNED = 80


def write(folder: Path, photos: int, labels: int) -> None:
    """Scores and asked tables, part by part as a run leaves them.

    Each photo has its own ranking of labels, which drifts a little from value to value, so that labels come and go.
    """
    generator = np.random.default_rng(SEED)
    ids = np.array([f"{index:064x}" for index in range(photos)])
    names = np.array([f"label {index:04d}" for index in range(labels)])
    popular = -np.log(np.arange(1, labels + 1)) * 1.2
    lean = np.where(np.arange(labels) % 10 == 0, generator.normal(0, 0.1, labels), 0)
    with pq.ParquetWriter(
        folder / "scores.parquet", tables.SCORES.schema.remove_metadata(), compression="zstd"
    ) as out:
        for start in range(0, photos, 256):
            block = ids[start : start + 256]
            liking = (popular + generator.gumbel(size=(len(block), labels)))[:, None]
            liking = (
                liking + lean * VALUES[:, None] + generator.normal(0, 0.15, (len(block), 7, labels))
            )
            best = np.argpartition(-liking, RETURNED, axis=2)[:, :, :RETURNED]
            score = 1 / (1 + np.exp(-np.take_along_axis(liking, best, axis=2) / 4))
            photo, step, _ = np.indices(best.shape)
            columns = {
                "photo": block[photo.ravel()],
                "attribute": np.full(best.size, "gender"),
                "step": step.ravel().astype(np.int16),
                "value": VALUES[step.ravel()].astype(np.float32),
                "classifier": np.full(best.size, "service"),
                "label": names[best.ravel()],
                "score": score.ravel().astype(np.float32),
            }
            out.write_table(pa.table(columns).cast(out.schema))
    count = photos * 7
    facts = {
        "photo": np.repeat(ids, 7),
        "attribute": np.full(count, "gender"),
        "step": np.tile(np.arange(7, dtype=np.int16), photos),
        "classifier": np.full(count, "service"),
        "status": np.full(count, "answered"),
        "reason": np.full(count, ""),
        "detail": np.full(count, ""),
    }
    pq.write_table(
        pa.table(facts).cast(tables.ASKED.schema.remove_metadata()), folder / "asked.parquet"
    )


def ours(folder: Path) -> dict[str, object]:
    start, processor = time.perf_counter(), time.process_time()
    pair = (tables.SCORES, tables.ASKED)
    scores, questions = (
        tables.read_arrow(table, folder / f"{table.name}.parquet") for table in pair
    )
    read = time.perf_counter() - start
    options = FitOptions(permutations=REPLICATES, seed=SEED)
    analysis = analyse(scores, questions, options=options)
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "of_which_reading": round(read, 1),
        "processor_seconds": round(time.process_time() - processor, 1),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "rows_of_slopes": len(analysis.slopes),
        "labels": int(analysis.slopes["label"].nunique()),
        "labels_judged": int(
            (analysis.slopes.query("estimator == 'photo-rate'")["note"] == "").sum()
        ),
    }


def loop(photos: int = 1000, labels: int = 3, replicates: int = 100) -> dict[str, object]:
    """Seconds a label for one estimator, presence, with as many replicates as above (measured on fewer)."""
    import statsmodels.api as sm

    generator = np.random.default_rng(SEED)
    design = sm.add_constant(VALUES)
    start = time.perf_counter()
    for _ in range(labels):
        present = (generator.random((photos, 7)) < 0.3).astype(float)
        slopes = np.array([sm.OLS(row, design).fit().params[1] for row in present])
        sm.OLS(slopes, np.ones(photos)).fit().summary2()
        for _ in range(replicates):
            drawn = present[generator.integers(0, photos, photos)]
            sm.OLS(drawn.mean(axis=0), design).fit()
            permuted = generator.permuted(present, axis=1)
            sm.OLS(permuted.mean(axis=0), design).fit()
    item = (time.perf_counter() - start) / labels
    return {
        "photos": photos,
        "labels": labels,
        "replicates": replicates,
        "seconds_a_label": round(item, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--folder", type=Path, help="where the tables are, or are to be, kept between calls"
    )
    parser.add_argument(
        "--once", action="store_true", help="one fit of the tables in --folder, in this process"
    )
    parser.add_argument("--photos", type=int, default=64_500)
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if args.once:
        sys.stdout.write(json.dumps(ours(args.folder)) + "\n")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "asked.parquet").exists():
            write(folder, args.photos, args.labels)
        rows = pq.read_metadata(folder / "scores.parquet").num_rows
        photos = pq.read_metadata(folder / "asked.parquet").num_rows // 7
        command = [sys.executable, __file__, "--once", "--folder", str(folder)]
        done = [
            subprocess.run(command, check=True, capture_output=True) for _ in range(args.repeats)
        ]
        runs = [json.loads(process.stdout) for process in done]
    seconds = np.percentile([run["seconds"] for run in runs], [25, 50, 75])
    facts = {
        "bench": "fit",
        "machine": measure.machine(packages=("numpy", "scipy", "pyarrow")),
        "seed": SEED,
        "rows": rows,
        "photos": photos,
        "replicates": REPLICATES,
        "seconds": {"median": seconds[1], "iqr": round(seconds[2] - seconds[0], 1)},
        "peak_gib": max(run["peak_gib"] for run in runs),
        "processor_seconds": float(np.median([run["processor_seconds"] for run in runs])),
        "runs": runs,
        "statsmodels_loop": loop(),
    }
    text = json.dumps(facts, indent=2) + "\n"
    sys.stdout.write(text)
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
