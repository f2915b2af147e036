"""The numbers that README and site print about the 102 London portraits: faces, crops and contexts, by their audits.

    OMP_NUM_THREADS=1 python tests/benches/bench_london.py NEUTRAL people.csv FOLDER [--part gender]

Parts: ``gender`` and ``race`` (``celeba-tagger``, estimator ``photo-rate``, 95 % t intervals over photos), ``crops``
(women over men, DeLong intervals over people) and ``contexts`` (``celeba-tagger``, points per unit of congruence).
Every part resumes in FOLDER; results/london.json keeps the parts that are not asked for.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
import pandas as pd  # noqa: E402

import gslopes  # noqa: E402
from gslopes.slopes.page.loading import funnels  # noqa: E402

RESULTS = ROOT / "tests/benches/results/london.json"
CROPPERS = ("spectral-residual", "fine-grained", "centre")


def faces(attribute: str, photos: Path, people: Path, out: Path) -> dict[str, Any]:
    """A whole audit along an attribute: how many photos, how many findings, every slope and its placebos."""
    result = gslopes.audit(photos, out / attribute, attribute=attribute, progress=True)
    slopes = result.tables["slopes"].query("estimator == 'photo-rate'")
    edited = slopes[slopes["attribute"] == attribute]
    (counts,) = (
        counts for (_, name), counts in funnels(result.folder).items() if name == attribute
    )
    judged = edited[edited["decision"] != "unjudged"]
    rows = slopes[
        slopes["attribute"].str.startswith(f"{attribute}-") & slopes["label"].isin(judged["label"])
    ]
    placebos = {
        str(name).partition("-")[2]: {"photos": int(part["n"].max()), **labels(part)}
        for name, part in rows.groupby("attribute")
    }
    findings = int((edited["decision"] == "finding").sum())
    return {
        "counts": counts,
        "judged": len(judged),
        "findings": findings,
        "labels": labels(judged),
        "placebos": placebos,
    }


def labels(rows: pd.DataFrame) -> dict[str, Any]:
    """Label to its slope."""
    return {str(row["label"]): record(row, "slope") for _, row in rows.iterrows()}


def crops(photos: Path, people: Path, out: Path) -> dict[str, Any]:
    """Women over men by each cropper: how often the focal point falls on the woman."""
    result = gslopes.audit_crops(
        photos, out / "crops", people=people, groups=["gender"], cropper=list(CROPPERS)
    )
    rows = result.tables["parity"].query(
        "outcome == 'favoured' and variant == 'native' and policy in ('argmax', 'rectangle')"
    )
    facts = {}
    for _, row in rows.iterrows():
        flipped = row["group"] not in ("woman", "female")
        ends = {"value": row["p"], "low": row["ci_low"], "high": row["ci_high"]}
        if flipped:
            ends = {"value": 1 - row["p"], "low": 1 - row["ci_high"], "high": 1 - row["ci_low"]}
        facts[str(row["cropper"])] = {
            name: round(100 * float(share), 2) if pd.notna(share) else None
            for name, share in ends.items()
        }
    return {"women over men, %": facts, "pairs": int(rows["pairs"].max())}


def contexts(photos: Path, people: Path, out: Path) -> dict[str, Any]:
    """How much more often the inferred gender is the self-reported one if the room fits it by one unit more."""
    result = gslopes.audit_contexts(photos, out / "contexts", people=people, backgrounds="rendered")
    rows = result.tables["congruence"].query(
        "measure == 'correct' and tags == 'gross' and group == 'all' and estimator == 'person'"
    )
    return {
        str(row["gender"]): {"people": int(row["n"]), **record(row, "slope")}
        for _, row in rows.iterrows()
    }


def record(row: Mapping[str, Any] | pd.Series, name: str) -> dict[str, float | None]:
    """A number with its interval; None for an end that is not there."""
    columns = (("value", name), ("low", "ci_low"), ("high", "ci_high"))
    return {
        key: None if pd.isna(row[column]) else round(float(row[column]), 3)
        for key, column in columns
    }


PARTS = {
    "gender": lambda *paths: faces("gender", *paths),
    "race": lambda *paths: faces("race", *paths),
    "crops": crops,
    "contexts": contexts,
}


def main() -> None:
    """Run the parts and write what they found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path)
    parser.add_argument("people", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    options = parser.parse_args()
    content = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {"bench": "london"}
    for part in options.part or PARTS:
        content[part] = PARTS[part](options.photos, options.people, options.folder)
        content["machine"] = measure.machine()
        RESULTS.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
