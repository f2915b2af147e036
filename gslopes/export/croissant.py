"""The Croissant file of an export: what its files hold, for machines, with the fields of responsible AI.

Source: Croissant format specification 1.1 and its RAI vocabulary 1.0, https://docs.mlcommons.org/croissant.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gslopes.core import runtime
from gslopes.core.files import sha256_of
from gslopes.export.card import NOT_FOR, PAPER, UNSTATED, USES, Facts, title

# Form to the pattern and media type of its files.
_FILES = {
    "parquet": ("data/*.parquet", "application/x-parquet"),
    "webdataset": ("data/*.tar", "application/x-tar"),
    "imagefolder": ("*/metadata.jsonl", "application/jsonlines"),
}
_TYPES = {"value": "FLOAT", "step": "INTEGER", "width": "INTEGER", "height": "INTEGER", "kept": "BOOL"}  # else TEXT


def available() -> bool:
    """Whether mlcroissant is installed."""
    return find_spec("mlcroissant") is not None


def metadata(about: Facts, out: Path) -> dict[str, Any]:
    """``croissant.json`` of an export.

    out: its folder, with its pictures and their index in place.

    Raises: OSError if they cannot be read.
    """
    import mlcroissant as mlc  # an extra, and seconds to import

    pattern, kind = _FILES[about.form]
    files: list[Any] = [
        mlc.FileObject(
            id=path.relative_to(out).as_posix(),
            name=path.relative_to(out).as_posix(),
            content_url=path.relative_to(out).as_posix(),
            content_size=f"{path.stat().st_size} B",
            encoding_formats=[kind],
            sha256=sha256_of(path),
        )
        for path in sorted(out.glob(pattern))
    ]
    records = []
    if about.form == "webdataset":
        inside = [file.id for file in files]
        facts = {"includes": ["*.json"], "encoding_formats": ["application/json"], "contained_in": inside}
        files.append(mlc.FileSet(id="facts", name="facts", **facts))
    else:
        files.append(mlc.FileSet(id="files", name="files", includes=[pattern], encoding_formats=[kind]))
        records.append(_records(mlc, about))
    models = "; ".join(f"{attribute} by {name}, sha256 {digest}" for attribute, name, digest, _ in about.editors)
    dropped = "; ".join(f"{count} of them: {reason}" for reason, count in about.dropped.items())
    content: dict[str, Any] = mlc.Metadata(
        ctx=mlc.Context(conforms_to="http://mlcommons.org/croissant/1.1"),
        name=title(about),
        description=f"{about.pictures} pictures in {about.sets} sets of {about.photos} photos; see README.md.",
        license=[name for name in about.licences if name != UNSTATED] or [f"Licences of the photos {UNSTATED}"],
        date_published=about.made[:10],
        version="1.0.0",
        cite_as=PAPER,
        keywords=["counterfactual", "fairness", "synthetic", *about.attributes],
        distribution=files,
        record_sets=records,
        data_collection="Photos of people, from a folder of the exporter's; licences are counted in README.md.",
        data_collection_type=["Secondary Data Analysis", "Others"],
        data_manipulation_protocol=f"One face a photo is edited along one attribute at a time: {models}.",
        data_preprocessing_protocol=[
            f"A gate kept {about.kept} of {about.sweeps} sweeps." + (f" Dropped, {dropped}." if dropped else "")
        ],
        machine_annotation_tools=[f"gslopes {runtime.gslopes_version()}"],
        data_biases=[
            "Edits of a perceived trait follow the people, and their stereotypes, in the editor's training photos; "
            "README.md has its known failures, and what else an independent reader sees move."
        ],
        data_limitations=list(NOT_FOR),
        data_use_cases=[USES],
        data_social_impact="It can show that a classifier's answer depends on a face. It has no labels of gender "
        "or race, and must not be used as if it had.",
        personal_sensitive_information=["Faces of people", "Perceived gender or race as the axis of an edit"],
    ).to_json()
    return content


def _records(mlc: Any, about: Facts) -> Any:
    """The record set, a record a picture."""

    def field(name: str, kind: str, transforms: Any = ()) -> Any:
        source = mlc.Source(file_set="files", extract=mlc.Extract(column=name), transforms=list(transforms))
        return mlc.Field(id=f"records/{name}", name=name, data_types=[getattr(mlc.DataType, kind)], source=source)

    first = ["file_name"] if about.form == "imagefolder" else []
    fields = [field(name, _TYPES.get(name, "TEXT")) for name in (*first, *about.columns) if name != "box"]
    if about.form == "parquet":
        fields.insert(0, field("image", "IMAGE_OBJECT", [mlc.Transform(json_path="bytes")]))
    return mlc.RecordSet(id="records", name="records", fields=fields)
