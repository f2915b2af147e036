"""More than two people in one picture, one of each group: whom does the cropper choose?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.reasons import SkipReason
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.pairs import asked
from gslopes.crops.config import CropsConfig
from gslopes.crops.measures.bootstrap import draw_weights
from gslopes.crops.pictures.geometry import Box, crop_rectangle
from gslopes.crops.pictures.heads import checked_crop, larger_share, share_inside
from gslopes.crops.pictures.joining import Layout
from gslopes.crops.policies import outcomes
from gslopes.crops.records import Crop, Cropper
from gslopes.crops.tables import SHARES, TOGETHER
from gslopes.executors import Tick
from gslopes.stats.intervals import percentile

PART = 512
Array = NDArray[np.float64]
Ids = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class TogetherWork:
    """Asks about pictures of k people; the together table is the commit marker.

    pictures: (n, k) numbers of photos, left to right.  ids: number to photo.  groups: number to group.
    heads: number to head, in the photo as joined.
    """

    out: Path
    stage: str
    name: str
    pictures: NDArray[np.int64]
    ids: Ids
    groups: Sequence[str]
    heads: Mapping[int, Box]
    asker: Asker
    cropper: Cropper | None
    config: CropsConfig

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        first = part * PART
        pictures = self.pictures[first : first + PART]
        rows: list[dict[str, Any]] = []
        if self.cropper is not None:
            for row, photos in enumerate(asked(self.cropper, self.asker, pictures, self.out, tick)):
                rows += self._rectangle(first + row, photos)
        else:
            for found in self.asker.maps(pictures):
                if isinstance(found, tuple):
                    rows += self._failed(first + found[0], pictures[found[0]].tolist(), found[1])
                    tick(1)
                    continue
                outcome = outcomes(found.scores, found.x, found.y, found.plan, ("argmax",), self.config.settings)[
                    "argmax"
                ]
                flat = np.ptp(found.scores.reshape(len(found.rows), -1), axis=1) == 0
                for index, row in enumerate(found.rows):
                    photos = pictures[row].tolist()
                    x, y = (int(value) for value in outcome.points[index])
                    whole = found.plan.width, found.plan.height
                    crop = None if flat[index] else crop_rectangle(*whole, x, y, self._main)
                    rows += self._rows(first + row, photos, outcome.shares[index].tolist(), crop, found.plan)
                tick(len(found.rows))
        frame = pd.DataFrame(rows, columns=TOGETHER.columns)
        runfolder.write_table(TOGETHER, frame, runfolder.part_path(self.out, self.stage, TOGETHER, part))

    @property
    def _main(self) -> float:
        return min(self.config.ratios, key=lambda ratio: abs(ratio - 1))

    def _rectangle(self, row: int, photos: list[int]) -> list[dict[str, Any]]:
        assert self.cropper is not None
        picture, plan = self.asker.picture(photos)
        try:
            found = self.cropper.crop(picture, self._main)
            crop, _ = checked_crop(found, plan.width, plan.height, self._main, self.name)
        except AnswerError as error:
            return self._failed(row, photos, str(error))
        except Refused as error:
            return self._failed(row, photos, error.reason, "refused")
        kept = [self._kept(photo, box, crop) for photo, box in zip(photos, plan.photos, strict=True)]
        whole = [share_inside(box, crop) for box in plan.photos]
        inside = whole if any(share is None for share in kept) else [float(share or 0) for share in kept]
        return self._rows(row, photos, larger_share(inside), crop, plan)

    def _rows(
        self, row: int, photos: list[int], shares: Sequence[float], crop: Crop | None, plan: Layout
    ) -> list[dict[str, Any]]:
        found = []
        for place, (photo, box, share) in enumerate(zip(photos, plan.photos, shares, strict=True)):
            kept = None if crop is None else self._kept(photo, box, crop)
            answered = {"share": np.float32(share), "kept": kept, "status": "answered", **SkipReason().columns}
            found.append({**self._key(row, place, photo), **answered})
        return found

    def _failed(self, row: int, photos: list[int], reason: str, status: str = "failed") -> list[dict[str, Any]]:
        unanswered = {"share": None, "kept": None, "status": status, **SkipReason.of(reason, status).columns}
        return [{**self._key(row, place, photo), **unanswered} for place, photo in enumerate(photos)]

    def _key(self, row: int, place: int, photo: int) -> dict[str, Any]:
        key = {"cropper": self.name, "variant": self.config.variant, "picture": row, "place": place}
        return {**key, "photo": self.ids[photo], "group": self.groups[photo]}

    def _kept(self, photo: int, box: Box, crop: Crop) -> np.float32 | None:
        head = self.heads.get(photo)
        return None if head is None else np.float32(share_inside(head.shifted(box.x0, box.y0), crop))


def shares(
    frame: pd.DataFrame, person: Mapping[str, str], column: str, config: CropsConfig, predicted: Mapping[str, float]
) -> pd.DataFrame:
    """Rows of SHARES: how often each group is chosen, and kept, where one person of each stands in a picture.

    frame: rows of TOGETHER, one cropper's.  person: photo to person.  predicted: group to its Bradley-Terry strength.
    The interval is the percentile bootstrap over the people of each group: a picture weighs the product of its people's
    weights.
    """
    rows: list[dict[str, Any]] = []
    for (cropper, variant), answers in frame.groupby(["cropper", "variant"], sort=True):
        answered = answers[answers["status"] == "answered"]
        if answered.empty:
            continue
        drawn = _drawn(answered, person, config)
        for group, in_group in answered.groupby("group", sort=True):
            in_group = in_group.sort_values("picture")
            share = in_group["share"].to_numpy(np.float64)
            kept = in_group["kept"].to_numpy(np.float64)
            head = np.where(np.isnan(kept), np.nan, kept >= config.inside)
            low, high = percentile(drawn @ share / drawn.sum(axis=1))
            rows.append(
                {
                    "cropper": cropper,
                    "variant": variant,
                    "column": column,
                    "group": group,
                    "persons": int(in_group["photo"].map(person).nunique()),
                    "pictures": len(in_group),
                    "share": float(share.mean()),
                    "ci_low": low,
                    "ci_high": high,
                    "even": 1 / answered["group"].nunique(),
                    "kept": float(np.nanmean(head)) if not np.isnan(head).all() else np.nan,
                    "predicted": predicted.get(str(group), np.nan),
                    "left_out": int(answers["picture"].nunique() - len(in_group)),
                }
            )
    return pd.DataFrame(rows, columns=SHARES.columns)


def _drawn(answered: pd.DataFrame, person: Mapping[str, str], config: CropsConfig) -> Array:
    """(B, pictures) weights of the pictures, in their order, in each draw of people."""
    who = answered.assign(person=answered["photo"].map(person)).sort_values(["picture", "group"])
    people = {str(group): sorted(members["person"].unique()) for group, members in who.groupby("group", sort=True)}
    weights = draw_weights({group: len(names) for group, names in people.items()}, config.bootstrap, config.seed)
    result: Array | None = None
    for group, names in people.items():
        place = {name: index for index, name in enumerate(names)}
        index = who.loc[who["group"] == group, "person"].map(place).to_numpy(np.int64)
        members = weights[group][:, index].astype(np.float64)
        result = members if result is None else result * members
    assert result is not None
    empty = result.sum(axis=1) == 0  # a draw in which no picture is left
    return np.asarray(result[~empty] if not empty.all() else np.ones((1, result.shape[1])))
