"""The crop audit from photos to page: look, pairs, measure, report; each stage can be stopped and resumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from gslopes.ask.config import CostLimits
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.records import Cropper, Saliency
from gslopes.ask.croppers.remote import RemoteCropper, mtcnn, ready_croppers
from gslopes.ask.trust import Trust
from gslopes.core import runfolder, runtime, summary
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.reasons import explained
from gslopes.core.records import Finder
from gslopes.core.result import AuditResult, found_page
from gslopes.core.runfolder import show
from gslopes.crops.asking.pairing import by_person, ordered, pairs_of, sets_of
from gslopes.crops.asking.portraits import digest_of, look_at
from gslopes.crops.asking.questions import Questions, remote_pictures
from gslopes.crops.config import CropsConfig, CropsOptions, configure
from gslopes.crops.findings import findings_table
from gslopes.crops.measures.tabulate import measure_run
from gslopes.crops.people import CROSS, People, read_people
from gslopes.crops.report.page import write_crops_report
from gslopes.crops.report.words import headline, main_rows
from gslopes.crops.skin_tone import COLUMN, SOURCE, with_skin_tone
from gslopes.crops.tables import COVARIATES, PEOPLE, SALIENCY, TRAITS
from gslopes.frame.executors import OneProcess
from gslopes.frame.parts import read_table, write_tables
from gslopes.photos.folder import check_outside

IDENTITY = ("kind", "photos", "inputs", "config", "croppers")
Models = Sequence[Saliency | Cropper]
Given = Sequence[Saliency | Cropper | Callable[..., Any]]


@dataclass(frozen=True, eq=False)
class Crops(AuditResult):
    """What a crop audit found; tables as in ``crops.tables``.

    photos: how many were looked at.  skipped: of them, those that could not be read.
    """

    photos: int
    skipped: int

    @property
    def findings(self) -> pd.DataFrame:
        """What is judged, one row each, findings first; see ``crops.findings``."""
        return findings_table(self.tables["parity"])


@dataclass(frozen=True, slots=True)
class CropsPlan:
    """What an audit would do.

    persons, photos.  pairs: of photos of different groups.  pictures: of two people, asked of each cropper.
    together: pictures with one person of each group.  estimates: requests, minutes and price of each service and ratio.
    groups: column to group to people.  left_out: column to why to how many.
    """

    persons: int
    photos: int
    pairs: int
    pictures: int
    together: int
    estimates: tuple[str, ...]
    croppers: tuple[str, ...]
    groups: dict[str, dict[str, int]]
    left_out: dict[str, dict[str, int]]


def plan_crops(photos: Path, people: Path, config: CropsConfig, cost_limits: CostLimits | None = None) -> CropsPlan:
    """Read the table and count; no photo is opened, no request is sent.  Raises: UsageError, CredentialsError."""
    table = _people(photos, people, config)
    if table.columns != tuple(config.groups):
        hint = "Run the audit: before any request is sent its cost is confirmed."
        raise UsageError("Groups by skin tone are known when the photos were looked at, not by a dry run.", hint)
    numbers = by_person([portrait.person for portrait in table.portraits])
    pairs = pairs_of(table, numbers, config)
    persons = {portrait.person for portrait in table.portraits}
    asked = len(ordered(pairs, config.orders)) if config.attach != "none" else 0
    sets = sets_of(table, numbers, config) if config.attach != "none" else ()
    return CropsPlan(
        len(persons),
        len(table.portraits),
        len(pairs),
        asked,
        len(sets),
        _estimates(config, cost_limits or CostLimits(), remote_pictures(asked, len(sets), config)),
        config.cropper,
        {column: {name: len(members) for name, members in groups.items()} for column, groups in table.groups.items()},
        {column: dict(why) for column, why in table.left_out.items() if why},
    )


def _estimates(config: CropsConfig, cost_limits: CostLimits, pictures: int) -> tuple[str, ...]:
    services = [name for name in config.cropper if name.startswith(("http:", "https:"))]
    ready = ready_croppers(services, (), cost_limits, config.ratios, seed=config.seed)
    return tuple(str(one) for model in ready if isinstance(model, RemoteCropper) for one in model.requests(pictures))


def audit_crops(
    photos: str | Path,
    out: str | Path,
    *,
    people: str | Path,
    croppers: Given = (),
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Unpack[CropsOptions],
) -> Crops:
    """Whom do croppers favour and keep, of two people side by side?  Called again, it resumes.

    photos: the folder of portraits, one person each.  out: the run folder, made if missing.
    people: a CSV of their groups, see ``crops.people``.
    croppers: in addition to those that ``cropper`` names: functions of pictures to maps, or of pictures and a ratio to
        (left, top, width, height); or ready objects.  finder: instead of MTCNN.
    progress, trust, executor: as of ``gslopes.audit``; croppers may be programs, too.
    options: as of ``gslopes crops audit --help-all``, with underscores.

    Raises: UsageError, ConfigError, ModelError, AnswerError, RunFolderMismatch, StorageError; all that can be known
        beforehand before any work. Of services CredentialsError, ServiceError, ClassifierError, BudgetReached: what
        they answered is kept.
    """
    photos, out, people = Path(photos), Path(out), Path(people)
    settings, executor = configure(options), executor or OneProcess(progress=progress)
    config, cost_limits = settings.crops, settings.cost_limits
    table = _people(photos, people, config)
    device = runtime.pick_device(config.device)
    finder = finder or mtcnn()
    models = ready_croppers(
        config.cropper, croppers, cost_limits, config.ratios, finder=finder, device=device, seed=config.seed,
        trust=Trust(trust, out),
    )  # fmt: skip
    if not (toned := table.columns != tuple(config.groups)):
        sets_of(table, by_person([portrait.person for portrait in table.portraits]), config)
    if config.attach == "none" and not all(has_map(model) for model in models):
        names = ", ".join(model.name for model in models if not has_map(model))
        raise UsageError(
            f"Photos that are not joined need a map: {names} gives rectangles.", "Leave out --attach none."
        )
    check_outside(out, photos)
    new = _manifest(photos, table, config, models)
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        recorded = {"source": config.source, "epsilon": config.epsilon, "gslopes": runtime.gslopes_version()}
        recorded |= {"people": show(people), "left_out": table.left_out, "min_group": config.min_group}
        recorded |= {"absent": table.absent}
        if table.absent:
            executor.note(table.absent)
        runfolder.write_json(out / runfolder.MANIFEST, {**new, **recorded})
        seen = look_at(out, table.portraits, finder, models, config, executor, (PEOPLE, SALIENCY, COVARIATES))
        if toned:
            table = with_skin_tone(table, config.groups, seen, read_table(COVARIATES, out), config.min_group)
            runfolder.write_json(out / runfolder.MANIFEST, {**new, **recorded, "left_out": table.left_out})
        _write_traits(out, table, config)
        _check_bytes(seen, table)
        if config.attach != "none":
            questions = Questions.of(out, seen, table, config, cost_limits, executor)
            questions.confirm(models)
            for model in models:
                questions.ask(model)
            questions.merge(models)
            questions.keep_drawn_maps(models)
        measured = measure_run(out, table, config)
        page = write_crops_report(out, embed=settings.embed, photos={p.relative: p.path for p in table.portraits})
        sentence = headline(main_rows(measured["parity"]))
        skipped = int((seen["status"] != "used").sum())
        found = Crops(out, page, sentence, len(seen), skipped, made={"parity": measured["parity"]})
        summary.write(out, "crops", found.findings, (len(seen), len(seen) - skipped), headline=sentence, page=page)
        return found


def load_crops(run: Path) -> Crops:
    """The result of a run folder of ``audit_crops``.  Raises: KeyError if a table is missing; TableError if damaged."""
    found = Crops(run, found_page(run / "report" / "index.html"), "", 0, 0)
    seen = found.tables["people"]
    skipped = int((seen["status"] != "used").sum())
    return replace(found, summary=headline(main_rows(found.tables["parity"])), photos=len(seen), skipped=skipped)


def _write_traits(out: Path, table: People, config: CropsConfig) -> None:
    rows = [
        {"person": person, "column": column, "value": value, "source": SOURCE if column == COLUMN else config.source}
        for column, groups in table.groups.items()
        for value, persons in groups.items()
        for person in persons
    ]
    write_tables(out, {TRAITS.name: pd.DataFrame(rows, columns=TRAITS.columns)}, TRAITS)


def _check_bytes(seen: pd.DataFrame, table: People) -> None:
    """The same bytes under two persons of different groups make no comparison."""
    used = seen[seen["status"] == "used"]
    if used.empty:
        first = seen.iloc[0]
        raise UsageError("No photo could be read.", f"The first reason: {explained(first['reason'], first['detail'])}.")
    group = table.group_of
    for _, rows in used.groupby("photo"):
        names = {group.get(person) for person in rows["person"]} - {None}
        if len(names) > 1:
            files = " and ".join(rows["path"].head(2))
            raise UsageError(
                f"{files} are the same picture in the groups {' and '.join(sorted(map(str, names)))}.",
                "Correct the table of people, or leave one out.",
            )


def _people(photos: Path, people: Path, config: CropsConfig) -> People:
    groups = [name for name in config.groups if name != COLUMN or name in read_csv(people).columns]
    found = read_people(
        photos, people, groups, files=config.files, min_group=config.min_group, ambiguous=config.ambiguous,
        photos_per_person=config.photos_per_person, seed=config.seed, later=len(groups) < len(config.groups),
    )  # fmt: skip
    if config.limit is None:
        return found
    if config.limit < 2:
        raise UsageError(f"A limit of {config.limit} photos leaves no one to compare.", "Give 2 or more.")
    return replace(found, portraits=found.portraits[: config.limit])


def _manifest(photos: Path, table: People, config: CropsConfig, models: Models) -> dict[str, Any]:
    return {
        "kind": "crops",
        "photos": show(photos.resolve()),
        "inputs": {"photos": len(table.portraits), "digest": digest_of(table)},
        "config": config.identity(),
        "croppers": {model.name: model.version for model in models},
        "columns": [*config.groups, *([CROSS.join(config.groups)] if len(config.groups) > 1 else [])],
    }
