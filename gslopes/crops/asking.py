"""What croppers are asked about joined pictures, and their answers: maps in batches of one layout, or rectangles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.boxes import Box, Crop, Cropper, Saliency, SaliencyMap, centres, crop_rectangle
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.remote import RemoteCropper, ready_croppers
from gslopes.ask.scoring.cost import confirm_cost
from gslopes.core import runtime, tables
from gslopes.core.arrays import Array, Integers
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.executor import Executor
from gslopes.core.progress import Tick
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Finder
from gslopes.crops.config import CropsConfig, JoiningConfig
from gslopes.crops.people import People, pictures_of
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
from gslopes.crops.policies import outcomes, temperature_for
from gslopes.crops.portraits import as_joined, reader_of
from gslopes.crops.tables import RECTANGLE, TABLES
from gslopes.frame.plan import Plan
from gslopes.frame.run import Run
from gslopes.frame.spec import Made

BATCH = 256
_JOINED = 8  # whole pictures in memory at once
PART = 1024
Model = Saliency | Cropper
Croppers = Sequence[Model | Callable[..., Any]]
Pictures = Integers
Rows = list[dict[str, Any]]


class MapBatch(NamedTuple):
    """Maps of joined pictures with one layout.

    rows: places in the list of pictures.  scores: (B, rows, columns).  x, y: cell centres.  plan: the layout.
    """

    rows: Sequence[int]
    scores: NDArray[np.float32]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    plan: Layout


class Choice(NamedTuple):
    """What one policy does with a picture.

    shares: chance of each person to be shown.  point: focal point x, y.  crops: ratio to crop, and whether it has
    another ratio than asked.
    """

    shares: Sequence[float]
    point: tuple[int, int] | None = None
    crops: Mapping[float, tuple[Crop, bool]] = {}


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
    heads: number to the head, in the photo as joined.
    shortcut: whether pictures may be put together from what a saliency model sees of each photo; every audit checks
        the first pictures both ways, and falls back where one differs.
    """

    model: Model
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
        return join([self.photo(photo) for photo in photos], jpeg=self.config.jpeg)

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
        if not has_map(self.model) or getattr(self.model, "log", False) or self.model.name.startswith("fastgaze"):
            return 1.0
        pairs = np.array([[index, (index + 1) % len(self.sizes)] for index in range(min(len(self.sizes), 8))])
        maps = [batch.scores for batch in self.maps(pairs) if isinstance(batch, MapBatch)]
        temperatures = [temperature_for(scores.astype(np.float64)) for batch in maps for scores in batch]
        return float(np.float32(np.median(temperatures))) if temperatures else 1.0

    def answers(
        self,
        pictures: Pictures,
        out: Path,
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
            self.model.ask_about(out, lambda: (self.picture(photos)[0] for photos in pictures.tolist()), tick)
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
                ties="first" if self.config.as_published else "half",
                draw=None if draw is None else draw[np.asarray(rows)],
            )  # fmt: skip
            highest = maxima(scores, owners(x, y, plan))
            flat = np.ptp(scores.reshape(len(rows), -1), axis=1) == 0
            for index, row in enumerate(rows):
                choices = {
                    name: self._choice(outcome.shares[index], outcome.points[index], plan)
                    for name, outcome in chosen.items()
                }
                yield Answer(row, pictures[row].tolist(), plan, choices, highest[index], bool(flat[index]))

    def _choice(self, shares: Array, point: Array, plan: Layout) -> Choice:
        if not np.isfinite(point).all():
            return Choice(shares.tolist())
        x, y = int(np.clip(point[0], 0, plan.width - 1)), int(np.clip(point[1], 0, plan.height - 1))
        crops = {ratio: (crop_rectangle(plan.width, plan.height, x, y, ratio), False) for ratio in self.config.ratios}
        return Choice(shares.tolist(), (x, y), crops)

    def _rectangles(self, pictures: Pictures) -> Iterator[Answer]:
        for row, photos in enumerate(pictures.tolist()):
            picture, plan = self.picture(photos)
            try:
                crops = {}
                for ratio in self.config.ratios:
                    answer = cast("Cropper", self.model).crop(picture, ratio)
                    crops[ratio] = checked_crop(answer, plan.width, plan.height, ratio, self.model.name)
                main = crops[min(crops, key=lambda ratio: abs(ratio - 1))][0]
                heads = [share for share in self.kept(photos, plan, main) if share is not None]
                # of each photo where a head is missing
                inside = heads if len(heads) == len(photos) else [share_inside(box, main) for box in plan.photos]
                choice = Choice(larger_share(inside), point=main.point, crops=crops)
                yield Answer(row, photos, plan, {RECTANGLE: choice})
            except AnswerError as error:
                yield Answer(row, photos, status="failed", reason=str(error))
            except Refused as error:
                yield Answer(row, photos, status="refused", reason=error.reason)

    # -- maps ----------------------------------------------------------------------------------------------------------

    def maps(self, pictures: Pictures) -> Iterator[MapBatch | Answer]:
        """Batches of maps of pictures, (n, people) numbers of photos; the answer of a picture that failed."""
        layouts: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
        for row, photos in enumerate(pictures.tolist()):
            layouts[tuple(self.sizes[photo] for photo in photos)].append(row)
        for sizes, rows in layouts.items():
            plan = layout(sizes)
            for start in range(0, len(rows), BATCH):
                part = rows[start : start + BATCH]
                batch = self._assembled(pictures, part, plan, sizes)
                if batch is not None and (self._checked or self._agrees(pictures, batch)):
                    yield batch
                else:
                    yield from self._joined(pictures, part, plan)

    def _assembled(
        self, pictures: Pictures, rows: Sequence[int], plan: Layout, sizes: tuple[tuple[int, int], ...]
    ) -> MapBatch | None:
        """Maps from photos that are shrunk first, where that is all the model sees of each; None where it is not."""
        model: Any = self.model
        if not (self.shortcut and self.config.jpeg is None and hasattr(model, "view") and (to := model.view(sizes))):
            return None
        for number in np.unique(pictures[list(rows)]).tolist():
            if (number, to) not in self._halves:
                self._halves[number, to] = model.shrink(self.photo(number), *to)
        parts = [[self._halves[number, to] for number in pictures[row].tolist()] for row in rows]
        scores = model.maps_of_shrunk(np.stack([np.concatenate(photos, axis=1) for photos in parts]))
        return MapBatch(rows, scores, *centres(plan.width, plan.height, *scores.shape[:0:-1]), plan)

    def _agrees(self, pictures: Pictures, batch: MapBatch) -> bool:
        """Whether the first pictures give the same maps both ways, bit for bit."""
        for row, scores in list(zip(batch.rows, batch.scores, strict=True))[:16]:
            (joined,) = cast("Saliency", self.model).maps([self.picture(pictures[row].tolist())[0]])
            if not np.array_equal(joined.scores, scores):
                self.note(f"{self.model.name} does not see joined photos as the photos joined: asked about each pair.")
                self.shortcut = False
                return False
        self._checked = True
        return True

    def _joined(self, pictures: Pictures, rows: Sequence[int], plan: Layout) -> Iterator[MapBatch | Answer]:
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
                first, scores = group[0][1], np.stack([saliency.scores for _, saliency in group])
                yield MapBatch([row for row, _ in group], scores, first.x, first.y, plan)

    def _ask(self, joined: list[ByteArray], plan: Layout) -> list[SaliencyMap | str]:
        """Maps, or why there is none; where a batch fails each picture is asked alone."""
        try:
            maps = cast("Saliency", self.model).maps(joined)
            return [
                check_map(saliency, plan.width, plan.height, self.model.name, "a joined picture") for saliency in maps
            ]
        except AnswerError as error:
            if len(joined) == 1:
                return [str(error)]
        return [answer for picture in joined for answer in self._ask([picture], plan)]


