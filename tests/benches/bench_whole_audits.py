"""Whole audits as a user runs them, of classifiers whose truth is known: how many have a finding?

    python tests/benches/bench_whole_audits.py PHOTOS [--photos 60] [--first 0] [--audits 400] [--out FILE.json]

The photos are edited once, with their placebo sweeps.  Each classifier then answers anew about every picture that it is
given, 20 labels with the chance expit(a + b v), a the photo's own; b is 0, but for one label of every fourth classifier
along the edit itself: 0.6.  Everything is gslopes.audit's own: edits, gate, questions, fit and decisions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import special

import gslopes
from gslopes.core import tables
from gslopes.core.records import Answer

LABELS, EFFECT, EVERY, BATCH = 20, 0.6, 4, 50


class Anew:
    """A classifier that knows which picture is whose, and answers by chance.

    known: digest of a picture to its photo's number and to how far the edit has moved it, 0 along placebos.
    """

    version, batch = "", 64

    def __init__(self, number: int, known: dict[bytes, tuple[int, float]]) -> None:
        self.name, self.known = f"anew-{number}", known
        self.rng = np.random.default_rng([66, number])
        self.own = special.logit(0.3) + self.rng.standard_normal(
            (1 + max(p for p, _ in known.values()), LABELS)
        )
        self.slopes = np.zeros(LABELS)
        self.slopes[0] = EFFECT * (number % EVERY == 0)

    def ask(self, pictures: list[bytes]) -> list[object]:
        facts = [self.known[hashlib.sha256(picture).digest()] for picture in pictures]
        chance = special.expit([self.own[photo] + self.slopes * moved for photo, moved in facts])
        return [np.flatnonzero(row).tolist() for row in self.rng.random(chance.shape) < chance]

    def parse(self, raw: object) -> Answer:
        return Answer("answered", tuple((f"label {label:02d}", 1.0) for label in raw))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=60)
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        help="Number of the first one: a long bench can go on later.",
    )
    parser.add_argument("--audits", type=int, default=400)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result, sets = (
        {"nothing moves": 0, "one label moves: found": 0, "one label moves: another found": 0},
        [0, 0],
    )
    with tempfile.TemporaryDirectory() as folder:
        begun, base = time.time(), Path(folder) / "edited"
        common = {"limit": args.photos, "seed": 1}
        gslopes.synthesise(args.folder, base, **common)
        edits = tables.read(tables.EDITS, base / "edits.parquet")
        photos = {photo: number for number, photo in enumerate(sorted(edits["photo"].unique()))}
        options = {}
        for row in edits.itertuples():
            moved = row.value if row.attribute == "gender" else 0.0
            options[hashlib.sha256((base / row.file).read_bytes()).digest()] = (
                photos[row.photo],
                moved,
            )
        for start in range(args.first, end := args.first + args.audits, BATCH):
            classifiers = [
                Anew(number, options) for number in range(start, min(start + BATCH, end))
            ]
            run = Path(folder) / f"run-{start}"
            shutil.copytree(base, run)
            audit = gslopes.audit(args.folder, run, classifier=classifiers, **common)
            rows = audit.findings[
                audit.findings["classifier"].isin([classifier.name for classifier in classifiers])
            ]
            for classifier in classifiers:
                labels = set(
                    rows.loc[
                        (rows["classifier"] == classifier.name) & (rows["decision"] == "finding"),
                        "label",
                    ]
                )
                moves = bool(classifier.slopes.any())
                sets[moves] += 1
                result["nothing moves"] += bool(labels) and not moves
                result["one label moves: found"] += moves and "label 00" in labels
                result["one label moves: another found"] += moves and bool(labels - {"label 00"})
            shutil.rmtree(run)
            sys.stderr.write(f"{sum(sets)} audits, {result}, {time.time() - begun:.0f} s\n")
    facts = {"bench": "whole audits", "photos": len(photos), "audits": sets, "found": result}
    facts |= {
        "seconds": round(time.time() - begun),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if args.out:
        args.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
