"""The cache with as many answers as the paper's whole gender sweep: how fast it fills and finds, how large it is.

    python tests/benches/bench_cache.py [--answers 450000] [--out cache.json]

Answers are 50 labels each, as a service gives them, drawn from ``POOL`` different ones. The table is filled in one
transaction with answers that are packed already; how fast a client's answers are kept one request after the other, each
scrubbed, packed and durable, is measured separately. The peer, timed in the same run, is the folder of JSON files that
people otherwise keep, with a tenth of the answers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import measure
import numpy as np

from gslopes.ask.cache import AnswerCache, CachedAnswer, _packed

BATCH, LABELS, ROUNDS, POOL = 16, 50, 21, 5_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=450_000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lot = np.random.default_rng(0)
    words = [
        f"{lot.choice(list('abcdefghijklmnopqrstuvwxyz'), 9).tobytes().hex()[:12]}"
        for _ in range(2000)
    ]
    pool = [answer(words, lot) for _ in range(min(POOL, args.answers))]
    with tempfile.TemporaryDirectory() as folder:
        facts = {
            "bench": "cache",
            "answers": args.answers,
            "labels": LABELS,
            "batch": BATCH,
            "machine": measure.machine(packages=()),
        }
        facts |= ours(Path(folder), args.answers, pool, lot)
        facts["peer: a JSON file each"] = files(Path(folder), args.answers // 10, pool, lot)
    text = json.dumps(facts, indent=2)
    print(text)  # noqa: T201 - the result
    if args.out:
        args.out.write_text(text + "\n")


def ours(
    folder: Path, count: int, pool: list[object], lot: np.random.Generator
) -> dict[str, object]:
    with AnswerCache(folder / "cache") as cache:
        classifier_id = cache.classifier_id("google", "")
        begun = time.perf_counter()
        fill(cache, classifier_id, count, pool)
        filled = time.perf_counter() - begun
        begun = time.perf_counter()
        for start in range(0, len(pool), 500):
            cache.put(
                classifier_id,
                {lot.bytes(32): CachedAnswer("answered", raw) for raw in pool[start : start + 500]},
            )
        cached = time.perf_counter() - begun
        claimed = spread(lambda: claim_and_keep(cache, classifier_id, lot), 1)
        cache.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        size = cache.path.stat().st_size
        result = spread(
            lambda: cache.find(classifier_id, [key(int(n)) for n in lot.integers(0, count, BATCH)]),
            BATCH,
        )
        pictures = spread(
            lambda: cache.has(classifier_id, [key(int(n)) for n in lot.integers(0, count, 500)]),
            500,
        )
        return {
            "filled in one transaction, answers a second": round(count / filled),
            "scrubbed, packed and kept by 500, answers a second": round(len(pool) / cached),
            "file, MiB": round(size / 2**20, 1),
            "file, bytes an answer": round(size / count),
            "found and unpacked, answers a second": result,
            "looked up, answers a second": pictures,
            f"claimed and kept durably, requests of {BATCH} a second": claimed,
        }


def fill(cache: AnswerCache, classifier_id: int, count: int, pool: list[object]) -> None:
    cache.put(classifier_id, {key(0): CachedAnswer("answered", pool[0])})
    ((source,),) = cache.rows("SELECT id FROM sources")
    packed = [_packed(raw) for raw in pool]
    rows = (
        (classifier_id, key(n), "answered", packed[n % len(packed)], source, 1_767_225_600 + n)
        for n in range(1, count)
    )
    with cache._transaction():
        columns = "(classifier, picture, status, raw, source, asked)"
        cache._db.executemany(f"INSERT INTO answers {columns} VALUES (?, ?, ?, ?, ?, ?)", rows)


def claim_and_keep(cache: AnswerCache, classifier_id: int, lot: np.random.Generator) -> None:
    keys = [lot.bytes(32) for _ in range(BATCH)]
    cache.claim(classifier_id, keys)
    cache.put(
        classifier_id, {key: CachedAnswer("answered", {"labels": [["tag", 0.5]]}) for key in keys}
    )


def files(
    folder: Path, count: int, pool: list[object], lot: np.random.Generator
) -> dict[str, object]:
    for number in range(count):
        path = folder / "files" / key(number).hex()[:2] / key(number).hex()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(pool[number % len(pool)]))

    def read() -> None:
        for number in lot.integers(0, count, BATCH):
            name = key(int(number)).hex()
            json.loads((folder / "files" / name[:2] / name).read_text())

    size = sum(
        os.stat(path).st_blocks * 512 for path in (folder / "files").rglob("*") if path.is_file()
    )
    return {
        "answers": count,
        "on the disk, bytes an answer": round(size / count),
        "found, answers a second": spread(read, BATCH),
    }


def answer(words: list[str], lot: np.random.Generator) -> object:
    """As Google's: fifty descriptions with their scores."""
    chosen, scores = lot.choice(len(words), LABELS), np.sort(lot.random(LABELS))[::-1].round(7)
    return {
        "labelAnnotations": [
            {
                "mid": f"/m/{words[i][:6]}",
                "description": words[i],
                "score": float(s),
                "topicality": float(s),
            }
            for i, s in zip(chosen, scores, strict=True)
        ]
    }


def key(number: int) -> bytes:
    return sha256(str(number).encode()).digest()


def spread(work: object, units: int) -> dict[str, float]:
    """Units a second: median and quartiles over the rounds."""
    times = []
    for _ in range(ROUNDS + 3):
        begun = time.perf_counter()
        for _ in range(20):
            work()  # type: ignore[operator]
        times.append(20 * units / (time.perf_counter() - begun))
    low, middle, high = statistics.quantiles(times[3:], n=4)
    return {"median": round(middle), "q1": round(low), "q3": round(high)}


if __name__ == "__main__":
    main()
