"""``gslopes contexts``: people in front of stereotyped backgrounds, described by taggers with and without."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from gslopes.contexts.analysis import AnalysisResult, analyse_run
from gslopes.contexts.config import ContextOptions, PeopleColumns
from gslopes.contexts.planning import KIND, confirm_costs, kinds_for, make_plan, ready_classifiers
from gslopes.contexts.staging import stage_pictures
from gslopes.contexts.typology import read_typology
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.reasons import Reason
from gslopes.core.records import Classifier, Finder
from gslopes.core.runfolder import show
from gslopes.core.trust import Trust
from gslopes.executors import Executor, OneProcess
from gslopes.run import manifest, stages
from gslopes.run.config import ScoreConfig

if TYPE_CHECKING:
    from gslopes.score.classifiers.function import Function

EXTRAS = ("statsmodels", "krippendorff")


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """The result of a context audit.

    run: its folder.  people, used, flagged, skipped: photos.  page: the report; None before it.
    tables: name to frame; also as attributes, such as ``result.inferred``.  notes: sentences for the user.
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

    people_folder: photos, or the folder of a run whose answers are there: then only analysis and page are redone.
    people: the CSV with self-reported gender, or ``cfd``.  out: the run folder.
    classifier: names, functions as ``gslopes.audit`` takes them, or objects.  finder: instead of MTCNN.
    review: a CSV of decisions, photo and decision.
    columns, analysis, terms: see their classes.  options: fields of ``StageConfig``.
    trust: classifiers in files that are programs may run, see ``core.trust``.
    embed: ``thumbs``, ``full`` or ``none``: which pictures are in the page itself.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, ClassifierError, StorageError; before any work where
        that is possible.
    """
    executor, analysis = executor or OneProcess(), analysis or ContextOptions()
    check_extras()
    if analysis.typology:
        read_typology(analysis.typology)
    source = Path(people_folder)
    if out is None and (source / runfolder.MANIFEST).is_file():
        return reanalyse(source, executor, analysis, embed)
    if out is None:
        raise UsageError("No run folder is given.", "Name one with --out.")
    ready = ready_classifiers(classifier, device, Trust(trust, Path(out)))
    options = {**options, "kinds": options.get("kinds") or kinds_for(ready)}
    plan = make_plan(
        source, Path(out), people, columns or PeopleColumns(), options, seed=seed, device=device, finder=finder
    )
    manifest.check_versions(plan.run, ready)
    terms = confirm_costs(plan, ready, terms or ScoreConfig(), executor)
    stage_pictures(plan, executor, finder, device, Path(review) if review else None)
    if ready:
        stages.run_score(plan.run, ready, executor, replace(terms, dropped_sample=0))
    return reanalyse(plan.run, executor, analysis, embed)


def check_extras() -> None:
    """Raises: UsageError if the extra is not installed."""
    missing = [name for name in EXTRAS if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"The context audit needs {' and '.join(missing)}.", "pip install 'gslopes[contexts]'")


def reanalyse(run: Path, executor: Executor, analysis: ContextOptions, embed: str = "thumbs") -> Contexts:
    """Analysis and page of a run whose pictures are there.

    embed: ``thumbs``, ``full`` or ``none``, see ``contexts.report.page``.

    Raises: UsageError if it is no context audit.
    """
    content = runfolder.read_manifest(run)
    if content.get("kind") != KIND:
        raise UsageError(f"{show(run)} is not a context audit.", "Make one with gslopes contexts PEOPLE --out RUN.")
    manifest.complete_parts(run)
    result, page = AnalysisResult({}, []), None
    if (run / "scores.parquet").is_file():
        from gslopes.contexts.report.page import write_page

        with runfolder.locked(run), runfolder.storage(run):
            executor.note("analyse    tables of each classifier, gross and net")
            result = analyse_run(run, analysis, content)
            executor.note("report     writing the page")
            facts, command = settings_shown(content, analysis), command_line(run, content, result.tables)
            page = write_page(run, result.tables, result.notes, embed=embed, facts=facts, command=command)
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    people = photos[~photos["path"].str.startswith("background ")]
    reasons = people.loc[people["status"] != "used", "reason"]
    flagged = reasons == Reason.CUTOUT_FLAGGED.value
    skipped = {str(reason): int(count) for reason, count in reasons[~flagged].value_counts().items()}
    used = len(people) - len(reasons)
    return Contexts(run, len(people), used, int(flagged.sum()), skipped, page, result.tables, tuple(result.notes))


def settings_shown(content: dict[str, Any], analysis: ContextOptions) -> list[tuple[str, str]]:
    """The settings of a run and of its analysis, for the end of the page; without those that are empty."""
    config = {name: value for name, value in content["config"].items() if name != "people"}
    chosen = {**config, **asdict(analysis), "seed": content["seed"]}
    shown = {
        name: ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        for name, value in chosen.items()
    }
    return [(name.replace("_", " "), str(value)) for name, value in shown.items() if value not in (None, "")]


def command_line(run: Path, content: dict[str, Any], made: dict[str, pd.DataFrame]) -> str:
    """The command that makes this run's pictures and asks its taggers."""
    config = content["config"]
    parts = ["gslopes contexts", shlex.quote(Path(config["people"]).name), "--people people.csv"]
    parts += [f"--backgrounds {shlex.quote(Path(name).name)}" for name in config["backgrounds"]]
    parts += [f"--classifier {shlex.quote(name)}" for name in sorted(set(made["described"]["classifier"]))]
    parts += [f"--sweep {config['sweep']}"] if config.get("sweep") else []
    return " ".join([*parts, f"--out {shlex.quote(run.name)}"])
