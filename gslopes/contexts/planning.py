"""What a context audit will do, checked before it does anything."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Estimate
from gslopes.contexts.config import KINDS, PeopleColumns, StageConfig
from gslopes.contexts.people import cfd_person, read_reports
from gslopes.contexts.pictures.backgrounds import BackgroundPicture, read_backgrounds
from gslopes.contexts.settings import ContextsConfig
from gslopes.core import runfolder, tables
from gslopes.core.csv_table import unmatched
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import sha256_of
from gslopes.core.records import Classifier, Finder
from gslopes.core.runfolder import SYNTHESIS, show
from gslopes.faces.config import ComposeConfig, EditConfig, FindConfig
from gslopes.faces.gate.verdict import GateConfig
from gslopes.photos.folder import PhotoFile, check_outside, count_parts, list_photos
from gslopes.photos.people import name_in

KIND = "contexts"
IDENTITY = ("kind", "config", "values", "models", "inputs", "seed")


@dataclass(frozen=True, slots=True)
class SweptFaces:
    """By what the counterfactuals of a sweep are made, see ``faces.config.FacesConfig``, and judged."""

    photos: Path
    find: FindConfig
    edit: EditConfig
    compose: ComposeConfig
    gate: GateConfig = field(default_factory=GateConfig)


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """What a command will do, checked before it does anything.

    files: photos of people.  who: relative name to its row of people.csv.  backgrounds: skipped ones too.
    values: (K,) of the sweep.  models: that edit faces, name to sha256 and licence.
    photos: relative name to the sha256 of its bytes, or of the name itself where the file cannot be read.
    absent: a sentence on rows of people.csv whose photo is not there; often empty.
    """

    config: StageConfig
    run: Path
    files: tuple[PhotoFile, ...]
    who: dict[str, dict[str, Any]]
    backgrounds: tuple[BackgroundPicture, ...]
    values: tuple[float, ...]
    seed: int
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    photos: dict[str, str] = field(default_factory=dict)
    absent: str = ""

    @property
    def used_backgrounds(self) -> tuple[BackgroundPicture, ...]:
        """Backgrounds that people are put in front of."""
        return tuple(background for background in self.backgrounds if background.used)

    @property
    def pictures(self) -> int:
        """Pictures that classifiers are asked about, at most: P (B + 2) + 2 B, and P (B + 1) K with a sweep."""
        people, backgrounds, kinds = len(self.who), len(self.used_backgrounds), self.config.kinds
        count = people * (backgrounds + ("original" in kinds) + ("canvas" in kinds))
        count += backgrounds * (("empty" in kinds) + ("silhouette" in kinds))
        return count + people * (backgrounds + 1) * len(self.values)

    @property
    def parts(self) -> int:
        """How many units of work there are, of people and backgrounds together."""
        return count_parts(len(self.files) + len(self.used_backgrounds), self.config.part)


def make_plan(config: ContextsConfig, run: Path, finder: Finder | None = None) -> ContextPlan:
    """The plan of a run, with everything checked that can be before any work.  Raises: as ``audit_contexts``."""
    pictures, folder = config.pictures, config.pictures.people
    if not config.table:
        raise UsageError(
            "The context audit needs the self-reported gender of the people.",
            "Give it with --people people.csv: columns id, gender and, where known, ethnicity, age and person.",
        )
    files = tuple(list_photos(folder, pictures.limit))
    if not files:
        raise UsageError(f"There are no photos in {show(folder)}.", "Name the folder that holds the portraits.")
    check_outside(run, folder)
    if config.preset == "published" and {"rendered", "packaged"} & set(pictures.backgrounds):
        raise UsageError(
            "As published, backgrounds are photographs.",
            "Give --backgrounds FOLDER with one photo a context, such as FOLDER/kitchen.jpg.",
        )
    who, absent = _self_reports(files, config.table, config.columns)
    backgrounds = tuple(
        read_backgrounds(
            *(pictures.backgrounds, pictures.canvas, pictures.crop),
            lambda: finder or mtcnn(20),
            pictures.palettes,
        )
    )
    several = sorted(name for name, many in Counter(one.context for one in backgrounds if one.used).items() if many > 1)
    if config.preset == "published" and several:
        raise UsageError(
            f"As published, a context has one photograph; {several[0]} has several.", "Leave one of them in the folder."
        )
    values: tuple[float, ...] = ()
    models: dict[str, dict[str, str]] = {}
    if pictures.sweep:
        from gslopes.faces.components import model_records
        from gslopes.faces.edit.steps import values_for

        values = tuple(float(str(value)) for value in values_for(pictures.sweep, steps=pictures.steps, extent=None))
        models = model_records(faces_config(pictures))
    photos = {file.relative: _digest(file) for file in files}
    plan = ContextPlan(pictures, run, files, who, backgrounds, values, config.seed, models, photos, absent)
    runfolder.compare(run, manifest_of(plan), IDENTITY)
    return plan


def faces_config(config: StageConfig) -> SweptFaces:
    """The configuration by which the components of an audit make the counterfactuals of a sweep."""
    return SweptFaces(
        config.people,
        find=FindConfig(landmarks=config.landmarks),
        edit=EditConfig(attributes=(config.sweep,), model=config.editor),
        compose=ComposeConfig(masks=config.masks),
    )


def face_finder(config: StageConfig) -> Finder:
    """Gives the people's faces: those of ``landmarks``, else the detector's.  Raises: UsageError."""
    if config.landmarks is None:
        return mtcnn(40)
    from gslopes.faces.find import KnownFinder

    return KnownFinder(config.landmarks, config.people)


def manifest_of(plan: ContextPlan) -> dict[str, Any]:
    """The identity of the run for ``run.json``."""
    digest = hashlib.sha256()
    for name, photo in plan.photos.items():
        digest.update(f"{name}\0{photo}\n".encode())
    for background in plan.used_backgrounds:
        digest.update(f"{background.key}\0{background.photo}\n".encode())
    conditions = [*(background.key for background in plan.used_backgrounds), "canvas"] if plan.values else []
    return {
        "kind": KIND,
        "config": plan.config.identity(),
        "values": {f"{condition}~{plan.config.sweep}": list(plan.values) for condition in conditions},
        "models": plan.models,
        "inputs": {"photos": len(plan.files) + len(plan.used_backgrounds), "digest": digest.hexdigest()},
        "seed": plan.seed,
    }


def _digest(file: PhotoFile) -> str:
    try:
        return sha256_of(file.path)
    except (OSError, ValueError):
        return hashlib.sha256(file.relative.encode()).hexdigest()


def _self_reports(
    files: Sequence[PhotoFile], people: str | Path, columns: PeopleColumns
) -> tuple[dict[str, dict[str, Any]], str]:
    """Relative name to its person's row, and a sentence on rows without a photo.  Raises: UsageError if no photo has a
    row.
    """
    if str(people) == "cfd":
        rows = {file.relative: row for file in files if (row := cfd_person(file.relative))}
        absent = ""
    else:
        table = read_reports(Path(people), columns)
        names = {file.relative: name for file in files if (name := name_in(table, file.relative))}
        rows = {photo: table[name] for photo, name in names.items()}
        absent = unmatched(Path(people), [name for name in table if name not in set(names.values())])
    if not rows:
        raise UsageError(f"{people} says nothing about any of the photos.", f"The first photo is {files[0].relative}.")
    return rows, absent


def mtcnn(min_face: int) -> Finder:
    """The detector of faces, on the CPU, so that every device uses the same photos."""
    from gslopes.faces.find import MtcnnFinder

    return MtcnnFinder(min_face)


# -- classifiers and their costs --------------------------------------------------------------------------------------


def kinds_for(classifiers: Sequence[Classifier]) -> tuple[str, ...]:
    """The default kinds of pictures: no silhouettes where asking costs money."""
    from gslopes.ask.cost import limits_of

    free = all(limits_of(one).free for one in classifiers)
    return KINDS if free else tuple(kind for kind in KINDS if kind != "silhouette")


def estimates(plan: ContextPlan, classifiers: Sequence[Classifier]) -> list[Estimate]:
    """Upper bounds of the cost of asking each classifier about every picture."""
    from gslopes.ask.scoring.cost import estimate_walk

    each = plan.config.part * max(1, plan.pictures // max(1, len(plan.files)))
    return [estimate_walk(one, plan.pictures, each) for one in classifiers]


def confirm_costs(
    plan: ContextPlan, classifiers: Sequence[Classifier], cost_limits: ScoreConfig, executor: Executor
) -> ScoreConfig:
    """The cost limits to ask with, once credentials and costs are confirmed, before any picture is made.

    Where the pictures are there already, what is still due is confirmed when it is asked.

    Raises: CredentialsError, UsageError, ConfigError, as ``confirm_cost``.
    """
    from gslopes.ask.classifiers import prepare_classifier
    from gslopes.ask.cost import limits_of
    from gslopes.ask.scoring.cost import confirm_cost

    for one in classifiers:
        prepare_classifier(one)
    if plan.run.is_dir() and not runfolder.missing_parts(plan.run, SYNTHESIS, tables.PHOTOS, plan.parts):
        return cost_limits
    confirm_cost(estimates(plan, [one for one in classifiers if not limits_of(one).free]), cost_limits, executor)
    return replace(cost_limits, yes=True)
