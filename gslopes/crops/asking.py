"""The stages that ask croppers: about each photo by itself, then about every pair.

By itself each photo is decoded, its face found, each saliency model asked about it; then it is known who is of which
group. Of pairs: who is asked, what it costs, and the rows of the answers.
"""

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame

from gslopes.ask.boxes import Box, Cropper, Saliency, crop_rectangle, resized
from gslopes.ask.croppers import Setting, has_map, joining
from gslopes.ask.croppers.asker import Asker, Joined, Model, RemoteCropper, ready_croppers
from gslopes.ask.croppers.joining import Layout
from gslopes.ask.scoring.cost import Price, confirm_cost
from gslopes.core import (
    AnswerError,
    Executor,
    PhotoError,
    Reason,
    Record,
    Row,
    SkipReason,
    UsageError,
    explained,
    files,
    runfolder,
    runtime,
)
from gslopes.core.records import Array, ByteArray, Crop, Finder, Integers, Photo
from gslopes.core.tables import records
from gslopes.crops.config import TABLES, VERTICAL, CropsConfig
from gslopes.crops.stimuli.people import Groups, People, Portrait, pictures_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.frame.parts import missing_of
from gslopes.frame.spec import Made, Plan, Run, Stage, Tables
from gslopes.photos import decode, folder

PART = 1024
Croppers = Sequence[Saliency | Cropper | Callable[..., Any]]
Rows = list[Row]
STILL = "out of what is kept, still in who is favoured"  # who has no face
_MEMORY = 768 << 20  # bytes of decoded photos that are kept


