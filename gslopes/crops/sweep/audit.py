"""Does a crop follow how a face looks? Pictures of ``gslopes synthesise`` next to other people's, and to each other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.ask.config import CostLimits
from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.records import Cropper, Saliency
from gslopes.ask.croppers.remote import ready_croppers
from gslopes.ask.trust import Trust
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import resolved, sha256_of, why_unreadable
from gslopes.core.records import Finder
from gslopes.core.runfolder import show
from gslopes.crops.asking.asker import Asker
from gslopes.crops.asking.pairing import opponents
from gslopes.crops.asking.portraits import ScaledPhotos
from gslopes.crops.config import CropsConfig
from gslopes.crops.people import read_people
from gslopes.crops.pictures.heads import head_box
from gslopes.crops.sweep.duels import PHOTOS_A_PART, SweepWork, duel_rows, slope_intervals
from gslopes.crops.tables import DUELS, OPPONENTS, SWEEP_SLOPES
from gslopes.frame.executors import OneProcess
from gslopes.frame.parts import Stage, write_tables
from gslopes.slopes.fit.analysis import analyse

QUIET = OneProcess()
IDENTITY = ("kind", "sweep", "inputs", "config", "croppers")


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What a sweep found; tables as in ``core.tables`` and ``crops.tables``.

    out: the run folder.  page: the report.  slopes: SLOPES, of photo-score.  intervals: SWEEP_SLOPES, which know that
    opponents are shared.  duels: DUELS.
    """

    out: Path
    page: Path
    slopes: pd.DataFrame
    intervals: pd.DataFrame
    duels: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Subjects:
    """Who is on the photos of a sweep.

    person: photo to person.  groups: name to photos, from which opponents are drawn equally.  digest: of the table.
    absent: a sentence on people without a photo; often empty.
    """

    person: Mapping[str, str]
    groups: Mapping[str, Sequence[str]]
    digest: dict[str, Any] = field(default_factory=dict)
    absent: str = ""


