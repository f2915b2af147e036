"""What croppers are asked about joined pictures: every pair, in both orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.croppers.remote import confirm, ready_croppers
from gslopes.core import runtime, tables
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Finder
from gslopes.crops.asker import Answer, Asker
from gslopes.crops.config import CropsConfig
from gslopes.crops.pairing import pictures_of
from gslopes.crops.people import People
from gslopes.crops.portraits import as_joined, reader_of
from gslopes.crops.tables import TABLES
from gslopes.frame.plan import Plan
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.folder import check_outside

Model = Saliency | Cropper
Croppers = Sequence[Model | Callable[..., Any]]
Rows = list[dict[str, Any]]
Items = NDArray[np.int64]
PART = 1024


class Given(NamedTuple):
    """What only Python gives: functions or ready objects, and a finder of faces instead of MTCNN."""

    croppers: Croppers = ()
    finder: Finder | None = None


def resolve(plan: Plan) -> dict[str, Model]:
    """The croppers of a plan by name.  Raises: as ``ready_croppers``."""
    config, given = plan.config, plan.given or Given()
    if plan.folder is not None and plan.source.is_dir():
        check_outside(plan.folder, plan.source)
    ready = ready_croppers(
        config.cropper, given.croppers, config.cost_limits, config.ratios, finder=given.finder,
        device=runtime.pick_device("auto"), seed=config.seed, trust=plan.trust,
    )  # fmt: skip
    return {model.name: model for model in ready}


def asked_names(run: Run) -> list[str]:
    """The croppers of a run."""
    assert run.plan is not None
    return list(run.plan.facts["asked"])


def confirm_cost(run: Run, pictures: int, executor: Executor) -> None:
    """Have confirmed what asking services about this many pictures costs at most.  Raises: as ``remote.confirm``."""
    assert run.plan is not None
    services = [run.plan.models[name] for name in asked_names(run) if name.startswith("http")]
    confirm(services, [pictures] * len(services), run.config.cost_limits, executor)


def begin(run: Run, executor: Executor) -> None:
    """Before the first stage that is not up to date: the most that asking costs is confirmed."""
    if not run.has("pairs") or run.config.cost_limits.retry_failed:
        confirm_cost(run, len(pictures_asked(run.inputs, run.config)), executor)


def pictures_asked(people: People, config: CropsConfig) -> Items:
    """(P, 2) numbers of portraits, left and right, of all pictures if every photo can be read."""
    return pictures_of(people, [portrait.person for portrait in people.portraits], config)


@dataclass(eq=False)
class Material:
    """ids: of the photos by number.  pictures: (P, 3) place, left and right.  askers: by cropper."""

    ids: Sequence[str]
    pictures: Items
    askers: dict[str, Asker]


def material(run: Run) -> Material:
    """Photos by number, the pictures that are made of them, and who asks about them, from the people table."""
    assert run.plan is not None
    config, people, seen = run.config, run.inputs, run.table("people")
    path = {portrait.relative: portrait.path for portrait in people.portraits}
    used = seen[(seen["status"] == "used") & seen["path"].isin(list(path))].drop_duplicates("photo")
    ids, (sizes, heads) = used["photo"].tolist(), as_joined(used, config)
    photo = reader_of([path[name] for name in used["path"]], sizes, config)
    askers = {name: Asker(model, photo, sizes, config, heads, note=run.note) for name, model in run.plan.models.items()}
    pictures = pictures_of(people, used["person"].tolist(), config)
    return Material(ids, np.column_stack([np.arange(len(pictures)), pictures]).astype(np.int64), askers)


def drop_failed(run: Run) -> None:
    """With --retry-failed the parts that hold failed rows are asked about again."""
    for path in sorted((run.folder / "parts" / "pairs").glob("*/pairs-*.parquet")):
        if run.config.cost_limits.retry_failed and "failed" in set(tables.read(TABLES["pairs"], path)["status"]):
            path.unlink()


def pair_items(run: Run) -> Items:
    """(P, 3) place, left and right of every picture."""
    run.once(drop_failed)
    return run.once(material).pictures


def ask_pairs(run: Run, items: Items, name: str) -> Made:
    """Every joined picture's focal points, crops, and whom they show and keep."""
    config, known = run.config, run.once(material)
    asker = known.askers[name]
    pairs: Rows = []
    outcomes: Rows = []
    crops: Rows = []
    for answer in asker.answers(items[:, 1:], run.folder, run.tick, config.policies, _lots(config.seed, items)):
        left, right = (known.ids[photo] for photo in answer.photos)
        key = {"cropper": name, "variant": config.variant, "left": left, "right": right}
        pairs.append(key | _pair_row(answer))
        for policy, choice in answer.choices.items():
            shares = dict(zip(("share_left", "share_right"), np.asarray(choice.shares, np.float32), strict=True))
            outcomes.append({**key, "policy": policy, **shares})
            for ratio, (crop, other) in ({} if answer.flat else choice.crops).items():
                assert answer.plan is not None
                inside = asker.kept(answer.photos, answer.plan, crop)
                kept = [None if share is None else np.float32(share) for share in inside]
                sides = {"left_px": crop.left, "top": crop.top, "crop_width": crop.width, "crop_height": crop.height}
                row = {"policy": policy, "ratio": ratio, **sides, "other_ratio": other}
                crops.append({**key, **row, "kept_left": kept[0], "kept_right": kept[1]})
    made = {"crops": crops, "outcomes": outcomes, "pairs": pairs}
    return {table: _distinct(table, rows) for table, rows in made.items()}


def _distinct(table: str, rows: Rows) -> pd.DataFrame:
    """Pairs that were drawn with replacement count once."""
    return tables.frame_of(TABLES[table], rows).drop_duplicates([*TABLES[table].key])


def _lots(seed: int, items: Items) -> NDArray[np.float64]:
    """(n,) in [0, 1) of each picture, whatever the length of a part."""
    blocks = {
        int(block): np.random.default_rng([seed, 7, int(block)]).random(PART)
        for block in np.unique(items[:, 0] // PART)
    }
    return np.array([blocks[place // PART][place % PART] for place in items[:, 0].tolist()])


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
