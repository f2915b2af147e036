"""What croppers are asked about joined pictures, and their answers: maps in batches of one layout, or rectangles."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np

from gslopes.ask.boxes import (
    RECTANGLE,
    Box,
    Cropper,
    Saliency,
    Size,
    Sizes,
    centres,
    crop_rectangle,
)
from gslopes.ask.cache import AnswerCache, cache_folder
from gslopes.ask.classifiers import prepare_classifier
from gslopes.ask.classifiers.http import HttpCropper
from gslopes.ask.client import Client
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget
from gslopes.ask.croppers import Setting, has_map, load_cropper
from gslopes.ask.croppers.given import as_cropper
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
from gslopes.ask.pictures import png
from gslopes.ask.questions import PartProgress, Question
from gslopes.ask.scoring.cost import Price, estimate
from gslopes.core import AnswerError, Refused, Tick
from gslopes.core.records import (
    Answer,
    Array,
    ByteArray,
    Crop,
    FloatArray,
    Function,
    Integers,
    SaliencyMap,
    batches,
    doubles,
)
from gslopes.faces.find import MtcnnFinder

Pairs = list[list[int]]
BATCH = 256
PART = 16  # pictures that are made, and a service is asked about, together
JPEG = 75  # quality of the files that the published pictures went through
_JOINED = 8  # whole pictures in memory at once
Places = Sequence[int]  # of photos by their numbers, or of pictures in a list


# -- croppers over a network, asked by the one careful client: paced, paid for, kept by content, nothing asked twice ---


@dataclass(eq=False)
class RemoteCropper:
    """A cropper behind an address, which is asked about many pictures at once.

    service: who is asked.  cost_limits: cache and budget.  budget: of all services of one command.
    ratios: height/width.  seed: of the order of the questions.
    """

    service: HttpCropper
    cost_limits: CostLimits
    budget: Budget
    ratios: Sequence[float]
    seed: int

    def __post_init__(self) -> None:
        self.name = self.service.name
        self.version = self.service.version
        self._at = {ratio: self.service.at(ratio) for ratio in self.ratios}
        for classifier in self._at.values():
            prepare_classifier(classifier)

    def requests(self, pictures: int) -> list[Price]:
        """The most that asking about ``pictures`` pictures takes, for each ratio."""
        return [estimate(service, [pictures], stage="pairs") for service in self._at.values()]

    def boxes(
        self, pictures: Sequence[Callable[[], bytes]], tick: Tick
    ) -> list[dict[float, Answer]]:
        """Of each picture the answers by ratio; asked by lot, so that a service that drifts cannot pose as an effect.

        pictures: give their files.  tick: called with how many have all their answers.

        Raises: as ``ask.client.Client.ask_parts``.
        """
        answers: list[dict[float, Answer]] = [{} for _ in pictures]
        lot = np.random.default_rng(self.seed).permutation(len(pictures)).tolist()
        questions = [Question(f"{number}", pictures[number]) for number in lot]
        parts = [list(part) for part in batches(questions, PART)]

        def done(ratio: float, progress: PartProgress) -> None:
            for question, answer in progress.answered():
                answers[int(question.photo)][ratio] = answer
            tick(
                sum(
                    len(answers[int(question.photo)]) == len(self._at)
                    for question in progress.questions
                )
            )

        with AnswerCache(cache_folder(self.cost_limits.cache)) as cache:
            for ratio, service in self._at.items():
                client = Client(service, cache=cache, budget=self.budget)
                client.ask_parts(enumerate(parts), partial(done, ratio))
        return answers


def ready_croppers(
    names: Sequence[str],
    given: Sequence[Saliency | Cropper | Function],
    cost_limits: CostLimits,
    ratios: Sequence[float],
    setting: Setting,
) -> list[Saliency | Cropper | RemoteCropper]:
    """Croppers by name and those given, functions among them; those over a network with credentials checked.

    setting: its finder of faces is MTCNN if a cropper needs one and it has none.

    Raises: as ``ask.croppers.load_cropper``; CredentialsError, UsageError.
    """
    if setting.finder is None and any(name.startswith("faces") for name in names):
        setting = replace(setting, finder=MtcnnFinder())
    named = [load_cropper(name, setting) for name in names]
    budget = Budget.of(cost_limits)
    return [
        RemoteCropper(model, cost_limits, budget, ratios, setting.seed)
        if isinstance(model, HttpCropper)
        else model
        for model in map(as_cropper, [*named, *given])
    ]


# -- croppers of any kind ----------------------------------------------------------------------------------------------


Model = Saliency | Cropper | RemoteCropper


class MapBatch(NamedTuple):
    """Maps of joined pictures with one layout.

    rows: places in the list of pictures.  scores: (B, rows, columns).  x, y: cell centres.  plan: the layout.
    """

    rows: Places
    scores: FloatArray
    x: FloatArray
    y: FloatArray
    plan: Layout


class Focus(NamedTuple):
    """What one policy does with a picture.

    shares: chance of each person to be shown.  point: focal point x, y.  crops: ratio to crop, and whether it has
    another ratio than asked.  centred: whether they are around the centre, because the map is almost symmetric.
    """

    shares: Sequence[float]
    point: tuple[int, int] | None = None
    crops: Mapping[float, tuple[Crop, bool]] = {}
    centred: bool = False


class Joined(NamedTuple):
    """What comes of one joined picture.

    row: its place in the list.  plan: its layout.  answer: the cropper's, with a map or a box, or with why it has none.
    focuses: by policy.  highest: each person's highest score, if there is a map.  flat: whether the map is constant.
    """

    row: int
    plan: Layout
    answer: Answer
    focuses: Mapping[str, Focus] = {}
    highest: Sequence[float] | None = None
    flat: bool = False

    @property
    def main(self) -> Focus | None:
        """What decides who is favoured: the highest score, or the rectangle."""
        return self.focuses.get("argmax", self.focuses.get(RECTANGLE))


@dataclass(eq=False)
class Asker:
    """Asks a cropper about pictures joined from numbered photos.

    photo: number to (H, W, 3) uint8 RGB.  sizes: number to (width, height), as joined.
    ratios: height/width of crops.  as_published: pictures go through a JPEG file, ties to the first, and if a map is
        almost symmetric, the crop is around the centre, not around the highest point.
    stacked: photos lie one above the other.
    heads: number to the head, in the photo as joined.
    shortcut: whether pictures may be put together from what a saliency model sees of each photo; every audit checks
        the first pictures both ways, and falls back if one differs.
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

    def picture(self, photos: Places) -> tuple[ByteArray, Layout]:
        """The joined picture itself."""
        jpeg = JPEG if self.as_published else None
        return join([self.photo(photo) for photo in photos], jpeg=jpeg, stacked=self.stacked)

    def kept(self, photos: Places, plan: Layout, crop: Crop) -> list[float | None]:
        """Share of each person's head inside a crop; None without a head."""
        heads = [self.heads.get(photo) for photo in photos]
        return [
            None if head is None else share_inside(head.shifted(box.x0, box.y0), crop)
            for head, box in zip(heads, plan.photos, strict=True)
        ]

    @cached_property
    def temperature(self) -> float:
        """Of the softmax: 1 if scores are log densities, else by the rule of entropy.

        The rule: over the maps of the first photos joined with their neighbours, the median of the temperatures at
        which a map spreads over a tenth of its cells.
        """
        if not has_map(self.model) or getattr(self.model, "log", False):
            return 1.0
        count = len(self.sizes)
        pairs = np.array([[index, (index + 1) % count] for index in range(min(count, 8))])
        temperatures = [
            temperature_for(doubles(scores))
            for batch in self.maps(pairs)
            if isinstance(batch, MapBatch)
            for scores in batch.scores
        ]
        return float(np.float32(np.median(temperatures or [1.0])))

    def answers(
        self,
        pictures: Integers,
        policies: Sequence[str] = ("argmax",),
        draw: Array | None = None,
        tick: Tick = lambda pictures: None,
    ) -> Iterator[Joined]:
        """What comes of each picture, in any order.

        pictures: (n, people) numbers of photos.  policies, draw: of maps, see ``policies.outcomes``; a cropper without
        maps has only the policy ``rectangle``.
        tick: of pictures that are answered; a cropper over a network is asked about all before the first is given.
        """
        if not has_map(self.model):
            yield from self._by_boxes(pictures.tolist(), tick)
            return
        temperature = self.temperature if len(policies) > 1 else 1.0
        for batch in self.maps(pictures):
            if isinstance(batch, Joined):
                tick(1)
                yield batch
                continue
            rows, scores, x, y, plan = batch
            outcome_of = outcomes(
                scores,
                x,
                y,
                plan,
                policies,
                temperature=temperature,
                ties="first" if self.as_published else "half",
                draw=None if draw is None else draw[np.asarray(rows)],
            )
            highest = maxima(scores, owners(x, y, plan))
            flat = np.ptp(scores.reshape(len(rows), -1), 1) == 0
            for index, row in enumerate(rows):
                centred = self.as_published and almost_symmetric(scores[index])
                focuses = {
                    name: self._focus(
                        outcome.shares[index],
                        outcome.points[index],
                        plan,
                        centred and name == "argmax",
                    )
                    for name, outcome in outcome_of.items()
                }
                answer = Answer("answered", map=SaliencyMap(scores[index], x, y))
                tick(1)
                yield Joined(row, plan, answer, focuses, highest[index], bool(flat[index]))

    def _focus(self, shares: Array, point: Array, plan: Layout, centred: bool) -> Focus:
        if not np.isfinite(point).all():
            return Focus(shares.tolist())
        x = int(np.clip(point[0], 0, plan.width - 1))
        y = int(np.clip(point[1], 0, plan.height - 1))
        around = (plan.width // 2, plan.height // 2) if centred else (x, y)
        crops = {
            ratio: (crop_rectangle(plan.width, plan.height, *around, ratio), False)
            for ratio in self.ratios
        }
        return Focus(shares.tolist(), (x, y), crops, centred)

    # -- boxes ---------------------------------------------------------------------------------------------------------

    def _by_boxes(self, pictures: Pairs, tick: Tick) -> Iterator[Joined]:
        if isinstance(self.model, RemoteCropper):
            files = [partial(self._file, photos) for photos in pictures]
            for row, by_ratio in enumerate(self.model.boxes(files, tick)):
                yield self._boxed(row, pictures[row], by_ratio.items())
            return
        model = cast("Cropper", self.model)
        for row, photos in enumerate(pictures):
            picture = self.picture(photos)[0]
            tick(1)
            yield self._boxed(row, photos, _boxes_of(model, picture, self.ratios))

    def _file(self, photos: Places) -> bytes:
        return png(self.picture(photos)[0])

    def _boxed(self, row: int, photos: Places, answers: Iterable[tuple[float, Answer]]) -> Joined:
        """What comes of a picture by the answers at each ratio, the first of which is not answered decides."""
        plan = layout([self.sizes[photo] for photo in photos], stacked=self.stacked)
        crops = {}
        for ratio, answer in answers:
            if answer.box is None:
                return Joined(row, plan, answer)
            try:
                crops[ratio] = checked_crop(
                    answer.box, plan.width, plan.height, ratio, self.model.name
                )
            except AnswerError as error:
                return Joined(row, plan, Answer("failed", (), str(error)))
        main, _ = crops[min(crops, key=lambda ratio: abs(ratio - 1))]
        heads = self.kept(photos, plan, main)
        # of each photo if a head is missing
        inside = [share for share in heads if share is not None]
        if len(inside) < len(photos):
            inside = [share_inside(box, main) for box in plan.photos]
        focus = Focus(larger_share(inside), main.point, crops)
        return Joined(row, plan, Answer("answered", box=main), {RECTANGLE: focus})

    # -- maps ----------------------------------------------------------------------------------------------------------

    def maps(self, pictures: Integers) -> Iterator[MapBatch | Joined]:
        """Batches of maps of pictures, (n, people) numbers of photos; a picture without a map by itself."""
        layouts = defaultdict(list)
        photos = pictures.tolist()
        for row, numbers in enumerate(photos):
            layouts[tuple(self.sizes[photo] for photo in numbers)].append(row)
        for sizes, rows in layouts.items():
            plan = layout(sizes, stacked=self.stacked)
            for part in batches(rows, BATCH):
                batch = self._assembled(photos, part, plan, sizes)
                if batch and (self.checked or self._agrees(photos, batch)):
                    yield batch
                else:
                    yield from self._joined(photos, part, plan)

    def _assembled(
        self, photos: Pairs, rows: Places, plan: Layout, sizes: Sizes
    ) -> MapBatch | None:
        """Maps from photos that are shrunk first, if that is all the model sees of each; else None."""
        model: Any = self.model
        apart = self.shortcut and not self.as_published and not self.stacked
        if not (apart and hasattr(model, "view") and (to := model.view(sizes))):
            return None
        for number in {number for row in rows for number in photos[row]}:
            if (number, to) not in self.halves:
                self.halves[number, to] = model.shrink(self.photo(number), *to)
        scores = model.maps_of_shrunk(
            np.stack(
                [
                    np.concatenate([self.halves[number, to] for number in photos[row]], 1)
                    for row in rows
                ]
            )
        )
        return MapBatch(rows, scores, *centres(plan.width, plan.height, *scores.shape[:0:-1]), plan)

    def _agrees(self, photos: Pairs, batch: MapBatch) -> bool:
        """Whether the first pictures give the same maps both ways, bit for bit."""
        for row, scores in list(zip(batch.rows, batch.scores, strict=True))[:16]:
            (joined,) = cast("Saliency", self.model).maps([self.picture(photos[row])[0]])
            if not np.array_equal(joined.scores, scores):
                self.note(
                    f"{self.model.name} does not see joined photos as the photos joined: asked about each pair."
                )
                self.shortcut = False
                return False
        self.checked = True
        return True

    def _joined(self, photos: Pairs, rows: Places, plan: Layout) -> Iterator[MapBatch | Joined]:
        for part in batches(rows, _JOINED):
            answers = self._asked([self.picture(photos[row])[0] for row in part], plan)
            shapes = defaultdict(list)
            for row, answer in zip(part, answers, strict=True):
                if answer.map is None:
                    yield Joined(row, plan, answer)
                else:
                    shapes[answer.map.scores.shape].append((row, answer.map))
            for group in shapes.values():
                first = group[0][1]
                scores = np.stack([saliency.scores for _, saliency in group])
                yield MapBatch([row for row, _ in group], scores, first.x, first.y, plan)

    def _asked(self, joined: list[ByteArray], plan: Layout) -> list[Answer]:
        """The answers of a saliency model; if it fails on a batch it is asked about each picture."""
        try:
            return [
                Answer(
                    "answered",
                    map=check_map(
                        saliency, plan.width, plan.height, self.model.name, "a joined picture"
                    ),
                )
                for saliency in cast("Saliency", self.model).maps(joined)
            ]
        except AnswerError as error:
            if len(joined) == 1:
                return [Answer("failed", (), str(error))]
        return [answer for picture in joined for answer in self._asked([picture], plan)]


def _boxes_of(
    cropper: Cropper, picture: ByteArray, ratios: Sequence[float]
) -> Iterator[tuple[float, Answer]]:
    """The answers of a cropper on this machine at each ratio."""
    for ratio in ratios:
        try:
            yield ratio, Answer("answered", box=cropper.crop(picture, ratio))
        except AnswerError as error:
            yield ratio, Answer("failed", (), str(error))
        except Refused as error:
            yield ratio, Answer("refused", (), error.reason)
