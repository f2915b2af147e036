"""How long a training will take: what is to be made before its first step, by what a few photos take; and its steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from gslopes.core.errors import DataMissing
from gslopes.core.progress import minutes
from gslopes.core.text import many
from gslopes.faces.zoo import ModelSpec
from training.data import chosen, few_of, made, usable
from training.masks import MakeMasks, kept_masks
from training.prepared import (
    NotKept,
    Work,
    known,
    known_files,
    only_kept,
    rate,
    records,
    watched,
)
from training.sets import TrainingSet
from training.shards import Shards, index_of
from training.sources import LabelledPhotos

SAMPLE = 64  # photos
BATCH = 8  # photos of a timed step on a CPU: a step's time grows with them
TIMED = {"cuda": 40, "cpu": 2}  # steps; of those on CUDA the first are recorded
DRAWN = 12000  # faces of ``training.sets.drawn_faces``


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be made before the first step: of which set, which work, of how many photos, in about how long."""

    work: str
    of: str
    photos: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is to be made, without what is kept already.

    sample: photos on which that was timed, None if they are too few for a training.  everything: if all is kept.
    """

    tasks: tuple[Task, ...]
    sample: TrainingSet | None = None
    everything: TrainingSet | None = None

    @property
    def few(self) -> TrainingSet | None:
        """Some photos, to time a step with; None if there are too few."""
        return self.sample if self.everything is None else few_of(self.everything, SAMPLE)

    @property
    def seconds(self) -> float:
        """Of all tasks."""
        return sum(task.seconds for task in self.tasks)

    def sentence(self) -> str:
        """When the first step is to be expected."""
        if self.everything is not None:
            return "All photos are prepared: the first step begins at once."
        longest = sorted(self.tasks, key=lambda task: -task.seconds)[:3]
        parts = [
            f"{task.work}{f' of {task.of}' if task.of else ''}, {many(task.photos, 'photo')}, "
            f"{minutes(task.seconds)}"
            for task in longest
        ]
        others = len(self.tasks) - len(parts)
        rest = f"; and {others} shorter" if others else ""
        return f"First step in {minutes(self.seconds)}. To make before: {'; '.join(parts)}{rest}."


def forecast(
    name: str,
    spec: ModelSpec,
    data: Path,
    device: str,
    limit: int | None = None,
    sources: Sequence[LabelledPhotos] | None = None,
    masks: Sequence[MakeMasks] = (),
) -> Forecast:
    """What a training on a set has to make first.  Arguments as of ``training.data.made``.

    masks: that the loop needs, see ``training.masks``.

    A few of its photos are made on the way, and kept. A work that was done before is taken to be as fast again.

    Raises: DataMissing.
    """
    if index_of(spec, data).is_file():
        return Forecast((), None, Shards(spec, data).held_out())
    if sources is None:
        sources = chosen(name, spec, data, limit)
    everything = None
    with suppress(NotKept), only_kept():
        everything = made(name, spec, data, device, limit, sources)
        for make in masks:
            kept_masks(everything.part(~everything.held_out).pixels, device, make)
        return Forecast((), None, everything)
    fewest = min(SAMPLE, limit or SAMPLE)
    few = chosen(name, spec, data, fewest) if sources else []
    sample = None
    with watched() as calls, suppress(DataMissing):  # too few for a training; they were made
        sample = made(name, spec, data, device, fewest, few)
        for make in masks:
            kept_masks(sample.part(~sample.held_out).pixels, device, make)
    of_use = {photos.set: photos.part(usable(name, spec, photos)) for photos in sources}
    count = sum(map(len, of_use.values())) or min(limit or DRAWN, DRAWN)
    share = count / max(1, sum(map(len, few)) or fewest)
    if everything is not None and sample is not None:  # all but masks is kept
        share = len(everything.pixels) / len(sample.pixels)
    tasks = []
    for call in calls:
        photos = of_use.get(call.of)
        total, kept = round(call.asked * share), records(call.work)
        if photos is not None:
            part = sum(len(each) for each in few if each.set == call.of)
            total = round(call.asked * len(photos) / max(1, part))
            kept = _kept(call.work, photos)
        each = rate(call.work) or call.seconds / max(1, call.made)
        if total > kept:
            tasks.append(Task(call.work.name, call.of, total - kept, (total - kept) * each))
    return Forecast(tuple(tasks), sample)


def _kept(work: Work, photos: LabelledPhotos) -> int:
    """Of how many photos a work has been done."""
    read = known_files(photos.paths)
    return len(read) if work.name == "digests" else known(work, read)


def seconds_a_step(
    loop: Callable[..., dict[str, Any]],
    spec: ModelSpec,
    photos: TrainingSet,
    options: dict[str, Any],
    device: str,
) -> float | None:
    """What a step of a training loop takes, by a few with fewer photos on a CPU; None of a loop without steps.

    loop, options: as of ``training.recipe``.  photos: a few.
    """
    kind = torch.device(device).type
    steps = TIMED.get(kind, 2)
    full = options["optimisation"].batch if "optimisation" in options else options.get("batch")
    if full is None:
        return None
    batch = full if kind == "cuda" else min(full, BATCH)
    photos = photos.part(np.resize(np.arange(len(photos.pixels)), max(full, len(photos.pixels))))
    short = {**options, "report_every": 1, "save_every": steps + 1}
    if "optimisation" in options:
        changes = {"steps": steps, "batch": batch}
        if hasattr(options["optimisation"], "warm"):
            changes["warm"] = 0  # a field learns from the first step
        short["optimisation"] = replace(options["optimisation"], **changes)
    else:
        short |= {"steps": steps, "batch": batch}
    with TemporaryDirectory() as folder:
        loop(
            spec, photos.pixels, photos.labels, photos.weights, Path(folder), device=device, **short
        )
        log = (Path(folder) / "log.jsonl").read_text(encoding="utf-8").splitlines()
    ends = [row["step"] / row["steps_per_s"] for row in map(json.loads, log)]
    late = ends[len(ends) // 2 - 1 :]
    return (late[-1] - late[0]) / (len(late) - 1) * full / batch


def hours(seconds: float) -> str:
    """A long time in words.

    >>> hours(300), hours(8000), hours(400000)
    ('about 5 minutes', 'about 2.2 hours', 'about 4.6 days')
    """
    if seconds < 5400:
        return minutes(seconds)
    if seconds < 48 * 3600:
        return f"about {seconds / 3600:.1f} hours"
    return f"about {seconds / 86400:.1f} days"
