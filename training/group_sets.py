"""The training sets of editors with named ends: photos of which it is known which end they are of, and their tones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from gslopes.core.records import ByteArray
from gslopes.core.text import many
from gslopes.faces.zoo import ModelSpec
from gslopes.photos.folder import list_files
from training.chips import find_faces
from training.editor_sets import learnt_from
from training.layouts import layouts_in
from training.sets import CERTAIN, TrainingSet
from training.sources import (
    YOUNG,
    LabelledPhotos,
    read_celeba_wide,
    read_utkface,
    unpacked,
)

# What UTKFace and the labeller call the ends that have other names here.
CALLED = {"east-asian": "asian", "south-asian": "indian"}
OTHERS = ("gender", "young", "smiling")  # what is known besides, from -1 to 1
LEAST = 10  # photos of an end without which there is no training set
MOST = 450  # photos of an end that are learned from, of one set: parsing a face takes a core 25 ms
OFTEN = 3.0  # how often a face may be drawn, times the mean of its end
SHARES = {"utkface": 0.6, "celeba-wide": 0.4}  # how often a set is drawn if there are two
GRAY = 4.0  # a* and b* of skin below which a photo is a gray one, whose tone tells nothing
LABEL_COLUMNS = ("path", "label")
FOLDER = "labelled"  # the set's name


def read_groups(data: Path) -> list[LabelledPhotos]:
    """Photos of named groups: UTKFace, wide CelebA, FairFace if ``data`` holds them, else ``read_labelled``'s.

    Raises: DataMissing.
    """
    readers: dict[str, Callable[[Path], LabelledPhotos]] = {
        "UTKFace": read_utkface,
        "celeba-wide": read_celeba_wide,
    }
    present = {name: read for name, read in readers.items() if unpacked(data, name).is_dir()}
    present |= {name: read for name, read in layouts_in(data).items() if name == "fairface"}
    if present:
        return [read(data) for read in present.values()]
    return [read_labelled(data)]


def read_labelled(data: Path) -> LabelledPhotos:
    """Photos with a label each: below ``data`` one folder for each label, or a CSV with the columns path and label.

    Paths in the CSV are below ``data``. The set's names are the labels, in alphabetical order.

    Raises: DataMissing if there are not two labels, or the CSV names none of the photos.
    """
    tables = sorted(data.glob("*.csv"))
    named = _listed(data, tables[0]) if tables else _by_folder(data)
    labels = tuple(sorted({label for _, label in named}))
    if len(labels) < 2:
        found = f"{data} holds photos of {many(len(labels), 'label')}."
        hint = (
            "It takes a folder of photos for each label, or a CSV with the columns path and label."
        )
        raise DataMissing(found, hint)
    values = np.array([[label == each for each in labels] for _, label in named], np.float32)
    return LabelledPhotos(FOLDER, tuple(path for path, _ in named), labels, values)


def _by_folder(data: Path) -> list[tuple[Path, str]]:
    folders = sorted(folder for folder in data.glob("[!.]*") if folder.is_dir())
    return [(photo.path, folder.name) for folder in folders for photo in list_files(folder)]


def _listed(data: Path, table: Path) -> list[tuple[Path, str]]:
    rows = read_csv(table, LABEL_COLUMNS, raises=DataMissing).checked(LABEL_COLUMNS).rows()
    named = [(data / row["path"], row["label"].strip()) for _, row in rows]
    there = [(path, label) for path, label in named if label and path.is_file()]
    if not there:
        hint = f"Write a photo's path below {data} into its column path."
        raise DataMissing(f"{table} names none of the photos of {data}.", hint)
    return there


def groups(
    spec: ModelSpec, sources: Sequence[LabelledPhotos], device: str, checked: bool = True
) -> TrainingSet:
    """Photos of the spec's ends, labels (n, E + 3): which end, 1 or 0; then ``OTHERS`` from -1 to 1.

    A set that names the ends, or knows them by another name (``CALLED``), tells which each photo is of; of another set
    the labeller does, where it is certain. Within each end men and women, younger and older faces are drawn as often.
    Faces with glasses are left out.

    checked: refuse too few; else it is a part of a larger set.

    Raises: DataMissing if there are too few faces of an end.
    """
    parts = [_part(spec, source, device) for source in sources]
    share = 1 / len(sources)
    shares = [SHARES.get(source.set, share) if len(sources) > 1 else 1.0 for source in sources]
    labels = np.concatenate([part.labels for part in parts])
    held_out = np.concatenate([part.held_out for part in parts])
    if checked:
        _check(spec, labels, held_out)
    weights = np.concatenate(
        [share * part.weights for part, share in zip(parts, shares, strict=True)]
    )
    pixels = np.concatenate([part.pixels for part in parts])
    weights = bounded(weights, labels[:, : len(spec.ends)].argmax(1))
    return TrainingSet(pixels, labels, weights, held_out)


def _check(spec: ModelSpec, labels: NDArray[np.float32], held_out: NDArray[np.bool_]) -> None:
    for column, name in enumerate(spec.ends):
        here = labels[:, column] > 0
        left = int((here & ~held_out).sum())
        if left < LEAST or not (here & held_out).any():
            aside = int((here & held_out).sum())
            what = f"Of {name} {many(left, 'face')} can be learned from, and {aside} are held out."
            raise DataMissing(what, f"It takes {LEAST} and one held out: add photos of {name}.")


def _part(spec: ModelSpec, source: LabelledPhotos, device: str) -> TrainingSet:
    """One set's photos of the ends; where the set names them, no more photos are read than are wanted."""
    faces = find_faces(source.part(learnt_from(source) | source.held_out()), device)
    photos = faces.photos
    held_out = photos.held_out()
    ends = _named(spec, photos)
    usable = faces.outside < 0.6
    if ends is not None:
        usable = _few(
            ends, usable, held_out, MOST + MOST // 3
        )  # a tenth of them, or more, have glasses
    rows = np.flatnonzero(usable)
    read = faces.part(rows).read("labeller")
    if ends is None:
        sure = [read[CALLED.get(name, name)] >= CERTAIN for name in spec.ends]
        ends = np.zeros((len(usable), len(sure)), np.float32)
        ends[rows] = np.stack(sure, 1)
        kept = ends[rows].sum(1) == 1
        rows, read = rows[kept], {name: values[kept] for name, values in read.items()}
    tags = faces.part(rows).read("celeba-tagger")
    clear = np.zeros(len(usable), bool)
    clear[rows] = tags["Eyeglasses"] < 0.5
    kept = _few(ends, clear, held_out, MOST)[rows]
    rows = rows[kept]
    masculine = photos.column("masculine")[rows]
    age = photos.column("age")[rows]
    known = {
        "gender": np.where(np.isfinite(masculine), masculine, read["masculine"][kept]),
        "young": np.where(np.isfinite(age), age < YOUNG, read["young"][kept]),
        "smiling": tags["Smiling"][kept],
    }
    others = np.stack([2 * known[name] - 1 for name in OTHERS], 1)
    labels = np.concatenate([ends[rows], others], 1).astype(np.float32)
    weights = evenly(ends[rows].argmax(1), others[:, :2] > 0)
    return TrainingSet(faces.part(rows).chips(), labels, weights, held_out[rows])


