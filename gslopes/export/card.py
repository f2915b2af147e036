"""The card of an export and its Croissant file: what was edited, by what, with which faults, whose photos."""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder, runtime
from gslopes.core.files import read_json, sha256_of
from gslopes.report.inline import templates
from gslopes.report.layouts import escaped, markdown

TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
UNSTATED = "not stated: that gives no permission"


class Facts:
    """The content of an export's card and Croissant file.

    form: of the export.  rows: as ``pictures`` made them, all sweeps of the run: a set is a sweep.
    editors: (attribute, model, sha256, licence), one each.  measured: of the run's ``validity.json``.
    made: when the run was made, ISO 8601.  Other attributes count rows, or name what is in them.
    """

    def __init__(self, run: Path, form: str, rows: pd.DataFrame) -> None:
        from gslopes.faces.gate.verdict import VALIDITY  # it needs torch

        manifest = runfolder.read_manifest(run)
        judged = run / VALIDITY
        readings = read_json(judged).get("attributes", []) if judged.is_file() else []
        edited = rows[rows["kind"] == "edit"]
        sweeps = rows.drop_duplicates("set")
        photos = rows.drop_duplicates("photo")
        licences = photos.get("licence", pd.Series("", index=photos.index))
        models = edited.drop_duplicates("attribute")[["attribute", "editor", "editor_sha256"]]
        self.form = form
        self.made = str(manifest.get("created", ""))
        self.columns = tuple(str(name) for name in rows if name != "file")
        self.attributes = tuple(sorted(set(edited["attribute"])))
        self.splits = _counts(rows["split"], sort=False)
        self.pictures = len(rows)
        self.sets = len(sweeps)
        self.photos = len(photos)
        self.kept = int(sweeps["kept"].sum())
        self.dropped = _counts(sweeps.loc[~sweeps["kept"], "reason"])
        self.licences = _counts(licences.fillna("").replace("", UNSTATED))
        self.editors = []
        for attribute, name, digest in models.itertuples(index=False, name=None):
            licence = manifest.get("models", {}).get(name, {}).get("licence")
            self.editors.append((attribute, name, digest, licence or "not stated"))
        self.measured = [row for row in readings if row.get("attribute") in self.attributes]


def _counts(texts: pd.Series, sort: bool = True) -> dict[str, int]:
    return {str(name): int(count) for name, count in texts.value_counts(sort=sort).items()}


def title(about: Facts) -> str:
    """The set in a phrase."""
    return f"Counterfactual photos along {' and '.join(about.attributes)}"


def _tool() -> str:
    return f"gslopes {runtime.gslopes_version()}"


def readme(about: Facts) -> str:
    """The card, Markdown with the front matter that hubs read."""

    def table(head: tuple[str, ...], rows: Any) -> str:
        cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
        return markdown(head, [[*map(escaped, row)] for row in cells])

    columns = [name for name in ("image", *about.columns) if name in TEXTS["columns"]]
    plain = templates(Path(__file__).parent).overlay(autoescape=False)
    return plain.get_template("card.md.j2").render(
        **TEXTS,
        about=about,
        title=title(about),
        tool=_tool(),
        table=table,
        markdown=markdown,
        measured=list(_measured(about)),
        faults=list(_faults(about)),
        described=[(name, TEXTS["columns"][name]) for name in columns],
    )


def _measured(about: Facts) -> Iterator[tuple[str, str, str]]:
    """How far an independent reader sees the edit, and what else it sees move, of the run's own sweeps."""
    for measured in about.measured:
        numbers = {
            "shift of the reader's probability, last value minus first": measured["shift"],
            "share of sweeps whose reading rises": measured["monotone"],
        }
        for name, share in (measured.get("leakage") or {}).items():
            numbers[f"{name} moves too, share of the target's slope"] = share
        for name, number in numbers.items():
            yield measured["attribute"], name, _interval(number)


def _interval(number: Mapping[str, float | None] | None) -> str:
    if not number or number.get("value") is None:
        return "not known"
    low = number.get("low")
    high = number.get("high")
    ends = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f"{number['value']:.2f}{ends}"


