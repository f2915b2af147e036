"""Where on the body? Photos alone: focal point, crop and salient regions, by group; a page to mark them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.ask.boxes import Box, Cropper, Saliency, crop_rectangle
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.remote import RemoteCropper
from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, PhotoError, Refused, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import read_json, resolved, why_unreadable
from gslopes.core.reasons import SkipReason
from gslopes.core.records import ByteArray, Finder
from gslopes.core.text import many
from gslopes.crops import gaze, words
from gslopes.crops.asking import Costs, Given, asked_names, model_of, resolve
from gslopes.crops.audit import Croppers
from gslopes.crops.config import RegionsConfig
from gslopes.crops.people import People, people_of, stored_groups
from gslopes.crops.pictures import check_map, checked_crop, focal_point, is_constant, share_inside
from gslopes.crops.portraits import digest_of, look, portraits_of, same_photo, write_groups
from gslopes.crops.review import marked, read_marks
from gslopes.crops.segmentation import Region, groups_of, measured, salient_regions, share_on
from gslopes.crops.tables import TABLES
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import Plan, plan
from gslopes.frame.result import Result
from gslopes.frame.run import Run, carry_out
from gslopes.frame.spec import Audit, Inputs, Made, Stage, Tables

PART = 16


def regions_crops(
    photos: str | Path,
    out: str | Path,
    *,
    croppers: Croppers = (),
    trust: bool = False,
    executor: Executor | None = None,
    finder: Finder | None = None,
    **options: Any,
) -> Result:
    """Where do croppers look on photos of people of different groups?  Called again, it resumes.

    Arguments and errors as of ``crops.audit.audit_crops``; options as of ``gslopes crops regions --help-all``.
    """
    planned = plan(REGIONS, Path(photos), Path(out), options, trust=trust, given=Given(croppers, finder))
    return carry_out(planned, executor or OneProcess())


def read(photos: Path, config: RegionsConfig) -> Inputs:
    """Who is on the photos, and of which groups.  Raises: as ``people_of``."""
    found = people_of(photos, config, min_group=2)
    facts = {"photos": {"count": len(found.portraits), "digest": digest_of(found)}}
    return Inputs(found, facts, notes=(found.absent,) if found.absent else ())


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """How many photos would be looked at."""
    found: People = planned.inputs.content
    sizes = {name: len(persons) for name, persons in found.cells.items()}
    lines = [f"photos       {len(found.portraits):,}, at most {planned.config.per_group:,} of each group"]
    lines += [f"people       {', '.join(f'{name} {count:,}' for name, count in sizes.items())}"]
    return lines, {"photos": len(found.portraits), "per_group": planned.config.per_group, "groups": sizes}


# -- stages -----------------------------------------------------------------------------------------------------------


def choose(run: Run) -> Made:
    """The photos asked about, random ones of each crossed group; why others are not.  Raises: UsageError if none is."""
    people: People = run.inputs
    made = write_groups(run)
    chosen, counts = chosen_of(run.table("people"), people, run.config)
    for why, count in counts.items():
        run.note(f"{many(count, 'photo')} {why}.")
    runfolder.write_json(run.folder / "chosen.json", chosen["photo"].tolist())
    names = asked_names(run)
    run.once(Costs).confirm(run, names, [len(chosen)] * len(names))
    return made


def chosen_of(seen: pd.DataFrame, people: People, config: RegionsConfig) -> tuple[pd.DataFrame, dict[str, int]]:
    """At most ``per_group`` random photos of each crossed group, and why others are not.  Raises: UsageError."""
    used = seen[seen["status"] == "used"].drop_duplicates("photo")
    used = used.assign(group=used["person"].map(people.group_of))
    known = used[used["group"].notna()]
    upright = known[known["height"] >= config.tall * known["width"]]
    headed = upright[upright["head"].notna()]
    counts = {
        "cannot be read": int((seen["status"] != "used").sum()),
        "of no group": len(used) - len(known),
        f"less tall than {config.tall:g} times their width": len(known) - len(upright),
        "without a face": len(upright) - len(headed),
    }
    if headed.empty:
        counts_text = "; ".join(f"{count} {why}" for why, count in counts.items() if count)
        raise UsageError(f"No photo is left to look at: {counts_text}.", "Lower --tall, such as --tall 1.")
    generator = np.random.default_rng([config.seed, 13])
    drawn = []
    for _, members in headed.groupby("group", sort=True):
        positions = np.sort(generator.permutation(len(members))[: config.per_group])
        drawn.append(members.iloc[positions])
    chosen = pd.concat(drawn, ignore_index=True)
    counts["left out at random"] = len(headed) - len(chosen)
    return chosen, {why: count for why, count in counts.items() if count}


def chosen_rows(run: Run) -> list[dict[Any, Any]]:
    """Rows of the people table, one a photo, of those that are asked about."""
    people = run.table("people").drop_duplicates("photo").set_index("photo", drop=False)
    return people.loc[read_json(run.folder / "chosen.json")].to_dict("records")


def ask(run: Run, rows: Sequence[Mapping[Any, Any]], name: str) -> Made:
    """Each photo alone: where the focal point and the crop of ratio 1 lie, and what is salient."""
    assert run.plan is not None
    model, folder = model_of(run, name), run.plan.source
    if isinstance(model, RemoteCropper):
        model.ask_about(run.folder, lambda: (_pixels(folder, row) for row in rows), lambda _: None)
    glances: list[dict[str, Any]] = []
    regions: list[dict[str, Any]] = []
    for row in rows:
        key = {"cropper": name, "photo": row["photo"]}
        try:
            glance, found = _glance(model, _pixels(folder, row), row)
            glances.append({**key, **glance, "status": "answered", **SkipReason().columns})
            regions += [{**key, "region": index, **one} for index, one in enumerate(found)]
        except (AnswerError, Refused, PhotoError) as error:
            status = "refused" if isinstance(error, Refused) else "failed"
            glances.append({**key, **_NOTHING, "status": status, **SkipReason.of(str(error), status).columns})
        run.tick(1)
    return {"regions": regions, "glances": glances}


def _pixels(folder: Path, row: Mapping[Any, Any]) -> ByteArray:
    try:
        return same_photo(resolved(folder, row["path"]), row["photo"]).pixels
    except OSError as error:
        raise PhotoError(row["path"], why_unreadable(error)) from error


def _glance(
    model: Saliency | Cropper, pixels: ByteArray, row: Mapping[Any, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    head = Box(*(float(value) for value in row["head"]))
    height, width = pixels.shape[:2]
    found: list[Region] = []
    if has_map(model):
        (saliency_map,) = cast("Saliency", model).maps([pixels])
        check_map(saliency_map, width, height, model.name, row["path"])
        if is_constant(saliency_map):
            raise AnswerError(f"{model.name} finds nothing salient.")
        point: tuple[int, int] | None = focal_point(saliency_map)
        crop = crop_rectangle(width, height, *cast("tuple[int, int]", point), 1.0)
        found = salient_regions(saliency_map, width, height)
    else:
        answer = cast("Cropper", model).crop(pixels, 1.0)
        crop, point = checked_crop(answer, width, height, 1.0, model.name)[0], answer.point
    x, y = point or (-1, -1)
    record: dict[str, Any] = {"x": x, "y": y, "left": crop.left, "top": crop.top, "crop_width": crop.width}
    record |= {"crop_height": crop.height, "off_head": None if point is None else not head.holds(x, y)}
    record |= {"kept": np.float32(share_inside(head, crop)), "regions": len(found)}
    return record, [_region_row(one, head) for one in found]


_NOTHING = {"x": -1, "y": -1, "off_head": None, "kept": None} | dict.fromkeys(
    ("left", "top", "crop_width", "crop_height", "regions"), 0
)


def _region_row(region: Region, head: Box) -> dict[str, Any]:
    box = region.box
    sides = {"x0": round(box.x0), "y0": round(box.y0), "x1": round(box.x1), "y1": round(box.y1)}
    more = {"area": region.area, "cells": region.cells, "on_head": np.float32(share_on(region, head))}
    return {**sides, **more, "kind": "", "by": ""}


def with_marks(run: Run, made: Tables) -> Made:
    """The regions with what people marked.  Raises: as ``read_marks`` and ``marked``."""
    file = run.config.review or run.folder / "review.csv"
    people = run.table("people").drop_duplicates("photo")
    path_of: dict[str, str] = dict(people[["photo", "path"]].itertuples(index=False))
    marks = read_marks(file, wanted=run.config.review is not None)
    return {"glances": made["glances"], "regions": marked(made["regions"], marks, path_of, runfolder.show(file))}


def measure(run: Run) -> Made:
    """Shares and differences between groups, of the photos on which enough is salient."""
    config, glances = run.config, run.table("glances")
    people = run.table("people").drop_duplicates("photo")
    person: dict[str, str] = dict(people[["photo", "person"]].itertuples(index=False))
    mapped = set(glances.loc[glances["regions"] > 0, "cropper"])  # the others give rectangles, or nothing salient
    few = glances["cropper"].isin(mapped) & (glances["regions"] < config.min_regions)
    lost = glances[few & (glances["status"] == "answered")].groupby("cropper").size()
    for name, count in lost.items():
        run.note(f"{many(int(count), 'photo')} with fewer than {config.min_regions} salient regions for {name}.")
    return dict(measured(glances[~few], run.table("regions"), groups_of(stored_groups(run.folder), person)))


def begin(run: Run, executor: Executor) -> None:
    """Before the first stage: who says what asking costs."""
    run.once(Costs).executor = executor


def judged(tables: Tables) -> pd.DataFrame:
    """Differences between groups, in points; they have an interval and no test."""
    gaps = tables["gaze_gaps"].dropna(subset=["difference"])
    photos = [gaze.photos_of(tables["gaze"], row) for row in gaps.to_dict("records")]
    return pd.DataFrame(
        {
            "model": gaps["cropper"],
            "contrast": gaps["column"] + ": " + gaps["group"] + " less " + gaps["other"],
            "label": gaps["what"].map(gaze.WHAT),
            "n": photos,
            "value": 100 * gaps["difference"],
            "ci_low": 100 * gaps["ci_low"],
            "ci_high": 100 * gaps["ci_high"],
            "unit": "percentage points",
            "q": np.nan,
            "reason": "an interval, no test",
        }
    )


REGIONS = Audit(
    name="crops regions",
    home=Path(__file__).parent,
    question="Where on the body does a crop look?",
    source="PEOPLE",
    about="""Where on the body do croppers look, by group?

    The focal point and the crop of ratio 1 against the head, and the salient regions of each photo alone. What the
    regions show is marked on RUN/review.html, whose review.csv, saved into RUN, is read by the same command.
    """,
    examples=(
        "gslopes crops regions PEOPLE --people people.csv --groups gender --cropper fine-grained --out RUN",
        "gslopes crops regions RUN --review review.csv",
    ),
    config=RegionsConfig,
    tables={name: TABLES[name] for name in ("people", "traits", "glances", "regions", "gaze", "gaze_gaps", "kinds")},
    inputs=read,
    outline=outline,
    stages=(
        Stage("look", ("inputs",), ("people",), look, items=portraits_of, here=True, options=()),
        Stage(
            "choose", ("inputs", "people"), ("traits", "groups.json", "chosen.json"), choose,
            options=("groups", "tall", "per_group", "seed", "source"),
        ),
        Stage(
            "glances", ("inputs", "people", "chosen.json", "review.csv"), ("regions", "glances"), ask,
            items=chosen_rows, part=PART, each=asked_names, here=True, join=with_marks,
            merging=("review.csv", "review"), options=("review", "seed"),
        ),
        Stage(
            "measure", ("people", "groups.json", "glances", "regions"), ("gaze", "gaze_gaps", "kinds"), measure,
            options=("min_regions",),
        ),
        Stage(
            "review", ("inputs", "people", "glances", "regions"), ("review.html", "cards.json"), gaze.write_review,
            options=("embed",),
        ),
    ),
    judged=judged,
    headline=gaze.headline_of,
    counts=words.counts,
    terminal=gaze.terminal,
    shown=("gaze", "gaze_gaps", "kinds"),
    page=gaze.SECTIONS,
    models=resolve,
    before=begin,
)  # fmt: skip
