"""What is exported: the pictures of a run as rows, in which split, with which facts; its answers as rows.

Every kind of run has the same source: its table of edits, and the file that each row of it names.
"""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import (
    ConfigError,
    Names,
    UsageError,
    frozen,
    hexdigest,
    placebo,
    read_beside,
    read_named,
    runfolder,
    show,
    tables,
)
from gslopes.core.crossed import grid_of
from gslopes.core.runfolder import Manifest
from gslopes.frame.parts import missing_parts
from gslopes.frame.result import find_audit
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.people import read_about

# Columns of every exported picture, in this order; the people table's come between them and CREDIT.
FIRST = ("split", "set", "photo")
THEN = ("step", "kind", "kept", "reason", "width", "height", "box")
CREDIT = ("title", "creator", "creator_url", "licence", "licence_url", "page")
ENDS = ("source_path", *CREDIT, "editor", "editor_sha256")
# After FIRST: what the picture shows. Of two crossed attributes both.
SHOWN: Names = ("attribute", "value")
CROSSED = ("attribute_1", "value_1", "attribute_2", "value_2")
COLUMNS = (*FIRST, *SHOWN, *CROSSED, *THEN)
OURS = ("sweep", "file")  # not exported
ORIGINAL = -1  # the step of an unedited photo
TRAIN = "train"
TEST = "test"
TEXTS = read_beside(__file__, "pictures.toml")


@frozen
class ExportConfig:
    """Which pictures of a run are exported, and how they are divided."""

    split: float | None = None
    split_by: str = ""
    photos_csv: Path | None = None

    def __post_init__(self) -> None:
        if self.split_by and self.photos_csv is None:
            raise ConfigError(
                "--split-by is a column of a table of photos.", "Name it with --photos-csv."
            )
        if self.split_by and self.split is None:
            raise ConfigError("--split-by needs --split.", "Try --split 0.8.")


def pictures(run: Path, config: ExportConfig) -> DataFrame:
    """The rows of an export, a set after the other: by split, photo, attribute and step.

    Columns: those of ``COLUMNS`` that there are, the people table's, ``ENDS``, and ``OURS``: the sweep, and the picture
    relative to the run folder; that is empty for an original that we write, whose ``source_path`` is its path in the
    folder of photos.

    A set is one photo along one attribute, or along two that are crossed; its original is its first row (step -1, no
    value). Named values are texts, and a set has the baseline of its contrasts once.
    ``kept``: whether the gate kept the sweep (true if no gate judged it); ``reason``: why not.  Placebo sweeps
    are left out.

    Raises: UsageError if nothing is left to export, or for a table of people that does not fit; TableError.
    """
    manifest = _manifest(run)
    is_given = placebo.of_a_set(manifest)
    edits = _read(run, tables.EDITS)
    verdicts = tables.read_rows(tables.VERDICTS, run, ["photo", "attribute", "kept", "reason"])
    rows = edits[~placebo.among(edits["attribute"])].merge(verdicts, how="left")
    rows = rows.fillna({"kept": True, "reason": ""}).astype({"kept": bool})
    if rows.empty:
        raise _refused("empty", run)
    rows = rows.rename(columns={"attribute": "sweep"}).drop(columns="value")
    steps = _steps(manifest)
    shown = [*steps.filter([*SHOWN, *CROSSED])]
    rows = rows.merge(steps).join(_photos(run), on="photo")
    rows["set"] = rows["photo"].str[:16] + "-" + rows["subject"]
    rows["kind"] = "picture" if is_given else "edit"
    # of a baseline, which several sweeps may have, the one of a sweep that is kept
    best = rows.sort_values("kept", ascending=False, kind="stable").drop_duplicates(["set", *shown])
    rows = pd.concat([best, _originals(run, best, shown[1::2])], ignore_index=True)
    people = _people(run, config, is_given)
    rows = rows.join(_sources(run), on="photo").join(people, on="photo")
    rows["split"] = _split(rows["photo"], people, config, manifest["seed"])
    rows = rows.filter([*COLUMNS, *people.columns, *ENDS, *OURS])
    # the names of the splits go up from the last
    return rows.sort_values(["set", "step"], kind="stable").sort_values(
        "split", ascending=False, kind="stable", ignore_index=True
    )