def _faults(about: Facts) -> Iterator[tuple[str, str]]:
    """The measured faults on the cards of the editors: model and text."""
    from gslopes.faces.zoo.spec import find_asset

    for model, digest in dict.fromkeys((name, digest) for _, name, digest, _ in about.editors):
        folder = find_asset("models", model)
        if folder is None or not (folder / "card.md").is_file():
            continue
        text = (folder / "card.md").read_text(encoding="utf-8")
        faults = text.partition("## Known failures\n")[2].partition("\n## ")[0].strip()
        if faults and f"sha256: {digest}" in text:  # a card is only about its weights
            yield model, faults


# -- Croissant: format specification 1.1 and its RAI vocabulary 1.0, https://docs.mlcommons.org/croissant -------------

_TYPES = {
    "value": "FLOAT",
    "step": "INTEGER",
    "width": "INTEGER",
    "height": "INTEGER",
    "kept": "BOOL",
}  # else TEXT


def available() -> bool:
    """Whether mlcroissant is installed."""
    return find_spec("mlcroissant") is not None


def metadata(about: Facts, out: Path) -> dict[str, Any]:
    """``croissant.json`` of an export.

    out: its folder, with its pictures and their index in place.

    Raises: OSError if they cannot be read.
    """
    import mlcroissant as mlc  # an extra, and seconds to import

    form = TEXTS["forms"][about.form]
    pattern = form["pattern"]
    kind = [form["type"]]
    files: list[Any] = []
    for path in sorted(out.glob(pattern)):
        name = path.relative_to(out).as_posix()
        size = f"{path.stat().st_size} B"
        files.append(
            mlc.FileObject(
                id=name,
                name=name,
                content_url=name,
                content_size=size,
                encoding_formats=kind,
                sha256=sha256_of(path),
            )
        )
    records = []
    facts: dict[str, Any] = {"id": "files", "includes": [pattern], "encoding_formats": kind}
    if about.form == "webdataset":
        facts = {"id": "facts", "includes": ["*.json"], "encoding_formats": ["application/json"]}
        facts["contained_in"] = [file.id for file in files]
    else:
        records.append(_records(mlc, about))
    files.append(mlc.FileSet(name=facts["id"], **facts))
    models = "; ".join(
        f"{attribute} by {name}, sha256 {digest}" for attribute, name, digest, _ in about.editors
    )
    dropped = "; ".join(f"{count} of them: {reason}" for reason, count in about.dropped.items())
    content: dict[str, Any] = mlc.Metadata(
        ctx=mlc.Context(conforms_to="http://mlcommons.org/croissant/1.1"),
        name=title(about),
        description=f"{about.pictures} pictures in {about.sets} sets of {about.photos} photos; see README.md.",
        license=[name for name in about.licences if name != UNSTATED]
        or [f"Licences of the photos {UNSTATED}"],
        date_published=about.made[:10],
        cite_as=TEXTS["paper"],
        keywords=["counterfactual", "fairness", "synthetic", *about.attributes],
        distribution=files,
        record_sets=records,
        data_manipulation_protocol=f"One face a photo is edited along one attribute at a time: {models}.",
        data_preprocessing_protocol=[
            f"A gate kept {about.kept} of {about.sets} sweeps."
            + (f" Dropped, {dropped}." if dropped else "")
        ],
        machine_annotation_tools=[_tool()],
        data_limitations=TEXTS["not_for"],
        data_use_cases=[TEXTS["uses"]],
        **TEXTS["croissant"],
    ).to_json()
    return content


def _records(mlc: Any, about: Facts) -> Any:
    """The record set, a record a picture."""

    def field(name: str, kind: str, transforms: Any = ()) -> Any:
        source = mlc.Source(
            file_set="files", extract=mlc.Extract(column=name), transforms=list(transforms)
        )
        return mlc.Field(
            id=f"records/{name}", name=name, data_types=[getattr(mlc.DataType, kind)], source=source
        )

    first = ["file_name"] if about.form == "imagefolder" else []
    fields = [
        field(name, _TYPES.get(name, "TEXT")) for name in (*first, *about.columns) if name != "box"
    ]
    if about.form == "parquet":
        fields.insert(0, field("image", "IMAGE_OBJECT", [mlc.Transform(json_path="bytes")]))
    return mlc.RecordSet(id="records", name="records", fields=fields)
