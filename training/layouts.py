"""Readers of the layouts in which FFHQ, FairFace and CelebA-HQ are published.

FFHQ (Karras et al. 2019, CC BY-NC-SA 4.0, each photo under its own licence) has no labels: models read them. FairFace
(Kärkkäinen & Joo 2021, CC BY 4.0) and CelebA-HQ (Karras et al. 2018, non-commercial research) have some. The part that
a set calls its validation or test set is held out, besides the tenth that ``sources.held_out`` takes of each set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from gslopes.photos.folder import list_files
from training.sources import (
    GENDERS,
    HELD_OUT,
    LabelledPhotos,
    held_out,
    read_celeba,
    unpacked,
    young,
)

FFHQ_FOLDERS = ("images1024x1024", "thumbnails128x128")
FFHQ_VALIDATION = 60000  # the number of the first photo that the set's authors keep for validation
FAIRFACE_COLUMNS = ("file", "age", "gender", "race")
RACES = {  # a table's word: our name
    "white": "white",
    "black": "black",
    "latino_hispanic": "latino",
    "east asian": "east-asian",
    "southeast asian": "southeast-asian",
    "indian": "indian",
    "middle eastern": "middle-eastern",
}
Row = tuple[Path, Sequence[float] | np.ndarray[Any, Any], bool]  # photo, labels, whether held out
PERSON = ("masculine", "young", *RACES.values())
MASKED = ("CelebA-HQ-img", "CelebAMask-HQ-attribute-anno.txt", "CelebA-HQ-to-CelebA-mapping.txt")


def person(gender: str, age: str, race: str) -> list[float]:
    """What words say of a person, in the order of ``PERSON``: 1, 0, NaN if unknown.

    >>> person("Female", "20-29", "East Asian")
    [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    word = race.strip().lower()
    races = [float(word == each) if word in RACES else np.nan for each in RACES]
    return [GENDERS.get(gender.strip().lower(), np.nan), young(age.strip().lower()), *races]


def labelled(name: str, names: Sequence[str], rows: Sequence[Row]) -> LabelledPhotos:
    """A set of photos, their labels, and whether each is held out."""
    values = np.array([[*labels, aside] for _, labels, aside in rows], np.float32)
    return LabelledPhotos(name, tuple(path for path, _, _ in rows), (*names, HELD_OUT), values)


# -- FFHQ --------------------------------------------------------------------------------------------------------------


def ffhq_folder(data: Path) -> Path | None:
    """Where FFHQ's pictures are below a folder, in thousands or all in one folder, if there are any."""
    for home in (data, data / "ffhq", data / "ffhq-dataset", data / "FFHQ"):
        for name in FFHQ_FOLDERS:
            if (home / name).is_dir():
                return home / name
    if data.resolve().name in FFHQ_FOLDERS:
        return data
    return None


def read_ffhq(data: Path) -> LabelledPhotos:
    """FFHQ's aligned pictures or thumbnails, without labels; its JSON of metadata is not needed.

    Raises: DataMissing if there is no picture that is named as FFHQ names them.
    """
    folder = ffhq_folder(data)
    paths = sorted(folder.rglob("[0-9]*.png")) if folder else []
    numbered = [path for path in paths if path.stem.isdigit() and len(path.stem) == 5]
    if not numbered:
        raise DataMissing(
            f"{folder or data} holds no picture named as FFHQ names them, such as 00000/00000.png.",
            f"Download FFHQ's {' or '.join(FFHQ_FOLDERS)} there.",
        )
    rows: list[Row] = [
        (path, (), int(path.stem) >= FFHQ_VALIDATION or held_out(path.name)) for path in numbered
    ]
    return labelled("ffhq", (), rows)


# -- FairFace ----------------------------------------------------------------------------------------------------------


def fairface_folder(data: Path) -> Path | None:
    """Where FairFace's tables are below a folder, if they are."""
    homes = (data, data / "FairFace", data / "fairface")
    return next((home for home in homes if [*home.glob("fairface_label_*.csv")]), None)


def read_fairface(data: Path) -> LabelledPhotos:
    """FairFace: perceived gender, race of seven, whether younger than 35, by annotators; its val is held out.

    Its columns are file, age, gender, race and service_test, which is not used.

    Raises: DataMissing if a table lacks a column, has a word that FairFace does not know, or has no pictures.
    """
    home = fairface_folder(data)
    assert home is not None
    rows: list[Row] = []
    for table in sorted(home.glob("fairface_label_*.csv")):
        people = read_csv(table, FAIRFACE_COLUMNS, raises=DataMissing).checked(FAIRFACE_COLUMNS)
        before = len(rows)
        for line, row in people.rows():
            if row["race"].lower() not in RACES or row["gender"].lower() not in GENDERS:
                raise DataMissing(
                    f"{table}, line {line}: FairFace knows no {row['gender']} {row['race']}.",
                    "Take the table as FairFace publishes it.",
                )
            path = home / row["file"]
            if path.is_file():
                aside = path.parent.name == "val" or held_out(path.name)
                rows.append((path, person(row["gender"], row["age"], row["race"]), aside))
        if len(rows) == before:
            raise DataMissing(
                f"{home} holds none of the pictures of {table.name}.",
                "Unpack FairFace's train and val beside its tables, or take the other table away.",
            )
    return labelled("fairface", PERSON, rows)


# -- CelebA-HQ ---------------------------------------------------------------------------------------------------------


def celeba_hq_folder(data: Path) -> Path | None:
    """Where CelebA-HQ is below a folder: as StarGAN v2 has it, or as CelebAMask-HQ; None if it is not."""
    masked = unpacked(data, "CelebAMask-HQ")
    if any((masked / name).exists() for name in MASKED):
        return masked
    folder = unpacked(data, "celeba_hq")
    return folder if folder.is_dir() else None


def read_celeba_hq(data: Path) -> LabelledPhotos:
    """CelebA-HQ: of StarGAN v2 its two folders as gender and its val held out; of CelebAMask-HQ CelebA's 40 attributes.

    What CelebAMask-HQ says of CelebA's own numbers decides which photos are held out: those of ``read_celeba``.

    Raises: DataMissing if half of either layout is not there.
    """
    folder = celeba_hq_folder(data)
    assert folder is not None
    if any((folder / name).exists() for name in MASKED):
        return _masked(folder)
    rows: list[Row] = []
    for part in ("train", "val"):
        for word in ("male", "female"):
            here = folder / part / word
            photos = list_files(here) if here.is_dir() else []
            if part == "train" and not photos:
                raise DataMissing(
                    f"{here} is not there or holds no photo.",
                    "CelebA-HQ as StarGAN v2 has it is train/male and train/female, and val beside them.",
                )
            for photo in photos:
                aside = part == "val" or held_out(photo.path.name)
                rows.append((photo.path, (GENDERS[word],), aside))
    return labelled("celeba-hq", ("masculine",), rows)


def _masked(folder: Path) -> LabelledPhotos:
    pictures, listed, mapped = (folder / name for name in MASKED)
    for path in (pictures, listed):
        if not path.exists():
            raise DataMissing(
                f"{folder} is half of CelebAMask-HQ: {path.name} is not there.", "Unpack all of it."
            )
    try:
        table = pd.read_csv(listed, sep=r"\s+", skiprows=1)  # the first line is their number
        values = (table.to_numpy(np.float32) == 1).astype(np.float32)
        numbers = pd.read_csv(mapped, sep=r"\s+", dtype=str) if mapped.exists() else None
        original = (
            {} if numbers is None else dict(zip(numbers["idx"], numbers["orig_file"], strict=True))
        )
    except (ValueError, LookupError) as error:
        raise DataMissing(
            f"A list of {folder} is not CelebAMask-HQ's: {error}.", "Take it as it is published."
        ) from error
    if len(table.columns) != 40:
        raise DataMissing(
            f"{listed} names {len(table.columns)} attributes, not CelebA's 40.",
            "Take it as CelebAMask-HQ publishes it.",
        )
    rows: list[Row] = []
    for name, labels in zip(map(str, table.index), values, strict=True):
        path = pictures / name
        if path.is_file():
            rows.append((path, labels, held_out(original.get(path.stem, name))))
    if not rows:
        raise DataMissing(
            f"{pictures} holds none of the pictures of its list.", "Unpack all of it."
        )
    return labelled("celeba-hq", tuple(table.columns), rows)


def read_attributes(data: Path) -> LabelledPhotos:
    """CelebA's 40 attributes: of its aligned pictures, else of CelebAMask-HQ.  Raises: DataMissing."""
    masked = celeba_hq_folder(data)
    if unpacked(data, "img_align_celeba").is_dir() or masked is None or masked.name == "celeba_hq":
        return read_celeba(data)
    return _masked(masked)


Reader = Callable[[Path], LabelledPhotos]
LAYOUTS: Mapping[str, tuple[Callable[[Path], Path | None], Reader]] = {
    "celeba-hq": (celeba_hq_folder, read_celeba_hq),
    "fairface": (fairface_folder, read_fairface),
    "ffhq": (ffhq_folder, read_ffhq),
}


def layouts_in(data: Path) -> dict[str, Reader]:
    """The readers of these layouts that a folder holds, by the name of the set."""
    return {name: read for name, (find, read) in LAYOUTS.items() if find(data) is not None}
