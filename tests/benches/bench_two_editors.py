"""Two editors, one photo set: which findings do sets of pairs by a Fader Network and by the field editor share?

    python tests/benches/bench_two_editors.py LONDON WORK [--out results/two-editors.json]

24 photos of a folder (LONDON: the neutral portraits of DeBruine and Jones 2017), edited along gender by either editor,
exported, and audited as sets that others made (``gslopes audit --pairs``). WORK holds photos, sets and runs; called
again, it goes on where it was. A share is what goes with readings that move besides, see ``slopes.measures.explained``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from PIL import Image  # noqa: E402

import gslopes  # noqa: E402
from gslopes.core import tables  # noqa: E402
from gslopes.slopes.demo import astronaut  # noqa: E402

EDITORS = {"fader": "gender-fader", "field": "gender-field"}
COUNT, CLASSIFIER = 24, "celeba-tagger"


def chosen(london: Path, work: Path) -> Path:
    """The folder of the photos, copied out of the set."""
    photos = work / "photos"
    if not photos.is_dir():
        photos.mkdir(parents=True)
        names = sorted(london.glob("*.jpg"))
        for name in names[:: len(names) // COUNT][:COUNT]:
            shutil.copy(name, photos)
    return photos


def audited(photos: Path, kind: str, work: Path) -> Any:
    """The audit of a set by one editor."""
    result = gslopes.synthesise(
        photos, work / f"made-{kind}", attribute="gender", editor=kind, placebo=False
    )
    gslopes.export(result.folder, "imagefolder", work / f"set-{kind}")
    return gslopes.audit(
        None, work / f"run-{kind}", pairs=work / f"set-{kind}", classifier=CLASSIFIER
    )


def rows_of(audit: Any) -> pd.DataFrame:
    """What is judged of each label: slope, interval, decision, and the share that goes with other readings."""
    result = tables.reading(audit.tables["slopes"])
    result = result[
        (result["attribute"] == "gender") & (result["decision"] != "unjudged")
    ].set_index("label")
    shares = audit.tables["explained"].set_index("label")[
        ["share", "share_low", "share_high", "reading"]
    ]
    return result[["measure", "slope", "ci_low", "ci_high", "decision"]].join(shares)


def moved(audit: Any) -> dict[str, float]:
    """How far each reading goes from the first value to the last; of identity the lower of both ends."""
    read = audit.tables["readings"].query("step >= 0 and attribute == 'gender'")
    wide = read.pivot_table(index=["reading", "photo"], columns="step", values="score")
    change = (wide[wide.columns[-1]] - wide[0]).groupby("reading").mean()
    change["identity"] = wide.loc["identity"].min(axis=1).mean() if "identity" in change else np.nan
    return {str(name): round(float(value), 3) for name, value in change.dropna().items()}


def strips(work: Path) -> Image.Image:
    """The astronaut by both editors, feminine to masculine: the Fader Network above, the field editor below."""
    rows = []
    for kind in EDITORS:
        folder = work / "astronaut"
        folder.mkdir(exist_ok=True)
        Image.fromarray(np.asarray(astronaut())).save(folder / "astronaut.png")
        options = {"attribute": "gender", "editor": kind, "steps": 5, "placebo": False}
        result = gslopes.synthesise(folder, work / f"astronaut-{kind}", **options)
        files = sorted((result.folder / "edits" / "gender").iterdir())
        rows.append(
            np.hstack(
                [np.asarray(Image.open(file).convert("RGB"))[20:260, 90:330] for file in files]
            )
        )
    return Image.fromarray(np.vstack(rows)).resize((900, 360), Image.Resampling.LANCZOS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("london", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "tests/benches/results/two-editors.json")
    args = parser.parse_args()
    photos = chosen(args.london, args.work)
    audits = {kind: audited(photos, kind, args.work) for kind in EDITORS}
    both = pd.concat(
        {kind: rows_of(audit) for kind, audit in audits.items()}, names=["editor"]
    ).reset_index()
    result = {
        kind: {*both[(both["editor"] == kind) & (both["decision"] == "finding")]["label"]}
        for kind in EDITORS
    }
    facts: dict[str, Any] = {"bench": "two editors", "machine": measure.machine(), "photos": COUNT}
    facts |= {
        "classifier": CLASSIFIER,
        "kept": {k: int(a.tables["verdicts"]["kept"].sum()) for k, a in audits.items()},
    }
    facts |= {"findings": {kind: len(labels) for kind, labels in result.items()}}
    facts |= {
        "shared": sorted(result["fader"] & result["field"]),
        "moved": {k: moved(a) for k, a in audits.items()},
    }
    facts |= {"rows": json.loads(both.round(3).to_json(orient="records"))}
    strips(args.work).save(ROOT / "docs/pages/pictures/two-editors.jpg", quality=85)
    measure.say(facts, args.out)


if __name__ == "__main__":
    main()
