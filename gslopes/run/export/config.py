"""The options of an export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, get_args

from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.options import numbers, option

Form = Literal["imagefolder", "parquet", "webdataset", "coco", "answers", "fiftyone"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class ExportConfig:
    """Which pictures of a run are exported, and how they are divided."""

    split: float | None = option(
        None, help="Share of the photos in the split 'train'; the rest is 'test'.", metavar="SHARE"
    )
    split_by: str = option(
        "",
        help="Column of --photos-csv; photos with the same value, such as a person, stay together.",
        metavar="COLUMN",
    )
    photos_csv: Path | None = option(
        None, help="A CSV with one row per photo: its columns are exported.", metavar="CSV"
    )
    only: Literal["all", "kept"] = option("all", help="Which sweeps: all, or those that the gate kept.")
    values: tuple[float, ...] = option(
        (), help="Only these values, such as -2,2.", metavar="VALUES", shown="all", parse=numbers
    )
    placebos: bool = option(False, help="Export the placebo sweeps too.")
    originals: bool = option(True, help="Export each photo itself, unedited, with its sets.")
    shard: float = option(500.0, help="Size of a Parquet or tar file, MB; a set is never divided.", metavar="MB")

    def __post_init__(self) -> None:
        if self.only not in ("all", "kept"):
            raise UnknownName("choice of sweeps", self.only, ("all", "kept"))
        if self.split is not None and not 0 < self.split < 1:
            raise ConfigError(f"The split is {self.split}; it must be between 0 and 1.", "Try 0.8.")
        if self.split_by and self.photos_csv is None:
            raise ConfigError("--split-by is a column of a table of photos.", "Name it with --photos-csv.")
        if self.split_by and self.split is None:
            raise ConfigError("--split-by needs --split.", "Try --split 0.8.")
        if self.shard <= 0:
            raise ConfigError(f"A shard cannot have {self.shard:g} MB.", "Try 500.")


class ExportOptions(TypedDict, total=False):
    """Keywords of ``gslopes.export``: the fields of ``ExportConfig``."""

    split: float | None
    split_by: str
    photos_csv: str | Path | None
    only: Literal["all", "kept"]
    values: float | Sequence[float]
    placebos: bool
    originals: bool
    shard: float
