"""``gslopes contexts``: people in front of stereotyped backgrounds, described by taggers with and without."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from gslopes.ask.cost import Estimate
from gslopes.ask.given import DEFAULT_CLASSIFIER, Given, load_classifiers, split_classifiers
from gslopes.ask.trust import Trust
from gslopes.contexts.analysis import AnalysisResult, analyse_run
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.findings import findings_table
from gslopes.contexts.method import SETTINGS
from gslopes.contexts.planning import KIND, ContextPlan, confirm_costs, estimates, kinds_for, make_plan
from gslopes.contexts.settings import ContextsConfig, ContextsOptions, configure
from gslopes.contexts.staging import stage_pictures
from gslopes.contexts.typology import read_typology
from gslopes.core import runfolder, summary, tables
from gslopes.core.config import to_dict
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason, listed
from gslopes.core.records import Classifier, Finder
from gslopes.core.result import AuditResult, Tables, found_page
from gslopes.core.runfolder import show
from gslopes.frame import manifest
from gslopes.frame.asking import run_score
from gslopes.frame.executors import OneProcess

EXTRAS = ("statsmodels", "krippendorff")


@dataclass(frozen=True, eq=False)
class Contexts(AuditResult):
    """What a context audit found; tables as in ``contexts.tables``.

    people, used, flagged, skipped: photos.  notes: sentences for the user.
    """

    people: int
    used: int
    flagged: int
    skipped: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> pd.DataFrame:
        """What is judged, one row each, findings first; see ``contexts.findings``."""
        return findings_table(self.tables)


def audit_contexts(
    photos: str | Path,
    out: str | Path | None = None,
    *,
    classifier: Given | Sequence[Given] | None = None,
    progress: bool = False,
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Unpack[ContextsOptions],
) -> Contexts:
    """Put people in front of stereotyped backgrounds and compare how taggers describe them.  Called again, it resumes.

    photos: a folder of portraits, or the folder of a run whose answers are there: then only analysis and page are
        redone.  out: the run folder.
    classifier: as ``gslopes.audit`` takes it; an empty list only makes the pictures.  finder: instead of MTCNN.
    progress, trust, executor: as of ``gslopes.audit``.
    options: as of ``gslopes contexts --help-all``, with underscores; ``people`` is the CSV with self-reported gender.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, ClassifierError, StorageError; what can be known
        beforehand before any work.
    """
    executor, source = executor or OneProcess(progress=progress), Path(photos)
    check_extras()
    config = configure(source.absolute(), options)
    if config.analysis.typology:
        read_typology(config.analysis.typology)
    if out is None and (source / runfolder.MANIFEST).is_file():
        _check_answers(source)
        return reanalyse(source, executor, config.analysis, config.embed)
    if out is None:
        raise UsageError("No run folder is given.", "Name one with --out.")
    config, ready = _with_classifiers(source, out, classifier, trust, options)
    plan = make_plan(config, Path(out), finder)
    if plan.absent:
        executor.note(plan.absent)
    manifest.check_versions(plan.run, ready)
    cost_limits = confirm_costs(plan, ready, config.score, executor)
    stage_pictures(plan, executor, finder, config.device, config.review)
    if ready:
        run_score(plan.run, ready, executor, replace(cost_limits, dropped_sample=0))
    return reanalyse(plan.run, executor, config.analysis, config.embed)


def plan_contexts(
    photos: str | Path,
    out: str | Path,
    *,
    classifier: Given | Sequence[Given] | None = None,
    trust: bool = False,
    **options: Unpack[ContextsOptions],
) -> tuple[ContextPlan, list[Estimate]]:
    """What ``audit_contexts`` would do, and what asking each classifier would take."""
    config, ready = _with_classifiers(photos, out, classifier, trust, options)
    plan = make_plan(config, Path(out))
    return plan, estimates(plan, ready)


def _with_classifiers(
    photos: str | Path,
    out: str | Path,
    classifier: Given | Sequence[Given] | None,
    trust: bool,
    options: Mapping[str, Any],
) -> tuple[ContextsConfig, list[Classifier]]:
    """The configuration, whose kinds of pictures depend on what asking costs, and the classifiers."""
    source = Path(photos).absolute()
    names, objects = split_classifiers(classifier)
    config = configure(source, {**options, "classifier": names})
    named = config.score.classifiers or ((DEFAULT_CLASSIFIER,) if classifier is None else ())
    ready = [*load_classifiers(named, config.device, Trust(trust, Path(out))), *objects]
    return configure(source, {**options, "classifier": names}, kinds_for(ready)), ready


def check_extras() -> None:
    """Raises: UsageError if the extra is not installed."""
    missing = [name for name in EXTRAS if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"The context audit needs {' and '.join(missing)}.", "pip install 'gslopes[contexts]'")


def _check_answers(run: Path) -> None:
    """Raises: UsageError if no classifier was asked, StorageError while another process asks."""
    if runfolder.read_manifest(run).get("kind") != KIND or (run / "scores.parquet").is_file():
        return  # what else may be wrong is said when it is read
    with runfolder.locked(run):
        hint = f"Ask with gslopes score {show(run)} --classifier NAME, or repeat the command that began it."
        raise UsageError(f"{show(run)} has no answers yet.", hint)


def reanalyse(run: Path, executor: Executor, analysis: ContextOptions, embed: str = "thumbs") -> Contexts:
    """Analysis and page of a run whose pictures are there.

    embed: ``thumbs``, ``full`` or ``none``, see ``contexts.report.page``.

    Raises: UsageError if it is no context audit.
    """
    from gslopes.contexts.report.page import write_page

    content = runfolder.read_manifest(run)
    if content.get("kind") != KIND:
        raise UsageError(f"{show(run)} is not a context audit.", "Make one with gslopes contexts PEOPLE --out RUN.")
    manifest.complete_parts(run)
    result, page = AnalysisResult({}, []), None
    if (run / "scores.parquet").is_file():
        with runfolder.locked(run), runfolder.storage(run):
            executor.note("analyse    tables of each classifier, gross and net")
            result = analyse_run(run, analysis, content)
            executor.note("report     writing the page")
            facts, command = settings_shown(content, analysis), command_line(run, content, result.tables)
            (run / SETTINGS).parent.mkdir(exist_ok=True)
            runfolder.write_json(run / SETTINGS, to_dict(analysis))
            page = write_page(run, result.tables, result.notes, embed=embed, facts=facts, command=command)
            found = _counted(run, page, result)
            counts = found.people, found.used
            summary.write(run, "contexts", found.findings, counts, headline=found.summary, page=page)
    return _counted(run, page, result)


def load_contexts(run: Path) -> Contexts:
    """The result of a run folder of ``audit_contexts``; its notes stand on its page alone.

    Raises: KeyError if a table is missing; TableError if one is damaged.
    """
    found = Tables(run, {})
    page = found_page(run / "report" / "index.html")
    return _counted(
        run,
        page,
        AnalysisResult({name: found[name] for name in ("congruence", "described") if page and name in found}, []),
    )


def _counted(run: Path, page: Path | None, result: AnalysisResult) -> Contexts:
    from gslopes.contexts.report.words import headline

    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    people = photos[~photos["path"].str.startswith("background ")]
    out = people[people["status"] != "used"]
    reasons = pd.Series(list(map(listed, out["reason"], out["detail"])), dtype=object)
    flagged = reasons == Reason.CUTOUT_FLAGGED.value
    skipped = {str(reason): int(count) for reason, count in reasons[~flagged].value_counts().items()}
    used = len(people) - len(reasons)
    summary = headline(result.tables) if page is not None else ""
    counts = len(people), used, int(flagged.sum()), skipped
    return Contexts(run, page, summary, *counts, tuple(result.notes), made=result.tables)


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
    parts += [f"--palettes {name}" for name in config.get("palettes") or ()]
    parts += [f"--sweep {config['sweep']}"] if config.get("sweep") else []
    return " ".join([*parts, f"--out {shlex.quote(run.name)}"])
