"""Readers of the sets that models learn from, or are measured on: photos with what is known of them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder
from gslopes.core.csv_table import normal_names, read_csv
from gslopes.core.errors import DataMissing
from gslopes.core.files import is_file, without_guard
from gslopes.core.text import many
from gslopes.photos.folder import list_files
from gslopes.photos.people import People, name_in, read_people

HELD_OUT = "held out"  # a column of sets that have a split of their own


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPhotos:
    """Photos of one set and what is known of them.

    set: the set's short name.  paths: n files.  names: the columns of ``values``.
    values: (n, len(names)) float32; 1 and 0 for yes and no, years for ages, NaN if unknown.
    """

    set: str
    paths: tuple[Path, ...]
    names: tuple[str, ...]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.paths)

    def column(self, name: str) -> NDArray[np.float32]:
        """One label, (n,); all NaN if this set does not have it."""
        if name not in self.names:
            return np.full(len(self), np.nan, np.float32)
        return self.values[:, self.names.index(name)]

    def part(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> LabelledPhotos:
        """The chosen ones."""
        rows = np.arange(len(self))[chosen]
        paths = tuple(self.paths[row] for row in rows)
        return replace(self, paths=paths, values=self.values[rows])

    def held_out(self, share: float = 0.1) -> NDArray[np.bool_]:
        """(n,) whether a photo is never trained on: fixed by the sha256 of its file name, the same for every model.

        A set with a column ``HELD_OUT`` says so itself.
        """
        if HELD_OUT in self.names:
            return self.column(HELD_OUT) == 1
        return np.array([held_out(path.name, share) for path in self.paths], bool)

    def fold(self, name: str) -> NDArray[np.bool_]:
        """(n,) whether a photo belongs to a fold: ``held-out``, ``judges`` or ``editors`` (see ``fold``)."""
        return np.array([fold(path.name) == name for path in self.paths], bool)

    def between(self, low: float, high: float) -> NDArray[np.bool_]:
        """(n,) whether a photo's ``place`` lies in [low, high)."""
        return np.array([low <= place(path.name) < high for path in self.paths], bool)


