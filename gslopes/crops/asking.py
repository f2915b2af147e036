"""The stage that asks croppers about every pair of photos: who is asked, what it costs, and the rows of the answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from gslopes.ask.croppers.asker import Answer, Asker, Model, Pictures
from gslopes.ask.croppers.joining import Layout
from gslopes.ask.croppers.remote import RemoteCropper, ready_croppers
from gslopes.ask.scoring.cost import confirm_cost
from gslopes.core import runtime
from gslopes.core.arrays import Array
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Finder
from gslopes.core.tables import Row
from gslopes.crops.config import VERTICAL, CropsConfig
from gslopes.crops.people import People, pictures_of
from gslopes.crops.stimuli import as_joined, reader_of
from gslopes.frame.spec import Made, Plan, Run

PART = 1024
Croppers = Sequence[Model | Callable[..., Any]]
Rows = list[Row]


# -- before any work --------------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """What only Python gives: functions or ready objects, and a finder of faces instead of MTCNN."""

    croppers: Croppers = ()
    finder: Finder | None = None


def resolve(plan: Plan) -> dict[str, Model]:
    """The croppers of a plan by name.  Raises: as ``ready_croppers``."""
    config = plan.config
    given = plan.given or Given()
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
    due = {
        name: count for name, count in pictures.items() if count and name not in run.once(agreed)
    }
    services = [(run.models[str(name)], count) for name, count in due.items()]
    asked = [
        each
        for one, count in services
        if isinstance(one, RemoteCropper)
        for each in one.requests(count)
    ]
    confirm_cost(asked, run.config.cost_limits, run.executor)
    run.once(agreed).update(due)


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
    persons = persons if persons is not None else [portrait.person for portrait in people.portraits]
    drawn = [pictures_of(people, persons, variant) for variant in config.variants]
    return np.concatenate(
        [np.insert(pairs, 0, number, axis=1) for number, pairs in enumerate(drawn)]
    )


# -- the stage of pairs -----------------------------------------------------------------------------------------------


class Material(NamedTuple):
    """ids: of the photos by number.  pictures: (P, 5) place, variant, left and right, how often it is drawn.

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
    config = run.config
    people = run.inputs
    seen = run.table("people")
    path = {portrait.relative: portrait.path for portrait in people.portraits}
    used = seen[(seen["status"] == "used") & seen["path"].isin(list(path))]
    askers: dict[str, list[Asker]] = {name: [] for name in run.plan.models}
    for variant in config.variants:
        sizes, heads = as_joined(used, variant)
        photo = reader_of([path[name] for name in used["path"]], sizes, variant)
        for name, model in run.plan.models.items():
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
    return Material(used["photo"].tolist(), numbered, askers, lots)


def ask_pairs(run: Run, items: Pictures, name: str) -> Made:
    """Every joined picture's focal points, crops, and whom they show and keep."""
    asked = run.once(material)
    made: dict[str, Rows] = {"crops": [], "outcomes": [], "pairs": []}
    for number, (asker, config) in enumerate(
        zip(asked.askers[name], run.config.variants, strict=True)
    ):
        own = items[items[:, 1] == number]
        for table, rows in _asked(run, asker, config.variant, own, asked).items():
            made[table] += rows
    return made


def _asked(run: Run, asker: Asker, variant: str, own: Pictures, asked: Material) -> dict[str, Rows]:
    """The rows of one variant.  own: its rows of ``Material.pictures``."""
    lots = asked.lots[own[:, 0]]
    draws = own[:, 4]
    made: dict[str, Rows] = {"crops": [], "outcomes": [], "pairs": []}
    remote = isinstance(asker.model, RemoteCropper)
    asker.note = run.note  # of the part in hand
    for answer in asker.answers(own[:, 2:4], run.folder, run.config.policies, lots, run.tick):
        run.tick(int(not remote))
        left, right = (asked.ids[photo] for photo in answer.photos)
        key = {"cropper": asker.model.name, "variant": variant, "left": left, "right": right}
        made["pairs"].append(key | {"draws": draws[answer.row]} | _pair_row(answer))
        for policy, choice in answer.choices.items():
            shares = dict(
                zip(
                    ("share_left", "share_right"),
                    np.asarray(choice.shares, np.float32),
                    strict=True,
                )
            )
            made["outcomes"].append({**key, "policy": policy, **shares})
            for ratio, (crop, other) in ({} if answer.flat else choice.crops).items():
                inside = asker.kept(answer.photos, cast("Layout", answer.plan), crop)
                heads = [None if share is None else np.float32(share) for share in inside]
                row = {
                    "policy": policy,
                    "ratio": ratio,
                    "left_px": crop.left,
                    "top": crop.top,
                    "other_ratio": other,
                }
                row |= {"crop_width": crop.width, "crop_height": crop.height}
                made["crops"].append({**key, **row, "kept_left": heads[0], "kept_right": heads[1]})
    return made


def _pair_row(answer: Answer) -> Row:
    row = {
        "width": 0,
        "height": 0,
        "x": -1,
        "y": -1,
        "on_padding": False,
        "centred": False,
        "status": answer.status,
    }
    row |= dict.fromkeys(("max_left", "max_right", "won"))
    plan = answer.plan
    main = answer.main
    if plan is None or main is None:
        return row | SkipReason.of(answer.reason, answer.status).columns
    x, y = (-1, -1) if answer.flat else main.point or (-1, -1)
    row |= {
        "width": plan.width,
        "height": plan.height,
        "x": x,
        "y": y,
        "won": np.float32(main.shares[0]),
    }
    row |= {"on_padding": x >= 0 and plan.on_padding(x, y), "centred": main.centred}
    row |= {"reason": Reason.NOTHING_SALIENT.value if answer.flat else "", "detail": ""}
    if answer.highest is not None:
        row |= dict(
            zip(("max_left", "max_right"), np.asarray(answer.highest, np.float32), strict=True)
        )
    return row
