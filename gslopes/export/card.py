"""The card of an export and its Croissant file: what was edited, by what, with which faults, whose photos."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder, runtime
from gslopes.core.files import read_json, sha256_of
from gslopes.report.layouts import escaped, markdown

PAPER = (
    "Joo and Kärkkäinen (2020), Gender Slopes: Counterfactual Fairness for Computer Vision Models by Attribute "
    "Manipulation, doi 10.1145/3422841.3423533"
)
UNSTATED = "not stated: that gives no permission"
USES = (
    "Audits of classifiers: does an answer depend on how a face looks? Training that holds the answers to a set "
    "together."
)
NOT_FOR = (
    "Training or testing a detector of gender, race or any other trait of a person: the attribute is what an edit "
    "changed, not who somebody is.",
    "Recognising, ranking or judging the people in the photos, or showing an edit as a record of them.",
    "A claim that a model treats people alike: a slope of zero leaves differences between real people open.",
)
COLUMNS = {
    "image": "the picture, or its file",
    "split": "train or test; a set is in one of them",
    "set": "a photo along one attribute: pictures of a set differ in nothing else",
    "photo": "sha256 of the photo's file",
    "attribute": "what was edited",
    "value": "where to; 0 is neutral, empty for an original",
    "step": "place in the sweep from 0; -1 for an original",
    "kind": "edit or original",
    "kept": "whether the gate kept the sweep",
    "reason": "why not",
    "box": "the edited face: x0 y0 x1 y1, pixels",
    "source_path": "the photo in the folder that was edited",
    "licence": "of the photo, as its source says",
    "editor": "the model that edited",
    "editor_sha256": "of its weights",
}


class Facts:
    """What card and Croissant file say of an export.

    form: of the export.  rows: as ``pictures`` made them, all sweeps of the run: a set is a sweep.
    editors: (attribute, model, sha256, licence), one each.  measured: of the run's ``validity.json``.
    made: when the run was made, ISO 8601.  Other attributes count rows, or name what is in them.
    """

    def __init__(self, run: Path, form: str, rows: pd.DataFrame) -> None:
        from gslopes.faces.gate.verdict import VALIDITY  # it needs torch

        manifest, judged = runfolder.read_manifest(run), run / VALIDITY
        edited, sweeps, photos = (rows[rows["kind"] == "edit"], *map(rows.drop_duplicates, ("set", "photo")))
        licences = photos["licence"].fillna("") if "licence" in rows else pd.Series("", index=photos.index)
        models = edited.drop_duplicates("attribute")[["attribute", "editor", "editor_sha256"]]
        readings = read_json(judged).get("attributes", []) if judged.is_file() else []
        self.form, self.made = form, str(manifest.get("created", ""))
        self.columns = tuple(str(name) for name in rows if name != "file")
        self.attributes = tuple(sorted(set(edited["attribute"])))
        self.splits = _counts(rows["split"], sort=False)
        self.pictures, self.sets = len(rows), len(sweeps)
        self.photos, self.kept = len(photos), int(sweeps["kept"].sum())
        self.dropped = _counts(sweeps.loc[~sweeps["kept"], "reason"])
        self.licences = _counts(licences.replace("", UNSTATED))
        self.editors = [
            (of, name, digest, manifest.get("models", {}).get(name, {}).get("licence", "") or "not stated")
            for of, name, digest in models.itertuples(index=False, name=None)
        ]
        self.measured = [reading for reading in readings if reading.get("attribute") in self.attributes]


def _counts(texts: pd.Series, sort: bool = True) -> dict[str, int]:
    return {str(name): int(count) for name, count in texts.value_counts(sort=sort).items()}


def title(about: Facts) -> str:
    """The set in a phrase."""
    return f"Counterfactual photos along {' and '.join(about.attributes)}"


def readme(about: Facts) -> str:
    """The card, Markdown with the front matter that hubs read."""
    parts = [
        f"---\n{_front(about)}\n---",
        f"# {title(about)}",
        f"{about.pictures:,} pictures in {about.sets:,} sets of {about.photos:,} photos. In a set one face is edited "
        "step by step along one attribute, as people perceive it; all else in the photo stays the same.",
        "## What was edited, by which model",
        markdown(("attribute", "model", "sha256", "licence"), [[*map(escaped, editor)] for editor in about.editors]),
        f"Method: {PAPER}. Made with gslopes {runtime.gslopes_version()}.",
        "## Measured on these photos",
        _measured(about),
        *_faults(about),
        "## How many were dropped, and why",
        _dropped(about),
        "## Licences of the photos",
        _counted("licence", "photos", about.licences),
        "The edits are of these photos and made by models with terms of their own, above: the stricter terms hold.",
        "## Use",
        USES,
        "Not for:",
        "\n".join(f"- {one}" for one in NOT_FOR),
        "The people in the photos were not asked for these edits.",
        "## Columns",
        markdown(("column", "what"), [(name, COLUMNS[name]) for name in ("image", *about.columns) if name in COLUMNS]),
        "## Provenance",
        "Each edited picture says in its XMP that it is one: IPTC's digital source type "
        "`compositeWithTrainedAlgorithmicMedia`, the tool, the model, the attribute and the value.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front(about: Facts) -> str:
    lines = [f"pretty_name: {json.dumps(title(about))}", "license: other", "license_name: see-the-card"]
    lines += ["task_categories:", "- image-classification", "tags:", "- counterfactual", "- fairness", "- synthetic"]
    paths = {"parquet": "data/{}-*.parquet", "webdataset": "data/{}-*.tar", "imagefolder": "{}/**"}
    lines += ["- croissant", "configs:", "- config_name: default", "  data_files:"]
    for split in about.splits:
        lines += [f"  - split: {split}", f"    path: {json.dumps(paths[about.form].format(split))}"]
    return "\n".join(lines)


def _measured(about: Facts) -> str:
    """How far an independent reader sees the edit, and what else it sees move, of the run's own sweeps."""
    if not about.measured:
        return "The edits were not judged by a reader."
    rows = []
    for measured in about.measured:
        numbers = {"shift of the reader's probability, last value minus first": measured["shift"]}
        numbers["share of sweeps whose reading rises"] = measured["monotone"]
        leakage = measured.get("leakage") or {}
        numbers |= {f"{name} moves too, share of the target's slope": share for name, share in leakage.items()}
        rows += [(measured["attribute"], name, _interval(number)) for name, number in numbers.items()]
    note = "Of all sweeps of the run, kept or not; in brackets the 95 % interval over photos."
    return note + "\n\n" + markdown(("attribute", "what", "number"), rows)


