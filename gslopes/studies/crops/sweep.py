"""The causal version: pictures of ``gslopes synthesise`` beside other people's, and beside one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.audits.crops.croppers import has_map, load_cropper
from gslopes.audits.crops.design import opponents
from gslopes.audits.crops.duels import duels, t_interval, value_pairs
from gslopes.audits.crops.geometry import Box, crop_rectangle
from gslopes.audits.crops.heads import HEAD, checked_crop, head_box, larger_share, share_inside
from gslopes.audits.crops.policies import outcomes
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import AnswerError, Refused, UsageError
from gslopes.core.reasons import Reason
from gslopes.core.records import Cropper, Finder, Saliency
from gslopes.core.runfolder import show
from gslopes.core.tables.crops_beside import DUELS
from gslopes.core.trust import Trust
from gslopes.executors import Executor, OneProcess, Tick
from gslopes.fit.findings import analyse
from gslopes.run.config import ScoreConfig
from gslopes.studies.crops.asking import Asker
from gslopes.studies.crops.config import CropsConfig
from gslopes.studies.crops.look import ScaledPhotos
from gslopes.studies.crops.pairs import asked
from gslopes.studies.crops.remote import opened

QUIET = OneProcess()
IDENTITY = ("kind", "sweep", "inputs", "config", "croppers")
FAVOURED = "favoured"
PHOTOS_A_PART = 16


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What a sweep found: its run folder, page, slopes (``core.tables.SLOPES``, photo-score) and duels."""

    out: Path
    page: Path
    slopes: pd.DataFrame
    duels: pd.DataFrame


def sweep_crops(
    run: str | Path,
    out: str | Path,
    *,
    config: CropsConfig | None = None,
    croppers: Sequence[Saliency | Cropper] = (),
    others: int = 8,
    finder: Finder | None = None,
    executor: Executor = QUIET,
    terms: ScoreConfig | None = None,
    trust: bool = False,
) -> Sweep:
    """Does the chance to be favoured move with the perceived attribute of one face, everything else the same?

    Each person's pictures at all K values stand beside the unedited-value pictures of the same ``others`` people, in
    both orders; y(v), their mean, is a score like any classifier's, so ``fit`` gives slope, interval and p, and the
    placebo sweeps of the run go through the same. Beside it the duels of a person's own pictures.

    run: a folder of ``gslopes synthesise``, best with ``--placebo``.  out: made if missing.
    terms: of croppers over a network.  trust: as of ``crops``.

    Raises: UsageError if the run has no pictures; as ``crops``.
    """
    run, out = Path(run), Path(out)
    config = config or CropsConfig()
    manifest = runfolder.read_manifest(run)
    if not (run / "edits.parquet").is_file():
        raise UsageError(f"{show(run)} has no pictures yet.", "Make them with: gslopes synthesise PHOTOS --out RUN.")
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    device = runtime.pick_device(config.device)
    if finder is None and any(name.startswith("faces") for name in config.cropper):
        from gslopes.find.detect import MtcnnFinder

        finder = MtcnnFinder(32, device)
    allowed = Trust(trust, out)
    named = [
        load_cropper(name, finder=finder, device=device, trust=allowed, seed=config.seed) for name in config.cropper
    ]
    models = opened([*named, *croppers], terms or ScoreConfig(), config.ratios, config.seed)
    new = {
        "kind": "crops sweep",
        "sweep": show(run.resolve()),
        "inputs": {"pictures": len(edits), "photos": int(edits["photo"].nunique()), "others": others},
        "config": config.identity(),
        "croppers": {model.name: model.version for model in models},
    }
    values = {name: [float(v) for v in steps] for name, steps in manifest["values"].items()}
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        runfolder.write_json(out / runfolder.MANIFEST, {**new, "values": values, "gslopes": runtime.gslopes_version()})
        for model in models:
            for attribute in sorted(edits["attribute"].unique()):
                _ask(
                    run, out, edits[edits["attribute"] == attribute], photos, model, attribute, others, config, executor
                )
        return _finish(out, models, values, config)


