"""Every Parquet table of a run folder: its columns, their types and units; checked on every read and write.

A table is a pandas data frame whose columns are exactly those of its schema, in that order. Identifiers are strings
(``photo`` is the sha256 of the photo's bytes, 64 hex digits), ``step`` runs from 0 to K-1, ``value`` is in units of
the attribute (-1 and 1 are the ends seen in training), shares and scores are in [0, 1].
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.core.errors import TableError


@dataclass(frozen=True, slots=True)
class Table:
    """One table: name, pyarrow schema (non-nullable columns must hold no null) and the key that sorts its rows."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        return list(self.schema.names)

    def empty(self) -> pd.DataFrame:
        """A frame with this table's columns and no row."""
        return self.schema.empty_table().to_pandas()


def _column(name: str, kind: pa.DataType, unit: str, *, null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"unit": unit})


_PHOTO = _column("photo", pa.string(), "sha256 of the file's bytes, hex")
_ATTRIBUTE = _column("attribute", pa.string(), "name of the edited attribute")
_STEP = _column("step", pa.int16(), "0 to K-1")
_VALUE = _column("value", pa.float32(), "attribute units; 0 neutral, -1 and 1 the ends seen in training")
_CLASSIFIER = _column("classifier", pa.string(), "name with parameters")
_LABEL = _column("label", pa.string(), "as the classifier returned it")

PHOTOS = Table(
    "photos",
    pa.schema(
        [
            _column("photo", pa.string(), "sha256 of the file's bytes, hex; empty if unreadable"),
            _column("path", pa.string(), "relative to the photos folder; undecodable bytes as \\xNN"),
            _column("width", pa.int32(), "pixels; 0 if unreadable"),
            _column("height", pa.int32(), "pixels; 0 if unreadable"),
            _column("status", pa.string(), "used or skipped"),
            _column("reason", pa.string(), "why it was skipped; empty if used"),
            _column("faces", pa.int32(), "faces found"),
            _column("box", pa.list_(pa.float32()), "x0 y0 x1 y1, pixels, photo frame", null=True),
            _column("points", pa.list_(pa.float32()), "five x y pairs, pixels, photo frame", null=True),
            _column("detection", pa.float32(), "the detector's confidence in [0, 1]", null=True),
        ]
    ),
    ("path",),
)

EDITS = Table(
    "edits",
    pa.schema(
        [
            _PHOTO,
            _ATTRIBUTE,
            _STEP,
            _VALUE,
            _column("file", pa.string(), "relative to the run folder"),
            _column("mask_area", pa.float32(), "share of the photo's pixels that may change"),
        ]
    ),
    ("photo", "attribute", "step"),
)

ASKED = Table(
    "asked",
    pa.schema(
        [
            _PHOTO,
            _ATTRIBUTE,
            _STEP,
            _CLASSIFIER,
            _column("status", pa.string(), "answered, refused or failed"),
            _column("reason", pa.string(), "empty if answered"),
        ]
    ),
    ("classifier", "photo", "attribute", "step"),
)

SCORES = Table(
    "scores",
    pa.schema(
        [
            _PHOTO,
            _ATTRIBUTE,
            _STEP,
            _VALUE,
            _CLASSIFIER,
            _LABEL,
            _column("score", pa.float32(), "the classifier's confidence in [0, 1]"),
        ]
    ),
    ("classifier", "photo", "attribute", "step", "label"),
)

SLOPES = Table(
    "slopes",
    pa.schema(
        [
            _CLASSIFIER,
            _ATTRIBUTE,
            _LABEL,
            _column("n", pa.int64(), "photos answered at all K values"),
            _column("active", pa.int64(), "photos with the label at one value at least"),
            _column("y_centre", pa.float64(), "share of photos with the label at the centre"),
            _column("slope", pa.float64(), "change of y/y_centre per unit of the attribute", null=True),
            _column("intercept", pa.float64(), "y/y_centre at value 0 on the fitted line", null=True),
            _column("se", pa.float64(), "standard error of the slope", null=True),
            _column("t", pa.float64(), "slope / se", null=True),
            _column("p", pa.float64(), "two-sided, t with K-2 degrees of freedom, null: slope 0", null=True),
            _column("ci_low", pa.float64(), "lower end of the slope's 95 % interval", null=True),
            _column("ci_high", pa.float64(), "upper end of the slope's 95 % interval", null=True),
            _column("p_perm", pa.float64(), "permutation within photos; null if not run", null=True),
            _column("q", pa.float64(), "p adjusted over the classifier's labels", null=True),
            _column("estimator", pa.string(), "paper, or another one by name"),
            _column("unit", pa.string(), "of slope, intercept, se and all intervals", null=True),
            _column("boot_low", pa.float64(), "95 % percentile bootstrap over units, lower end", null=True),
            _column("boot_high", pa.float64(), "95 % percentile bootstrap over units, upper end", null=True),
            _column("bca_low", pa.float64(), "95 % BCa bootstrap over units, lower end", null=True),
            _column("bca_high", pa.float64(), "95 % BCa bootstrap over units, upper end", null=True),
            _column("p_max", pa.float64(), "max-T over the classifier's labels, from permutations", null=True),
            _column("agreement", pa.string(), "p and p_perm below alpha: both, paper only, ...", null=True),
            _column("note", pa.string(), "why there is no test, if there is none", null=True),
        ]
    ),
    ("classifier", "attribute", "estimator", "label"),
)

