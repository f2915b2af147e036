"""How far crops move when a picture hardly changes: a JPEG file, 2 pixels to the right, 5 % more light."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.croppers.records import Crop
from gslopes.ask.croppers.remote import RemoteCropper
from gslopes.core.progress import Tick
from gslopes.core.records import ByteArray
from gslopes.crops.asking.asker import Asker
from gslopes.crops.pictures.joining import through_jpeg
from gslopes.crops.policies import Settings
from gslopes.crops.tables import STABILITY
from gslopes.frame.parts import Stage

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

    pictures: (n, 2) numbers of photos. A policy that draws its point draws it alike for every edit of a picture.
    """

    stage: Stage
    pictures: NDArray[np.int64]
    asker: Asker
    settings: Settings

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        asker, config = self.asker, self.asker.config
        if remote := isinstance(asker.model, RemoteCropper):
            asker.model.ask_about(self.stage.out, self._everything, tick)
        moves: dict[tuple[str, str], list[float]] = {}
        draw = np.random.default_rng([config.seed, 12]).random(len(self.pictures))
        for row, photos in enumerate(self.pictures.tolist()):
            picture, plan = asker.picture(photos)
            how = plan, config.main_ratio, self.settings, draw[row : row + 1]
            before = asker.crops_of(picture, *how)
            for edit in EDITS:
                after = asker.crops_of(edited(picture, edit), *how)
                shift = SHIFT if edit.startswith("2 px") else 0
                for policy in before.keys() & after.keys():
                    distance = crop_displacement(before[policy], after[policy], shift) / max(plan.width, plan.height)
                    moves.setdefault((policy, edit), []).append(distance)
            if not remote:
                tick(1 + len(EDITS))
        key = {"cropper": asker.model.name, "variant": config.variant}
        rows = []
        for (policy, edit), distances in sorted(moves.items()):
            moved = {"move": float(np.mean(distances)), "moved": float(np.mean(np.array(distances) > 0.01))}
            rows.append({**key, "policy": policy, "edit": edit, "pictures": len(distances), **moved})
        self.stage.write(part, (STABILITY, rows))

    def _everything(self) -> Iterator[ByteArray]:
        for photos in self.pictures.tolist():
            picture = self.asker.picture(photos)[0]
            yield picture
            for edit in EDITS:
                yield edited(picture, edit)


def crop_displacement(before: Crop, after: Crop, shift: int) -> float:
    """Pixels between both crops' middles, less what the picture itself was moved (at its edge a crop cannot follow)."""
    across = after.left + after.width / 2 - before.left - before.width / 2
    down = after.top + after.height / 2 - before.top - before.height / 2
    followed = across - shift if across > 0 else across
    return float(np.hypot(followed, down))
