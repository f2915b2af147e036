"""Packed chips in tar files, as WebDataset reads them: a training draws from a part that moves on through all of them.

A loop draws from a pool of chips as it draws from a set in memory. After each step as many chips of the pool as a batch
has go, those that came first, and the next ones of the stream take their rows. A chip stays so long that it is drawn
once on average, or by its weight. If the whole set fits into the pool nothing is renewed, and training is the same as
in memory. The shards are read in an order that is drawn for each pass, the same in every run; where a run was stopped
follows from its step.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gslopes.core.errors import DataMissing, UsageError
from gslopes.core.files import read_json
from gslopes.core.records import ByteArray
from gslopes.core.runfolder import write_json
from gslopes.faces.zoo import ModelSpec
from training.parallel import gathered, rank, world
from training.sets import QUALITY, TrainingSet

POOL = 8192  # chips in memory: 400 MB of 128 x 128
SHARD = 2048  # chips a file: about 5 MB
Sample = dict[str, bytes]
MOST_ASIDE = 2048  # held-out chips that are read to measure on


class Shards:
    """A folder of shards of one model's chips.  Raises: DataMissing if it is not whole, or of another model."""

    def __init__(self, spec: ModelSpec, folder: Path) -> None:
        self.folder = folder
        file = index_of(spec, folder)
        try:
            facts = read_json(file)
            self.learned: list[tuple[str, int]] = [(n, int(c)) for n, c in facts["learned"]]
            self.aside: list[tuple[str, int]] = [(n, int(c)) for n, c in facts["held_out"]]
            self.size, labels = int(facts["size"]), tuple(facts["labels"])
            self.ends: dict[str, int] = dict(facts["ends"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DataMissing(f"{file} is damaged.", "Pack the chips again.") from error
        if (self.size, labels) != (spec.size, spec.labels):
            raise DataMissing(
                f"{folder} was packed for another {spec.name}: its chips or labels differ.",
                "Pack the chips again.",
            )
        gone = [name for name, _ in self.learned + self.aside if not (folder / name).is_file()]
        if gone:
            raise DataMissing(f"{folder} lacks {gone[0]}, which its index names.", "Pack it again.")

    def __len__(self) -> int:
        return sum(count for _, count in self.learned)

    def samples(self, first: int, seed: int) -> Iterator[Sample]:
        """The chips to learn from, pass after pass without end, from the one of this number on."""
        passed, within = divmod(first, len(self))
        while True:
            order = np.random.default_rng([seed, passed]).permutation(len(self.learned))
            for number in order:
                name, count = self.learned[number]
                if within >= count:
                    within -= count
                    continue
                yield from islice(self._read(name, count), within, None)
                within = 0
            passed += 1

    def held_out(self) -> TrainingSet:
        """The first held-out chips, at most ``MOST_ASIDE``."""
        every = (sample for name, count in self.aside for sample in self._read(name, count))
        return as_set([*islice(every, MOST_ASIDE)], held_out=True)

    def _read(self, name: str, count: int) -> Iterator[Sample]:
        path = self.folder / name
        count_read = 0
        for sample in samples_of(path):
            if not {"webp", "json"} <= sample.keys():
                raise _damaged(path)
            count_read += 1
            yield sample
        if count_read != count:
            raise _damaged(path)


def samples_of(path: Path) -> Iterator[Sample]:
    """The samples of a tar file as WebDataset has them: neighbours whose names are the same up to the first dot.

    Ending to bytes; ``__key__`` is the name, ``__url__`` the file.  Raises: DataMissing for a damaged file.
    """
    sample: Sample = {}
    try:
        with tarfile.open(path) as tar:
            for member in filter(tarfile.TarInfo.isfile, tar):
                folder, _, name = member.name.rpartition("/")
                stem, _, ending = name.partition(".")
                key = f"{folder}/{stem}" if folder else stem
                if sample and sample["__key__"] != key.encode():
                    yield sample
                    sample = {}
                content = tar.extractfile(member)
                if stem and ending and content is not None:
                    sample |= {"__key__": key.encode(), "__url__": str(path).encode()}
                    sample[ending.lower()] = content.read()
    except (OSError, tarfile.TarError, EOFError) as error:
        raise _damaged(path) from error
    if sample:
        yield sample


def _damaged(path: Path) -> DataMissing:
    return DataMissing(
        f"{path} is damaged: it does not hold what its index says.", "Pack it again."
    )


def index_of(spec: ModelSpec, folder: Path) -> Path:
    """Where ``Shards`` looks for what a folder has for a model."""
    return folder / f"{spec.name}.shards.json"


def decoded(sample: Sample) -> ByteArray:
    """A chip, (S, S, 3) uint8 RGB.  Raises: DataMissing for one that is none."""
    picture = cv2.imdecode(np.frombuffer(sample["webp"], np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise _damaged(Path(sample["__url__"].decode()))
    return np.asarray(picture, np.uint8)[..., ::-1]


def told(samples: list[Sample]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Labels (n, L) and weights (n,)."""
    rows = [json.loads(sample["json"]) for sample in samples]
    labels = [[np.nan if x is None else x for x in row["labels"]] for row in rows]
    return np.array(labels, np.float32), np.array([row["weight"] for row in rows], np.float64)


def as_set(samples: list[Sample], held_out: bool = False) -> TrainingSet:
    """Samples in memory."""
    labels, weights = told(samples)
    pixels = np.stack([decoded(sample) for sample in samples])
    return TrainingSet(pixels, labels, weights, np.full(len(pixels), held_out))


@dataclass(frozen=True, slots=True)
class Renewed:
    """Chips that take the rows of older ones.

    rows: (n,) in the pool.  pixels: (n, S, S, 3) uint8 RGB.  labels: (n, L).  weights: (n,); all on the device.
    """

    rows: Tensor
    pixels: Tensor
    labels: Tensor
    weights: Tensor


class Feed:
    """A pool of chips that moves on with the steps.

    pool: chips in memory, of all processes the same.  batch: chips of a step, over all processes, each of which decodes
        its share.

    Raises: UsageError for a pool of less than two batches.
    """

    def __init__(
        self, shards: Shards, batch: int, device: str, pool: int = POOL, seed: int = 0
    ) -> None:
        if pool < 2 * batch:
            raise UsageError(
                f"A pool of {pool} is less than two batches of {batch}.", "Raise --pool."
            )
        self.shards = shards
        self.batch = batch
        self.device = device
        self.pool = min(pool, len(shards))
        self.seed = seed
        self.step = 0  # of which the pool is
        self.samples = shards.samples(0, seed)
        self.thread = ThreadPoolExecutor(1)
        self.coming: Future[tuple[list[Sample], ByteArray]] | None = None

    def first(self) -> TrainingSet:
        """The pool of step 0."""
        return as_set([*islice(self.samples, self.pool)])

    def renewed(self, step: int) -> Iterator[Renewed]:
        """What has changed in the pool since the step before; after a stop, all of it."""
        if self.pool == len(self.shards):
            return
        if step != self.step + 1 and step != self.step:
            self.samples = self.shards.samples(step * self.batch, self.seed)
            begin = step * self.batch
            for start in range(begin, begin + self.pool, self.batch):
                yield self._moved(start, min(self.batch, begin + self.pool - start))
        elif step == self.step + 1:
            yield self._moved(self.pool + self.step * self.batch, self.batch)
        self.step = step
        if self.coming is None:
            self.coming = self.thread.submit(self._next, self.batch)

    def _moved(self, first: int, count: int) -> Renewed:
        """The next chips of the stream, which are those from the number ``first`` on, for their rows of the pool."""
        samples, own = self.coming.result() if self.coming else self._next(count)
        self.coming = None
        labels, weights = told(samples)
        pixels = torch.from_numpy(own).to(self.device)
        if count % world() == 0:
            pixels = gathered(pixels)
        rows = (first + torch.arange(count)) % self.pool
        columns = (torch.from_numpy(part).to(self.device) for part in (labels, weights))
        return Renewed(rows.to(self.device), pixels, *columns)

    def _next(self, count: int) -> tuple[list[Sample], ByteArray]:
        samples = [*islice(self.samples, count)]
        share = samples[rank() :: world()] if count % world() == 0 else samples
        return samples, np.stack([decoded(sample) for sample in share])


class Writer:
    """Writes chips as shards of one model; the index comes last, so that a part of them is never taken for all.

    Raises: UsageError if the folder already has the model's chips.
    """

    def __init__(self, spec: ModelSpec, folder: Path, shard: int = SHARD) -> None:
        if index_of(spec, folder).exists():
            raise UsageError(
                f"{folder} already holds chips of {spec.name}.", "Name another folder."
            )
        folder.mkdir(parents=True, exist_ok=True)
        self.spec, self.folder, self.shard = spec, folder, shard
        self.open: dict[bool, tarfile.TarFile] = {}
        self.files: dict[bool, list[list[Any]]] = {False: [], True: []}
        self.ends = dict.fromkeys(spec.ends, 0)

    def write(self, chips: TrainingSet) -> None:
        """Add chips."""
        scaled = chips.weights / chips.weights.mean()  # every lot counts by its number
        for row, aside in enumerate(chips.held_out.tolist()):
            files = self.files[aside]
            if not files or files[-1][1] == self.shard:
                self._close(aside)
                name = f"{self.spec.name}-{'held-out-' if aside else ''}{len(files):06}.tar"
                files.append([name, 0])
                self.open[aside] = tarfile.open(self.folder / name, "w")  # noqa: SIM115
            quality = [cv2.IMWRITE_WEBP_QUALITY, QUALITY]
            webp = cv2.imencode(".webp", chips.pixels[row][..., ::-1], quality)[1]
            labels = [None if np.isnan(x) else float(x) for x in chips.labels[row]]
            facts = {"labels": labels, "weight": float(scaled[row])}
            key = f"{len(files) - 1:06}{files[-1][1]:06}"
            for ending, content in (("webp", webp.tobytes()), ("json", json.dumps(facts).encode())):
                member = tarfile.TarInfo(f"{key}.{ending}")
                member.size = len(content)
                self.open[aside].addfile(member, io.BytesIO(content))
            files[-1][1] += 1
            if not aside and len(self.ends) == 2:
                low, high = self.ends
                self.ends[low if labels[0] is not None and labels[0] < 0 else high] += 1

    @property
    def written(self) -> int:
        """Chips so far."""
        return sum(count for files in self.files.values() for _, count in files)

    def _close(self, aside: bool) -> None:
        if aside in self.open:
            self.open.pop(aside).close()

    def close(self) -> int:
        """Write the index; returns the number of chips.  Raises: DataMissing if there are too few."""
        for aside in (False, True):
            self._close(aside)
        learned, held_out = (sum(count for _, count in self.files[key]) for key in (False, True))
        if not learned or not held_out or (0 in self.ends.values() and len(self.ends) == 2):
            counts = ", ".join(f"{count:,} {word}" for word, count in self.ends.items())
            raise DataMissing(
                f"{learned:,} chips are to learn from ({counts}), and {held_out:,} are held out.",
                "It takes some of each: add photos.",
            )
        facts: dict[str, Any] = {"size": self.spec.size, "labels": list(self.spec.labels)}
        facts |= {"ends": self.ends, "learned": self.files[False], "held_out": self.files[True]}
        write_json(index_of(self.spec, self.folder), facts)
        return learned + held_out