# -- before any work --------------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """What only Python gives: functions or ready objects, and a finder of faces instead of MTCNN."""

    croppers: Croppers = ()
    finder: Finder | None = None


def resolve(plan: Plan) -> dict[str, Model]:
    """The croppers of a plan by name.  Raises: as ``ready_croppers``."""
    config, given = plan.config, plan.given or Given()
    ready = ready_croppers(
        config.cropper, given.croppers, config.cost_limits, config.ratios, finder=given.finder,
        device=runtime.pick_device("auto"), seed=config.seed, trust=plan.trust,
    )  # fmt: skip
    return {model.name: model for model in ready}


def asked_names(run: Run) -> list[str]:
    """The croppers of a run."""
    assert run.plan is not None
    return list(run.plan.facts["asked"])


def agreed(run: Run) -> set[str | None]:
    """The croppers whose price this command's user has agreed to."""
    return set()


def agree(run: Run, pictures: Mapping[str | None, int]) -> None:
    """Have confirmed what asking services about this many pictures costs at most.  Raises: as ``confirm_cost``."""
    due = {name: count for name, count in pictures.items() if count and name not in run.once(agreed)}
    services = [(run.models[str(name)], count) for name, count in due.items()]
    asked = [each for one, count in services if isinstance(one, RemoteCropper) for each in one.requests(count)]
    confirm_cost(asked, run.config.cost_limits, run.executor)
    run.once(agreed).update(due)


def agree_first(run: Run, executor: Executor, *, stage: str, pictures: Callable[[Run], int]) -> None:
    """The same before the first stage of a new run: what is refused leaves no folder."""
    assert run.plan is not None
    if not run.folder.exists() and stage in (run.plan.only or [stage]):
        agree(run, dict.fromkeys(asked_names(run), pictures(run)))


