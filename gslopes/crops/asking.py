"""What croppers are asked about joined pictures: pairs in both orders, one person of each group, small edits.

Each cropper is asked by an ``Asker`` of its own; ``material`` holds them, and who stands next to whom, once a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.boxes import Crop, Cropper, Saliency
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.remote import RemoteCropper, confirm, ready_croppers
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Finder
from gslopes.crops.asker import Answer, Asker
from gslopes.crops.config import CropsConfig
from gslopes.crops.pairing import by_person, ordered, pairs_of, sets_of
from gslopes.crops.people import People, groups_of_run
from gslopes.crops.pictures import through_jpeg
from gslopes.crops.policies import Settings
from gslopes.crops.portraits import ScaledPhotos, as_joined, first_of, write_groups
from gslopes.crops.tables import TABLES
from gslopes.frame.plan import Plan
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.folder import check_outside

Model = Saliency | Cropper
Rows = list[dict[str, Any]]
Items = NDArray[np.int64]
PAIRS_A_PART, SETS_A_PART, EDITED_A_PART = 1024, 512, 1_000_000  # edits of all pictures are one part
EDITS = ("jpeg 75", "2 px to the right", "5 % brighter")
SHIFT = 2


class Given(NamedTuple):
    """What only Python gives: functions or ready objects, and a finder of faces instead of MTCNN."""

    croppers: Sequence[Any] = ()
    finder: Finder | None = None


def resolve(plan: Plan) -> dict[str, Model]:
    """The croppers of a plan by name.  Raises: as ``ready_croppers``; UsageError if photos alone need a map."""
    config, given = plan.config, plan.given or Given()
    if plan.folder is not None and plan.source.is_dir():
        check_outside(plan.folder, plan.source)
    ready = ready_croppers(
        config.cropper, given.croppers, config.cost_limits, config.ratios, finder=given.finder,
        device=runtime.pick_device(config.device), seed=config.seed, trust=plan.trust,
    )  # fmt: skip
    names = ", ".join(model.name for model in ready if not has_map(model))
    if names and getattr(config, "attach", "") == "none":
        raise UsageError(
            f"Photos that are not joined need a map: {names} gives rectangles.", "Leave out --attach none."
        )
    return {model.name: model for model in ready}


def asked_names(run: Run) -> list[str]:
    """The croppers of a run."""
    assert run.plan is not None
    return list(run.plan.facts["asked"])


def model_of(run: Run, name: str) -> Model:
    """A cropper of the run.  Raises: as ``resolve``."""
    assert run.plan is not None
    found: Model = run.plan.models[name]
    return found


def services_of(run: Run) -> list[str]:
    """Those over a network."""
    return [name for name in asked_names(run) if name.startswith("http")]


class Costs:
    """What services cost is confirmed once a command, before the first question.  executor: says what it is."""

    def __init__(self, run: Run) -> None:
        del run
        self.executor: Executor | None = None
        self.confirmed = False

    def confirm(self, run: Run, names: Sequence[str], counts: Sequence[int]) -> None:
        """Raises: as ``ask.croppers.remote.confirm``.  counts: pictures that each is still to be asked about."""
        if self.executor is not None and not self.confirmed:
            known = {name: count for name, count in zip(names, counts, strict=True) if name in services_of(run)}
            confirm([model_of(run, name) for name in known], [*known.values()], run.config.cost_limits, self.executor)
        self.confirmed = True


def begin(run: Run, executor: Executor) -> None:
    """Before the first stage: of a run that goes on, what is left to ask is confirmed."""
    costs = run.once(Costs)
    costs.executor = executor
    if run.has("traits") and (not run.has("pairs") or run.config.cost_limits.retry_failed):
        confirm_rest(run)


def write_and_confirm(run: Run) -> Made:
    """Who is of which group; then what is asked is known, and its cost confirmed.  Raises: as ``write_groups``."""
    made = write_groups(run)
    confirm_rest(run)
    return made


def confirm_rest(run: Run) -> None:
    """Have the cost of what is still to be asked confirmed."""
    if joined(run) and (names := services_of(run)):
        run.once(Costs).confirm(run, names, [_left(run, name) for name in names])


def _left(run: Run, name: str) -> int:
    """Pictures that a cropper is still to be asked about."""
    left = 0
    for kind, (items, size) in {
        "pairs": (pair_items(run), PAIRS_A_PART),
        "together": (set_items(run), SETS_A_PART),
        "stability": (edited_items(run), EDITED_A_PART),
    }.items():
        folder, count = f"{kind}/{runfolder.slug(name)}", -(-len(items) // size)
        for part in runfolder.missing_parts(run.folder, folder, TABLES[kind], count):
            pictures = len(items[part * size : (part + 1) * size])
            left += pictures * (1 + len(EDITS) if kind == "stability" else 1)
    return left


# -- who stands next to whom ------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Material:
    """Photos by number, the pictures that are made of them, and who asks about them.

    ids, groups: of each photo.  pairs: (P, 2), sets: (S, k) numbers of photos, as they are asked.
    """

    ids: Sequence[str]
    groups: Sequence[str]
    pairs: Items
    sets: Items
    askers: dict[str, Asker]
    _settings: dict[str, Settings] = field(default_factory=dict)

    def settings(self, name: str) -> Settings:
        """The configuration's, with the cropper's own temperature."""
        if name not in self._settings:
            asker = self.askers[name]
            self._settings[name] = replace(asker.config.settings, temperature=asker.temperature())
        return self._settings[name]


def material(run: Run) -> Material:
    """From the people table.  Raises: UsageError if groups are too few or too small for ``together``."""
    config: CropsConfig = run.config
    people: People = groups_of_run(run)
    seen = run.table("people")
    used = seen[seen["status"] == "used"].drop_duplicates("photo").reset_index(drop=True)
    path = {portrait.relative: portrait.path for portrait in people.portraits}
    used = used[used["path"].isin(list(path))].reset_index(drop=True)
    photos = ScaledPhotos([path[name] for name in used["path"]], config, used["photo"].tolist())
    numbers = by_person(used["person"].tolist())
    sizes, heads = as_joined(used, config)
    assert run.plan is not None
    askers = {
        name: Asker(model, photos.__getitem__, sizes, config, heads, note=run.note)
        for name, model in run.plan.models.items()
    }
    groups = [people.group_of.get(person, "") for person in used["person"]]
    pairs = ordered(pairs_of(people, numbers, config), config.orders)
    return Material(used["photo"].tolist(), groups, pairs, sets_of(people, numbers, config), askers)


def _numbered(pictures: Items) -> Items:
    return np.column_stack([np.arange(len(pictures)), pictures]).astype(np.int64)


def drop_failed(run: Run) -> None:
    """With --retry-failed the parts that hold failed rows are asked about again."""
    for kind in ("pairs", "together") if run.config.cost_limits.retry_failed else ():
        for path in sorted((run.folder / "parts" / kind).glob(f"*/{kind}-*.parquet")):
            if "failed" in set(tables.read(TABLES[kind], path)["status"]):
                path.unlink()


def pair_items(run: Run) -> Items:
    """(P, 3) place, left and right."""
    run.once(drop_failed)
    return _numbered(run.once(material).pairs)


def set_items(run: Run) -> Items:
    """(S, 1 + k) place, and the photos from left to right."""
    return _numbered(run.once(material).sets)


def edited_items(run: Run) -> Items:
    """(E, 3) of the pairs that are asked about again after small edits, drawn at random."""
    pairs = run.once(material).pairs
    drawn = np.random.default_rng([run.config.seed, 11]).permutation(len(pairs))
    return _numbered(pairs[np.sort(drawn[: run.config.stability])])


def joined(run: Run) -> bool:
    """Whether photos are joined at all."""
    return bool(run.config.attach != "none")


def sets_wanted(run: Run) -> bool:
    """Whether one person of each group is to stand in one picture."""
    return joined(run) and run.config.together > 0


def edits_wanted(run: Run) -> bool:
    """Whether edited pictures are to be asked about."""
    return joined(run) and run.config.stability > 0


# -- asking -----------------------------------------------------------------------------------------------------------


def ask_pairs(run: Run, items: Items, name: str) -> Made:
    """Every joined picture's focal points, crops, and whom they show and keep."""
    config, known = run.config, run.once(material)
    asker = known.askers[name]
    policies = tuple(dict.fromkeys((*config.policies, "sample")))  # whose shares are the masses
    pairs: Rows = []
    outcomes: Rows = []
    crops: Rows = []
    for answer in asker.answers(
        items[:, 1:], run.folder, run.tick, config.ratios, policies, known.settings(name), _lots(config.seed, items)
    ):
        left, right = (known.ids[photo] for photo in answer.photos)
        key = {"cropper": name, "variant": config.variant, "left": left, "right": right}
        pairs.append(key | _pair_row(answer))
        for policy, choice in answer.choices.items():
            if policy == "sample" and policy not in config.policies:
                continue
            low = None if np.isnan(choice.low) else np.float32(choice.low)
            shares = dict(zip(("share_left", "share_right"), np.asarray(choice.shares, np.float32), strict=True))
            outcomes.append({**key, "policy": policy, **shares, "low": low})
            if not answer.flat:
                crops += [{**key, "policy": policy, **row} for row in _crop_rows(asker, answer, policy)]
    made = {"crops": crops, "outcomes": outcomes, "pairs": pairs}
    return {table: first_of(table, rows) for table, rows in made.items()}