def _manifest(run: Path) -> Manifest:
    """``run.json``.  Raises: UsageError for a run of an audit that has no export."""
    manifest = runfolder.read_manifest(run)
    if (kind := manifest.get("kind")) in TEXTS:
        raise _refused(kind, run)
    return manifest


def _refused(what: str, run: Path, *about: object) -> UsageError:
    return UsageError(*(text.format(show(run), *about) for text in TEXTS[what]))


# -- what a picture shows ---------------------------------------------------------------------------------------------


def _steps(manifest: Manifest) -> DataFrame:
    """What each step of a sweep shows, see ``SHOWN``; its subject, as the names of sets have it; its editor."""
    values = manifest["values"]
    grid = grid_of(values)
    rows = []
    for sweep in values if grid is None else [grid.name]:
        for step, value in enumerate(values[sweep]):
            shown = [_named(sweep, step, value)]
            if grid:
                other, own = divmod(step, len(grid.values[0]))
                level = (grid.levels or grid.values[1])[other]
                shown = [_named(grid.names[0], own, grid.values[0][own]), (grid.names[1], level)]
            subject = placebo.CROSS.join(attribute for attribute, _ in shown)
            makers = zip(*(maker(manifest, attribute)[:2] for attribute, _ in shown), strict=True)
            editor = (" + ".join(filter(None, both)) for both in makers)
            rows.append([sweep, step, *chain(*shown), _safe(subject), *editor])
    columns = CROSSED if grid else SHOWN
    steps = DataFrame(rows, columns=["sweep", "step", *columns, "subject", *ENDS[-2:]])
    for name in columns[1::2]:
        if steps[name].dtype != float:
            steps[name] = steps[name].map(str)
    return steps


def _named(sweep: str, step: int, value: Any) -> tuple[str, Any]:
    """The attribute of a sweep, and its value there: along a contrast a name."""
    attribute, *ends = placebo.ends_of(sweep) or (sweep, value, value)
    return attribute, ends[step == 0]


def _safe(attribute: str) -> str:
    """An attribute as a part of a file's name; no two have the same."""
    if re.fullmatch("[A-Za-z0-9_-]{1,60}", attribute):
        return attribute
    return runfolder.slug(attribute)


def maker(manifest: Manifest, attribute: str) -> tuple[str, str, str]:
    """The model that edited, its sha256 or version, and licence; empty of a set that others made."""
    if placebo.of_a_set(manifest):
        return "", "", ""
    from gslopes.faces.zoo import editor_for

    models = manifest["models"]
    edit = manifest["config"].get("edit", {})
    # one that others made has a version, see ``faces.components.model_records``
    names = [name for name, model in models.items() if "version" in model]
    with suppress(UsageError):  # one that ships no more
        names.append(editor_for(attribute, edit.get("model", ""), bool(edit.get("ends"))))
    name = next((one for one in names if one in models), attribute)  # or the user's own, by that
    model = models.get(name, {})
    digest = model.get("sha256", model.get("version", ""))
    return name, digest, model.get("licence") or "not stated"


def _originals(run: Path, rows: DataFrame, values: Sequence[str]) -> DataFrame:
    """A row a set: the photo as it was. Of a set that others made it is among the files of the run, or there is none:
    then the first of its pictures lies in its place.
    """
    blank = dict.fromkeys(("file", "editor", "editor_sha256"), "")
    first = rows.drop_duplicates("set").assign(kind="original", step=ORIGINAL, **blank)
    for name in values:
        first[name] = math.nan if first[name].dtype == float else ""
    if (rows["kind"] == "edit").any():
        return first
    begins = rows.sort_index().groupby("photo")["file"].first()
    first["file"] = f"{runfolder.GIVEN}/" + first["source_path"]
    files = zip(first["file"], first["photo"].map(begins), strict=True)
    read = partial(read_named, limit=LARGEST_FILE, folder=run)
    return first[[read(one) != read(other) for one, other in files]]