def sweep_crops(
    run: str | Path,
    out: str | Path,
    *,
    people: str | Path | None = None,
    config: CropsConfig | None = None,
    croppers: Sequence[Saliency | Cropper | Callable[..., Any]] = (),
    others: int = 8,
    finder: Finder | None = None,
    executor: Executor = QUIET,
    cost_limits: CostLimits | None = None,
    trust: bool = False,
) -> Sweep:
    """Does the chance to be favoured move with the perceived attribute of one face, everything else the same?

    Each person's pictures at all K values are joined with the unedited-value pictures of the same ``others`` people, in
    both orders; y(v), their mean, is a score like any classifier's, so ``fit`` gives slope, interval and p, also of the
    run's placebo sweeps. Others meet several persons, which a t interval over persons leaves out: the interval shown is
    the wider one of it and a bootstrap over persons and opponents. Duels join a person's own pictures.

    run: a folder of ``gslopes synthesise``, best with ``--placebo``.  out: made if missing.
    people: a CSV as of ``crops``; opponents are then other people, equally many of each group of ``config.groups``,
        and a person's photos are one unit. Without it each photo is a person of its own, its opponents anybody.
    cost_limits: of croppers over a network.  trust: as of ``crops``.

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
    subjects = _subjects(photos, people, manifest, config)
    if subjects.absent:
        executor.note(subjects.absent)
    models = ready_croppers(
        config.cropper, croppers, cost_limits or CostLimits(), config.ratios, finder=finder, device=device,
        seed=config.seed, trust=Trust(trust, out),
    )  # fmt: skip
    new = {
        "kind": "crops sweep",
        "sweep": show(run.resolve()),
        "inputs": {
            "pictures": len(edits),
            "digest": _digest(run, edits["file"].tolist()),
            "photos": int(edits["photo"].nunique()),
            "others": others,
            **subjects.digest,
        },
        "config": config.identity(),
        "croppers": {model.name: model.version for model in models},
    }
    values = {name: [float(v) for v in steps] for name, steps in manifest["values"].items()}
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        runfolder.write_json(out / runfolder.MANIFEST, {**new, "values": values, "gslopes": runtime.gslopes_version()})
        for model in models:
            for attribute in sorted(edits["attribute"].unique()):
                chosen = edits[edits["attribute"] == attribute]
                _ask(run, out, chosen, photos, subjects, model, attribute, others, config, executor)
        return _finish(out, subjects, values, config)


def _digest(run: Path, files: Sequence[str]) -> str:
    """The sha256 over the bytes of all pictures.  Raises: UsageError for one that is not in the run folder."""
    lines = hashlib.sha256()
    for name in files:
        try:
            lines.update(f"{name}\0{sha256_of(resolved(run, name))}\n".encode())
        except (OSError, ValueError) as error:
            hint = "Make the pictures again with: gslopes synthesise."
            raise UsageError(f"{show(run)}: {name!r} cannot be read: {why_unreadable(error)}.", hint) from error
    return lines.hexdigest()


def _subjects(
    photos: pd.DataFrame, people: str | Path | None, manifest: Mapping[str, Any], config: CropsConfig
) -> Subjects:
    ids: dict[str, str] = dict(photos.drop_duplicates("photo")[["photo", "path"]].itertuples(index=False))
    if people is None:
        return Subjects({photo: photo for photo in ids}, {"all": list(ids)})
    people = Path(people)
    folder = Path(str(manifest.get("config", {}).get("photos", ".")))
    table = read_people(
        folder, people, config.groups, files=config.files, min_group=2, ambiguous=config.ambiguous, seed=config.seed
    )
    of_path = {portrait.relative: portrait.person for portrait in table.portraits}
    person = {photo: of_path.get(path, photo) for photo, path in ids.items()}
    groups = {name: [photo for photo in ids if person[photo] in members] for name, members in table.cells.items()}
    groups = {name: members for name, members in groups.items() if members}
    if len(groups) < 2:
        raise UsageError(
            f"{show(people)} names photos of fewer than two groups of this sweep.",
            f"Its photos are those of {show(folder)}, such as {next(iter(ids.values()), '')}.",
        )
    digest = hashlib.sha256(repr(sorted((photo, person[photo]) for photo in ids) + sorted(groups.items())).encode())
    return Subjects(person, groups, {"balanced": sorted(groups), "people": digest.hexdigest()}, table.absent)


def _ask(
    run: Path,
    out: Path,
    edits: pd.DataFrame,
    photos: pd.DataFrame,
    subjects: Subjects,
    model: Saliency | Cropper,
    attribute: str,
    others: int,
    config: CropsConfig,
    executor: Executor,
) -> None:
    wide = edits.pivot_table(index="photo", columns="step", values="file", aggfunc="first").dropna()
    ids, steps = wide.index.tolist(), wide.shape[1]
    if not ids:
        return
    scaled_photos = ScaledPhotos([resolved(run, name) for name in wide.to_numpy().ravel()], config)
    known = photos.drop_duplicates("photo").set_index("photo")
    sizes: list[tuple[int, int]] = []
    heads: dict[int, Box] = {}
    for index, photo in enumerate(ids):
        row = known.loc[photo]
        width, height = int(row["width"]), int(row["height"])
        scaled = (max(1, width * config.height // height), config.height) if config.height else (width, height)
        sizes += [scaled] * steps
        if row["box"] is not None:
            head = head_box(list(row["box"]), width, height).scaled(config.height / height if config.height else 1.0)
            heads |= {index * steps + step: head for step in range(steps)}
    values = [float(v) for v in edits.drop_duplicates("step").sort_values("step")["value"]]
    number = {photo: index for index, photo in enumerate(ids)}
    groups = {
        name: sorted(number[photo] for photo in members if photo in number) for name, members in subjects.groups.items()
    }
    pairs = opponents(range(len(ids)), groups, others, config.seed, [subjects.person[photo] for photo in ids])
    cost = 2 * (steps * others + steps * (steps - 1) // 2)
    name = f"sweep-{runfolder.slug(f'{model.name} {attribute}')}"
    stage = Stage(out, name, tables.ASKED, len(ids), PHOTOS_A_PART, cost)
    asker = Asker(model, scaled_photos.__getitem__, sizes, config, heads, note=executor.note)
    files = np.arange(len(ids) * steps).reshape(len(ids), steps)
    work = SweepWork(stage, attribute, ids, values, files, pairs, asker)
    stage.carry_out(lambda: work, executor, attribute)


def _finish(out: Path, subjects: Subjects, values: dict[str, list[float]], config: CropsConfig) -> Sweep:
    from gslopes.crops.report.sweep import write_sweep_report
    from gslopes.slopes.fit.options import FitOptions

    stages = sorted(path for path in (out / "parts").iterdir() if path.name.startswith("sweep-"))
    parts: dict[str, pd.DataFrame] = {}
    for table in (tables.SCORES, tables.ASKED, DUELS, OPPONENTS):
        frames = [tables.read(table, path) for s in stages for path in sorted(s.glob(f"{table.name}-*.parquet"))]
        parts[table.name] = pd.concat(frames, ignore_index=True) if frames else table.empty()
    scores, asked, single, facing = (parts[name] for name in ("scores", "asked", "duels", "opponents"))
    duel = duel_rows(single, values)
    attribute_values = {name: values[name] for name in scores["attribute"].unique()}
    options = replace(FitOptions(), estimators=("photo-score",), permutations=0)
    about = pd.DataFrame({"person": pd.Series(subjects.person)})
    found = analyse(scores, asked, values=attribute_values, options=options, about=about, cluster="person")
    intervals = slope_intervals(facing, found.slopes, subjects.person, values, config)
    parts |= {DUELS.name: duel, tables.SLOPES.name: found.slopes, SWEEP_SLOPES.name: intervals}
    write_tables(out, parts, tables.SCORES, tables.ASKED, OPPONENTS, DUELS, tables.SLOPES, SWEEP_SLOPES)
    return Sweep(out, write_sweep_report(out), found.slopes, intervals, duel)
