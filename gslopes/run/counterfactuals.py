"""Counterfactual sets in a training loop: a dataset of torch, and how far the answers to a set lie apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from gslopes.compose.encode import Variants
from gslopes.compose.paste import Composite
from gslopes.core import runfolder, tables
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.reasons import SkipReason
from gslopes.core.records import ByteArray, Photo
from gslopes.core.runfolder import show
from gslopes.core.trust import user_cache
from gslopes.datasets.folder import PhotoFile, open_photo, photo_batches
from gslopes.executors import Executor, OneProcess
from gslopes.executors.engines import engine
from gslopes.executors.progress import counted
from gslopes.find import align
from gslopes.run import stages, synthesis
from gslopes.run.components import Components, default_components, model_records
from gslopes.run.config import RunConfig, configure
from gslopes.run.plan import SYNTHESIS, Plan, check_folders, identity, read_inputs

Transform = Callable[[Tensor], Tensor]


def pair_penalty(logits: Tensor) -> Tensor:
    """How far the answers to a set lie apart: the mean squared difference of two of them, a scalar.

    logits: (B, K, C), of B sets of K pictures each.

    The mean is over sets, pairs of pictures within a set and classes. Times a weight it is added to the user's
    own loss.
    A penalty of zero makes a slope of zero; it need not close a gap between real people.

    Raises: ValueError for another shape, or for sets of one picture.

    >>> pair_penalty(torch.tensor([[[0.0], [2.0]]]))
    tensor(4.)
    """
    if logits.ndim != 3 or logits.shape[1] < 2:
        raise ValueError(f"The logits are {tuple(logits.shape)}; they must be (B, K, C) with K of 2 or more.")
    return 2 * logits.var(dim=1, correction=1).mean()  # of independent draws, E (a - b)^2 is twice the variance


class Counterfactuals(Dataset[tuple[Tensor, Any]]):
    """Photos of a folder as sets of counterfactuals, with the photos' labels.

    photos: the folder.  attribute: what is edited.
    values: K values, 2 or more, ascending; the attribute's own sweep if None.
    editor: the model that edits, or a kind of model; the attribute's own if empty.
    labels: a photo's path below the folder to its label; by default the place in ``classes`` of the first folder of the
        path, as torchvision's ImageFolder has it.
    cached: edit every photo once, at the start, and keep the pictures as a run folder, from where they are read; False
        edits when a set is asked for, on the device.
    out: that run folder, in the user's cache by default; a second dataset with the same arguments finds it done.
    transform: (K, 3, H, W) to what is wanted, the whole set at once: a crop is then the same for all of it.
    progress: show a bar on stderr.
    executor, components: as of ``gslopes.audit``.
    options: as of ``gslopes.synthesise``, such as ``limit``, ``region``, ``device``, ``engine`` and ``workers``.

    Item i is (pictures, label): (K, 3, H, W) float32 in [0, 1], RGB, in the order of ``values``, all equal outside of
    the face. H and W are the photo's own: without a transform that makes them equal, a batch is one set.

    Photos in which no face can be edited are left out. Without a cache the face's mask is found late: where there is
    none, a set is the photo, K times.

    Items may be asked for by the workers of a DataLoader. Without a cache and with a GPU, let them be spawned
    (``multiprocessing_context="spawn"``), or have none.

    Attributes: ``paths`` (of the photos, below the folder), ``labels``, ``values``, ``classes`` (names of folders;
    empty where labels were given) and ``run`` (the run folder, None without a cache).

    Raises: UsageError if no photo is left, or a photo has no label; ConfigError, UnknownName, ModelError, StorageError.

        sets = gslopes.Counterfactuals("photos", attribute="gender", values=(-2, 0, 2), transform=Resize((224, 224)))
        for pictures, labels in DataLoader(sets, batch_size=8, shuffle=True):
            logits = model(pictures.flatten(0, 1)).unflatten(0, pictures.shape[:2])
            loss = cross_entropy(logits.mean(1), labels) + 0.3 * gslopes.pair_penalty(logits)
    """

    def __init__(
        self,
        photos: str | Path,
        *,
        attribute: str = "gender",
        values: Sequence[float] | None = None,
        editor: str = "",
        labels: Mapping[str, Any] | None = None,
        cached: bool = True,
        out: str | Path | None = None,
        transform: Transform | None = None,
        progress: bool = False,
        executor: Executor | None = None,
        components: Components | None = None,
        **options: Any,
    ) -> None:
        config = configure(photos, {**options, "attribute": attribute, "editor": editor, "placebo": False})
        self.values = tuple(map(float, config.edit.sweeps()[attribute] if values is None else values))
        if len(self.values) < 2 or list(self.values) != sorted(set(self.values)):
            raise UsageError(f"The values {list(self.values)} are not two or more that grow.", "Try (-2, 0, 2).")
        self.transform = transform
        self._plan = _plan(config, attribute, self.values, out, components)
        self._components = components
        self._editing: _InMemory | None = None
        executor = executor or OneProcess(progress=progress)
        self.run = self._plan.run if cached else None
        if cached:
            at_work = engine(executor, config.engine, config.workers, config.device)
            stages.run_synthesise(self._plan, components, at_work)
            self._files = _kept(self._plan.run)
            self.paths = tuple(self._files)
        else:
            self._photos = self._with_face(executor)
            self.paths = tuple(one.relative for one in self._photos)
        if not self.paths:
            raise UsageError(
                f"No face in {show(photos)} can be edited.", "gslopes synthesise says why, photo by photo."
            )
        self.classes, self.labels = _labelled(self.paths, labels)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Tensor, Any]:
        pictures = torch.from_numpy(np.stack(self._pictures(range(len(self))[index])))  # (K, H, W, 3)
        found = pictures.permute(0, 3, 1, 2).contiguous().float() / 255
        return (found if self.transform is None else self.transform(found)), self.labels[index]

    def __getstate__(self) -> dict[str, Any]:
        """What a worker gets: models that the configuration names are loaded there."""
        return {**self.__dict__, "_editing": None}

    def _pictures(self, index: int) -> Sequence[ByteArray]:
        """The K pictures of a photo, (H, W, 3) each.  Raises: UsageError if one is gone."""
        if self.run is not None:
            return [_opened(self.run / file).pixels for file in self._files[self.paths[index]]]
        return self._editor().edited(self._photos[index])

    def _editor(self) -> _InMemory:
        if self._editing is None:
            components = self._components or default_components(self._plan.config, self._plan.device)
            self._editing = _InMemory(self._plan, components, {})
        return self._editing

    def _with_face(self, executor: Executor) -> tuple[PhotoFile, ...]:
        """The photos that are decoded, differ from the earlier ones and have a face to edit."""
        editor, found = self._editor(), list[PhotoFile]()
        same = synthesis.same_bytes(self._plan.files)
        files = [file for file in self._plan.files if file.relative not in same]
        with counted(executor, "find", "photos")(len(files)) as tick:
            for batch in photo_batches(files, _readable):
                found += [file for file, seen in zip(*editor.faces(batch), strict=True) if seen]
                tick(len(batch))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _InMemory(synthesis.Synthesis):
    """The same work as a run's, but its pictures are kept in memory: one set, of the photo that is asked for."""

    made: dict[str, ByteArray] = field(default_factory=dict)

    def edited(self, file: PhotoFile) -> Sequence[ByteArray]:
        """K pictures, (H, W, 3) uint8 each; the photo K times where its face has no mask."""
        photo = _opened(file.path)
        self._walk([(file.relative, photo)], [], [])
        values = next(iter(self.plan.values.values()))
        return list(self.made.pop(photo.id)) if photo.id in self.made else [photo.pixels] * len(values)

    def faces(self, batch: list[tuple[PhotoFile, Photo]]) -> tuple[list[PhotoFile], list[bool]]:
        """The files of a batch, and whether each has a face to edit."""
        size, smallest = next(iter(self.components.editors.values())).size, self.plan.config.find.min_face
        found = self.components.finder([photo for _, photo in batch])
        sides = [(photo.pixels.shape[1], photo.pixels.shape[0]) for _, photo in batch]
        chosen = [align.choose(one, w, h, smallest, size) for one, (w, h) in zip(found, sides, strict=True)]
        return [file for file, _ in batch], [not isinstance(one, SkipReason) for one in chosen]

    def _write(
        self, sweep: str, photo: str, whole: Composite, files: Variants, shown: Sequence[int], packed: Sequence[int]
    ) -> list[synthesis.Row]:
        self.made[photo] = whole.pictures
        return []


