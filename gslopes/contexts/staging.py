"""The pictures of a run: people are cut out, put in front of every background, and written down in its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.contexts.people import read_review, reviewed
from gslopes.contexts.pictures.backgrounds import BackgroundPicture
from gslopes.contexts.pictures.canvas import share_of_canvas
from gslopes.contexts.pictures.composing import Composing, largest_common_share
from gslopes.contexts.pictures.cutting import STAGE, Cutting, median_backdrop
from gslopes.contexts.pictures.parsing import PersonParser
from gslopes.contexts.pictures.sweeping import load_sweeper
from gslopes.contexts.planning import ContextPlan, face_finder, manifest_of
from gslopes.contexts.tables import TABLES
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.reasons import explained
from gslopes.core.records import Finder
from gslopes.core.runfolder import SYNTHESIS, show
from gslopes.frame import manifest
from gslopes.photos.folder import count_parts, passed_over

Row = Mapping[str, Any]


def stage_pictures(
    plan: ContextPlan, executor: Executor, finder: Finder | None, device: str, review: Path | None = None
) -> None:
    """Cut out and compose; resumes part by part.  Raises: RunFolderMismatch, ModelError, StorageError, UsageError."""
    run = plan.run
    device = runtime.pick_device(device)
    with runfolder.locked(run):
        manifest.begin(run, manifest_of(plan), executor)
        if others := passed_over(plan.config.people):
            executor.note(others)
        for name in ("cutouts", "edits"):
            runfolder.make_folder(run / name)
        cutouts = _cut_out(plan, executor, finder, device, review)
        if runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts):
            _compose(plan, cutouts, executor, device)
        for table in (tables.EDITS, TABLES["composites"], tables.PHOTOS):
            runfolder.merge(run, table, [SYNTHESIS], plan.parts)
        # not there where sweeps were made by a version that did not judge them
        if plan.values and not runfolder.missing_parts(run, SYNTHESIS, tables.VERDICTS, plan.parts):
            runfolder.merge(run, tables.VERDICTS, [SYNTHESIS], plan.parts)
        runfolder.write_table(TABLES["people"], people_rows(plan.who, plan.photos), run / "people.parquet")
        runfolder.write_table(TABLES["backgrounds"], background_rows(plan.backgrounds), run / "backgrounds.parquet")
    _check_anybody(tables.read(tables.PHOTOS, run / "photos.parquet"))


def _cut_out(
    plan: ContextPlan, executor: Executor, finder: Finder | None, device: str, review: Path | None
) -> dict[str, dict[str, Any]]:
    """Photo to its row of the ``cutouts`` table, which is written with people's decisions."""
    run, config, total = plan.run, plan.config, len(plan.files)
    parts = count_parts(total, config.part)
    missing = runfolder.missing_parts(run, STAGE, TABLES["cutouts"], parts)
    if missing:
        work = Cutting(run, plan.files, plan.photos, config, finder or face_finder(config), PersonParser(device))
        _run_parts(executor, work, "cut out", missing, total, config.part)
    runfolder.merge(run, TABLES["cutouts"], [STAGE], parts)
    path = run / "cutouts.parquet"
    cutouts = tables.read(TABLES["cutouts"], path).drop_duplicates("photo")
    # decisions are read once, when composing begins: from then on the same parts must come out
    if review is None or not runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts):
        review = run / "review.csv" if (run / "review.csv").is_file() else None
    elif not review.is_file():
        raise UsageError(f"There is no file {show(review)}.", "Name the CSV that the page of cut-outs saves.")
    decisions = read_review(review) if review else {}
    if unknown := decisions.keys() - set(cutouts["photo"]):
        note = f"{len(unknown):,} of its {len(decisions):,} decisions are about photos that are not in this run"
        executor.note(f"{show(review)}: {note}, such as {show(min(unknown)[:40])}.")
    cutouts = reviewed(cutouts, decisions)
    runfolder.write_table(TABLES["cutouts"], cutouts, path)
    return {str(row["photo"]): {str(key): value for key, value in row.items()} for row in cutouts.to_dict("records")}


def _compose(plan: ContextPlan, cutouts: Mapping[str, dict[str, Any]], executor: Executor, device: str) -> None:
    """Composites of people, then the backgrounds alone, whose silhouettes need everybody's cut-out."""
    run, config = plan.run, plan.config
    missing = runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts)
    first: dict[str, str] = {}
    photo_of = {
        name: photo
        for name, photo in plan.photos.items()
        if name in plan.who and first.setdefault(photo, name) == name  # the same bytes twice are one photo
    }
    usable = [row for row in cutouts.values() if row["status"] == "used" or (config.keep_flagged and row["file"])]
    if isinstance(config.person_share, str):
        asked = set(photo_of.values())
        share = largest_common_share(run, [row for row in usable if row["photo"] in asked], config.canvas)
    else:
        share = share_of_canvas(config.person_share, config.share_of)
    work = Composing(
        *(run, plan.files, plan.used_backgrounds, dict(cutouts), photo_of, config),
        backdrop=median_backdrop(str(row["backdrop"]) for row in cutouts.values()),
        share=share,
        sweeper=load_sweeper(plan, device) if plan.values else None,
        known=frozenset(plan.who),
    )
    total, split = len(plan.files) + len(plan.used_backgrounds), len(plan.files) // config.part
    for parts, outline in (
        ([part for part in missing if part < split], ""),
        ([part for part in missing if part >= split], _median_person(usable)),
    ):
        if parts:
            _run_parts(executor, replace(work, outline=outline), "compose", parts, total, config.part)


def _run_parts(executor: Executor, work: Any, label: str, parts: Sequence[int], total: int, size: int) -> None:
    sizes = {part: min(size, total - part * size) for part in parts}
    executor(work, sizes, label=label, unit="photos", done=total - sum(sizes.values()))


def _median_person(rows: Sequence[Row]) -> str:
    """The photo whose cut-out has the median area; empty if there is none."""
    known = sorted((row["share"], row["photo"]) for row in rows if row["share"] == row["share"])
    return str(known[len(known) // 2][1]) if known else ""


def _check_anybody(photos: pd.DataFrame) -> None:
    """Raises: UsageError if no person has a composite."""
    people = photos[~photos["path"].str.startswith("background ")]
    if not (people["status"] == "used").any():
        first = photos[photos["status"] != "used"].iloc[0]
        why = explained(first["reason"], first["detail"])
        raise UsageError(f"No person can be put in front of a background: {why}.", "Look at the cut-outs.")


def people_rows(who: Mapping[str, Row], photos: Mapping[str, str]) -> pd.DataFrame:
    """The ``people`` table.  who: name of a file to its row of people.csv.  photos: name of a file to its photo."""
    rows = [{"photo": photos[name], **row} for name, row in who.items()]
    return pd.DataFrame(rows, columns=TABLES["people"].columns).drop_duplicates("photo")


def background_rows(backgrounds: Sequence[BackgroundPicture]) -> pd.DataFrame:
    """The ``backgrounds`` table."""
    rows = [
        {
            **{name: getattr(background, name) for name in ("key", "photo", "context", "path")},
            "status": "used" if background.used else "skipped",
            **background.why.columns,
            **{name: getattr(background, name) for name in ("width", "height", "scale", "faces", "palette")},
            **{name: getattr(background.record, name) for name in ("rating", "label", "licence", "creator", "source")},
        }
        for background in backgrounds
    ]
    return pd.DataFrame(rows, columns=TABLES["backgrounds"].columns).astype({"rating": float})