def reader_of(
    paths: Sequence[Path], sizes: Sequence[tuple[int, int]], config: CropsConfig
) -> Callable[[int], ByteArray]:
    """Number to the photo as joined, (H, W, 3) uint8 RGB; those read last are kept.

    sizes: (width, height) as joined.  What it gives raises: PhotoError.
    """
    most = max(2, _MEMORY // max((3 * wide * tall for wide, tall in sizes), default=1))
    return lru_cache(most)(lambda index: scaled(folder.open_srgb(paths[index]), config))


def digest_of(people: People) -> str:
    """The sha256 over the bytes of all photos that can be read, and who is on them."""
    lines = hashlib.sha256()
    for portrait in people.portraits:
        try:
            photo = files.sha256_of(portrait.path)
        except OSError:
            photo = ""
        lines.update(
            f"{portrait.relative}\0{portrait.person}\0{photo}\0{sorted(portrait.traits.items())}\n".encode()
        )
    return lines.hexdigest()


def scaled(photo: ByteArray, config: CropsConfig) -> ByteArray:
    """The photo at the size in which it is joined."""
    return resized(photo, *scaled_size(photo.shape[1], photo.shape[0], config))


def scaled_size(width: int, height: int, config: CropsConfig) -> tuple[int, int]:
    """(width, height) of the photo as joined; with a height its width is truncated, as published."""
    if config.height:
        return (max(1, width * config.height // height), config.height)
    return (width, height)


def as_joined(used: DataFrame, config: CropsConfig) -> tuple[list[tuple[int, int]], dict[int, Box]]:
    """Sizes of the photos when joined, and heads in them.  used: rows of PEOPLE."""
    sizes = []
    heads = {}
    for index, row in enumerate(records(used)):
        size = scaled_size(row["width"], row["height"], config)
        sizes.append(size)
        if row["head"] is not None:
            scale = np.divide(size, (row["width"], row["height"]))
            heads[index] = Box(*(row["head"] * np.tile(scale, 2)).tolist())
    return sizes, heads


def finder_of(run: Run) -> Finder:
    """Of faces: the one that was given, or MTCNN."""
    return getattr(run.plan and run.plan.given, "finder", None) or MtcnnFinder()


def look(run: Run, portraits: Sequence[Portrait]) -> Made:
    """Each photo by itself: decoded, its face found, and each saliency model asked about it."""
    finder = run.once(finder_of)
    models = list(filter(has_map, run.models.values()))
    saliency = []
    people = []
    for portrait in portraits:
        row = {
            **TABLES["people"].blank,
            "person": portrait.person,
            "path": portrait.relative,
            "status": "used",
        }
        people.append(row)
        run.tick(1)
        try:
            photo = folder.open_photo(portrait.path)
        except PhotoError as error:
            row |= {"status": "skipped", **SkipReason.of(error.reason).columns}
            continue
        height, width = photo.shape
        faces = finder([photo])[0]
        row |= {
            "photo": photo.id,
            "width": width,
            "height": height,
            "faces": len(faces.scores),
        }
        face = choose(faces, width, height, 1)
        if isinstance(face, SkipReason):
            detail = "; ".join(filter(None, (face.detail, STILL)))
            row |= SkipReason(face.reason, detail).columns
        else:
            head = joining.head_box(face.box.tolist(), width, height)
            row |= {"box": face.box, "head": np.array(astuple(head), np.float32)}
        for model in models:
            saliency += _alone(model, photo, row, run.config)
    return {
        "saliency": saliency,
        "traits": [],
        "people": [*people, *_repeated(portraits, people)],
    }


def _repeated(portraits: Sequence[Portrait], people: Sequence[Row]) -> Iterator[Row]:
    """Rows of other files with the same bytes."""
    for portrait, row in zip(portraits, people, strict=True):
        why = SkipReason(Reason.DUPLICATE, portrait.relative)
        for name in portrait.repeats:
            yield {**row, "path": name, "status": "skipped", **why.columns}


def _alone(
    model: Saliency,
    photo: Photo,
    row: Record,
    config: CropsConfig,
) -> list[Row]:
    """A photo's map in numbers, at the photo's scale and, of a model of one size, reduced as when joined."""
    pixels = scaled(decode.in_srgb(photo.pixels, photo.icc), config)
    height, width = photo.shape
    factor = height / pixels.shape[0]
    scales = {"own": model}
    if size := getattr(model, "size", 0):
        matched: Any = copy.copy(model)
        matched.size = max(32, size // 2)
        scales["matched"] = matched
    rows = []
    for scale, scaled_model in scales.items():
        try:
            saliency = scaled_model.maps([pixels])[0]
            joining.check_map(saliency, pixels.shape[1], pixels.shape[0], model.name, row["path"])
        except AnswerError:
            continue  # the pairs of this photo have the reason
        x, y = (int(value * factor) for value in joining.focal_point(saliency))
        regions = joining.salient_regions(saliency, width, height)
        facts = {
            **TABLES["saliency"].blank,
            "cropper": model.name,
            "photo": photo.id,
            "scale": scale,
            "x": x,
            "y": y,
            "max": saliency.scores.max(),
            "median": np.median(saliency.scores),
            "regions": len(regions),
        }
        if row["head"] is not None and np.ptp(saliency.scores) > 0:
            head = Box(*row["head"].tolist())
            crop = crop_rectangle(width, height, min(x, width - 1), min(y, height - 1), 1.0)
            facts["on_head"] = head.holds(x, y)
            facts["kept"] = np.float32(joining.share_inside(head, crop))
            facts["regions_off"] = sum(box.shared(head) < box.area / 2 for box in regions)
        rows.append(facts)
    return rows


def with_groups(run: Run, tables: Tables) -> Made:
    """Who is of which group, in the order of the table, and who is left out.

    Raises: UsageError if no photo can be read.
    """
    groups: Groups = run.inputs.groups
    looked_at = tables["people"]
    if not (looked_at["status"] == "used").any():
        first = looked_at.iloc[0]
        reason = explained(first["reason"], first["detail"])
        raise UsageError("No photo could be read.", f"The first reason: {reason}.")
    content = {"groups": groups, "left_out": run.inputs.left_out}
    runfolder.write_json(run.folder / "groups.json", content)
    traits = [
        {
            "person": person,
            "column": column,
            "value": value,
            "source": run.config.source,
        }
        for column, members in groups.items()
        for value, persons in members.items()
        for person in persons
    ]
    return {**tables, "traits": traits}


# -- pairs: before any work -------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """What only Python gives: functions or ready objects, and a finder of faces instead of MTCNN."""

    croppers: Croppers = ()
    finder: Finder | None = None


def resolve(plan: Plan) -> dict[str, Model]:
    """The croppers of a plan by name.  Raises: as ``ready_croppers``."""
    config = plan.config
    brought = plan.given or Given()
    setting = Setting(brought.finder, runtime.pick_device("auto"), config.seed, plan.trust)
    ready = ready_croppers(
        config.cropper, brought.croppers, config.cost_limits, config.ratios, setting
    )
    return {model.name: model for model in ready}


def asked_names(run: Run) -> list[str]:
    """The croppers of a run."""
    assert run.plan
    return list(run.plan.facts["asked"])


def agreed(run: Run) -> set[str | None]:
    """The croppers whose price this command's user has agreed to."""
    return set()


def agree(run: Run, pictures: Mapping[str | None, int]) -> None:
    """Have confirmed what asking services about this many pictures costs at most.  Raises: as ``confirm_cost``."""
    due = {
        name: count for name, count in pictures.items() if count and name not in run.once(agreed)
    }
    confirm_cost(requests_of(run, due), run.config.cost_limits, run.executor)
    run.once(agreed).update(due)


def requests_of(run: Run, pictures: Mapping[Any, int]) -> list[Price]:
    """What asking services about this many pictures costs at most."""
    due = []
    for name, count in pictures.items():
        model = run.models[str(name)]
        if isinstance(model, RemoteCropper):
            due += model.requests(count)
    return due


def prices(run: Run, stage: Stage) -> list[Price]:
    """What services are still to be asked, at most."""
    names = asked_names(run)
    pictures = dict.fromkeys(names, len(pictures_asked(run.inputs, run.config)))
    if run.has("people"):
        missing = missing_of(run, stage, names).missing
        pictures = {name: sum(missing[name].values()) for name in names}
    return requests_of(run, pictures)


def agree_first(run: Run, executor: Executor) -> None:
    """The same before the first stage of a new run: what is refused leaves no folder."""
    if not run.folder.exists():
        agree(run, dict.fromkeys(asked_names(run), len(pictures_asked(run.inputs, run.config))))


def pictures_asked(
    people: People, config: CropsConfig, persons: Sequence[str] | None = None
) -> Integers:
    """(P, 4) of all pictures the numbers of the variant and of two photos, left and right, and how often it is drawn.

    persons: of each photo; None: if every portrait can be read.
    """
    if persons is None:
        persons = [portrait.person for portrait in people.portraits]
    drawn = [pictures_of(people, persons, variant) for variant in config.variants]
    return np.concatenate([np.insert(pairs, 0, number, 1) for number, pairs in enumerate(drawn)])


# -- the stage of pairs -----------------------------------------------------------------------------------------------


class JoinedPictures(NamedTuple):
    """ids: of the photos by number.  pictures: (P, 5) place, variant, left and right, how often it is drawn.

    askers: by cropper, one a variant.

    lots: (P,) in [0, 1) of each picture.
    """

    ids: Sequence[str]
    pictures: Integers
    askers: dict[str, list[Asker]]
    lots: Array


def joined_pictures(run: Run) -> JoinedPictures:
    """Photos by number, the pictures that are made of them, and who asks about them, from the people table."""
    config = run.config
    people = run.inputs
    rows = run.table("people")
    path = {portrait.relative: portrait.path for portrait in people.portraits}
    used = rows.query("status == 'used' and path in @path")
    askers: dict[str, list[Asker]] = {name: [] for name in run.models}
    for variant in config.variants:
        sizes, heads = as_joined(used, variant)
        photo = reader_of([path[name] for name in used["path"]], sizes, variant)
        for name, model in run.models.items():
            stacked = variant.attach == (VERTICAL,)
            asker = Asker(
                model, photo, sizes, variant.ratios, variant.as_published, heads, stacked=stacked
            )
            askers[name].append(asker)
    pictures = pictures_asked(people, config, used["person"].tolist())
    blocks = range(len(pictures) // PART + 1)
    lots = np.concatenate(
        [np.random.default_rng([config.seed, 7, block]).random(PART) for block in blocks]
    )
    numbered = np.column_stack([np.arange(len(pictures)), pictures]).astype(np.int64)
    return JoinedPictures(used["photo"].tolist(), numbered, askers, lots)


def ask_pairs(run: Run, items: Integers, name: str) -> Made:
    """Every joined picture's focal points and crops, and the people that they show and keep."""
    ready = run.once(joined_pictures)
    rows: dict[str, Rows] = {"crops": [], "outcomes": [], "pairs": []}
    for number, config in enumerate(run.config.variants):
        asker = ready.askers[name][number]
        pictures = items[items[:, 1] == number]
        lots = ready.lots[pictures[:, 0]]
        asker.note = run.note  # of the part in hand
        for joined in asker.answers(pictures[:, 2:4], run.config.policies, lots, run.tick):
            *photos, draws = pictures[joined.row, 2:].tolist()
            key = {
                "cropper": name,
                "variant": config.variant,
                "left": ready.ids[photos[0]],
                "right": ready.ids[photos[1]],
            }
            rows["pairs"].append({**_pair_row(joined), **key, "draws": draws})
            for policy, focus in joined.focuses.items():
                left, right = map(np.float32, focus.shares)
                shares = {"share_left": left, "share_right": right}
                rows["outcomes"].append({**key, "policy": policy, **shares})
                crops = {} if joined.flat else focus.crops
                for ratio, (crop, other_ratio) in crops.items():
                    facts = crop_row(asker, photos, joined.plan, ratio, crop)
                    named = {**key, "policy": policy, "other_ratio": other_ratio}
                    rows["crops"].append({**named, **facts})
    return rows


def crop_row(asker: Asker, photos: Sequence[int], plan: Layout, ratio: float, crop: Crop) -> Row:
    """A crop in the columns of CROPS."""
    left, right = asker.kept(photos, plan, crop)
    return {
        "ratio": ratio,
        "left_px": crop.left,
        "top": crop.top,
        "crop_width": crop.width,
        "crop_height": crop.height,
        "kept_left": left,
        "kept_right": right,
    }


def _pair_row(joined: Joined) -> Row:
    answer = joined.answer
    row = {**TABLES["pairs"].blank, "x": -1, "y": -1, "status": answer.status}
    if joined.main is None:
        why = SkipReason.of(answer.reason, answer.status)
        return row | SkipReason.of(why.detail or why, answer.status).columns
    plan = joined.plan
    row |= {
        "width": plan.width,
        "height": plan.height,
        "won": np.float32(joined.main.shares[0]),
        "centred": joined.main.centred,
        **SkipReason(Reason.NOTHING_SALIENT if joined.flat else Reason.NONE).columns,
    }
    if joined.main.point and not joined.flat:
        x, y = joined.main.point
        row |= {"x": x, "y": y, "on_padding": plan.on_padding(x, y)}
    if joined.highest is not None:
        row["max_left"], row["max_right"] = map(np.float32, joined.highest)
    return row
