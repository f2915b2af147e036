"""The second stage: every joined picture's focal points, crops, and whom they show and keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.reasons import Reason, SkipReason
from gslopes.crops.asking.asker import Asker, MapBatch
from gslopes.crops.asking.remote import Remote
from gslopes.crops.config import CropsConfig
from gslopes.crops.pictures.geometry import Box, crop_rectangle
from gslopes.crops.pictures.heads import checked_crop, larger_share, share_inside
from gslopes.crops.pictures.joining import Layout
from gslopes.crops.pictures.saliency import maxima, owners
from gslopes.crops.policies import POINTED, Settings, cell_weights, outcomes
from gslopes.crops.records import Crop, Cropper
from gslopes.crops.tables import CROPS, OUTCOMES, PAIRS
from gslopes.executors import Tick

PART = 1024
RECTANGLE = "rectangle"


def asked(cropper: Cropper, asker: Asker, pictures: NDArray[np.int64], out: Path, tick: Tick) -> Iterator[list[int]]:
    """The photos of each picture, once the cropper may be asked about it; ticks for each.

    One over a network (``crops.asking.remote``) is asked about all of them before the first is given out.
    """
    everything = pictures.tolist()
    if isinstance(cropper, Remote):
        cropper.ask_about(out, lambda: (asker.picture(photos)[0] for photos in everything), tick)
        yield from everything
        return
    for row, photos in enumerate(everything):
        yield photos
        if row % 16 == 15:
            tick(16)
    tick(len(everything) % 16)


@dataclass(slots=True, eq=False)
class Rows:
    """Rows of the three tables of a part."""

    pairs: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]
    crops: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class PairsWork:
    """Asks about the pictures of a part; the pairs table is the commit marker.

    pictures: (n, 2) numbers of photos, left and right.  ids: number to photo.  heads: number to head, in the photo as
    joined.  asker: joins and asks; of a cropper that gives rectangles alone it joins.
    """

    out: Path
    stage: str
    name: str
    pictures: NDArray[np.int64]
    ids: Sequence[str]
    heads: Mapping[int, Box]
    asker: Asker
    cropper: Cropper | None
    config: CropsConfig
    settings: Settings

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        pictures = self.pictures[part * PART : (part + 1) * PART]
        rows = Rows([], [], [])
        if self.cropper is not None:
            for photos in asked(self.cropper, self.asker, pictures, self.out, tick):
                self._rectangles(rows, photos)
        else:
            draw = np.random.default_rng([self.config.seed, 7, part]).random(len(pictures))
            for found in self.asker.maps(pictures):
                if isinstance(found, tuple):
                    self._failed(rows, pictures[found[0]].tolist(), found[1])
                    tick(1)
                    continue
                self._measured(rows, found, pictures, draw)
                tick(len(found.rows))
        for table, found_rows in ((CROPS, rows.crops), (OUTCOMES, rows.outcomes), (PAIRS, rows.pairs)):
            frame = pd.DataFrame(found_rows, columns=table.columns).drop_duplicates([*table.key])
            runfolder.write_table(table, frame, runfolder.part_path(self.out, self.stage, table, part))

    # -- maps ------------------------------------------------------------------------------------------------------

    def _measured(self, rows: Rows, batch: MapBatch, pictures: NDArray[np.int64], draw: NDArray[np.float64]) -> None:
        row_indices = np.asarray(batch.rows)
        found = outcomes(
            batch.scores, batch.x, batch.y, batch.plan, self.config.policies, self.settings, draw[row_indices]
        )
        owner = owners(batch.x, batch.y, batch.plan)
        highest = maxima(batch.scores, owner, 2)
        scores = batch.scores.reshape(len(row_indices), -1).astype(np.float64)
        mass = cell_weights(scores, self.settings.weights, self.settings.temperature) @ (owner.ravel() == 0)
        flat = np.ptp(scores, axis=1) == 0
        for index, place in enumerate(row_indices.tolist()):
            photos = pictures[place].tolist()
            key = self._key(photos)
            x, y = (-1, -1) if flat[index] else (int(value) for value in found["argmax"].points[index])
            rows.pairs.append(
                {
                    **key,
                    "width": batch.plan.width,
                    "height": batch.plan.height,
                    "x": x,
                    "y": y,
                    "max_left": np.float32(highest[index, 0]),
                    "max_right": np.float32(highest[index, 1]),
                    "mass_left": np.float32(mass[index]),
                    "won": np.float32(found["argmax"].shares[index, 0]),
                    "on_padding": x >= 0 and batch.plan.on_padding(x, y),
                    "status": "answered",
                    "reason": Reason.NOTHING_SALIENT.value if flat[index] else "",
                    "detail": "",
                }
            )
            for policy, one in found.items():
                shares, low = one.shares[index], one.low[index]
                rows.outcomes.append(
                    {
                        **key,
                        "policy": policy,
                        "share_left": np.float32(shares[0]),
                        "share_right": np.float32(shares[1]),
                        "low": None if np.isnan(low) else np.float32(low),
                    }
                )
                if policy in POINTED and not flat[index] and np.isfinite(one.points[index]).all():
                    self._crops(rows, photos, key, policy, batch.plan, one.points[index])

    def _crops(
        self,
        rows: Rows,
        photos: list[int],
        key: dict[str, Any],
        policy: str,
        plan: Layout,
        point: NDArray[np.float64],
    ) -> None:
        x, y = int(np.clip(point[0], 0, plan.width - 1)), int(np.clip(point[1], 0, plan.height - 1))
        for ratio in self.config.ratios:
            crop = crop_rectangle(plan.width, plan.height, x, y, ratio)
            rows.crops.append(self._crop_row(photos, key, policy, ratio, crop, plan, other=False))

    def _crop_row(
        self,
        photos: list[int],
        key: dict[str, Any],
        policy: str,
        ratio: float,
        crop: Crop,
        plan: Layout,
        *,
        other: bool,
    ) -> dict[str, Any]:
        kept = [self._kept(photo, box, crop) for photo, box in zip(photos, plan.photos, strict=True)]
        return {
            **key,
            "policy": policy,
            "ratio": ratio,
            "left_px": crop.left,
            "top": crop.top,
            "crop_width": crop.width,
            "crop_height": crop.height,
            "other_ratio": other,
            "kept_left": kept[0],
            "kept_right": kept[1],
        }

    def _kept(self, photo: int, box: Box, crop: Crop) -> np.float32 | None:
        head = self.heads.get(photo)
        return None if head is None else np.float32(share_inside(head.shifted(box.x0, box.y0), crop))

    # -- rectangles ------------------------------------------------------------------------------------------------

    def _rectangles(self, rows: Rows, photos: list[int]) -> None:
        assert self.cropper is not None
        key = self._key(photos)
        picture, plan = self.asker.picture(photos)
        main = min(self.config.ratios, key=lambda ratio: abs(ratio - 1))
        found: dict[float, tuple[Crop, bool]] = {}
        try:
            for ratio in self.config.ratios:
                crop = self.cropper.crop(picture, ratio)
                found[ratio] = checked_crop(crop, plan.width, plan.height, ratio, self.name)
        except AnswerError as error:
            self._failed(rows, photos, str(error))
            return
        except Refused as error:
            self._failed(rows, photos, error.reason, "refused")
            return
        for ratio, (crop, other) in found.items():
            rows.crops.append(self._crop_row(photos, key, RECTANGLE, ratio, crop, plan, other=other))
        crop = found[main][0]
        kept = [self._kept(photo, box, crop) for photo, box in zip(photos, plan.photos, strict=True)]
        if kept[0] is None or kept[1] is None:  # without a head: by the photo
            inside = [share_inside(box, crop) for box in plan.photos]
        else:
            inside = [float(share) for share in kept if share is not None]
        shares = larger_share(inside)
        x, y = crop.point or (-1, -1)
        rows.pairs.append(
            {
                **key,
                "width": plan.width,
                "height": plan.height,
                "x": x,
                "y": y,
                "max_left": None,
                "max_right": None,
                "mass_left": None,
                "won": np.float32(shares[0]),
                "on_padding": x >= 0 and plan.on_padding(x, y),
                "status": "answered",
                "reason": "",
                "detail": "",
            }
        )
        shares_and_low = {"share_left": np.float32(shares[0]), "share_right": np.float32(shares[1]), "low": None}
        rows.outcomes.append({**key, "policy": RECTANGLE, **shares_and_low})

    def _failed(self, rows: Rows, photos: list[int], reason: str, status: str = "failed") -> None:
        empty = dict.fromkeys(("max_left", "max_right", "mass_left", "won"))
        sizes = {"width": 0, "height": 0, "x": -1, "y": -1, "on_padding": False}
        rows.pairs.append(
            {**self._key(photos), **empty, **sizes, "status": status, **SkipReason.of(reason, status).columns}
        )

    def _key(self, photos: list[int]) -> dict[str, Any]:
        left, right = (self.ids[photo] for photo in photos)
        return {"cropper": self.name, "variant": self.config.variant, "left": left, "right": right}