def _lots(seed: int, items: Items) -> NDArray[np.float64]:
    """(n,) in [0, 1) of each picture, whatever the length of a part."""
    blocks = {
        int(block): np.random.default_rng([seed, 7, int(block)]).random(PAIRS_A_PART)
        for block in np.unique(items[:, 0] // PAIRS_A_PART)
    }
    return np.array([blocks[place // PAIRS_A_PART][place % PAIRS_A_PART] for place in items[:, 0].tolist()])


def _crop_rows(asker: Asker, answer: Answer, policy: str) -> Rows:
    assert answer.plan is not None
    rows = []
    for ratio, (crop, other) in answer.choices[policy].crops.items():
        kept = [None if share is None else np.float32(share) for share in asker.kept(answer.photos, answer.plan, crop)]
        sides = {"left_px": crop.left, "top": crop.top, "crop_width": crop.width, "crop_height": crop.height}
        rows.append({"ratio": ratio, **sides, "other_ratio": other, "kept_left": kept[0], "kept_right": kept[1]})
    return rows


def _pair_row(answer: Answer) -> dict[str, Any]:
    row = {"width": 0, "height": 0, "x": -1, "y": -1, "on_padding": False, "status": answer.status}
    row |= dict.fromkeys(("max_left", "max_right", "mass_left", "won"))
    plan, main = answer.plan, answer.main
    if plan is None or main is None:
        return row | SkipReason.of(answer.reason, answer.status).columns
    x, y = (-1, -1) if answer.flat else main.point or (-1, -1)
    row |= {"width": plan.width, "height": plan.height, "x": x, "y": y, "won": np.float32(main.shares[0])}
    row |= {"on_padding": x >= 0 and plan.on_padding(x, y)}
    row |= {"reason": Reason.NOTHING_SALIENT.value if answer.flat else "", "detail": ""}
    if answer.highest is not None:
        row |= dict(zip(("max_left", "max_right"), np.asarray(answer.highest, np.float32), strict=True))
        row["mass_left"] = np.float32(answer.choices["sample"].shares[0])
    return row


def ask_together(run: Run, items: Items, name: str) -> Made:
    """More than two people in one picture, one of each group: whom does the cropper choose?"""
    config, known = run.config, run.once(material)
    asker = known.askers[name]
    rows: Rows = []
    for answer in asker.answers(items[:, 1:], run.folder, run.tick, [config.main_ratio]):
        key = {"cropper": name, "variant": config.variant, "picture": int(items[answer.row, 0])}
        key |= {"status": answer.status} | SkipReason.of(answer.reason, answer.status).columns
        for place, (photo, share, kept) in enumerate(zip(answer.photos, *_seen(asker, answer), strict=True)):
            person = {"place": place, "photo": known.ids[photo], "group": known.groups[photo]}
            rows.append({**key, **person, "share": share, "kept": kept})
    return {"together": rows}


def _seen(asker: Asker, answer: Answer) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Each person's share, and share of the head in the crop."""
    nothing = [None] * len(answer.photos)
    if answer.plan is None or answer.main is None:
        return nothing, nothing
    crop = answer.main.crops[asker.config.main_ratio][0]
    return answer.main.shares, nothing if answer.flat else asker.kept(answer.photos, answer.plan, crop)


# -- small edits ------------------------------------------------------------------------------------------------------


def ask_edited(run: Run, items: Items, name: str) -> Made:
    """How far crops move when a picture hardly changes: a JPEG file, 2 pixels to the right, 5 % more light.

    A policy that draws its point draws it alike for every edit of a picture.
    """
    config, known = run.config, run.once(material)
    asker, settings = known.askers[name], known.settings(name)
    if isinstance(asker.model, RemoteCropper):
        asker.model.ask_about(run.folder, lambda: _edits_of(asker, items), lambda _: None)
    moves: dict[tuple[str, str], list[float]] = {}
    draw = np.random.default_rng([config.seed, 12]).random(len(items))
    for row, photos in enumerate(items[:, 1:].tolist()):
        picture, plan = asker.picture(photos)
        how = plan, config.main_ratio, settings, draw[row : row + 1]
        before = asker.crops_of(picture, *how)
        for edit in EDITS:
            after = asker.crops_of(edited(picture, edit), *how)
            shift = SHIFT if edit.startswith("2 px") else 0
            for policy in before.keys() & after.keys():
                distance = crop_displacement(before[policy], after[policy], shift) / max(plan.width, plan.height)
                moves.setdefault((policy, edit), []).append(distance)
        run.tick(1)
    key = {"cropper": name, "variant": config.variant}
    rows = []
    for (policy, edit), distances in sorted(moves.items()):
        moved = {"move": float(np.mean(distances)), "moved": float(np.mean(np.array(distances) > 0.01))}
        rows.append({**key, "policy": policy, "edit": edit, "pictures": len(distances), **moved})
    return {"stability": rows}


def _edits_of(asker: Asker, items: Items) -> Iterator[ByteArray]:
    for photos in items[:, 1:].tolist():
        picture = asker.picture(photos)[0]
        yield picture
        for edit in EDITS:
            yield edited(picture, edit)


def edited(picture: ByteArray, edit: str) -> ByteArray:
    """(H, W, 3) uint8 RGB after one of ``EDITS``; what a shift uncovers repeats the border."""
    if edit == "jpeg 75":
        return through_jpeg(picture, 75)
    if edit == "2 px to the right":
        return np.asarray(np.pad(picture, ((0, 0), (SHIFT, 0), (0, 0)), "edge")[:, : picture.shape[1]])
    return np.clip(np.round(picture * 1.05), 0, 255).astype(np.uint8)


def crop_displacement(before: Crop, after: Crop, shift: int) -> float:
    """Pixels between both crops' middles, less what the picture itself was moved (at its edge a crop cannot follow)."""
    across = after.left + after.width / 2 - before.left - before.width / 2
    down = after.top + after.height / 2 - before.top - before.height / 2
    followed = across - shift if across > 0 else across
    return float(np.hypot(followed, down))
