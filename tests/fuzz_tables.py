"""Targets of ``tests.fuzz`` for tables that users name, from the corpus in ``tests/corpus/tables``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.captions.stimuli.groups import read_groups
from gslopes.captions.stimuli.stages import read_stages
from gslopes.contexts.stimuli.people import read_reports
from gslopes.core.csv_table import read_frame
from gslopes.core.errors import PhotoError
from gslopes.core.tables import Tables
from gslopes.crops.stimuli.people import read_people as read_crop_people
from gslopes.photos.people import check_about, read_people
from gslopes.slopes.pairs import read_pairs
from tests.corpus.make import TABLES
from tests.fuzz_siblings import AllWords

if TYPE_CHECKING:
    from tests.fuzz import Target


def targets(folder: Path, target: type[Target]) -> list[Target]:
    """All readers; files that they need are made in the folder."""
    for unit in range(3):
        for value in "ab":
            (folder / f"u{unit}{value}.jpg").write_bytes(b"\xff\xd8\xff")

    def corpus(ending: str) -> tuple[bytes, ...]:
        return tuple(path.read_bytes() for path in sorted(TABLES.glob(f"*.{ending}")))

    def written(name: str, reader: Callable[[Path], object]) -> Callable[[bytes], object]:
        def read(data: bytes) -> object:
            (folder / name).write_bytes(data)
            return reader(folder / name)

        return read

    readers = {
        "pairs": (pairs, ("csv", "jsonl", "parquet")),
        "people": (people, ("csv", "parquet")),
        "captions": (captions, ("csv", "parquet", "json")),
        "groups": (read_groups, ("csv", "parquet")),
        "contexts": (read_reports, ("csv", "parquet")),
        "crops": (crop_people, ("csv", "parquet")),
        "frame": (read_frame, ("csv", "parquet")),
        "run": (run_table, ("parquet",)),
    }
    return [
        target(f"table of {name}, {ending}", corpus(ending), written(f"{name}.{ending}", read))
        for name, (read, endings) in readers.items()
        for ending in endings
    ]


def pairs(path: Path) -> None:
    for picture in read_pairs(path).edits["picture"]:
        try:
            picture.read()
        except PhotoError:
            continue


def people(path: Path) -> None:
    check_about(path, {})
    table = read_people(path)
    groups = {name: table.groups(name) for name in table.columns if "+" not in name}
    table.by_photo(groups)
    table.by_photo(table.columns)


def crop_people(path: Path) -> None:
    read_crop_people(path.parent, path, ["gender"])


def captions(path: Path) -> None:
    read_stages({"system-captions": [path]}, AllWords())  # type: ignore[arg-type]


def run_table(path: Path) -> None:
    tables = Tables(path.parent)
    len(tables[path.stem])