def place(name: str) -> float:
    """A fixed number in [0, 1), evenly distributed over photos: from the sha256 of the file name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) / 2**64


def held_out(name: str, share: float = 0.1) -> bool:
    """Whether the photo of this file name belongs to the held-out split.

    >>> sum(held_out(f"{i:06}.jpg") for i in range(1000))
    104
    """
    return place(name) < share


def fold(name: str) -> str:
    """Which models may learn from a photo: editors and their judges share none.

    held-out (a tenth): none.  judges (35 %): the judge, which measures editors.  editors (55 %): editors, and the
    guide of their training.

    >>> fold("000001.jpg")
    'editors'
    """
    where = place(name)
    if where < 0.1:
        return "held-out"
    if where < 0.45:
        return "judges"
    return "editors"


def need(path: Path, what: str) -> Path:
    """``path``, if it is there.  Raises: DataMissing, saying what was looked for."""
    if not path.exists():
        raise DataMissing(
            f"{what} is not at {path}.",
            "Unzip the set there, or point --data at the folder that holds it.",
        )
    return path


def unpacked(data: Path, name: str) -> Path:
    """Where the folder of a set is: ``data/name``, ``data`` itself if it has this name, or in it by the same name.

    Programs that unpack a zip into a folder of its name leave ``name/name``.
    """
    folder = data if data.resolve().name == name and not (data / name).is_dir() else data / name
    inner = folder / name
    if inner.is_dir():
        return inner
    return folder


# Where MTCNN finds the five points in the set's aligned pictures, medians over 9,980 of them, in units of the width
# (89 of its 89 x 109 pixels): the set is aligned by the eyes, so these hold for every picture within a pixel or two.
CELEBA_POINTS = (
    np.array(
        [(34.75, 55.93), (54.34, 55.93), (44.5, 68.04), (35.95, 76.47), (53.05, 76.47)], np.float64
    )
    / 89
)


def read_celeba(data: Path) -> LabelledPhotos:
    """CelebA (Liu et al. 2015) below ``data``: its 40 attributes as 1 and 0, for the pictures that are there.

    Raises: DataMissing if the list or the pictures are not there, or the list is not CelebA's.
    """
    folder = need(unpacked(data, "img_align_celeba"), "CelebA's folder of aligned pictures")
    listed = need(data / "list_attr_celeba.txt", "CelebA's list of attributes")
    try:
        table = pd.read_csv(listed, sep=r"\s+", skiprows=1)  # the first line is their number
        values = table.to_numpy(np.float32) == 1
    except ValueError as error:
        raise DataMissing(
            f"{listed} is not CelebA's list: {error}.", "Take it as CelebA publishes it."
        ) from error
    if len(table.columns) != 40:
        what = f"{listed} is not CelebA's list: it names {len(table.columns)} attributes, not 40."
        raise DataMissing(what, "Take it as CelebA publishes it.")
    paths = [folder / str(name) for name in table.index]
    exists = np.array([path.is_file() for path in paths], bool)
    if not exists.any():
        raise DataMissing(
            f"{folder} holds none of the pictures of its list.", "Unpack img_align_celeba there."
        )
    present = tuple(path for path, is_there in zip(paths, exists, strict=True) if is_there)
    return LabelledPhotos(
        "celeba", present, tuple(table.columns), values[exists].astype(np.float32)
    )


def read_celeba_wide(data: Path) -> LabelledPhotos:
    """Wide pictures of the set, hair to chin, below ``data/celeba-wide``; no label comes with them.

    Raises: DataMissing if the folder is not there or holds no picture.
    """
    folder = need(unpacked(data, "celeba-wide"), "The wide pictures of CelebA")
    paths = tuple(sorted(folder.glob("*.jpg")))
    if not paths:
        raise DataMissing(f"{folder} holds no JPEG picture.", "Unpack celeba-wide.zip there.")
    return LabelledPhotos("celeba-wide", paths, (), np.zeros((len(paths), 0), np.float32))


def read_celebamask(data: Path) -> LabelledPhotos:
    """Photos of CelebAMask-HQ (Lee et al. 2020) below ``data/celebamask-mini`` that have a mask, see ``mask_of``.

    Raises: DataMissing if the folder is not there or no photo has a mask.
    """
    folder = need(unpacked(data, "celebamask-mini"), "CelebAMask-HQ")
    paths = tuple(
        photo for photo in sorted((folder / "images").glob("*.jpg")) if mask_of(photo).is_file()
    )
    if not paths:
        raise DataMissing(
            f"{folder} holds no photo with a mask.",
            "Name the folder in which CelebAMask-HQ was unpacked.",
        )
    return LabelledPhotos("celebamask", paths, (), np.zeros((len(paths), 0), np.float32))


def mask_of(photo: Path) -> Path:
    """The mask of a photo of CelebAMask-HQ: an 8-bit picture of class numbers, as ``faces.compose.skin.CLASSES``."""
    return photo.parents[1] / "masks" / f"{photo.stem}.png"


YOUNG = 35  # years; "young" means looks younger than this
CENSUS_COLUMNS = ("path", "perceived_gender", "perceived_race", "perceived_age")
CENSUS_NAMES = ("masculine", "white", "black", "young")
CENSUS_VALUES = (
    "male",
    "white",
    "black",
    "under 35",
)  # of the columns that they come from: 1; another known value: 0


def is_census(data: Path) -> bool:
    """Whether this is a folder that ``gslopes census`` wrote."""
    return (
        is_file(data / runfolder.MANIFEST) and runfolder.read_manifest(data).get("kind") == "census"
    )


def read_census(data: Path) -> LabelledPhotos:
    """The photos that the census read: 1, 0, or NaN if the reader is unsure and no person told.

    data: the census folder, which has the paths of its photos.

    Raises: UsageError if its photos.csv is broken; DataMissing if its photos are not there.
    """
    manifest = runfolder.read_manifest(data)
    photos = Path(str(manifest["photos"]))
    paths: list[Path] = []
    values: list[list[float]] = []
    for _, row in read_csv(
        data / "photos.csv", CENSUS_COLUMNS, hint="Repeat gslopes census, which writes it."
    ).rows():
        path = photos / without_guard(row["path"])
        if is_file(path):
            words = [
                row[CENSUS_COLUMNS[1]],
                row[CENSUS_COLUMNS[2]],
                row[CENSUS_COLUMNS[2]],
                row[CENSUS_COLUMNS[3]],
            ]
            values.append(
                [
                    float(word == one) if word else np.nan
                    for word, one in zip(words, CENSUS_VALUES, strict=True)
                ]
            )
            paths.append(path)
    if not paths:
        raise DataMissing(
            f"None of the photos of {data} is in {photos}.",
            "Repeat gslopes census where they are now.",
        )
    digest = str(manifest["inputs"]["digest"])[:12]
    return LabelledPhotos(
        f"census-{digest}", tuple(paths), CENSUS_NAMES, np.array(values, np.float32)
    )


RACES = ("white", "black", "east_asian", "west_asian")
LONDON_NAMES = ("masculine", "age", *RACES)


def read_london(
    data: Path, expression: Literal["neutral", "smiling"] = "neutral"
) -> LabelledPhotos:
    """Portraits of the London set (DeBruine & Jones 2017) with one expression, and people's reports of themselves.

    Labels: masculine 1 or 0, age in years, each ethnicity 1 or 0; NaN if a person gave none, or several ethnicities.

    Raises: DataMissing if the folder or the table is not there.
    """
    folder = need(data / expression, f"The London set's {expression} portraits")
    paths = tuple(sorted(folder.glob("*.jpg")))
    if not paths:
        raise DataMissing(f"{folder} holds no JPEG picture.", "Unpack the London set there.")
    table = need(data / "people.csv", "The London set's table of people")
    people = {
        row["id"]: row
        for _, row in read_csv(table, ("id",), raises=DataMissing).checked(("id",)).rows()
    }
    rows = []
    for path in paths:
        person = people.get(path.stem, {})
        age = person.get("age", "")
        ethnicity = person.get("ethnicity", "")
        masculine = {"male": 1.0, "female": 0.0}.get(person.get("gender", ""), np.nan)
        races = [float(ethnicity == race) if ethnicity in RACES else np.nan for race in RACES]
        rows.append([masculine, float(age) if age.isdecimal() else np.nan, *races])
    return LabelledPhotos("london", paths, LONDON_NAMES, np.array(rows, np.float32))


UTKFACE_NAMES = ("masculine", "age", "white", "black", "asian", "indian", "other")


def read_utkface(data: Path) -> LabelledPhotos:
    """UTKFace (Zhang, Song, Qi 2017) below ``data/UTKFace``: perceived gender and race by annotators, age in years.

    Files whose names lack a part (some of the official set do) are left out.

    Raises: DataMissing if the folder is not there or holds no such file.
    """
    folder = need(unpacked(data, "UTKFace"), "UTKFace")
    paths = []
    rows = []
    for path in sorted(folder.glob("*.jpg")):
        labels = parse_utkface(path.name)
        if labels is not None:
            paths.append(path)
            rows.append(labels)
    if not paths:
        raise DataMissing(
            f"{folder} holds no picture named as UTKFace names them.", "Unpack UTKFace there."
        )
    return LabelledPhotos("utkface", tuple(paths), UTKFACE_NAMES, np.array(rows, np.float32))


def parse_utkface(name: str) -> tuple[float, ...] | None:
    """The labels in a file name, in the order of UTKFACE_NAMES; None if it has not all of them.

    >>> parse_utkface("30_1_3_20170104235219219.jpg.chip.jpg")
    (0.0, 30.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    """
    parts = name.split("_")
    if len(parts) < 4 or not all(part.isdigit() for part in parts[:3]):
        return None
    age, gender, race = (int(part) for part in parts[:3])
    if gender > 1 or race > 4:
        return None
    return (float(gender == 0), float(age), *(float(race == index) for index in range(5)))


GENDERS = {"male": 1.0, "man": 1.0, "masculine": 1.0, "female": 0.0, "woman": 0.0, "feminine": 0.0}
TABLE_COLUMNS = {  # what a column holds, by the usual names of columns
    "gender": ("perceived_gender", "gender", "sex"),
    "race": ("perceived_race", "race", "ethnicity"),
    "age": ("age", "age_years"),
}


def people_tables(data: Path) -> list[People]:
    """The CSVs in a folder that have a column of gender or race, by name.  Raises: DataMissing for one not readable."""
    tables = [read_people(path, raises=DataMissing) for path in sorted(data.glob("*.csv"))]
    return [table for table in tables if any(_column(table, what) for what in ("gender", "race"))]


def read_table(data: Path) -> LabelledPhotos:
    """Photos in a folder and its sub-folders, and what its CSVs hold about them: gender, race, age.

    A row names its photo as ``photos.people.name_in`` understands it. A gender is male or female, man or woman,
    masculine or feminine; a race white, black or another; an age as ``young`` takes it. A photo that no row names is
    left out.

    Raises: DataMissing if no CSV has these columns, a table contradicts itself, or names none of the photos.
    """
    tables = people_tables(data)
    if not tables:
        what = f"{data} holds no CSV with a column of genders or races."
        raise DataMissing(
            what, f"Call it {' or '.join(TABLE_COLUMNS['gender'] + TABLE_COLUMNS['race'])}."
        )
    known: dict[str, list[float]] = {}
    for table in tables:
        cells = {what: _cells(table, what) for what in TABLE_COLUMNS}
        for name, row in table.by_photo(cells).items():
            race = cells["race"][row]
            races = [
                float(race == name_of_race) if race else np.nan
                for name_of_race in ("white", "black")
            ]
            known[name] = [
                GENDERS.get(cells["gender"][row], np.nan),
                *races,
                young(cells["age"][row]),
            ]
    photos = list_files(data)
    named = [(photo.path, name_in(known, photo.relative)) for photo in photos]
    rows = [(path, known[name]) for path, name in named if name is not None]
    if not rows:
        files = " and ".join(table.path.name for table in tables)
        what = f"{data} has {many(len(photos), 'photo')}, and {files} names none."
        raise DataMissing(
            what, f"Write a photo's path below {data} into its column {tables[0].photo_column()}."
        )
    values = np.array([values for _, values in rows], np.float32)
    return LabelledPhotos("table", tuple(path for path, _ in rows), CENSUS_NAMES, values)


def young(text: str) -> float:
    """1 for an age below ``YOUNG``, 0 for one from it on; NaN for a range with both in it, and for what is no age.

    >>> young("31"), young("20-29"), young("30-39"), young("more than 70"), young("unknown")
    (1.0, 1.0, nan, 0.0, nan)
    """
    match = re.fullmatch(r"(?:more than )?(\d+(?:\.\d+)?)(?:-(\d+)|\+)?", text)
    if match is None:
        return np.nan
    low = float(match[1])
    high = float(match[2] or match[1])
    if high < YOUNG:
        return 1.0
    if low >= YOUNG:
        return 0.0
    return np.nan


def _column(table: People, what: str) -> str | None:
    plain = {name.strip().lower(): name for name in reversed(list(table.columns))}
    return next((plain[name] for name in TABLE_COLUMNS[what] if name in plain), None)


def _cells(table: People, what: str) -> list[str]:
    """The words of a column in lower case, "" if a cell or the column is missing."""
    column = _column(table, what)
    if column is None:
        return [""] * len(table.lines)
    return [word.lower() for word in normal_names(table.columns[column])]