def pictures_asked(people: People, config: CropsConfig, persons: Sequence[str] | None = None) -> Pictures:
    """(P, 3) the number of the variant, and of two photos, left and right, of all pictures.

    persons: of each photo; None: if every portrait can be read.
    """
    persons = persons if persons is not None else [portrait.person for portrait in people.portraits]
    drawn = [pictures_of(people, persons, variant) for variant in config.variants]
    return np.concatenate([np.insert(pairs, 0, number, axis=1) for number, pairs in enumerate(drawn)])


# -- the stage of pairs -----------------------------------------------------------------------------------------------


class Material(NamedTuple):
    """ids: of the photos by number.  pictures: (P, 4) place, variant, left and right.

    askers: by cropper, one a variant.

    lots: (P,) in [0, 1) of each picture.
    """

    ids: Sequence[str]
    pictures: Pictures
    askers: dict[str, list[Asker]]
    lots: Array


def material(run: Run) -> Material:
    """Photos by number, the pictures that are made of them, and who asks about them, from the people table."""
    assert run.plan is not None
    config, people, seen = run.config, run.inputs, run.table("people")
    path = {portrait.relative: portrait.path for portrait in people.portraits}
    used = seen[(seen["status"] == "used") & seen["path"].isin(list(path))].drop_duplicates("photo")
    askers: dict[str, list[Asker]] = {name: [] for name in run.plan.models}
    for variant in config.variants:
        sizes, heads = as_joined(used, variant)
        photo = reader_of([path[name] for name in used["path"]], sizes, variant)
        for name, model in run.plan.models.items():
            askers[name].append(Asker(model, photo, sizes, variant, heads, note=run.note))
    pictures = pictures_asked(people, config, used["person"].tolist())
    blocks = range(len(pictures) // PART + 1)
    lots = np.concatenate([np.random.default_rng([config.seed, 7, block]).random(PART) for block in blocks])
    numbered = np.column_stack([np.arange(len(pictures)), pictures]).astype(np.int64)
    return Material(used["photo"].tolist(), numbered, askers, lots)


def ask_pairs(run: Run, items: Pictures, name: str) -> Made:
    """Every joined picture's focal points, crops, and whom they show and keep."""
    asked = run.once(material)
    made: dict[str, Rows] = {"crops": [], "outcomes": [], "pairs": []}
    for number, asker in enumerate(asked.askers[name]):
        own = items[items[:, 1] == number]
        for table, rows in _asked(run, asker, own[:, 2:], asked.lots[own[:, 0]], asked.ids).items():
            made[table] += rows
    return {table: tables.frame_of(TABLES[table], rows) for table, rows in made.items()}


def _asked(run: Run, asker: Asker, pictures: Pictures, lots: Array, ids: Sequence[str]) -> dict[str, Rows]:
    """The rows of one variant.  pictures: (n, 2) numbers of photos.  lots: (n,).  ids: of all photos."""
    made: dict[str, Rows] = {"crops": [], "outcomes": [], "pairs": []}
    remote = isinstance(asker.model, RemoteCropper)
    for answer in asker.answers(pictures, run.folder, run.config.policies, lots, run.tick):
        run.tick(int(not remote))
        left, right = (ids[photo] for photo in answer.photos)
        key = {"cropper": asker.model.name, "variant": asker.config.variant, "left": left, "right": right}
        made["pairs"].append(key | _pair_row(answer))
        for policy, choice in answer.choices.items():
            shares = dict(zip(("share_left", "share_right"), np.asarray(choice.shares, np.float32), strict=True))
            made["outcomes"].append({**key, "policy": policy, **shares})
            for ratio, (crop, other) in ({} if answer.flat else choice.crops).items():
                inside = asker.kept(answer.photos, cast("Layout", answer.plan), crop)
                heads = [None if share is None else np.float32(share) for share in inside]
                row = {"policy": policy, "ratio": ratio, "left_px": crop.left, "top": crop.top, "other_ratio": other}
                row |= {"crop_width": crop.width, "crop_height": crop.height}
                made["crops"].append({**key, **row, "kept_left": heads[0], "kept_right": heads[1]})
    return made


def _pair_row(answer: Answer) -> dict[str, Any]:
    row = {"width": 0, "height": 0, "x": -1, "y": -1, "on_padding": False, "status": answer.status}
    row |= dict.fromkeys(("max_left", "max_right", "won"))
    plan, main = answer.plan, answer.main
    if plan is None or main is None:
        return row | SkipReason.of(answer.reason, answer.status).columns
    x, y = (-1, -1) if answer.flat else main.point or (-1, -1)
    row |= {"width": plan.width, "height": plan.height, "x": x, "y": y, "won": np.float32(main.shares[0])}
    row |= {"on_padding": x >= 0 and plan.on_padding(x, y)}
    row |= {"reason": Reason.NOTHING_SALIENT.value if answer.flat else "", "detail": ""}
    if answer.highest is not None:
        row |= dict(zip(("max_left", "max_right"), np.asarray(answer.highest, np.float32), strict=True))
    return row
