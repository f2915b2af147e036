"""Taggers are asked once about every picture of a run; where pictures changed, they are asked again."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gslopes.ask.classifiers import DEFAULT_CLASSIFIER, load_classifiers
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import limits_of
from gslopes.ask.scoring.cost import Estimate, confirm_cost, estimate_walk
from gslopes.core import runfolder
from gslopes.core.errors import RunFolderMismatch
from gslopes.core.executor import Executor
from gslopes.core.files import read_json, sha256_of, show
from gslopes.core.records import Classifier
from gslopes.frame.ask import ask as frame_ask
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.folder import count_parts

NAME = "taggers"
PART = 16  # photos whose pictures are made, and asked about, together
_KEPT = "asked.json"  # next to the answers: the pictures that they are about, and each tagger's version


@dataclass
class Taggers:
    """Those that one command asks.  More may be asked about the pictures of a run later, so they do not identify it.

    limits: what asking may cost; ``yes`` once the user has confirmed it.  executor: says what users should know.
    """

    classifiers: Sequence[Classifier]
    limits: ScoreConfig
    executor: Executor = field(default_factory=OneProcess)
    version: str = ""


def taggers_of(plan: Plan) -> Mapping[str, Taggers]:
    """Those that are named, or were given; celeba-tagger for a new run without either.

    Raises: as ``ask.classifiers.load_classifier``.
    """
    config = plan.config
    names = config.classifiers or ((DEFAULT_CLASSIFIER,) if plan.given is None and not plan.again else ())
    ready = [*load_classifiers(names, config.device, plan.trust), *(plan.given or ())]
    return {NAME: Taggers(ready, ScoreConfig(**asdict(config.score), dropped_sample=0))}


def taggers(run: Run) -> Taggers:
    """Those of this command."""
    assert run.plan is not None
    found: Taggers = run.plan.models[NAME]
    return found


def estimates(classifiers: Sequence[Classifier], pictures: int, photos: int) -> list[Estimate]:
    """Upper bounds of the cost of asking each of them about every picture."""
    each = PART * max(1, pictures // max(1, photos))
    return [estimate_walk(one, pictures, each) for one in classifiers]


def check_before(run: Run, executor: Executor) -> None:
    """Before pictures are made: versions, credentials, and whether the user agrees to the price.

    Raises: RunFolderMismatch, CredentialsError, UsageError, ConfigError.
    """
    from gslopes.ask.classifiers import prepare_classifier

    asked, versions = taggers(run), _kept(run)["versions"]
    asked.executor = executor
    for one in asked.classifiers:
        if (old := versions.get(one.name, one.version)) != one.version:
            problem = f"{show(run.folder)} has answers of {one.name} in version {old or 'unknown'}"
            hint = "Make the pictures again in a new folder, or restore that version of the tagger."
            raise RunFolderMismatch(f"{problem}; it is {one.version or 'unknown'} now.", hint)
    if run.has("photos"):
        return  # what is still due is confirmed when it is asked
    for one in asked.classifiers:
        prepare_classifier(one)
    paid, material = [one for one in asked.classifiers if not limits_of(one).free], run.inputs
    due = estimates(paid, material.pictures(run.config.pictures.kinds), len(material.files))
    confirm_cost(due, asked.limits, executor)
    asked.limits = replace(asked.limits, yes=True)


def is_asked(run: Run) -> bool:
    """Whether there are answers, or somebody to give them."""
    return bool(_versions(run))


def names_of(run: Run) -> list[str]:
    """Name and version of each tagger, those of earlier commands too."""
    return sorted(f"{name} {version}" for name, version in _versions(run).items())


def _versions(run: Run) -> dict[str, str]:
    return {**_kept(run)["versions"], **{one.name: one.version for one in taggers(run).classifiers}}


def _kept(run: Run) -> dict[str, Any]:
    file = run.folder / "parts" / "score" / _KEPT
    return dict(read_json(file)) if file.is_file() else {"edits": "", "versions": {}}


def ask(run: Run) -> Made:
    """The tables ``asked`` and ``scores``.  Raises: as ``frame.ask.ask``."""
    assert run.plan is not None
    asked, folder, seed = taggers(run), run.folder, run.config.seed
    home, edits = folder / "parts" / "score", sha256_of(folder / "edits.parquet")
    if _kept(run)["edits"] not in ("", edits):
        shutil.rmtree(home)
    runfolder.make_folder(home)
    versions = _versions(run)
    runfolder.write_json(home / _KEPT, {"edits": edits, "versions": versions})
    parts = count_parts(
        run.plan.facts["inputs"]["photos"],
        next(stage.part for stage in run.audit.stages if stage.name == runfolder.SYNTHESIS),
    )
    frame_ask(folder, asked.classifiers, parts, seed, asked.limits, asked.executor, known=versions)
    return {}
