"""A run whose editor is not ours, made of tables: it refuses, loses, moves and changes what a test wants it to."""

import html
import json
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.core.config import from_dict
from gslopes.core.placebo import KINDS
from gslopes.core.reasons import Reason
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fitting import fit_folder

VALUES = np.array([-2.0, 0.0, 2.0])
SWEEP = "gender"
ABOUT = {
    "name": "images:mine,url=http://localhost:1/v1",
    "version": "2026-11",
    "prompt": "gender",
    "digest": "ab12cd34",
    "sentences": {
        "-2": ["Make the face look much more feminine.", "A very feminine face, please."],
        "0": ["Make the face look androgynous.", "An androgynous face, please."],
        "2": ["Make the face look much more masculine.", "A very masculine face, please."],
        "same": ["Change nothing.", "Leave the photo as it is."],
    },
    "models": {"mine-1": 700, "mine-2": 20},
}


def photo(index: int) -> str:
    return sha256(f"outside {index}".encode()).hexdigest()


def editing_of(
    lost: np.ndarray,
    attribute: str,
    *,
    reasons: np.ndarray,
    about: dict[str, float],
    wordings: int = 1,
) -> pd.DataFrame:
    """Rows of EDITING.  lost: (n, K) 0 given, 1 refused, 2 failed.  reasons: (n, K).  about: part to change of 255."""
    n, k = lost.shape
    rng = np.random.default_rng(len(attribute))
    frame = pd.DataFrame(
        {
            "photo": np.repeat([photo(i) for i in range(n)], k),
            "attribute": attribute,
            "step": np.tile(np.arange(k), n),
            "value": np.tile(np.linspace(-2, 2, k), n),
            "wording": np.repeat(np.arange(n) % wordings if wordings else np.full(n, -1), k),
            "status": np.array(["answered", "refused", "failed"])[lost.ravel()],
            "reason": np.where(lost.ravel() > 0, reasons.ravel(), ""),
            "detail": "",
            "model": "mine-1",
            "moved": np.where(lost.ravel() > 0, np.nan, 0.004),
        }
    )
    for part, change in about.items():
        frame[part] = np.where(lost.ravel() > 0, np.nan, rng.normal(change, 1, n * k))
    return frame[tables.EDITING.columns]


def make(
    run: Path,
    lost: np.ndarray,
    *,
    reasons: np.ndarray | None = None,
    groups: list[str] | None = None,
    background: float = 3.0,
    wordings: int = 2,
    rises: tuple[float, ...] = (0.1, 0.1),
    dropped: dict[int, str] | None = None,
    blend: str = "auto",
) -> Path:
    """A fitted run folder.  rises: of the label's share per unit, by wording.  dropped: photo to the gate's reason."""
    run.mkdir(parents=True)
    n = len(lost)
    dropped = dropped or {}
    if reasons is None:
        reasons = np.where(lost == 1, Reason.EDITOR_REFUSED, Reason.EDITOR_FAILED).astype(object)
    whole = np.flatnonzero(~lost.any(axis=1))
    kept = np.array([i for i in whole if i not in dropped])
    rng = np.random.default_rng(1)
    photos = pd.DataFrame(
        {"photo": [photo(i) for i in range(n)], "path": [f"{i:03d}.jpg" for i in range(n)]}
    )
    is_whole = ~lost.any(axis=1)
    why = [
        "" if ok else str(row[row != ""][0])
        for ok, row in zip(is_whole, np.where(lost > 0, reasons, ""), strict=True)
    ]
    photos = photos.assign(status=np.where(is_whole, "used", "skipped"), reason=why, detail="")
    photos = photos.assign(width=96, height=120, faces=1, box=None, points=None, detection=1.0)
    edits = pd.DataFrame(
        [
            (photo(i), SWEEP, k, v, f"edits/{i}-{k}.png", 0.2)
            for i in whole
            for k, v in enumerate(VALUES)
        ],
        columns=tables.EDITS.columns,
    )
    scores, asked = [], []
    for name in (SWEEP, *(f"{SWEEP}-{kind}" for kind in KINDS)):
        rise = np.array([rises[i % wordings if wordings else 0] for i in kept]) * (name == SWEEP)
        score = rng.random((len(kept), 3)) < 0.5 + rise[:, None] * VALUES
        rows = [(photo(i), name, k, v) for i in kept for k, v in enumerate(VALUES)]
        frame = pd.DataFrame(rows, columns=["photo", "attribute", "step", "value"]).assign(
            classifier="c"
        )
        scores.append(frame[score.ravel()].assign(label="Necktie", score=0.8))
        asked.append(frame.drop(columns="value").assign(status="answered", reason="", detail=""))
    same = editing_of(
        np.zeros((n, 3), int),
        f"{SWEEP}-same",
        reasons=np.full((n, 3), ""),
        about={"background": 3.0, "clothes": 2.0},
        wordings=wordings,
    )
    editing = editing_of(
        lost,
        SWEEP,
        reasons=reasons,
        about={"background": background, "clothes": 2.0},
        wordings=wordings,
    )
    verdicts = pd.DataFrame({"photo": [photo(i) for i in whole], "attribute": SWEEP})
    verdicts = verdicts.assign(
        kept=[i in set(kept) for i in whole], reason=[dropped.get(i, "") for i in whole]
    )
    verdicts = verdicts.assign(detail="", looked=3, found=3, tau=1.0, shift=0.7, off_target=0.01)
    verdicts = verdicts.assign(
        off_target_reading="young", mask_area=0.2, mask_share=0.8, change=9.0, identity=0.97
    )
    frames = {
        "photos": photos,
        "edits": edits,
        "asked": pd.concat(asked),
        "scores": pd.concat(scores),
        "editing": pd.concat([editing, same]),
        "verdicts": verdicts,
    }
    for name, frame in frames.items():
        tables.write(
            tables.TABLES[name], frame[tables.TABLES[name].columns], run / f"{name}.parquet"
        )
    values = {name: VALUES.tolist() for name in (SWEEP, *(f"{SWEEP}-{kind}" for kind in KINDS))}
    fit: dict[str, object] = {"permutations": 19}
    if groups is not None:
        lines = [f"{i:03d}.jpg,{group}" for i, group in enumerate(groups)]
        (run.parent / f"{run.name}.csv").write_text("file,tone\n" + "\n".join(lines) + "\n")
        fit |= {"photos_csv": str(run.parent / f"{run.name}.csv"), "groups": ["tone"]}
    manifest = {
        "kind": "audit",
        "gslopes": "0.1.0",
        "source": "/data/people",
        "facts": [],
        "notes": [],
        "created": "2026-11-29T04:00:00+00:00",
        "config": {"photos": "/data/people", "compose": {"blend": blend}, "fit": fit},
        "values": values,
        "models": {},
        "classifiers": {"c": {"version": "1"}},
        "versions": {},
        "editor": {
            SWEEP: ABOUT if wordings else ABOUT | {"sentences": {}, "prompt": "", "digest": ""}
        },
        "gate": {"applied": True},
    }
    (run / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    found = fit_folder(run, from_dict(FitConfig, fit), values, seed=0)
    for table, frame in found.tables():
        tables.write(table, frame, run / f"{table.name}.parquet")
    return run


def text_of(page: Path) -> str:
    """What a reader sees of a page, without its scripts."""
    text = re.sub(r"<(style|script).*?</\1>", "", page.read_text("utf-8"), flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r" ([.,;:)])", r"\1", re.sub(r"\s+", " ", text))
