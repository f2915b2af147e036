"""More than two people in one picture, one of each group: whom does the cropper choose?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.crops.asking.asker import Answer, Asker
from gslopes.crops.tables import TOGETHER
from gslopes.frame.parts import Stage

PART = 512


@dataclass(frozen=True, slots=True, eq=False)
class TogetherWork:
    """Asks about pictures of k people; the together table is the commit marker.

    pictures: (n, k) numbers of photos, left to right.  ids: number to photo.  groups: number to group.
    """

    stage: Stage
    pictures: NDArray[np.int64]
    ids: Sequence[str]
    groups: Sequence[str]
    asker: Asker

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        config, first = self.asker.config, part * self.stage.length
        rows: list[dict[str, Any]] = []
        pictures = self.pictures[first : first + self.stage.length]
        for answer in self.asker.answers(pictures, self.stage.out, tick, [config.main_ratio]):
            key = {"cropper": self.asker.model.name, "variant": config.variant, "picture": first + answer.row}
            key |= {"status": answer.status} | SkipReason.of(answer.reason, answer.status).columns
            for place, (photo, share, kept) in enumerate(zip(answer.photos, *self._seen(answer), strict=True)):
                person = {"place": place, "photo": self.ids[photo], "group": self.groups[photo]}
                rows.append({**key, **person, "share": share, "kept": kept})
        self.stage.write(part, (TOGETHER, rows))

    def _seen(self, answer: Answer) -> tuple[Sequence[float | None], Sequence[float | None]]:
        """Each person's share, and share of the head in the crop."""
        nothing = [None] * len(answer.photos)
        if answer.plan is None or answer.main is None:
            return nothing, nothing
        crop = answer.main.crops[self.asker.config.main_ratio][0]
        return answer.main.shares, nothing if answer.flat else self.asker.kept(answer.photos, answer.plan, crop)
