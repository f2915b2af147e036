"""How far crops move when a picture hardly changes: a JPEG file, 2 pixels to the right, 5 % more light."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.records import ByteArray
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.pairs import RECTANGLE
from gslopes.crops.asking.remote import Remote
from gslopes.crops.config import CropsConfig
from gslopes.crops.pictures.geometry import crop_rectangle
from gslopes.crops.pictures.heads import checked_crop
from gslopes.crops.pictures.joining import Layout, through_jpeg
from gslopes.crops.policies import POINTED, Settings, outcomes
from gslopes.crops.records import Crop, Cropper, SaliencyMap
from gslopes.crops.tables import STABILITY
from gslopes.executors import Tick

EDITS = ("jpeg 75", "2 px to the right", "5 % brighter")
SHIFT = 2


def edited(picture: ByteArray, edit: str) -> ByteArray:
    """(H, W, 3) uint8 RGB after one of ``EDITS``; what a shift uncovers repeats the border."""
    if edit == "jpeg 75":
        return through_jpeg(picture, 75)
    if edit == "2 px to the right":
        return np.asarray(np.pad(picture, ((0, 0), (SHIFT, 0), (0, 0)), "edge")[:, : picture.shape[1]])
    return np.clip(np.round(picture * 1.05), 0, 255).astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class StabilityWork:
    """Asks about some pictures and their edits; the stability table is the commit marker.

    pictures: (n, 2) numbers of photos. Of a policy that draws its point the same lot is drawn for every edit.
    """

    out: Path
    stage: str
    name: str
    pictures: NDArray[np.int64]
    asker: Asker
    cropper: Cropper | None
    config: CropsConfig
    settings: Settings

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        if isinstance(self.cropper, Remote):
            self.cropper.ask_about(self.out, self._everything, tick)
        moves: dict[tuple[str, str], list[float]] = {}
        draw = np.random.default_rng([self.config.seed, 12]).random(len(self.pictures))
        for row, photos in enumerate(self.pictures.tolist()):
            picture, plan = self.asker.picture(photos)
            before = self._crops(picture, plan, draw[row : row + 1])
            for edit in EDITS:
                after = self._crops(edited(picture, edit), plan, draw[row : row + 1])
                shift = SHIFT if edit.startswith("2 px") else 0
                for policy in before.keys() & after.keys():
                    distance = crop_displacement(before[policy], after[policy], shift) / max(plan.width, plan.height)
                    moves.setdefault((policy, edit), []).append(distance)
            if not isinstance(self.cropper, Remote):
                tick(1 + len(EDITS))
        key = {"cropper": self.name, "variant": self.config.variant}
        rows = [
            {**key, "policy": policy, "edit": edit, "pictures": len(distances), "move": float(np.mean(distances)),
             "moved": float(np.mean(np.array(distances) > 0.01))}
            for (policy, edit), distances in sorted(moves.items())
        ]  # fmt: skip
        frame = pd.DataFrame(rows, columns=STABILITY.columns)
        runfolder.write_table(STABILITY, frame, runfolder.part_path(self.out, self.stage, STABILITY, part))

    def _everything(self) -> Iterator[ByteArray]:
        for photos in self.pictures.tolist():
            picture = self.asker.picture(photos)[0]
            yield picture
            for edit in EDITS:
                yield edited(picture, edit)

    def _crops(self, picture: ByteArray, plan: Layout, draw: NDArray[np.float64]) -> dict[str, Crop]:
        """Policy to crop of the ratio nearest to 1; nothing where there is no answer."""
        ratio = min(self.config.ratios, key=lambda candidate: abs(candidate - 1))
        try:
            if self.cropper is not None:
                crop = self.cropper.crop(picture, ratio)
                return {RECTANGLE: checked_crop(crop, plan.width, plan.height, ratio, self.name)[0]}
            (found,) = self.asker.model.maps([picture])
        except (AnswerError, Refused):
            return {}
        if np.ptp(found.scores) == 0:
            return {}
        return self._pointed(found, plan, ratio, draw)

    def _pointed(self, found: SaliencyMap, plan: Layout, ratio: float, draw: NDArray[np.float64]) -> dict[str, Crop]:
        names = [name for name in self.config.policies if name in POINTED]
        by_policy = outcomes(found.scores[None], found.x, found.y, plan, names, self.settings, draw)
        crops: dict[str, Any] = {}
        for name, one in by_policy.items():
            x, y = (
                int(np.clip(v, 0, side - 1)) for v, side in zip(one.points[0], (plan.width, plan.height), strict=True)
            )
            crops[name] = crop_rectangle(plan.width, plan.height, x, y, ratio)
        return crops


def crop_displacement(before: Crop, after: Crop, shift: int) -> float:
    """Pixels between both crops' middles, less what the picture itself was moved (at its edge a crop cannot follow)."""
    across = after.left + after.width / 2 - before.left - before.width / 2
    down = after.top + after.height / 2 - before.top - before.height / 2
    followed = across - shift if across > 0 else across
    return float(np.hypot(followed, down))
