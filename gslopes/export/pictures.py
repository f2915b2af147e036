"""What is exported: the pictures of a run as rows, in which split, with which facts; its answers as rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import (
    ConfigError,
    UsageError,
    frozen,
    hexdigest,
    placebo,
    runfolder,
    show,
    tables,
)
from gslopes.core.crossed import check_plain

# Columns of every exported picture, in this order; the people table's come between them and CREDIT.
COLUMNS = (
    "split",
    "set",
    "photo",
    "attribute",
    "value",
    "step",
    "kind",
    "kept",
    "reason",
    "width",
    "height",
    "box",
)
CREDIT = ("title", "creator", "creator_url", "licence", "licence_url", "page")
ENDS = ("source_path", *CREDIT, "editor", "editor_sha256")
ORIGINAL = -1  # the step of an unedited photo
TRAIN = "train"
TEST = "test"


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

    Columns: ``COLUMNS``, the people table's, ``ENDS`` and ``file``, the picture relative to the run folder;
    empty for an original, whose ``source_path`` is its path in the folder of photos.

    A set is one photo along one attribute; its original is its first row (step -1, no value).
    ``kept``: whether the gate kept the sweep (true if no gate judged it); ``reason``: why not.  Placebo sweeps
    are left out.

    Raises: UsageError if nothing is left to export, or for a table of people that does not fit; TableError.
    """
    manifest = runfolder.read_manifest(run)
    check_plain(manifest, run)
    rows = _judged(_read(run, tables.EDITS), run)
    if rows.empty:
        raise UsageError(
            f"{show(run)} has no pictures to export.", "gslopes audit PHOTOS --out RUN"
        )
    models = manifest["models"]
    named = str(manifest["config"].get("edit", {}).get("model", ""))
    # one that others made has a version, see ``faces.components.model_records``
    outside = [name for name, model in models.items() if "version" in model]
    editors = {
        name: outside[0] if outside else _editor(name, named, models)
        for name in rows["attribute"].unique()
    }
    digests = {name: model.get("sha256", model.get("version")) for name, model in models.items()}
    rows = rows.assign(kind="edit", editor=rows["attribute"].map(editors))
    rows["editor_sha256"] = rows["editor"].map(digests).fillna("")
    first = rows.drop_duplicates(["photo", "attribute"]).assign(
        kind="original", step=ORIGINAL, value=float("nan"), file="", editor="", editor_sha256=""
    )
    rows = pd.concat([rows, first], ignore_index=True)
    names = rows["photo"].str[:16]
    if names.nunique() < rows["photo"].nunique():
        names = rows["photo"]
    people = _people(run, config)
    rows["set"] = names + "-" + rows["attribute"]
    for facts in (_photos(run), _sources(run), people):
        rows = rows.join(facts, on="photo")
    rows["split"] = _split(rows["photo"], people, config, manifest["seed"])
    rows = rows[[*COLUMNS, *people.columns, *(name for name in ENDS if name in rows), "file"]]
    # the names of the splits go up from the last
    return rows.sort_values(["set", "step"], kind="stable").sort_values(
        "split", ascending=False, kind="stable", ignore_index=True
    )


def _read(run: Path, table: tables.Table) -> DataFrame:
    path = run / f"{table.name}.parquet"
    if not path.is_file():
        raise UsageError(f"{show(run)} has no pictures yet.", "gslopes synthesise PHOTOS --out RUN")
    return tables.read(table, path)


def _judged(edits: DataFrame, run: Path) -> DataFrame:
    """The edits of real sweeps with the gate's verdict."""
    verdicts = tables.read_rows(tables.VERDICTS, run, ["photo", "attribute", "kept", "reason"])
    rows = edits[~placebo.among(edits["attribute"])].merge(
        verdicts, on=["photo", "attribute"], how="left"
    )
    return rows.assign(
        kept=rows["kept"].eq(True) | rows["kept"].isna(), reason=rows["reason"].fillna("")
    )


def _editor(attribute: str, named: str, digests: Mapping[str, Any]) -> str:
    from gslopes.faces.zoo import editor_for

    try:
        edited = placebo.attribute_of(attribute)
        name = editor_for(edited, named, edited != attribute)
    except (
        UsageError
    ):  # an editor of the user's own, known by its attribute, or one that ships no more
        name = attribute
    if name in digests:
        return name
    return attribute


def _photos(run: Path) -> DataFrame:
    """Size, face and path of each photo, its index the photo."""
    photos = _read(run, tables.PHOTOS)
    used = photos.query("status == 'used'").drop_duplicates("photo").set_index("photo")
    return used[["width", "height", "box", "path"]].rename(columns={"path": "source_path"})


def _sources(run: Path) -> DataFrame:
    """What is known of each photo's origin, its index the photo."""
    path = run / f"{tables.SOURCES.name}.parquet"
    if path.is_file():
        return tables.read(tables.SOURCES, path).set_index("photo")[list(CREDIT)]
    return DataFrame()


def _people(run: Path, config: ExportConfig) -> DataFrame:
    """The people table's columns, texts, its index the photo; a name of ours gets ``photo_`` in front."""
    from gslopes.photos.people import read_about

    if config.photos_csv is None:
        return DataFrame()
    about = read_about(config.photos_csv, run)
    ours = {*COLUMNS, *ENDS, "file", "file_name", "image"}
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
    units = photos.map(people[column].str.strip()) if config.split_by else photos
    units = units.where(units.notna() & (units != ""), photos)  # unnamed: the photo is its own unit
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
    runfolder.read_manifest(run)
    if not (run / "asked.parquet").is_file():
        raise UsageError(
            f"{show(run)} has no answers of a classifier yet.", "Finish it with gslopes audit."
        )
    answered, scores, edits, photos = (
        _read(run, table) for table in (tables.ASKED, tables.SCORES, tables.EDITS, tables.PHOTOS)
    )
    paths = photos.drop_duplicates("photo").set_index("photo")["path"]
    keys = ["photo", "attribute", "step"]
    edits = edits.join(paths, on="photo")[[*keys, "path", "value", "file"]]
    rows = answered.merge(edits, on=keys, how="left")
    rows = rows.merge(scores.drop(columns="value"), on=[*keys, "classifier"], how="left")
    pictures = ["photo", "path", "attribute", "step", "value", "file"]
    columns = [*pictures, "classifier", "status", "label", "score"]
    return rows[columns].sort_values(
        ["classifier", "attribute", "photo", "step", "label"], ignore_index=True
    )
