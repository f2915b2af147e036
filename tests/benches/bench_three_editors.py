"""Three editors, one photo set: which findings stand with ours, of two kinds, and one by a method of others?

    python tests/benches/bench_three_editors.py LONDON UTKFACE WORK [--out results/three-editors.json]

The photos and the classifier of ``bench_two_editors.py``; the third editor is ``notebooks/gallery/prototypes.py``, with
prototypes from UTKFACE, asked as any editor of others is (``python:FILE.py:edit``). WORK holds photos, prototypes and
runs; called again, it goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from bench_two_editors import CLASSIFIER, COUNT, chosen, moved  # noqa: E402
from PIL import Image  # noqa: E402

import gslopes  # noqa: E402
from gslopes.core import tables  # noqa: E402
from gslopes.core.files import sha256_of  # noqa: E402
from gslopes.slopes.demo import astronaut  # noqa: E402

SCRIPT = ROOT / "notebooks" / "gallery" / "prototypes.py"
COLUMNS = ["measure", "slope", "ci_low", "ci_high", "decision"]


def editors(utkface: Path, work: Path) -> dict[str, str]:
    """The three by name; the third's prototypes are made if they are not there."""
    file = work / "prototypes.npz"
    if not file.is_file():
        subprocess.run([sys.executable, str(SCRIPT), str(utkface), str(file)], check=True)
    os.environ["PROTOTYPES"] = str(file)
    version = sha256_of(file)[:16]
    third = f"python:{SCRIPT}:edit,takes=chip,version={version}"
    return {"field": "gender-field", "fader": "gender-fader", "prototypes": third}


def rows_of(audit: Any) -> pd.DataFrame:
    """What is judged of each label along gender."""
    result = tables.reading(audit.tables["slopes"])
    mine = (result["attribute"] == "gender") & (result["decision"] != "unjudged")
    return result[mine].set_index("label")[COLUMNS]


def strips(names: dict[str, str], work: Path) -> Image.Image:
    """The astronaut by each editor, feminine to masculine, one below the other."""
    folder = work / "astronaut"
    folder.mkdir(exist_ok=True)
    Image.fromarray(np.asarray(astronaut())).save(folder / "astronaut.png")
    rows = []
    for kind, name in names.items():
        options = {"attribute": "gender", "editor": name, "steps": 5, "placebo": False}
        made = gslopes.synthesise(folder, work / f"astronaut-{kind}", **options)
        files = sorted((made.folder / "edits" / "gender").iterdir())
        faces = [np.asarray(Image.open(file).convert("RGB"))[20:260, 90:330] for file in files]
        rows.append(np.hstack(faces))
    return Image.fromarray(np.vstack(rows)).resize((900, 540), Image.Resampling.LANCZOS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("london", type=Path)
    parser.add_argument("utkface", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--only", default="", help="one editor, and no result")
    results = ROOT / "tests/benches/results/three-editors.json"
    parser.add_argument("--out", type=Path, default=results)
    args = parser.parse_args()
    photos = chosen(args.london, args.work)
    names = editors(args.utkface, args.work)
    audits = {
        kind: gslopes.audit(
            photos,
            args.work / f"run-{kind}",
            attribute="gender",
            editor=name,
            classifier=CLASSIFIER,
        )
        for kind, name in names.items()
        if args.only in ("", kind)
    }
    if args.only:
        return
    rows = pd.concat({kind: rows_of(one) for kind, one in audits.items()}, names=["editor"])
    every = rows.reset_index()
    findings = every[every["decision"] == "finding"]
    sets = {kind: {*findings[findings["editor"] == kind]["label"]} for kind in names}
    signs = findings.groupby("label")["slope"].agg(lambda slopes: len({*np.sign(slopes)}) == 1)
    shared = sorted(set.intersection(*sets.values()) & {*signs[signs].index})
    facts: dict[str, Any] = {"bench": "three editors", "machine": measure.machine()}
    facts |= {"photos": COUNT, "classifier": CLASSIFIER}
    facts |= {"kept": {k: _kept(one) for k, one in audits.items()}}
    facts |= {"findings": {kind: len(labels) for kind, labels in sets.items()}}
    facts |= {"shared": shared, "moved": {k: moved(one) for k, one in audits.items()}}
    facts |= {"rows": json.loads(every.round(3).to_json(orient="records"))}
    strips(names, args.work).save(ROOT / "docs/pages/pictures/three-editors.jpg", quality=85)
    measure.say(facts, args.out)


def _kept(audit: Any) -> int:
    verdicts = audit.tables["verdicts"]
    return int(verdicts[verdicts["attribute"] == "gender"]["kept"].sum())


if __name__ == "__main__":
    main()