def _plan(
    config: RunConfig, attribute: str, values: Sequence[float], out: str | Path | None, components: Components | None
) -> Plan:
    """The plan of the run folder that keeps the pictures."""
    files, inputs = read_inputs(config)
    plan = Plan(config, Path(), files, {attribute: list(values)}, inputs, (), 0)
    models = model_records(config) if components is None else components.records()
    digest = sha256(json.dumps(identity(plan, models), sort_keys=True, default=str).encode()).hexdigest()
    run = Path(out) if out else user_cache() / "counterfactuals" / digest[:16]
    check_folders(config.photos, run)
    done = plan.parts - len(runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts))
    return Plan(config, run, files, plan.values, inputs, (), done)


def _kept(run: Path) -> dict[str, list[str]]:
    """Path of a photo to the files of its K pictures, in order."""
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    edits = tables.read(tables.EDITS, run / "edits.parquet").sort_values(["photo", "step"])
    files = edits.groupby("photo")["file"].agg(list).to_dict()
    used = photos[photos["status"] == "used"]
    return {path: files[photo] for path, photo in zip(used["path"], used["photo"], strict=True) if photo in files}


def _labelled(paths: Sequence[str], labels: Mapping[str, Any] | None) -> tuple[tuple[str, ...], list[Any]]:
    """(classes, a label a photo).  Raises: UsageError if a photo has none."""
    hint = "Give labels={'a.jpg': 0, …}, or a folder a class."
    if labels is not None:
        missing = [path for path in paths if path not in labels]
        if missing:
            raise UsageError(f"{len(missing)} photos have no label, such as {missing[0]}.", hint)
        return (), [labels[path] for path in paths]
    folders = [path.partition("/")[0] if "/" in path else "" for path in paths]
    if "" in folders:
        raise UsageError(f"{paths[folders.index('')]} is in no folder that could be its label.", hint)
    classes = tuple(sorted(set(folders)))
    return classes, [classes.index(name) for name in folders]


def _readable(file: PhotoFile) -> Photo | None:
    try:
        return open_photo(file.path)
    except PhotoError:
        return None


def _opened(path: Path) -> Photo:
    """A picture that was there before.  Raises: UsageError if it is gone."""
    try:
        return open_photo(path)
    except PhotoError as error:
        raise UsageError(f"{show(path)} cannot be read any more: {error}.", "Make the dataset again.") from error
