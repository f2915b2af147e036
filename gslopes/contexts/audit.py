"""``gslopes contexts``: people in front of stereotyped backgrounds, described by taggers with and without."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from gslopes.contexts import analysis as analysing
from gslopes.contexts.config import PeopleColumns, StageConfig
from gslopes.contexts.options import ContextOptions
from gslopes.contexts.pictures.backgrounds import BackgroundPicture
from gslopes.contexts.pictures.canvas import share_of_canvas
from gslopes.contexts.pictures.composing import Composing, largest_common_share
from gslopes.contexts.pictures.cutting import STAGE, Cutting, median_backdrop, reviewed
from gslopes.contexts.pictures.parsing import PersonMask, PersonParser
from gslopes.contexts.planning import (
    KIND,
    ContextPlan,
    confirm,
    finder_of,
    kinds_for,
    make_plan,
    manifest_of,
    ready_classifiers,
    walk_of,
)
from gslopes.contexts.tables import BACKGROUNDS, COMPOSITES, CUTOUTS, PEOPLE
from gslopes.contexts.typology import read_typology
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import UsageError
from gslopes.core.files import sha256_of
from gslopes.core.reasons import Reason, explained
from gslopes.core.records import Classifier, Finder
from gslopes.core.runfolder import show
from gslopes.core.trust import Trust
from gslopes.datasets.folder import count_parts
from gslopes.executors import Executor, OneProcess
from gslopes.run import manifest, stages
from gslopes.run.config import ScoreConfig
from gslopes.run.plan import SYNTHESIS

if TYPE_CHECKING:
    from gslopes.score.classifiers.function import Function

EXTRAS = ("statsmodels", "krippendorff")


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """What a context audit found.

    run: its folder.  people, used, flagged, skipped: photos.  page: the report; None before it.
    tables: name to frame; also as attributes, such as ``found.inferred``.  notes: sentences for the user.
    """

    run: Path
    people: int
    used: int
    flagged: int
    skipped: dict[str, int]
    page: Path | None = None
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name.startswith("__") or name not in self.tables:
            raise AttributeError(name)
        return self.tables[name]


def audit_contexts(
    people_folder: str | Path,
    out: str | Path | None = None,
    *,
    people: str | Path | None = None,
    classifier: str | Function | Classifier | Sequence[str | Function | Classifier] = (),
    executor: Executor | None = None,
    finder: Finder | None = None,
    review: str | Path | None = None,
    seed: int = 0,
    device: str = "auto",
    columns: PeopleColumns | None = None,
    analysis: ContextOptions | None = None,
    terms: ScoreConfig | None = None,
    trust: bool = False,
    embed: str = "thumbs",
    **options: Any,
) -> Contexts:
    """The whole context audit; called again, it resumes.

    people_folder: photos, or the folder of a run whose answers are there: then only analysis and page are made anew.
    people: the CSV with self-reported gender, or ``cfd``.  out: the run folder.
    classifier: names, functions as ``gslopes.audit`` takes them, or objects.  finder: instead of MTCNN.
    review: a CSV of decisions, photo and decision.
    columns, analysis, terms: see their classes.  options: fields of ``StageConfig``.
    trust: classifiers in files that are programs may run, see ``core.trust``.
    embed: ``thumbs``, ``full`` or ``none``: which pictures are in the page itself.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, ClassifierError, StorageError; what can be known
        beforehand before any work.
    """
    executor, analysis = executor or OneProcess(), analysis or ContextOptions()
    check_extras()
    if analysis.typology:
        read_typology(analysis.typology)
    source = Path(people_folder)
    if out is None and (source / runfolder.MANIFEST).is_file():
        return again(source, executor, analysis, embed)
    if out is None:
        raise UsageError("No run folder is given.", "Name one with --out.")
    ready = ready_classifiers(classifier, device, Trust(trust, Path(out)))
    options = {**options, "kinds": options.get("kinds") or kinds_for(ready)}
    plan = make_plan(
        source, Path(out), people, columns or PeopleColumns(), options, seed=seed, device=device, finder=finder
    )
    manifest.check_versions(plan.run, ready)
    terms = confirm(plan, ready, terms or ScoreConfig(), executor)
    stage_pictures(plan, executor, finder, device, Path(review) if review else None)
    if ready:
        stages.run_score(plan.run, ready, executor, replace(terms, dropped_sample=0))
    return again(plan.run, executor, analysis, embed)


def check_extras() -> None:
    """Raises: UsageError if the extra is not installed."""
    from importlib.util import find_spec

    missing = [name for name in EXTRAS if find_spec(name) is None]
    if missing:
        raise UsageError(f"The context audit needs {' and '.join(missing)}.", "pip install 'gslopes[contexts]'")


def stage_pictures(
    plan: ContextPlan, executor: Executor, finder: Finder | None, device: str, review: Path | None = None
) -> None:
    """Cut out and compose; resumes part by part.  Raises: RunFolderMismatch, ModelError, StorageError, UsageError."""
    run, config = plan.run, plan.config
    real = runtime.pick_device(device)
    with runfolder.locked(run):
        manifest.begin(run, manifest_of(plan), executor)
        with runfolder.storage(run):
            for name in ("cutouts", "edits"):
                (run / name).mkdir(parents=True, exist_ok=True)
        parts_of_people = count_parts(len(plan.files), config.part)
        missing = runfolder.missing_parts(run, STAGE, CUTOUTS, parts_of_people)
        sizes = {part: len(plan.files[part * config.part : (part + 1) * config.part]) for part in missing}
        if missing:
            work = Cutting(run, plan.files, config, finder or finder_of(config, real), _parser_once(real))
            executor(work, sizes, label="cut out", unit="photos", done=len(plan.files) - sum(sizes.values()))
        runfolder.merge(run, CUTOUTS, [STAGE], parts_of_people)
        names = {file.relative: _digest(file.path) for file in plan.files}
        cutouts = tables.read(CUTOUTS, run / "cutouts.parquet").drop_duplicates("photo")
        # people's decisions are taken once, when composing begins: from then on the same parts must come out
        if not runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts):
            review = None
        cutouts = reviewed(cutouts, read_review(review or run / "review.csv", required=review is not None))
        runfolder.write_table(CUTOUTS, cutouts, run / "cutouts.parquet")
        _compose(plan, cutouts, names, executor, real)
        merged = [tables.EDITS, COMPOSITES, tables.PHOTOS]
        if plan.values and not runfolder.missing_parts(run, SYNTHESIS, tables.VERDICTS, plan.parts):
            merged.append(tables.VERDICTS)  # not there where sweeps were made before they were judged
        for table in merged:
            runfolder.merge(run, table, [SYNTHESIS], plan.parts)
        _write_people(plan, names)
        runfolder.write_table(BACKGROUNDS, background_rows(plan.backgrounds), run / "backgrounds.parquet")
    used = tables.read(tables.PHOTOS, run / "photos.parquet")
    if not (used["path"].str.startswith("background ") ^ (used["status"] == "used")).any():
        first = used[used["status"] != "used"].iloc[0]
        why = explained(first["reason"], first["detail"])
        raise UsageError(f"Nobody can be put in front of a background: {why}.", "Look at the cut-outs.")


def _compose(plan: ContextPlan, cutouts: pd.DataFrame, names: dict[str, str], executor: Executor, device: str) -> None:
    run, config = plan.run, plan.config
    missing = runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts)
    if not missing:
        return
    first: dict[str, str] = {}
    photo_of = {
        name: photo
        for name, photo in names.items()
        if name in plan.who and first.setdefault(photo, name) == name  # the same bytes twice are one photo
    }
    rows = {str(row["photo"]): {str(key): value for key, value in row.items()} for row in cutouts.to_dict("records")}
    work = Composing(run, plan.files, plan.used_backgrounds, rows, photo_of, config, median_backdrop(cutouts))
    work = replace(work, share=_share(run, config, [rows[photo] for photo in photo_of.values() if photo in rows]))
    if plan.values:
        work = replace(work, sweeper=_sweeper(plan, device))
    total = len(plan.files) + len(plan.used_backgrounds)
    split = len(plan.files) // config.part  # parts from here on hold backgrounds: their silhouettes need everybody
    for backgrounds in (False, True):
        parts = [part for part in missing if (part >= split) == backgrounds]
        if backgrounds:
            work = replace(work, outline=_median_person(run, split, rows, plan))
        sizes = {part: min(config.part, total - part * config.part) for part in parts}
        if parts:
            executor(work, sizes, label="compose", unit="photos", done=total - sum(sizes.values()))


def _share(run: Path, config: StageConfig, rows: Sequence[dict[str, Any]]) -> float:
    """What part of the canvas a person is."""
    if not isinstance(config.person_share, str):
        return share_of_canvas(config.person_share, config.share_of)
    used = [row for row in rows if row["status"] == "used" or (config.keep_flagged and row["file"])]
    return largest_common_share(run, used, config.canvas)


def _median_person(run: Path, parts: int, rows: dict[str, Any], plan: ContextPlan) -> str:
    """The photo whose cut-out has the median area of those that are used; the same whatever was done before."""
    used = [row for row in rows.values() if row["status"] == "used" or (plan.config.keep_flagged and row["file"])]
    used = sorted((row for row in used if row["share"] == row["share"]), key=lambda row: (row["share"], row["photo"]))
    return str(used[len(used) // 2]["photo"]) if used else ""


def again(run: Path, executor: Executor, analysis: ContextOptions, embed: str = "thumbs") -> Contexts:
    """Analysis and page of a run whose pictures are there.

    embed: ``thumbs``, ``full`` or ``none``, see ``contexts.report.page``.

    Raises: UsageError if it is no context audit.
    """
    content = runfolder.read_manifest(run)
    if content.get("kind") != KIND:
        raise UsageError(f"{show(run)} is not a context audit.", "Make one with gslopes contexts PEOPLE --out RUN.")
    manifest.complete_parts(run)
    found: dict[str, pd.DataFrame] = {}
    notes: list[str] = []
    page = None
    if (run / "scores.parquet").is_file():
        with runfolder.locked(run), runfolder.storage(run):
            executor.note("analyse    tables of each classifier, gross and net")
            found, notes = analysing.analyse_run(run, analysis, content)
            from gslopes.contexts.report.page import write_contexts

            executor.note("report     writing the page")
            page = write_contexts(
                run,
                found,
                notes,
                embed=embed,
                facts=facts_of(content, analysis),
                command=command_of(run, content, found),
            )
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    portraits = photos[~photos["path"].str.startswith("background ")]
    out = portraits[portraits["status"] != "used"]["reason"]
    flags = out == Reason.CUTOUT_FLAGGED.value
    skipped = {str(reason): int(count) for reason, count in out[~flags].value_counts().items()}
    return Contexts(
        run,
        len(portraits),
        int((portraits["status"] == "used").sum()),
        int(flags.sum()),
        skipped,
        page,
        found,
        tuple(notes),
    )


def facts_of(content: dict[str, Any], analysis: ContextOptions) -> list[tuple[str, str]]:
    """The choices of a run and of its analysis, for the end of the page."""
    config = {name: value for name, value in content["config"].items() if name != "people"}
    chosen = {**config, **asdict(analysis), "seed": content["seed"]}
    listed = {
        name: ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        for name, value in chosen.items()
    }
    return [(name.replace("_", " "), str(value)) for name, value in listed.items() if value not in (None, "", ())]


def command_of(run: Path, content: dict[str, Any], found: dict[str, pd.DataFrame]) -> str:
    """The command line that makes this run's pictures and asks its taggers."""
    config = content["config"]
    parts = ["gslopes contexts", shlex.quote(Path(config["people"]).name), "--people people.csv"]
    parts += [f"--backgrounds {shlex.quote(Path(name).name)}" for name in config["backgrounds"]]
    parts += [f"--classifier {shlex.quote(name)}" for name in sorted(set(found["described"]["classifier"]))]
    parts += [f"--sweep {config['sweep']}"] if config.get("sweep") else []
    return " ".join([*parts, f"--out {shlex.quote(run.name)}"])