def _interval(number: Mapping[str, float | None] | None) -> str:
    if not number or number.get("value") is None:
        return "not known"
    low, high = number.get("low"), number.get("high")
    ends = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f"{number['value']:.2f}{ends}"


def _faults(about: Facts) -> list[str]:
    """What the cards of the editors say of their measured faults."""
    from gslopes.faces.zoo.spec import find_asset

    parts = []
    for model, digest in dict.fromkeys((name, digest) for _, name, digest, _ in about.editors):
        folder = find_asset("models", model)
        if folder is None or not (folder / "card.md").is_file():
            continue
        text = (folder / "card.md").read_text(encoding="utf-8")
        faults = text.partition("## Known failures\n")[2].partition("\n## ")[0].strip()
        if faults and f"sha256: {digest}" in text:  # a card speaks of these weights alone
            parts += [f"## Known failures of {model}", faults]
    return parts


def _dropped(about: Facts) -> str:
    if not about.measured and not about.dropped:
        return "No gate judged the sweeps."
    lines = f"The gate kept {about.kept:,} of the run's {about.sets:,} sweeps. `kept` says it of each picture."
    return lines + ("\n\n" + _counted("reason", "sweeps", about.dropped) if about.dropped else "")


def _counted(name: str, what: str, counts: Mapping[str, int]) -> str:
    return markdown((name, what), [(escaped(key), f"{count:,}") for key, count in counts.items()])


# -- Croissant: format specification 1.1 and its RAI vocabulary 1.0, https://docs.mlcommons.org/croissant -------------

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
            f"A gate kept {about.kept} of {about.sets} sweeps." + (f" Dropped, {dropped}." if dropped else "")
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
