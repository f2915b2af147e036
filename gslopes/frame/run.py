"""Carrying an audit out: stages in order, and nothing is done twice; see ``frame.stamps`` and ``frame.parts``."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gslopes.core import Executor, UsageError, runfolder, show, tables
from gslopes.frame.executors import OneProcess, engine
from gslopes.frame.page import Page, write_page
from gslopes.frame.parts import do_parts, has_all_parts
from gslopes.frame.result import Result, result_of
from gslopes.frame.spec import NOTES, Assets, Audit, Made, Plan, Run, Stage
from gslopes.frame.stamps import file_of, is_current, reads_of, stamp, stamp_of, tables_of


def carry_out(plan: Plan, executor: Executor | None = None, progress: bool = False) -> Result:
    """Do each stage, or those that the plan names, unless it is up to date; the result.

    executor: does the work; None: one process.  progress: whether that one shows lines of progress on stderr.

    Raises: RunFolderMismatch, StorageError, UsageError, and whatever a stage raises; KeyboardInterrupt at Ctrl-C.
    """
    if plan.folder is None:
        raise UsageError("No run folder is given.", "Write --out RUN.")
    config = plan.config
    name = getattr(config, "engine", "one")
    workers = getattr(config, "workers", None)
    executor = executor or OneProcess(progress=progress)
    executor = engine(executor, name, workers, getattr(config, "device", "cpu"))
    run = Run(plan.audit, plan.folder, plan.config, plan, executor)
    begun = not (run.folder / runfolder.MANIFEST).is_file()
    if begun and plan.audit.before is not None:  # what is refused leaves no folder
        plan.audit.before(run, executor)
    with runfolder.locked(run.folder):
        plan.check()
        runfolder.write_json(run.folder / runfolder.MANIFEST, plan.manifest)
        for stage in _chosen(run, plan.only):
            named = stage.name in plan.only
            if not named and stage.when is not None and not stage.when(run):
                _leave_out(run, stage)
            elif _is_done(run, stage):
                executor.note(f"{stage.name:<10} up to date")
            else:
                if plan.audit.before is not None and not begun:
                    plan.audit.before(run, executor)
                begun = True
                _do(replace(run, notes=[]), stage)
    return result_of(plan.audit, plan.folder)


def _is_done(run: Run, stage: Stage) -> bool:
    """Whether a stage is up to date, with the parts along which a later stage has something to do."""
    if not is_current(run, stage, reads_of(run, stage)):
        return False
    later = (other for other in run.audit.stages if other.along in stage.makes)
    waiting = any(not is_current(run, other, reads_of(run, other)) for other in later)
    return not waiting or has_all_parts(run, stage)


def stages_of(audit: Audit) -> tuple[Stage, ...]:
    """Its stages, with the one that writes the page."""
    if not audit.page:
        return audit.stages
    assets = audit.assets or Assets(Page)
    names = dict.fromkeys(
        name for stage in audit.stages for name in stage.makes if name in audit.tables
    )
    page = Stage(
        "report",
        (*names, NOTES, *assets.reads),
        ("summary.json", "report/index.html", "report/model_card.md", *assets.makes),
        write_page,
        options=assets.options,
    )
    return *audit.stages, page


def _chosen(run: Run, only: Sequence[str]) -> list[Stage]:
    """The stages to do.  Raises: UsageError for an unknown name, or if tables of a stage before are missing."""
    stages = {stage.name: stage for stage in stages_of(run.audit)}
    if unknown := [name for name in only if name not in stages]:
        raise UsageError(f"There is no stage {unknown[0]!r}.", f"There are {', '.join(stages)}.")
    needs = {name for stage in stages.values() if stage.name in only for name in stage.reads}
    for stage in stages.values():
        if stage.when is not None or stage.goes_with or stage.name in only:
            continue
        names = {table.name for table in tables_of(run.audit, stage)} & needs - {*stage.splits}
        names = {name for name in names if stage.keep(run, name) is not None}
        if lacks := sorted(name for name in names if not run.has(name)):
            raise UsageError(
                f"{show(run.folder)} has no table {lacks[0]} yet.",
                f"Run: gslopes {run.audit.name} {show(run.folder)} --only {stage.name}.",
            )
    return [
        stage
        for stage in stages.values()
        if not only or stage.name in only or stage.goes_with in only
    ]


def _do(run: Run, stage: Stage) -> None:
    reads = reads_of(run, stage)
    for name in stage.makes:
        if name.endswith("/"):
            runfolder.make_folder(run.folder / name)
    in_parts = stage.items is not None or stage.along
    rows = do_parts(run, stage) if in_parts else stage.work(run)
    run.digests.clear()
    files = write(run, stage, rows)
    stage.check(run)
    stamp(run, stage, reads, files)


def _leave_out(run: Run, stage: Stage) -> None:
    for path in (
        stamp_of(run, stage),
        *(file_of(run, name) for name in stage.makes if not name.endswith("/")),
    ):
        path.unlink(missing_ok=True)
        run.digests.pop(path, None)


def write(run: Run, stage: Stage, rows: Made) -> list[Path]:
    """Write the tables of a stage; all files that it made."""
    for table in tables_of(run.audit, stage):
        if table.name in rows:
            frame = tables.frame_of(table, rows[table.name])
            runfolder.write_table(table, frame, file_of(run, table.name))
    return [path for name in stage.makes if (path := file_of(run, name)).exists()]
