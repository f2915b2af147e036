"""Joined pictures and the croppers' answers about them: maps in batches of one layout, or rectangles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.boxes import Box, Crop, Cropper, Saliency, SaliencyMap, centres, crop_rectangle
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.remote import RemoteCropper
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.progress import Tick
from gslopes.core.records import ByteArray
from gslopes.crops.config import JoiningConfig
from gslopes.crops.pictures import (
    Layout,
    check_map,
    checked_crop,
    join,
    larger_share,
    layout,
    maxima,
    owners,
    share_inside,
)
from gslopes.crops.policies import POINTED, Settings, outcomes, temperature_for

RECTANGLE = "rectangle"  # the policy of croppers that give no map
BATCH = 256
_JOINED = 8  # whole pictures in memory at once
Array = NDArray[np.float64]
Pictures = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MapBatch:
    """Maps of joined pictures with one layout.

    rows: places in the list of pictures.  scores: (B, rows, columns).  x, y: cell centres.  plan: the layout.
    """

    rows: Sequence[int]
    scores: NDArray[np.float32]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    plan: Layout


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What one policy does with a picture.

    shares: chance of each person to be shown.  low: chance that the focal point scores below the map's median, or NaN.
    point: focal point x, y.  crops: ratio to crop, and whether it has another ratio than asked.
    """

    shares: Sequence[float]
    low: float = float("nan")
    point: tuple[int, int] | None = None
    crops: Mapping[float, tuple[Crop, bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a cropper answers about one joined picture.

    row: its place in the list.  photos: their numbers.  plan: their layout, None without an answer.
    choices: by policy.  highest: each person's highest score, if there is a map.  flat: whether the map is constant.
    status: answered, refused or failed.  reason: why there is no answer.
    """

    row: int
    photos: list[int]
    plan: Layout | None = None
    choices: Mapping[str, Choice] = field(default_factory=dict)
    highest: Sequence[float] | None = None
    flat: bool = False
    status: str = "answered"
    reason: str = ""

    @property
    def main(self) -> Choice | None:
        """What decides who is favoured: the highest score, or the rectangle."""
        return self.choices.get("argmax", self.choices.get(RECTANGLE))


@dataclass(slots=True, eq=False)
class Asker:
    """Asks a cropper about pictures joined from numbered photos.

    photo: number to (H, W, 3) uint8 RGB.  sizes: number to (width, height), as joined.
    heads: number to the head, in the photo as joined.
    shortcut: whether pictures may be put together from what a saliency model sees of each photo; every audit checks
        the first pictures both ways, and falls back where one differs.
    """

    model: Saliency | Cropper
    photo: Callable[[int], ByteArray]
    sizes: Sequence[tuple[int, int]]
    config: JoiningConfig
    heads: Mapping[int, Box] = field(default_factory=dict)
    shortcut: bool = True
    note: Callable[[str], None] = lambda text: None
    _halves: dict[tuple[int, tuple[int, int]], ByteArray] = field(default_factory=dict)
    _checked: bool = False

    def picture(self, photos: Sequence[int]) -> tuple[ByteArray, Layout]:
        """The joined picture itself."""
        return join([self.photo(photo) for photo in photos], self._attach, jpeg=self.config.jpeg)

    def kept(self, photos: Sequence[int], plan: Layout, crop: Crop) -> list[float | None]:
        """Share of each person's head inside a crop; None without a head."""
        heads = [self.heads.get(photo) for photo in photos]
        return [
            None if head is None else share_inside(head.shifted(box.x0, box.y0), crop)
            for head, box in zip(heads, plan.photos, strict=True)
        ]

    @property
    def _attach(self) -> Any:
        return "vertical" if self.config.attach == "vertical" else "horizontal"

    # -- answers -------------------------------------------------------------------------------------------------------

    def answers(
        self,
        pictures: Pictures,
        out: Path,
        tick: Tick,
        ratios: Sequence[float],
        policies: Sequence[str] = ("argmax",),
        settings: Settings | None = None,
        draw: Array | None = None,
    ) -> Iterator[Answer]:
        """One answer a picture, in any order.

        pictures: (n, people) numbers of photos.  out: the run folder.  policies, settings, draw: of maps, see
        ``crops.policies``; a cropper without maps has the policy ``rectangle`` alone.
        """
        if not has_map(self.model):
            yield from self._rectangles(pictures, out, tick, ratios)
            return
        settings = settings or self.config.settings
        for found in self.maps(pictures):
            if isinstance(found, tuple):
                yield Answer(found[0], pictures[found[0]].tolist(), status="failed", reason=found[1])
                tick(1)
                continue
            rows = np.asarray(found.rows)
            lots = None if draw is None else draw[rows]
            chosen = outcomes(found.scores, found.x, found.y, found.plan, policies, settings, lots)
            highest = maxima(found.scores, owners(found.x, found.y, found.plan))
            flat = np.ptp(found.scores.reshape(len(rows), -1), axis=1) == 0
            for index, row in enumerate(found.rows):
                choices = {
                    name: self._choice(one.shares[index], one.low[index], one.points[index], found.plan, ratios)
                    for name, one in chosen.items()
                }
                yield Answer(row, pictures[row].tolist(), found.plan, choices, highest[index], bool(flat[index]))
            tick(len(found.rows))

    @staticmethod
    def _choice(shares: Array, low: float, point: Array, plan: Layout, ratios: Sequence[float]) -> Choice:
        if not np.isfinite(point).all():
            return Choice(shares.tolist(), low)
        x, y = int(np.clip(point[0], 0, plan.width - 1)), int(np.clip(point[1], 0, plan.height - 1))
        crops = {ratio: (crop_rectangle(plan.width, plan.height, x, y, ratio), False) for ratio in ratios}
        return Choice(shares.tolist(), low, (x, y), crops)

    def _rectangles(self, pictures: Pictures, out: Path, tick: Tick, ratios: Sequence[float]) -> Iterator[Answer]:
        """A cropper over a network is asked about all pictures before the first answer is given out."""
        everything = pictures.tolist()
        if remote := isinstance(self.model, RemoteCropper):
            self.model.ask_about(out, lambda: (self.picture(one)[0] for one in everything), tick)
        for row, photos in enumerate(everything):
            picture, plan = self.picture(photos)
            try:
                found = {ratio: self.rectangle(picture, plan, ratio) for ratio in ratios}
                main = found[min(ratios, key=lambda ratio: abs(ratio - 1))][0]
                shares = larger_share(self._inside(photos, plan, main))
                yield Answer(row, photos, plan, {RECTANGLE: Choice(shares, point=main.point, crops=found)})
            except AnswerError as error:
                yield Answer(row, photos, status="failed", reason=str(error))
            except Refused as error:
                yield Answer(row, photos, status="refused", reason=error.reason)
            if not remote and row % 16 == 15:
                tick(16)
        if not remote:
            tick(len(everything) % 16)

    def rectangle(self, picture: ByteArray, plan: Layout, ratio: float) -> tuple[Crop, bool]:
        """A cropper's rectangle, checked, and whether it has another ratio.  Raises: AnswerError, Refused."""
        crop = cast("Cropper", self.model).crop(picture, ratio)
        return checked_crop(crop, plan.width, plan.height, ratio, self.model.name)

    def _inside(self, photos: Sequence[int], plan: Layout, crop: Crop) -> list[float]:
        """Share of each head inside, of each photo where a head is missing."""
        heads = [share for share in self.kept(photos, plan, crop) if share is not None]
        return heads if len(heads) == len(photos) else [share_inside(box, crop) for box in plan.photos]

    def crops_of(
        self, picture: ByteArray, plan: Layout, ratio: float, settings: Settings, draw: Array
    ) -> dict[str, Crop]:
        """Policy to crop of a picture that is not joined here; nothing where there is no answer.  draw: (1,)."""
        try:
            if not has_map(self.model):
                return {RECTANGLE: self.rectangle(picture, plan, ratio)[0]}
            (found,) = cast("Saliency", self.model).maps([picture])
        except (AnswerError, Refused):
            return {}
        if np.ptp(found.scores) == 0:
            return {}
        names = [name for name in self.config.policies if name in POINTED]
        chosen = outcomes(found.scores[None], found.x, found.y, plan, names, settings, draw)
        choices = {
            name: self._choice(one.shares[0], one.low[0], one.points[0], plan, [ratio]) for name, one in chosen.items()
        }
        return {name: choice.crops[ratio][0] for name, choice in choices.items()}

    def temperature(self) -> float:
        """The temperature of the softmax: 1 where scores are log densities, else by the rule of entropy.

        The rule: over the maps of the first photos joined with their neighbours, the median of the temperatures at
        which a map spreads over a tenth of its cells.
        """
        model = self.model
        if not has_map(model) or getattr(model, "log", False) or model.name.startswith("fastgaze"):
            return 1.0
        pairs = np.array([[index, (index + 1) % len(self.sizes)] for index in range(min(len(self.sizes), 8))])
        found = [batch.scores for batch in self.maps(pairs) if not isinstance(batch, tuple)]
        known = [temperature_for(one.astype(np.float64)) for scores in found for one in scores]
        return float(np.float32(np.median(known))) if known else 1.0

    # -- maps ----------------------------------------------------------------------------------------------------------

    def maps(self, pictures: Pictures) -> Iterator[MapBatch | tuple[int, str]]:
        """Batches of maps of pictures, (n, people) numbers of photos; or (row, reason) for a picture that failed."""
        layouts: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
        for row, photos in enumerate(pictures.tolist()):
            layouts[tuple(self.sizes[photo] for photo in photos)].append(row)
        for sizes, rows in layouts.items():
            plan = layout(sizes, self._attach)
            for start in range(0, len(rows), BATCH):
                part = rows[start : start + BATCH]
                if (view := self._view(sizes)) is not None:
                    batch = self._assembled(pictures, part, plan, view)
                    if self._checked or self._agrees(pictures, batch):
                        yield batch
                        continue
                yield from self._joined(pictures, part, plan)

    def _view(self, sizes: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
        """The size to which each photo is shrunk where that is all the model sees of it."""
        if not self.shortcut or self.config.jpeg is not None or not hasattr(self.model, "view"):
            return None
        return cast("tuple[int, int] | None", self.model.view(sizes, vertical=self._attach == "vertical"))

    def _assembled(self, pictures: Pictures, rows: Sequence[int], plan: Layout, view: tuple[int, int]) -> MapBatch:
        model: Any = self.model
        axis = 1 if self._attach == "horizontal" else 0
        for number in np.unique(pictures[list(rows)]).tolist():
            if (number, view) not in self._halves:
                self._halves[number, view] = model.shrink(self.photo(number), *view)
        halves = [[self._halves[number, view] for number in pictures[row].tolist()] for row in rows]
        scores = model.maps_of_shrunk(np.stack([np.concatenate(parts, axis=axis) for parts in halves]))
        return MapBatch(rows, scores, *centres(plan.width, plan.height, *scores.shape[:0:-1]), plan)

    def _agrees(self, pictures: Pictures, batch: MapBatch) -> bool:
        """Whether the first pictures give the same maps both ways, bit for bit."""
        for place, row in list(enumerate(batch.rows))[:16]:
            (whole,) = cast("Saliency", self.model).maps([self.picture(pictures[row].tolist())[0]])
            if not np.array_equal(whole.scores, batch.scores[place]):
                self.note(f"{self.model.name} does not see joined photos as the photos joined: asked about each pair.")
                self.shortcut = False
                return False
        self._checked = True
        return True

    def _joined(self, pictures: Pictures, rows: Sequence[int], plan: Layout) -> Iterator[MapBatch | tuple[int, str]]:
        for start in range(0, len(rows), _JOINED):
            part = rows[start : start + _JOINED]
            found = self._ask([self.picture(pictures[row].tolist())[0] for row in part], plan)
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
        model = cast("Saliency", self.model)
        try:
            return [
                check_map(one, plan.width, plan.height, model.name, "a joined picture") for one in model.maps(joined)
            ]
        except AnswerError as error:
            if len(joined) == 1:
                return [str(error)]
        return [answer for picture in joined for answer in self._ask([picture], plan)]
