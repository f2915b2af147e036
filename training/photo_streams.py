"""Photos that come one after the other, more than memory or disk would hold, made into shards of chips.

A stream is a Hugging Face data set (``hf:NAME``, or a folder of Parquet files) or a folder of tar files as WebDataset
has them. A few thousand photos at a time lie in a temporary folder, where they are aligned, read and labelled as photos
of a folder are; then their chips are written and the photos deleted.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath

import numpy as np

from gslopes.ask.cache import VARIABLE
from gslopes.core.errors import DataMissing, UsageError
from gslopes.core.text import many
from gslopes.faces.zoo import ModelSpec
from gslopes.frame.commands import say
from training.data import SETS
from training.layouts import PERSON, person
from training.shards import Sample, Writer, samples_of
from training.sources import TABLE_COLUMNS, LabelledPhotos

LOT = 2048  # photos at a time
BUFFER = 4096  # photos among which the order is drawn
HUB = "hf:"
PICTURES = ("jpg", "jpeg", "png", "webp")
PACKABLE = ("fader", "fader-even", "groups")  # sets of editors
Photo = tuple[
    str, bytes, dict[str, str]
]  # a name that is the photo's own, the file, what is said of it


def is_stream(data: str) -> bool:
    """Whether this names a stream of photos: hf:NAME, or a folder of Parquet or tar files."""
    folder = Path(data)
    if data.startswith(HUB) or not folder.is_dir():
        return data.startswith(HUB)
    others = [f for f in folder.glob("[!.]*") if f.is_dir() and f.name != "data"]
    return not others and any(_files(folder, kind) for kind in ("parquet", "tar"))


def refuse_stream(model: str, data: Path) -> None:
    """Raises: UsageError for photos that have to be packed before a model learns from them."""
    packed = data.is_dir() and any(data.glob("*.shards.json"))
    if not packed and is_stream(str(data)):
        raise UsageError(
            f"{data} is a stream of photos, and a model learns from aligned chips.",
            f"First python -m training pack {model} {data} SHARDS, then --data SHARDS.",
        )


def _files(folder: Path, kind: str) -> list[str]:
    return sorted(map(str, [*folder.glob(f"*.{kind}"), *folder.glob(f"data/*.{kind}")]))


def photos_of(data: str, seed: int = 0) -> Iterator[Photo]:
    """The photos of a stream, in an order that is drawn among ``BUFFER`` at a time and is the same in every run.

    Raises: UsageError without the library that reads it; DataMissing for a set that has no photos or is not there.
    """
    if not data.startswith(HUB) and _files(Path(data), "tar"):
        return _of_tars(_files(Path(data), "tar"), seed)
    return _of_tables(data, seed)


def _of_tars(files: list[str], seed: int) -> Iterator[Photo]:
    rng = np.random.default_rng(seed)
    buffer: list[Sample] = []
    order = (Path(files[number]) for number in rng.permutation(len(files)))
    for sample in chain.from_iterable(map(samples_of, order)):
        buffer.append(sample)
        if len(buffer) > BUFFER:
            number = int(rng.integers(len(buffer)))
            buffer[number], buffer[-1] = buffer[-1], buffer[number]
            yield from _photo(buffer.pop())
    for number in rng.permutation(len(buffer)):
        yield from _photo(buffer[number])


def _photo(sample: Sample) -> Iterator[Photo]:
    """The photo of a sample, if it has one."""
    kind = next((kind for kind in PICTURES if kind in sample), None)
    if kind is not None:
        key = sample["__key__"].decode()
        yield f"{key}.{kind}", sample[kind], _table(sample.get("json", b"{}"), key)


def _table(text: bytes, key: str) -> dict[str, str]:
    try:
        facts = json.loads(text)
    except ValueError as error:
        raise DataMissing(f"The JSON of {key} cannot be read: {error}.", "Correct it.") from error
    if not isinstance(facts, Mapping):
        return {}
    return {str(name).lower(): str(value) for name, value in facts.items() if value is not None}


def _of_tables(data: str, seed: int) -> Iterator[Photo]:
    try:
        import datasets  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError("Hugging Face data sets need datasets.", "pip install datasets") from error
    name = data.removeprefix(HUB)
    files = _files(Path(name), "parquet")
    try:
        if files:
            rows = datasets.load_dataset("parquet", data_files=files, split="train", streaming=True)
        else:
            rows = datasets.load_dataset(name, split="train", streaming=True)
        features = rows.features or {}
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataMissing(
            f"{data} is no data set that can be read: {reason}",
            "Name one as hf:OWNER/NAME, or a folder.",
        ) from error
    column = next((n for n, kind in features.items() if isinstance(kind, datasets.Image)), None)
    if column is None:
        raise DataMissing(
            f"{data} has no column of pictures; its columns are {', '.join(features) or 'unknown'}.",
            "Take a set whose Parquet files have a column of the type Image.",
        )
    words = {n: k.names for n, k in features.items() if isinstance(k, datasets.ClassLabel)}
    rows = rows.cast_column(column, datasets.Image(decode=False))
    for number, row in enumerate(rows.shuffle(seed=seed, buffer_size=BUFFER)):
        picture = row.pop(column)
        if picture is None or not picture.get("bytes"):
            continue
        facts = {
            n.lower(): words[n][v] if n in words and isinstance(v, int) and v >= 0 else str(v)
            for n, v in row.items()
            if v is not None
        }
        yield picture.get("path") or f"{number:09}.jpg", picture["bytes"], facts


def lots(data: str, lot: int = LOT) -> Iterator[LabelledPhotos]:
    """The photos of a stream in a temporary folder, some at a time; each lot is deleted when the next is asked for.

    The last lot has what is left, which may be half as many more than the others: a few photos alone may have no face.
    """
    photos = photos_of(data)
    ahead = [*islice(photos, lot)]
    if not ahead:
        raise DataMissing(f"{data} holds no photos.", "Name a set with pictures.")
    while ahead:
        after = [*islice(photos, lot)]
        if len(after) < lot / 2:
            ahead, after = [*chain(ahead, after)], []
        with tempfile.TemporaryDirectory(prefix="gslopes-") as folder:
            yield _laid(ahead, Path(folder))
        ahead = after


def _laid(photos: list[Photo], folder: Path) -> LabelledPhotos:
    """Photos as files; what their facts say of people is their labels, if it says anything of any."""
    paths, values = [], []
    for number, (name, content, facts) in enumerate(photos):
        plain = re.sub(r"[^\w.-]", "_", PurePosixPath(name).name)[-120:] or "photo.jpg"
        path = folder / f"{number:06}" / plain
        path.parent.mkdir()
        path.write_bytes(content)
        paths.append(path)
        cells = {
            what: next((facts[name] for name in names if name in facts), "")
            for what, names in TABLE_COLUMNS.items()
        }
        values.append(person(**cells))
    table = np.array(values, np.float32)
    said = [column for column in range(len(PERSON)) if np.isfinite(table[:, column]).any()]
    names = tuple(PERSON[column] for column in said)
    return LabelledPhotos("stream", tuple(paths), names, table[:, said])


def folder_lots(sources: list[LabelledPhotos], lot: int = LOT) -> Iterator[LabelledPhotos]:
    """The photos of sets in folders, some at a time, in an order that is drawn."""
    for source in sources:
        order = np.random.default_rng(0).permutation(len(source))
        for rows in np.array_split(order, max(1, len(source) // lot)):
            paths = tuple(source.paths[row] for row in rows)
            yield LabelledPhotos(source.set, paths, source.names, source.values[rows])


@contextmanager
def _cache_aside() -> Iterator[None]:
    """What is made of photos that are deleted again is kept no longer than they are."""
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix="gslopes-cache-") as folder:
        os.environ[VARIABLE] = folder
        try:
            yield
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before


def write_shards(
    spec: ModelSpec, kind: str, data: str, folder: Path, device: str, lot: int = LOT
) -> int:
    """Align, label and weigh the photos of ``data`` for a model, in lots, and write their chips; returns how many.

    kind: the model's training set, a name of ``training.data``.  Within a lot combinations of attributes are drawn as
    often, as in the whole set otherwise; every lot counts by its number of chips.

    Raises: UsageError for a set that cannot be made in lots; DataMissing; as the readers do.
    """
    if kind not in PACKABLE:
        raise UsageError(
            f"The chips of {spec.name} cannot be made a lot at a time.", "Name a file OUT.npz."
        )
    if is_stream(data):
        few: Callable[[], Iterator[LabelledPhotos]] = partial(lots, data, lot)
    else:
        few = partial(folder_lots, list(SETS[kind].read(Path(data))), lot)
    writer = Writer(spec, folder)
    seen = 0
    for photos in few():
        with _cache_aside():
            chips = SETS[kind].make(spec, [photos], device, checked=False)
        seen += len(photos)
        if len(chips.pixels):
            writer.write(chips)
        say(f"{many(seen, 'photo')} read, {many(writer.written, 'chip')} written.", err=True)
    return writer.close()