# -- facts about it ---------------------------------------------------------------------------------------------------


def _read(run: Path, table: tables.Table) -> DataFrame:
    path = run / f"{table.name}.parquet"
    if not path.is_file():
        missing, parts = missing_parts(run, find_audit("audit"), tables.PHOTOS.name)
        raise _refused("unfinished" if parts else "begun", run, len(missing), parts)
    return tables.read(table, path)


def _photos(run: Path) -> DataFrame:
    """Size, face and path of each photo, its index the photo."""
    photos = _read(run, tables.PHOTOS)
    used = photos.query("status == 'used'").drop_duplicates("photo").set_index("photo")
    return used[["width", "height", "box", "path"]].rename(columns={"path": "source_path"})


def _sources(run: Path) -> DataFrame:
    """What is known of each photo's origin, its index the photo."""
    rows = tables.read_rows(tables.SOURCES, run).set_index("photo")
    return rows[[*CREDIT]] if len(rows) else DataFrame()


def _people(run: Path, config: ExportConfig, is_given: bool) -> DataFrame:
    """The people table's columns, texts, its index the photo; a name of ours gets ``photo_`` in front. Of a set that
    others made it is that of its groups and clusters, unless another is named.
    """
    table = config.photos_csv or run / runfolder.GIVEN_TABLE
    if config.photos_csv is None and not (is_given and table.is_file()):
        return DataFrame()
    about = read_about(table, run).fillna("").astype(str)
    ours = {*COLUMNS, *ENDS, *OURS, "file_name", "image"}
    return about.rename(columns={name: f"photo_{name}" for name in about if name in ours})


def _split(photos: Series, people: DataFrame, config: ExportConfig, seed: int) -> Series:
    """``train`` or ``test`` for each row: whole photos, or whole values of a column, in an order that the seed draws.

    Raises: UsageError for an unknown column, or if one side would be empty.
    """
    if config.split is None:
        return Series(TRAIN, photos.index)
    column = config.split_by if config.split_by in people else f"photo_{config.split_by}"
    if config.split_by and column not in people:
        raise UsageError(
            f"{config.photos_csv} has no column {config.split_by!r}.",
            f"It has {', '.join(map(str, people))}.",
        )
    units = photos
    if config.split_by:  # unnamed: the photo is its own unit
        units = photos.map(people[column].str.strip()).replace("", None).fillna(photos)
    order = sorted(units.unique(), key=lambda unit: hexdigest(f"{seed}:{unit}"))
    count = round(config.split * len(order))
    if not 0 < count < len(order):
        raise UsageError(
            f"{len(order)} photos or people cannot be split {config.split:g} to the rest.",
            "Choose another share, or leave out --split.",
        )
    return units.isin(order[:count]).map({True: TRAIN, False: TEST})


def answers(run: Path) -> DataFrame:
    """One row a picture and label.

    Columns: photo, path (of the original), attribute, step, value, file (the edited picture), classifier, status,
    label, score; label and score are missing if a picture was answered without any label, refused, or failed.

    Raises: UsageError if the run has no answers; TableError.
    """
    _manifest(run)
    if not (run / "asked.parquet").is_file():
        raise _refused("unanswered", run)
    answered, scores, edits = (
        _read(run, table) for table in (tables.ASKED, tables.SCORES, tables.EDITS)
    )
    rows = answered.merge(edits, how="left").merge(scores, how="left")
    rows = rows.join(_photos(run), on="photo").rename(columns={"source_path": "path"})
    columns = ["photo", "path", "attribute", "step", "value", "file"]
    columns += ["classifier", "status", "label", "score"]
    return rows[columns].sort_values(
        ["classifier", "attribute", "photo", "step", "label"], ignore_index=True
    )