# -- what is written --------------------------------------------------------------------------------------------------


def background_rows(backgrounds: Sequence[BackgroundPicture]) -> pd.DataFrame:
    """The ``backgrounds`` table."""
    rows = [
        {
            "key": background.key,
            "photo": background.photo,
            "context": background.context,
            "path": background.path,
            "status": "used" if background.used else "skipped",
            **background.why.columns,
            "width": background.width,
            "height": background.height,
            "scale": background.scale,
            "faces": background.faces,
            "rating": background.record.rating,
            "label": background.record.label,
            "licence": background.record.licence,
            "creator": background.record.creator,
            "source": background.record.source,
        }
        for background in backgrounds
    ]
    return pd.DataFrame(rows, columns=BACKGROUNDS.columns).astype({"rating": float})


def _write_people(plan: ContextPlan, names: dict[str, str]) -> None:
    rows = [{"photo": names[name], **row} for name, row in plan.who.items() if names[name]]
    frame = pd.DataFrame(rows, columns=PEOPLE.columns).drop_duplicates("photo")
    runfolder.write_table(PEOPLE, frame, plan.run / "people.parquet")


def read_review(path: Path, *, required: bool = False) -> dict[str, str]:
    """Photo to accept or exclude.  Raises: UsageError if it is required and not there, or a decision is unknown."""
    if not path.is_file():
        if required:
            raise UsageError(f"There is no file {show(path)}.", "Name the CSV that the page of cut-outs saves.")
        return {}
    found = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            if not {"photo", "decision"} <= set(reader.fieldnames or ()):
                raise UsageError(
                    f"{show(path)} has no columns photo and decision.", "Save it from the page of cut-outs."
                )
            for row in reader:
                if row["decision"] not in ("accept", "exclude", ""):
                    raise UsageError(
                        f"{show(path)}, line {reader.line_num}: the decision is {row['decision']!r}.",
                        "It is accept, exclude or empty.",
                    )
                found[row["photo"]] = row["decision"]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        hint = "Save it from the page of cut-outs."
        raise UsageError(f"{show(path)} cannot be read as a CSV in UTF-8: {error}.", hint) from error
    return found


# -- helpers ----------------------------------------------------------------------------------------------------------


def _sweeper(plan: ContextPlan, device: str) -> Any:
    from gslopes.contexts.pictures.sweeping import Sweeper
    from gslopes.run.components import default_components
    from gslopes.run.gate.judge import load_reader
    from gslopes.run.gate.sweep_measurer import SweepMeasurer

    walk = walk_of(plan.config)
    judge = plan.config.gate
    measurer = SweepMeasurer(load_reader(device), device, walk.find.min_face) if judge else None
    components = default_components(walk, device)
    return Sweeper(components, plan.config.sweep, plan.values, walk.find.min_face, device, measurer, walk.gate)


def _parser_once(device: str) -> Callable[[], PersonMask]:
    """Gives the face parser, loaded when it is first asked for."""

    @cache
    def made() -> PersonMask:
        return PersonParser(device)

    return made


def _digest(path: Path) -> str:
    """Of the file's bytes; empty if they cannot be read."""
    try:
        return sha256_of(path)
    except OSError:
        return ""