_COUNTS = [
    _column("n", pa.int64(), "photos answered at all K values"),
    _column("active", pa.int64(), "photos with the label at one value at least"),
]
_ESTIMATOR = _column("estimator", pa.string(), "by name; the slopes table has its unit")


def _number(name: str, unit: str) -> pa.Field:
    return _column(name, pa.float64(), unit, null=True)


GROUPS = Table(
    "groups",
    pa.schema(
        [
            _CLASSIFIER,
            _ATTRIBUTE,
            _ESTIMATOR,
            _column("column", pa.string(), "of the photos CSV; a + b crosses two"),
            _column("group", pa.string(), "the column's value"),
            _LABEL,
            *_COUNTS,
            _number("y_centre", "share of the group's photos with the label at the centre"),
            _number("slope", "of the group's photos, in the estimator's unit"),
            _number("se", "standard error of the slope"),
            _number("p", "two-sided one-sample t, null: the group's mean slope is 0"),
            _number("ci_low", "lower end of the slope's 95 % t interval"),
            _number("ci_high", "upper end of the slope's 95 % t interval"),
            _number("q", "p adjusted over the group's labels"),
            _column("note", pa.string(), "why there is no test, if there is none"),
        ]
    ),
    ("classifier", "attribute", "estimator", "column", "group", "label"),
)

DIFFERENCES = Table(
    "differences",
    pa.schema(
        [
            _CLASSIFIER,
            _ATTRIBUTE,
            _ESTIMATOR,
            _column("column", pa.string(), "of the photos CSV; a + b crosses two"),
            _column("group", pa.string(), "the one"),
            _column("other", pa.string(), "the other"),
            _LABEL,
            _number("difference", "slope of group minus slope of other, in the estimator's unit"),
            _number("se", "standard error of the difference"),
            _number("p", "two-sided Welch t, null: both groups have the same mean slope"),
            _number("ci_low", "lower end of the difference's 95 % interval"),
            _number("ci_high", "upper end of the difference's 95 % interval"),
            _number("q", "p adjusted over the pair's labels"),
            _column("note", pa.string(), "why there is no test, if there is none"),
        ]
    ),
    ("classifier", "attribute", "estimator", "column", "group", "other", "label"),
)

SHAPE = Table(
    "shape",
    pa.schema(
        [
            _CLASSIFIER,
            _ATTRIBUTE,
            _LABEL,
            *_COUNTS,
            _column("varying", pa.int64(), "units (photos, clusters) with the label at some values, not at all"),
            _number("slope", "photo-rate over all values, percentage points per unit"),
            _number("ci_low", "lower end of its 95 % t interval"),
            _number("ci_high", "upper end of its 95 % t interval"),
            _number("inner_slope", "photo-rate over the values in [-1, 1] alone"),
            _number("inner_low", "lower end of its 95 % t interval"),
            _number("inner_high", "upper end of its 95 % t interval"),
            _number("inner_p", "two-sided one-sample t, null: inner slope 0"),
            _number("curvature", "quadratic coefficient, percentage points per unit squared"),
            _number("curvature_low", "lower end of its 95 % t interval"),
            _number("curvature_high", "upper end of its 95 % t interval"),
            _number("curvature_p", "two-sided one-sample t, null: no curvature"),
            _number("lack_of_fit", "Hotelling's T squared of all departures from a line, as F"),
            _number("lack_of_fit_p", "null: the K mean answers lie on a line"),
            _number("within", "correlation between a photo's answers at two values"),
            _column("reading", pa.string(), "whether the inner range carries the finding"),
        ]
    ),
    ("classifier", "attribute", "label"),
)

JOINT = Table(
    "joint",
    pa.schema(
        [
            _CLASSIFIER,
            _column("attribute", pa.string(), "the one"),
            _column("other", pa.string(), "the other"),
            _LABEL,
            *_COUNTS,
            _number("slope", "photo-rate along attribute, percentage points per unit"),
            _number("slope_other", "photo-rate along other, percentage points per unit"),
            _number("correlation", "over photos, of a photo's two slopes"),
            _number("difference", "slope minus slope_other"),
            _number("ci_low", "lower end of the difference's 95 % paired t interval"),
            _number("ci_high", "upper end of the difference's 95 % paired t interval"),
            _number("t_squared", "Hotelling's T squared of both slopes, as F"),
            _number("p", "null: both mean slopes are 0"),
            _number("q", "p adjusted over the classifier's labels"),
            _column("note", pa.string(), "why there is no test, if there is none"),
        ]
    ),
    ("classifier", "attribute", "other", "label"),
)

