"""Joined pictures and the croppers' answers about them, in batches of one layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import AnswerError
from gslopes.core.records import ByteArray
from gslopes.crops.config import CropsConfig
from gslopes.crops.croppers.opencv import centres
from gslopes.crops.pictures.joining import Layout, join, layout
from gslopes.crops.pictures.saliency import check_map
from gslopes.crops.records import Saliency, SaliencyMap

BATCH = 256
_JOINED = 8  # whole pictures in memory at once
Rows = Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class MapBatch:
    """Maps of joined pictures with one layout.

    rows: places in the list of pictures.  scores: (B, rows, columns).  x, y: cell centres.  plan: the layout.
    """

    rows: Rows
    scores: NDArray[np.float32]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    plan: Layout


@dataclass(slots=True, eq=False)
class Asker:
    """Asks a saliency model about pictures joined from numbered photos.

    photo: number to (H, W, 3) uint8 RGB.  sizes: number to (width, height), as joined.
    shortcut: whether pictures may be put together from what the model sees of each photo; every audit checks the first
        pictures both ways, and falls back where one differs.
    """

    model: Saliency
    photo: Callable[[int], ByteArray]
    sizes: Sequence[tuple[int, int]]
    config: CropsConfig
    shortcut: bool = True
    note: Callable[[str], None] = lambda text: None
    _halves: dict[tuple[int, tuple[int, int]], ByteArray] = field(default_factory=dict)
    _checked: bool = False

    def maps(self, pictures: NDArray[np.int64]) -> Iterator[MapBatch | tuple[int, str]]:
        """Batches of maps of pictures, (n, people) numbers of photos; or (row, reason) for a picture that failed."""
        layouts: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
        for row, photos in enumerate(pictures.tolist()):
            layouts[tuple(self.sizes[photo] for photo in photos)].append(row)
        for sizes, rows in layouts.items():
            plan = layout(sizes, self._attach, self.config.gap)
            for start in range(0, len(rows), BATCH):
                part = rows[start : start + BATCH]
                if (view := self._view(sizes)) is not None:
                    batch = self._assembled(pictures, part, plan, view)
                    if self._checked or self._agrees(pictures, batch):
                        yield batch
                        continue
                yield from self._joined(pictures, part, plan)

    def picture(self, photos: Sequence[int]) -> tuple[ByteArray, Layout]:
        """The joined picture itself."""
        return join([self.photo(photo) for photo in photos], self._attach, gap=self.config.gap, jpeg=self.config.jpeg)

    @property
    def _attach(self) -> Any:
        return "vertical" if self.config.attach == "vertical" else "horizontal"

    # -- put together ----------------------------------------------------------------------------------------------

    def _view(self, sizes: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
        """The size to which each photo is shrunk where that is all the model sees of it."""
        if not self.shortcut or self.config.gap or self.config.jpeg is not None or not hasattr(self.model, "view"):
            return None
        model: Any = self.model
        found: tuple[int, int] | None = model.view(sizes, vertical=self._attach == "vertical")
        return found

    def _assembled(self, pictures: NDArray[np.int64], rows: Rows, plan: Layout, view: tuple[int, int]) -> MapBatch:
        model: Any = self.model
        axis = 1 if self._attach == "horizontal" else 0
        for number in np.unique(pictures[list(rows)]).tolist():
            if (number, view) not in self._halves:
                self._halves[number, view] = model.shrink(self.photo(number), *view)
        shrunk = np.stack(
            [
                np.concatenate([self._halves[number, view] for number in pictures[row].tolist()], axis=axis)
                for row in rows
            ]
        )
        scores = model.maps_of_shrunk(shrunk)
        return MapBatch(rows, scores, *centres(plan.width, plan.height, *scores.shape[:0:-1]), plan)

    def _agrees(self, pictures: NDArray[np.int64], batch: MapBatch) -> bool:
        """Whether the first pictures give the same maps both ways, bit for bit."""
        for place, row in list(enumerate(batch.rows))[:16]:
            (whole,) = self.model.maps([self.picture(pictures[row].tolist())[0]])
            if not np.array_equal(whole.scores, batch.scores[place]):
                self.note(f"{self.model.name} does not see joined photos as the photos joined: asked about each pair.")
                self.shortcut = False
                return False
        self._checked = True
        return True

    # -- joined ----------------------------------------------------------------------------------------------------

    def _joined(self, pictures: NDArray[np.int64], rows: Rows, plan: Layout) -> Iterator[MapBatch | tuple[int, str]]:
        for start in range(0, len(rows), _JOINED):
            part = rows[start : start + _JOINED]
            joined = [self.picture(pictures[row].tolist())[0] for row in part]
            found = self._ask(joined, plan)
            shapes: dict[tuple[int, ...], list[tuple[int, SaliencyMap]]] = defaultdict(list)
            for row, answer in zip(part, found, strict=True):
                if isinstance(answer, str):
                    yield row, answer
                else:
                    shapes[answer.scores.shape].append((row, answer))
            for group in shapes.values():
                first = group[0][1]
                scores = np.stack([one.scores for _, one in group])
                yield MapBatch([row for row, _ in group], scores, first.x, first.y, plan)

    def _ask(self, joined: list[ByteArray], plan: Layout) -> list[SaliencyMap | str]:
        """Maps, or why there is none; where a batch fails each picture is asked alone."""
        try:
            found = self.model.maps(joined)
            return [check_map(one, plan.width, plan.height, self.model.name, "a joined picture") for one in found]
        except AnswerError as error:
            if len(joined) == 1:
                return [str(error)]
        return [answer for picture in joined for answer in self._ask([picture], plan)]