def named_end(spec: ModelSpec, photos: LabelledPhotos) -> NDArray[np.float64] | None:
    """(n,) the number of the end that each photo is of by its set, NaN for another; None if the set does not tell."""
    ends = _named(spec, photos)
    return None if ends is None else np.where(ends.any(1), ends.argmax(1), np.nan)


def _named(spec: ModelSpec, photos: LabelledPhotos) -> NDArray[np.float32] | None:
    """Which end each photo is of by its set, (n, E) 1 or 0, all 0 for another; None if the set does not tell."""
    names = [name if name in photos.names else CALLED.get(name, name) for name in spec.ends]
    if not all(name in photos.names for name in names):
        return None
    return np.stack([photos.column(name) for name in names], 1)


def _few(
    ends: NDArray[np.float32], usable: NDArray[np.bool_], held_out: NDArray[np.bool_], most: int
) -> NDArray[np.bool_]:
    """Usable photos, at most ``most`` of an end, and a fifth of that of those held out; by seed."""
    order = np.random.default_rng(0).permutation(len(ends))
    chosen = np.zeros(len(ends), bool)
    for column in ends.T:
        for aside, count in ((False, most), (True, most // 5)):
            here = usable & (column > 0) & (held_out == aside)
            chosen[order[here[order]][:count]] = True
    return chosen


def evenly(ends: NDArray[np.intp], others: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights (n,): each end's sum is 1, each combination of ``others`` as often in it, but for ``OFTEN``.

    ends: (n,).  others: (n, A).

    >>> evenly(np.array([0, 0, 0, 1]), np.array([[True], [False], [False], [True]])).tolist()
    [0.5, 0.25, 0.25, 1.0]
    """
    cells = np.column_stack([ends, others])
    _, cell, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return bounded(1 / count[cell.ravel()], ends)


def bounded(weights: NDArray[np.float64], ends: NDArray[np.intp]) -> NDArray[np.float64]:
    """Weights (n,) of which each end's sum is 1, and none is more than ``OFTEN`` times their mean before that."""
    bounded = weights.copy()
    for end in np.unique(ends):
        here = ends == end
        few = np.minimum(weights[here], OFTEN * weights[here].mean())
        bounded[here] = few / few.sum()
    return bounded


# -- the tone of skin at each end --------------------------------------------------------------------------------------


def tones_of(
    pixels: ByteArray, skin: NDArray[np.bool_], ends: NDArray[np.intp]
) -> list[list[float]]:
    """The skin's colour at each end, as ``faces.networks.edit_field`` has it: six numbers, see ``core.records.Tone``.

    pixels: (n, S, S, 3) uint8 RGB.  skin: (n, S, S).  ends: (n,) from 0. Gray photos do not count.
    """
    faces = np.array([skin_colour(*pair) for pair in zip(pixels, skin, strict=True)])
    coloured = np.isfinite(faces[:, 0]) & (np.abs(faces[:, 1:]).max(1) > GRAY)
    tones = []
    for end in np.unique(ends):
        here = faces[coloured & (ends == end)]
        low, middle, high = np.percentile(here[:, 0], (16, 50, 84))
        spread = (high - low) / 2
        rises = [np.polyfit(here[:, 0], here[:, column], 1)[0] for column in (1, 2)]
        tones.append([middle, *np.median(here[:, 1:], 0), spread, *rises])
    return [[round(float(number), 2) for number in tone] for tone in tones]


def skin_colour(chip: ByteArray, skin: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Medians of L*, a*, b* over the skin (S, S) of a chip (S, S, 3) uint8 RGB; NaN without any."""
    if not skin.any():
        return np.full(3, np.nan)
    levels = chip[skin].astype(np.float32)[None] / 255
    return np.median(cv2.cvtColor(levels, cv2.COLOR_RGB2LAB)[0].astype(np.float64), 0)