@dataclass(frozen=True, slots=True, eq=False)
class _SweepWork:
    """Asks about the photos of a part; the asked table is the commit marker.

    photos: ids.  files: (n, K) numbers in the scaled photos.  pairs: (P, 2) person and opponent.  heads: by person.
    """

    out: Path
    stage: str
    attribute: str
    name: str
    photos: Sequence[str]
    values: Sequence[float]
    files: NDArray[np.int64]
    pairs: NDArray[np.int64]
    heads: dict[int, Box]
    asker: Asker
    cropper: Cropper | None
    config: CropsConfig

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        indices = range(part * PHOTOS_A_PART, min((part + 1) * PHOTOS_A_PART, len(self.photos)))
        steps = len(self.values)
        questions: list[tuple[int, int, str, int]] = []  # person, step, kind, other: an opponent, or another step
        for person in indices:
            met = self.pairs[self.pairs[:, 0] == person, 1]
            questions += [(person, step, "other", int(other)) for step in range(steps) for other in met]
            questions += [(person, high, "self", low) for low, high in value_pairs(steps)]
        centre = steps // 2
        pictures, owners = [], []
        for person, step, kind, other in questions:
            one = self.files[person, step]
            two = self.files[other, centre] if kind == "other" else self.files[person, other]
            facing = other if kind == "other" else person
            pictures += [(one, two), (two, one)]
            owners += [(person, facing), (facing, person)]
        shares, kept = self._answers(np.array(pictures), owners, tick)
        h = (shares[0::2] + 1 - shares[1::2]) / 2
        rows, asked, found = [], [], []
        for index, (person, step, kind, other) in enumerate(questions):
            if kind == "self":
                found.append({"photo": self.photos[person], "low": other, "high": step, "h": float(h[index])})
        labels = [FAVOURED, *(f"kept@{ratio:g}" for ratio in self.config.ratios)]
        numbers = np.column_stack([h, *((kept[r][0::2, 0] + kept[r][1::2, 1]) / 2 for r in range(len(labels) - 1))])
        for person in indices:
            for step in range(steps):
                mine = [i for i, q in enumerate(questions) if q[0] == person and q[1] == step and q[2] == "other"]
                key = {"photo": self.photos[person], "attribute": self.attribute, "step": step}
                said = numbers[mine].mean(axis=0)
                ok = not np.isnan(said[0])
                answered = {"status": "answered", "reason": "", "detail": ""}
                if not ok:
                    answered = {"status": "failed", "reason": Reason.FAILED, "detail": "the cropper gave no answer"}
                asked.append({**key, "classifier": f"crop:{self.name}", **answered})
                for label, score in zip(labels, said, strict=True):
                    if not np.isnan(score):
                        more = {"value": np.float32(self.values[step]), "classifier": f"crop:{self.name}"}
                        rows.append({**key, **more, "label": label, "score": np.float32(score)})
        duel = [{"cropper": self.name, "attribute": f"{row['photo']} {self.attribute}", "low": row["low"],
                 "high": row["high"], "persons": 1, "p": row["h"], "ci_low": None, "ci_high": None}
                for row in found]  # fmt: skip
        for table, content in ((DUELS, duel), (tables.SCORES, rows), (tables.ASKED, asked)):
            frame = pd.DataFrame(content, columns=table.columns)
            runfolder.write_table(table, frame, runfolder.part_path(self.out, self.stage, table, part))

    def _answers(
        self, pictures: NDArray[np.int64], owners: Sequence[tuple[int, int]], tick: Tick
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """(n,) share of the left one, and for each ratio (n, 2) whether each head is kept; NaN where unknown."""
        shares = np.full(len(pictures), np.nan)
        kept = [np.full((len(pictures), 2), np.nan) for _ in self.config.ratios]
        if self.cropper is not None:
            for row, photos in enumerate(asked(self.cropper, self.asker, pictures, self.out, tick)):
                picture, plan = self.asker.picture(photos)
                try:
                    crops = [
                        checked_crop(self.cropper.crop(picture, r), plan.width, plan.height, r, self.name)[0]
                        for r in self.config.ratios
                    ]
                except (AnswerError, Refused):
                    continue
                for place, crop in enumerate(crops):
                    kept[place][row] = self._kept(owners[row], plan.photos, crop)
                main = min(range(len(crops)), key=lambda i: abs(self.config.ratios[i] - 1))
                inside = [share_inside(box, crops[main]) for box in plan.photos]
                heads = [
                    share_inside(self.heads[p].shifted(b.x0, b.y0), crops[main])
                    for p, b in zip(owners[row], plan.photos, strict=True)
                    if p in self.heads
                ]
                shares[row] = larger_share(heads if len(heads) == len(inside) else inside)[0]
            return shares, kept
        for batch in self.asker.maps(pictures):
            if isinstance(batch, tuple):
                tick(1)
                continue
            found = outcomes(batch.scores, batch.x, batch.y, batch.plan, ("argmax",), self.config.settings)["argmax"]
            for index, row in enumerate(batch.rows):
                shares[row] = found.shares[index, 0]
                x, y = (int(value) for value in found.points[index])
                for place, ratio in enumerate(self.config.ratios):
                    crop = crop_rectangle(batch.plan.width, batch.plan.height, x, y, ratio)
                    kept[place][row] = self._kept(owners[row], batch.plan.photos, crop)
            tick(len(batch.rows))
        return shares, kept

    def _kept(self, persons: tuple[int, int], boxes: Sequence[Box], crop: Any) -> list[float]:
        heads = [self.heads.get(person) for person in persons]
        return [
            float("nan")
            if head is None
            else float(share_inside(head.shifted(box.x0, box.y0), crop) >= self.config.inside)
            for head, box in zip(heads, boxes, strict=True)
        ]


def _ask(
    run: Path,
    out: Path,
    edits: pd.DataFrame,
    photos: pd.DataFrame,
    model: Saliency | Cropper,
    attribute: str,
    others: int,
    config: CropsConfig,
    executor: Executor,
) -> None:
    wide = edits.pivot_table(index="photo", columns="step", values="file", aggfunc="first").dropna()
    ids = wide.index.tolist()
    steps = wide.shape[1]
    files = np.arange(len(ids) * steps).reshape(len(ids), steps)
    scaled_photos = ScaledPhotos([run / name for name in wide.to_numpy().ravel()], config.height, config.max_side)
    known = photos.drop_duplicates("photo").set_index("photo")
    factor = {photo: (config.height / known.loc[photo, "height"] if config.height else 1.0) for photo in ids}
    sizes, heads = [], {}
    for index, photo in enumerate(ids):
        row = known.loc[photo]
        width, height = int(row["width"]), int(row["height"])
        scaled = (max(1, width * config.height // height), config.height) if config.height else (width, height)
        sizes += [scaled] * steps
        if row["box"] is not None:
            heads[index] = head_box(list(row["box"]), width, height, HEAD).scaled(float(factor[photo]))
    values = [float(v) for v in edits.drop_duplicates("step").sort_values("step")["value"]]
    pairs = opponents(range(len(ids)), {"all": range(len(ids))}, others, config.seed)
    stage = f"sweep-{runfolder.slug(f'{model.name} {attribute}')}"
    count = -(-len(ids) // PHOTOS_A_PART)
    missing = runfolder.missing_parts(out, stage, tables.ASKED, count)
    each = 2 * (steps * others + steps * (steps - 1) // 2)
    todo = {part: each * min(PHOTOS_A_PART, len(ids) - part * PHOTOS_A_PART) for part in missing}
    asker = Asker(cast("Saliency", model), scaled_photos.__getitem__, sizes, config, note=executor.note)
    rectangle_model = None if has_map(model) else cast("Cropper", model)
    work = _SweepWork(
        out, stage, attribute, model.name, ids, values, files, pairs, heads, asker, rectangle_model, config
    )
    executor(work, todo, label=attribute[:10], unit="pictures", done=each * len(ids) - sum(todo.values()))


def _finish(
    out: Path, models: Sequence[Saliency | Cropper], values: dict[str, list[float]], config: CropsConfig
) -> Sweep:
    from gslopes.fit.options import FitOptions
    from gslopes.report.crops.sweep import write_sweep_report

    stages = sorted(path for path in (out / "parts").iterdir() if path.name.startswith("sweep-"))
    frames: dict[str, list[pd.DataFrame]] = {"scores": [], "asked": [], "duels": []}
    for stage in stages:
        for table in (tables.SCORES, tables.ASKED, DUELS):
            frames[table.name] += [tables.read(table, path) for path in sorted(stage.glob(f"{table.name}-*.parquet"))]
    scores, asked, single = (pd.concat(frames[name], ignore_index=True) for name in ("scores", "asked", "duels"))
    duel = _duel_rows(single, values)
    attribute_values = {name: values[name] for name in scores["attribute"].unique()}
    options = replace(FitOptions(), estimators=("photo-score",), permutations=0)
    found = analyse(scores, asked, values=attribute_values, options=options)
    for table, frame in ((tables.SCORES, scores), (tables.ASKED, asked), (DUELS, duel), (tables.SLOPES, found.slopes)):
        runfolder.write_table(table, frame, out / f"{table.name}.parquet")
    del models, config
    return Sweep(out, write_sweep_report(out), found.slopes, duel)


def _duel_rows(single: pd.DataFrame, values: dict[str, list[float]]) -> pd.DataFrame:
    """Duels of all persons from those of each: rows of DUELS, the mean over pairs of values with no ``low``."""
    split = single["attribute"].str.split(" ", n=1, expand=True)
    single = single.assign(photo=split[0], attribute=split[1])
    rows: list[dict[str, Any]] = []
    for (cropper, attribute), answers in single.groupby(["cropper", "attribute"], sort=True):
        steps = values[str(attribute)]
        people = sorted(answers["photo"].unique())
        place = {photo: index for index, photo in enumerate(people)}
        h = np.full((len(people), len(steps), len(steps)), np.nan)
        lower, upper = (answers[name].to_numpy().astype(np.int64) for name in ("low", "high"))
        person, won = (
            answers["photo"].map(place).to_numpy().astype(np.int64),
            answers["p"].to_numpy().astype(np.float64),
        )
        h[person, upper, lower], h[person, lower, upper] = won, 1 - won
        found = duels(h)
        labels = {"cropper": cropper, "attribute": attribute, "persons": len(people)}
        for low, high in value_pairs(len(steps)):
            ends = {"p": found.p[high, low], "ci_low": found.low[high, low], "ci_high": found.high[high, low]}
            rows.append({**labels, "low": steps[low], "high": steps[high], **ends})
        mean, *ends_ = t_interval(found.score)
        rows.append({**labels, "low": None, "high": None, "p": mean, "ci_low": ends_[0], "ci_high": ends_[1]})
    return pd.DataFrame(rows, columns=DUELS.columns)
