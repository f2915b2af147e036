"""The stage that asks croppers about every pair of photos: who is asked, what it costs, and the rows of the answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.croppers import Setting
from gslopes.ask.croppers.asker import Asker, Joined, Model, Pictures
from gslopes.ask.croppers.joining import Layout
from gslopes.ask.croppers.remote import RemoteCropper, ready_croppers
from gslopes.ask.scoring.cost import Price, confirm_cost
from gslopes.core import Executor, Reason, Row, SkipReason, runtime
from gslopes.core.arrays import Array
from gslopes.core.records import Crop, Finder
from gslopes.crops.config import TABLES, VERTICAL, CropsConfig
from gslopes.crops.stimuli.people import People, pictures_of
from gslopes.crops.stimuli.portraits import as_joined, reader_of
from gslopes.frame.parts import missing_of
from gslopes.frame.spec import Made, Plan, Run, Stage

PART = 1024
Croppers = Sequence[Saliency | Cropper | Callable[..., Any]]
Rows = list[Row]


# -- before any work --------------------------------------------------------------------------------------------------


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
) -> Pictures:
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
    pictures: Pictures
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


def ask_pairs(run: Run, items: Pictures, name: str) -> Made:
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
