"""What one part of a sweep asks: each photo at every value beside its opponents, and beside itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder, tables
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.reasons import Reason
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.pairs import asked
from gslopes.crops.config import CropsConfig
from gslopes.crops.pictures.geometry import Box, crop_rectangle
from gslopes.crops.pictures.heads import checked_crop, larger_share, share_inside
from gslopes.crops.policies import outcomes
from gslopes.crops.records import Cropper
from gslopes.crops.sweep.duels import value_pairs
from gslopes.crops.tables import DUELS, OPPONENTS
from gslopes.executors import Tick

FAVOURED = "favoured"
PHOTOS_A_PART = 16


@dataclass(frozen=True, slots=True, eq=False)
class SweepWork:
    """Asks about the photos of a part; the asked table is the commit marker.

    photos: ids.  files: (n, K) numbers in the scaled photos.  pairs: (P, 2) photo and opponent.  heads: by photo.
    """

    out: Path
    stage: str
    attribute: str
    name: str
    photos: Sequence[str]
    values: Sequence[float]
    files: NDArray[np.int64]
    pairs: NDArray[np.int64]
    heads: dict[int, Box]
    asker: Asker
    cropper: Cropper | None
    config: CropsConfig

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        indices = range(part * PHOTOS_A_PART, min((part + 1) * PHOTOS_A_PART, len(self.photos)))
        steps = len(self.values)
        questions: list[tuple[int, int, str, int]] = []  # person, step, kind, other: an opponent, or another step
        for person in indices:
            met = self.pairs[self.pairs[:, 0] == person, 1]
            questions += [(person, step, "other", int(other)) for step in range(steps) for other in met]
            questions += [(person, high, "self", low) for low, high in value_pairs(steps)]
        centre = steps // 2
        pictures, owners = [], []
        for person, step, kind, other in questions:
            one = self.files[person, step]
            two = self.files[other, centre] if kind == "other" else self.files[person, other]
            facing = other if kind == "other" else person
            pictures += [(one, two), (two, one)]
            owners += [(person, facing), (facing, person)]
        shares, kept = self._answers(np.array(pictures), owners, tick)
        h = (shares[0::2] + 1 - shares[1::2]) / 2
        rows, asked, found = [], [], []
        for index, (person, step, kind, other) in enumerate(questions):
            if kind == "self":
                found.append({"photo": self.photos[person], "low": other, "high": step, "h": float(h[index])})
        labels = [FAVOURED, *(f"kept@{ratio:g}" for ratio in self.config.ratios)]
        numbers = np.column_stack([h, *((kept[r][0::2, 0] + kept[r][1::2, 1]) / 2 for r in range(len(labels) - 1))])
        for person in indices:
            for step in range(steps):
                asked_rows = [i for i, q in enumerate(questions) if q[0] == person and q[1] == step and q[2] == "other"]
                key = {"photo": self.photos[person], "attribute": self.attribute, "step": step}
                said = numbers[asked_rows].mean(axis=0)
                ok = not np.isnan(said[0])
                answered = {"status": "answered", "reason": "", "detail": ""}
                if not ok:
                    answered = {"status": "failed", "reason": Reason.FAILED, "detail": "the cropper gave no answer"}
                asked.append({**key, "classifier": f"crop:{self.name}", **answered})
                for label, score in zip(labels, said, strict=True):
                    if not np.isnan(score):
                        more = {"value": np.float32(self.values[step]), "classifier": f"crop:{self.name}"}
                        rows.append({**key, **more, "label": label, "score": np.float32(score)})
        beside = [
            {"classifier": f"crop:{self.name}", "attribute": self.attribute, "photo": self.photos[person],
             "opponent": self.photos[other], "step": step, "label": label, "share": float(share)}
            for index, (person, step, kind, other) in enumerate(questions) if kind == "other"
            for label, share in zip(labels, numbers[index], strict=True)
        ]  # fmt: skip
        duel = [{"cropper": self.name, "attribute": f"{row['photo']} {self.attribute}", "low": row["low"],
                 "high": row["high"], "persons": 1, "p": row["h"], "ci_low": None, "ci_high": None}
                for row in found]  # fmt: skip
        for table, content in ((DUELS, duel), (OPPONENTS, beside), (tables.SCORES, rows), (tables.ASKED, asked)):
            frame = pd.DataFrame(content, columns=table.columns)
            runfolder.write_table(table, frame, runfolder.part_path(self.out, self.stage, table, part))

    def _answers(
        self, pictures: NDArray[np.int64], owners: Sequence[tuple[int, int]], tick: Tick
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """(n,) share of the left one, and for each ratio (n, 2) whether each head is kept; NaN where unknown."""
        shares = np.full(len(pictures), np.nan)
        kept = [np.full((len(pictures), 2), np.nan) for _ in self.config.ratios]
        if self.cropper is not None:
            for row, photos in enumerate(asked(self.cropper, self.asker, pictures, self.out, tick)):
                picture, plan = self.asker.picture(photos)
                try:
                    crops = [
                        checked_crop(self.cropper.crop(picture, r), plan.width, plan.height, r, self.name)[0]
                        for r in self.config.ratios
                    ]
                except (AnswerError, Refused):
                    continue
                for place, crop in enumerate(crops):
                    kept[place][row] = self._kept(owners[row], plan.photos, crop)
                main = min(range(len(crops)), key=lambda i: abs(self.config.ratios[i] - 1))
                inside = [share_inside(box, crops[main]) for box in plan.photos]
                heads = [
                    share_inside(self.heads[p].shifted(b.x0, b.y0), crops[main])
                    for p, b in zip(owners[row], plan.photos, strict=True)
                    if p in self.heads
                ]
                shares[row] = larger_share(heads if len(heads) == len(inside) else inside)[0]
            return shares, kept
        for batch in self.asker.maps(pictures):
            if isinstance(batch, tuple):
                tick(1)
                continue
            found = outcomes(batch.scores, batch.x, batch.y, batch.plan, ("argmax",), self.config.settings)["argmax"]
            for index, row in enumerate(batch.rows):
                shares[row] = found.shares[index, 0]
                x, y = (int(value) for value in found.points[index])
                for place, ratio in enumerate(self.config.ratios):
                    crop = crop_rectangle(batch.plan.width, batch.plan.height, x, y, ratio)
                    kept[place][row] = self._kept(owners[row], batch.plan.photos, crop)
            tick(len(batch.rows))
        return shares, kept

    def _kept(self, persons: tuple[int, int], boxes: Sequence[Box], crop: Any) -> list[float]:
        heads = [self.heads.get(person) for person in persons]
        return [
            float("nan")
            if head is None
            else float(share_inside(head.shifted(box.x0, box.y0), crop) >= self.config.inside)
            for head, box in zip(heads, boxes, strict=True)
        ]