BALANCE = Table(
    "balance",
    pa.schema(
        [
            _CLASSIFIER,
            _ATTRIBUTE,
            _column("used", pa.int64(), "photos answered at all K values"),
            _column("units", pa.int64(), "independent units: those photos, or clusters of them"),
            _column("refused", pa.int64(), "photos dropped: refused at one value at least"),
            _column("failed", pa.int64(), "photos dropped: never refused, failed at one value at least"),
            _column("missing", pa.int64(), "photos dropped: not asked about at some value"),
        ]
    ),
    ("classifier", "attribute"),
)

VERDICTS = Table(
    "verdicts",
    pa.schema(
        [
            _PHOTO,
            _ATTRIBUTE,
            _column("kept", pa.bool_(), "whether classifiers are asked about this sweep"),
            _column("reason", pa.string(), "the first check that it failed; empty if kept"),
            _column("looked", pa.int16(), "values at which the face was looked for; 0 if at none"),
            _column("found", pa.int16(), "of them, those at which it was found again"),
            _number("tau", "Kendall's tau-b of the target's reading with the values, to two hundredths"),
            _number("shift", "the target's reading at the last value minus that at the first"),
            _number("off_target", "steepest slope of another reading, of 1, per unit; it has a sign"),
            _column("off_target_reading", pa.string(), "whose that is; empty if none was read"),
            _column("mask_area", pa.float32(), "share of the photo's pixels that may change"),
            _number("mask_share", "the same pixels over the area of the face's box"),
            _number("change", "mean difference from the centre within the box, most over values, of 255"),
        ]
    ),
    ("photo", "attribute"),
)

READINGS = Table(
    "readings",
    pa.schema(
        [
            _PHOTO,
            _ATTRIBUTE,
            _column("step", pa.int16(), "0 to K-1; -1 is the photo as it was, unedited"),
            _column("reading", pa.string(), "gender, race, young, smiling (the reader's), luminance, sharpness"),
            _column("score", pa.float32(), "probability, L* in 0 to 100, log variance of the Laplacian"),
        ]
    ),
    ("photo", "attribute", "reading", "step"),
)

LIKENESS = Table(
    "likeness",
    pa.schema(
        [
            _PHOTO,
            _ATTRIBUTE,
            _STEP,
            _VALUE,
            _column("other", pa.string(), "whose centre picture it is compared with: the photo's own, or another's"),
            _column("cosine", pa.float32(), "of the two faces' embeddings, -1 to 1"),
        ]
    ),
    ("photo", "attribute", "other", "step"),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *(PHOTOS, EDITS, VERDICTS, READINGS, LIKENESS, ASKED, SCORES),
        *(SLOPES, GROUPS, DIFFERENCES, SHAPE, JOINT, BALANCE),
    )
}


def check(table: Table, frame: pd.DataFrame) -> pa.Table:
    """The frame as an Arrow table of exactly this schema.

    Raises: TableError if a column is missing, unknown, null where it may not be, or cannot be cast safely to its type.
    """
    missing = [name for name in table.columns if name not in frame.columns]
    unknown = [name for name in frame.columns if name not in table.columns]
    if missing or unknown:
        wrong = {"lacks": missing, "has unknown": unknown}
        parts = " and ".join(f"{verb} {', '.join(map(str, names))}" for verb, names in wrong.items() if names)
        raise TableError(f"The {table.name} table {parts}.", f"Its columns are {', '.join(table.columns)}.")
    for field in table.schema:
        if not field.nullable and frame[field.name].isna().any():
            raise TableError(f"The {table.name} table has no value in some rows of its column {field.name}.")
    try:
        result = pa.Table.from_pandas(frame[table.columns], schema=table.schema, preserve_index=False)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise TableError(f"The {table.name} table has a value of the wrong type: {error}.") from error
    return result.replace_schema_metadata(None)


def write(table: Table, frame: pd.DataFrame, path: Path) -> None:
    """Write the frame, sorted by the table's key, atomically: a reader sees the old file or the whole new one.

    Raises: TableError as ``check``; OSError if the disk refuses.
    """
    checked = check(table, frame.sort_values(list(table.key), kind="stable"))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pq.write_table(checked, temporary, compression="zstd")
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(table: Table, path: Path) -> pd.DataFrame:
    """Read and check a table.

    Raises: TableError if the file is missing, no Parquet, or of another schema.
    """
    return _read(table, path, []).to_pandas()


def read_arrow(table: Table, path: Path) -> pa.Table:
    """The same as an Arrow table whose texts are dictionary-encoded: a long table of few names takes little memory.

    Raises: TableError as ``read``.
    """
    texts = [field.name for field in table.schema if field.type == pa.string()]
    return _read(table, path, texts).unify_dictionaries()


def _read(table: Table, path: Path, texts: list[str]) -> pa.Table:
    try:
        names = pq.read_schema(path).names
        if pq.read_schema(path).equals(table.schema, check_metadata=False):
            return pq.read_table(path, read_dictionary=texts)
    except FileNotFoundError as error:
        raise TableError(f"There is no {table.name} table at {path}.", "Run the stage that makes it first.") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # damaged names are no UTF-8
        raise TableError(f"{path} is not a readable Parquet file: {error}.") from error
    lacks = ", ".join(name for name in table.columns if name not in names)
    raise TableError(f"{path} is not a {table.name} table{': it lacks ' + lacks if lacks else ''}.")
