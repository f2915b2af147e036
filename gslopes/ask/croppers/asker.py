"""What croppers are asked about joined pictures, and their answers: maps in batches of one layout, or rectangles."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from gslopes.ask.boxes import (
    RECTANGLE,
    Box,
    Cropper,
    Saliency,
    SaliencyMap,
    Size,
    Sizes,
    centres,
    crop_rectangle,
)
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.joining import (
    Layout,
    almost_symmetric,
    check_map,
    checked_crop,
    join,
    larger_share,
    layout,
    maxima,
    owners,
    share_inside,
)
from gslopes.ask.croppers.policies import outcomes, temperature_for
from gslopes.ask.croppers.remote import RemoteCropper
from gslopes.core.arrays import Array, Integers
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.progress import Tick
from gslopes.core.records import ByteArray, Crop, FloatArray

BATCH = 256
JPEG = 75  # quality of the files that the published pictures went through
_JOINED = 8  # whole pictures in memory at once
Model = Saliency | Cropper
Pictures = Integers


class MapBatch(NamedTuple):
    """Maps of joined pictures with one layout.

    rows: places in the list of pictures.  scores: (B, rows, columns).  x, y: cell centres.  plan: the layout.
    """

    rows: Sequence[int]
    scores: FloatArray
    x: FloatArray
    y: FloatArray
    plan: Layout


class Choice(NamedTuple):
    """What one policy does with a picture.

    shares: chance of each person to be shown.  point: focal point x, y.  crops: ratio to crop, and whether it has
    another ratio than asked.  centred: whether they are around the centre, because the map is almost symmetric.
    """

    shares: Sequence[float]
    point: tuple[int, int] | None = None
    crops: Mapping[float, tuple[Crop, bool]] = {}
    centred: bool = False


class Answer(NamedTuple):
    """What a cropper answers about one joined picture.

    row: its place in the list.  photos: their numbers.  plan: their layout, None without an answer.
    choices: by policy.  highest: each person's highest score, if there is a map.  flat: whether the map is constant.
    status: answered, refused or failed.  reason: why the answer is missing.
    """

    row: int
    photos: list[int]
    plan: Layout | None = None
    choices: Mapping[str, Choice] = {}
    highest: Sequence[float] | None = None
    flat: bool = False
    status: str = "answered"
    reason: str = ""

    @property
    def main(self) -> Choice | None:
        """What decides who is favoured: the highest score, or the rectangle."""
        return self.choices.get("argmax", self.choices.get(RECTANGLE))


@dataclass(eq=False)
class Asker:
    """Asks a cropper about pictures joined from numbered photos.

    photo: number to (H, W, 3) uint8 RGB.  sizes: number to (width, height), as joined.
    ratios: height/width of crops.  as_published: pictures go through a JPEG file, ties to the first, and where a map is
        almost symmetric the highest point is not cropped around, but the centre.
    stacked: photos lie one above the other.
    heads: number to the head, in the photo as joined.
    shortcut: whether pictures may be put together from what a saliency model sees of each photo; every audit checks
        the first pictures both ways, and falls back where one differs.
    halves, checked: what is known of that: number and size to the shrunk photo, and whether the first ones agreed.
    """

    model: Model
    photo: Callable[[int], ByteArray]
    sizes: Sequence[Size] | Mapping[int, Size]
    ratios: Sequence[float] = (1.0,)
    as_published: bool = False
    heads: Mapping[int, Box] = field(default_factory=dict)
    shortcut: bool = True
    note: Callable[[str], None] = lambda text: None
    stacked: bool = False
    halves: dict[tuple[int, Size], ByteArray] = field(default_factory=dict)
    checked: bool = False

    def picture(self, photos: Sequence[int]) -> tuple[ByteArray, Layout]:
        """The joined picture itself."""
        jpeg = JPEG if self.as_published else None
        return join([self.photo(photo) for photo in photos], jpeg=jpeg, stacked=self.stacked)

    def kept(self, photos: Sequence[int], plan: Layout, crop: Crop) -> list[float | None]:
        """Share of each person's head inside a crop; None without a head."""
        heads = [self.heads.get(photo) for photo in photos]
        return [
            None if head is None else share_inside(head.shifted(box.x0, box.y0), crop)
            for head, box in zip(heads, plan.photos, strict=True)
        ]

    @cached_property
    def temperature(self) -> float:
        """Of the softmax: 1 where scores are log densities, else by the rule of entropy.

        The rule: over the maps of the first photos joined with their neighbours, the median of the temperatures at
        which a map spreads over a tenth of its cells.
        """
        if (
            not has_map(self.model)
            or getattr(self.model, "log", False)
            or self.model.name.startswith("fastgaze")
        ):
            return 1.0
        pairs = np.array(
            [[index, (index + 1) % len(self.sizes)] for index in range(min(len(self.sizes), 8))]
        )
        maps = [batch.scores for batch in self.maps(pairs) if isinstance(batch, MapBatch)]
        temperatures = [
            temperature_for(scores.astype(np.float64)) for batch in maps for scores in batch
        ]
        if temperatures:
            return float(np.float32(np.median(temperatures)))
        return 1.0

    def answers(
        self,
        pictures: Pictures,
        out: Path = Path(),
        policies: Sequence[str] = ("argmax",),
        draw: Array | None = None,
        tick: Tick = lambda pictures: None,
    ) -> Iterator[Answer]:
        """One answer a picture, in any order.

        pictures: (n, people) numbers of photos.  out: the run folder.  policies, draw: of maps, see
        ``policies.outcomes``; a cropper without maps has the policy ``rectangle`` alone.
        tick: of pictures that a cropper over a network has answered; it is asked about all before the first answer.
        """
        if isinstance(self.model, RemoteCropper):
            self.model.ask_about(
                out, lambda: (self.picture(photos)[0] for photos in pictures.tolist()), tick
            )
        if not has_map(self.model):
            yield from self._rectangles(pictures)
            return
        temperature = self.temperature if len(policies) > 1 else 1.0
        for batch in self.maps(pictures):
            if isinstance(batch, Answer):
                yield batch
                continue
            rows, scores, x, y, plan = batch
            chosen = outcomes(
                scores, x, y, plan, policies, temperature=temperature,
                ties="first" if self.as_published else "half",
                draw=None if draw is None else draw[np.asarray(rows)],
            )  # fmt: skip
            highest = maxima(scores, owners(x, y, plan))
            flat = np.ptp(scores.reshape(len(rows), -1), axis=1) == 0
            for index, row in enumerate(rows):
                centred = self.as_published and almost_symmetric(scores[index])
                choices = {
                    name: self._choice(
                        outcome.shares[index],
                        outcome.points[index],
                        plan,
                        centred and name == "argmax",
                    )
                    for name, outcome in chosen.items()
                }
                yield Answer(
                    row, pictures[row].tolist(), plan, choices, highest[index], bool(flat[index])
                )

    def _choice(self, shares: Array, point: Array, plan: Layout, centred: bool = False) -> Choice:
        if not np.isfinite(point).all():
            return Choice(shares.tolist())
        x = int(np.clip(point[0], 0, plan.width - 1))
        y = int(np.clip(point[1], 0, plan.height - 1))
        around = (plan.width // 2, plan.height // 2) if centred else (x, y)
        crops = {
            ratio: (crop_rectangle(plan.width, plan.height, *around, ratio), False)
            for ratio in self.ratios
        }
        return Choice(shares.tolist(), (x, y), crops, centred)

    def _rectangles(self, pictures: Pictures) -> Iterator[Answer]:
        for row, photos in enumerate(pictures.tolist()):
            picture, plan = self.picture(photos)
            try:
                crops = {}
                for ratio in self.ratios:
                    answer = cast("Cropper", self.model).crop(picture, ratio)
                    crops[ratio] = checked_crop(
                        answer, plan.width, plan.height, ratio, self.model.name
                    )
                main = crops[min(crops, key=lambda ratio: abs(ratio - 1))][0]
                heads = [share for share in self.kept(photos, plan, main) if share is not None]
                # of each photo where a head is missing
                inside = (
                    heads
                    if len(heads) == len(photos)
                    else [share_inside(box, main) for box in plan.photos]
                )
                choice = Choice(larger_share(inside), point=main.point, crops=crops)
                yield Answer(row, photos, plan, {RECTANGLE: choice})
            except AnswerError as error:
                yield Answer(row, photos, status="failed", reason=str(error))
            except Refused as error:
                yield Answer(row, photos, status="refused", reason=error.reason)

    # -- maps ----------------------------------------------------------------------------------------------------------

    def maps(self, pictures: Pictures) -> Iterator[MapBatch | Answer]:
        """Batches of maps of pictures, (n, people) numbers of photos; the answer of a picture that failed."""
        layouts: dict[Sizes, list[int]] = defaultdict(list)
        for row, photos in enumerate(pictures.tolist()):
            layouts[tuple(self.sizes[photo] for photo in photos)].append(row)
        for sizes, rows in layouts.items():
            plan = layout(sizes, stacked=self.stacked)
            for start in range(0, len(rows), BATCH):
                part = rows[start : start + BATCH]
                batch = self._assembled(pictures, part, plan, sizes)
                if batch is not None and (self.checked or self._agrees(pictures, batch)):
                    yield batch
                else:
                    yield from self._joined(pictures, part, plan)

    def _assembled(
        self, pictures: Pictures, rows: Sequence[int], plan: Layout, sizes: Sizes
    ) -> MapBatch | None:
        """Maps from photos that are shrunk first, where that is all the model sees of each; None where it is not."""
        model: Any = self.model
        whole = self.as_published or self.stacked
        if not (
            self.shortcut and not whole and hasattr(model, "view") and (to := model.view(sizes))
        ):
            return None
        for number in np.unique(pictures[list(rows)]).tolist():
            if (number, to) not in self.halves:
                self.halves[number, to] = model.shrink(self.photo(number), *to)
        parts = [[self.halves[number, to] for number in pictures[row].tolist()] for row in rows]
        scores = model.maps_of_shrunk(
            np.stack([np.concatenate(photos, axis=1) for photos in parts])
        )
        return MapBatch(rows, scores, *centres(plan.width, plan.height, *scores.shape[:0:-1]), plan)

    def _agrees(self, pictures: Pictures, batch: MapBatch) -> bool:
        """Whether the first pictures give the same maps both ways, bit for bit."""
        for row, scores in list(zip(batch.rows, batch.scores, strict=True))[:16]:
            (joined,) = cast("Saliency", self.model).maps([self.picture(pictures[row].tolist())[0]])
            if not np.array_equal(joined.scores, scores):
                self.note(
                    f"{self.model.name} does not see joined photos as the photos joined: asked about each pair."
                )
                self.shortcut = False
                return False
        self.checked = True
        return True

    def _joined(
        self, pictures: Pictures, rows: Sequence[int], plan: Layout
    ) -> Iterator[MapBatch | Answer]:
        for start in range(0, len(rows), _JOINED):
            part = rows[start : start + _JOINED]
            maps = self._ask([self.picture(pictures[row].tolist())[0] for row in part], plan)
            shapes: dict[tuple[int, ...], list[tuple[int, SaliencyMap]]] = defaultdict(list)
            for row, saliency in zip(part, maps, strict=True):
                if isinstance(saliency, str):
                    yield Answer(row, pictures[row].tolist(), status="failed", reason=saliency)
                else:
                    shapes[saliency.scores.shape].append((row, saliency))
            for group in shapes.values():
                first = group[0][1]
                scores = np.stack([saliency.scores for _, saliency in group])
                yield MapBatch([row for row, _ in group], scores, first.x, first.y, plan)

    def _ask(self, joined: list[ByteArray], plan: Layout) -> list[SaliencyMap | str]:
        """Maps, or why there is none; where a batch fails each picture is asked alone."""
        try:
            maps = cast("Saliency", self.model).maps(joined)
            return [
                check_map(saliency, plan.width, plan.height, self.model.name, "a joined picture")
                for saliency in maps
            ]
        except AnswerError as error:
            if len(joined) == 1:
                return [str(error)]
        return [answer for picture in joined for answer in self._ask([picture], plan)]
