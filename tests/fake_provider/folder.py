"""A run folder whose counterfactual pictures are painted for the fake: no face, no network, known slopes."""

import hashlib
from collections.abc import Sequence
from math import gcd
from pathlib import Path

import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.core.config import to_dict
from gslopes.slopes.config import RunConfig
from tests.fake_provider.pictures import paint

VALUES = tuple(round(-2 + 2 * step / 3, 6) for step in range(7))
_PLACE = 0.4  # of a photo's u between n / N and (n + 1) / N; never where a planted label begins


def write_run(
    run: Path,
    photos: int,
    *,
    part: int = 4,
    values: Sequence[float] = VALUES,
    size: tuple[int, int] = (96, 96),
    copies: int = 1,
) -> Path:
    """Write a folder as ``gslopes synthesise`` leaves it, for one attribute, ``gender``.

    photos: how many; their u are spread evenly.  part: photos a part.  values: of the sweep.  size: of the pictures.
    copies: how many photos have the very same pictures; it divides ``photos``.
    """
    names = [hashlib.sha256(f"photo {number}".encode()).hexdigest() for number in range(photos)]
    (run / "edits/gender").mkdir(parents=True)
    distinct = photos // copies
    edits, looked = [], []
    for number, name in enumerate(names):
        u = (_spread(number % distinct, distinct) + _PLACE) / distinct
        for step, value in enumerate(values):
            file = f"edits/gender/{name[:16]}-{step}.jpg"
            (run / file).write_bytes(paint(value, u, size, "JPEG"))
            edits.append((name, "gender", step, value, file, 0.5))
        looked.append((name, f"{number}.jpg", *size, "used", "", "", 1, None, None, 0.99))
    for start in range(0, photos, part):
        index = start // part
        steps = len(values)
        pieces = (
            (tables.EDITS, edits[start * steps : (start + part) * steps]),
            (tables.PHOTOS, looked[start : start + part]),
        )
        for table, rows in pieces:
            frame = pd.DataFrame(rows, columns=pd.Index(table.columns))
            runfolder.write_table(
                table, frame, runfolder.part_path(run, "synthesise", table, index)
            )
    for table in (tables.EDITS, tables.PHOTOS):
        runfolder.merge(run, table, ["synthesise"], -(-photos // part))
    made_from = {"parts": -(-photos // part)}
    runfolder.write_json(run / "parts/synthesise/made-from.json", made_from)
    config = RunConfig(run / "photos", part=part)
    facts = {
        "identity": config.identity(),
        "seed": 0,
        "values": {"gender": list(values)},
        "models": {},
    }
    facts |= {"inputs": {"photos": photos}}
    content = {
        "kind": "audit",
        "source": str(run / "photos"),
        **facts,
        "facts": list(facts),
        "notes": [],
        "config": to_dict(config),
        "gslopes": "0",
        "classifiers": {},
        "versions": {},
    }
    runfolder.write_json(run / runfolder.MANIFEST, content)
    return run


def _spread(number: int, photos: int) -> int:
    """Another order, so that a photo's u tells nothing about when it is asked."""
    step = next(step for step in range(photos // 2 + 1, 2 * photos) if gcd(step, photos) == 1)
    return number * step % photos
