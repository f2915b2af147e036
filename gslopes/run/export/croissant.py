"""The Croissant file of an export: what its files hold, for machines, with the fields of responsible AI.

Source: Croissant format specification 1.1 and its RAI vocabulary 1.0, https://docs.mlcommons.org/croissant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gslopes.core import runtime
from gslopes.core.files import sha256_of
from gslopes.run.export.card import NOT_FOR, PAPER, UNSTATED, USES, Facts, title

_OWN = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet format "
    "includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
    **{name: f"cr:{name}" for name in _OWN.split()},
}
_TYPES = {
    "value": "sc:Float",
    "step": "sc:Integer",
    "width": "sc:Integer",
    "height": "sc:Integer",
    "kept": "sc:Boolean",
}
_FORMATS = {".parquet": "application/x-parquet", ".tar": "application/x-tar", ".jsonl": "application/jsonlines"}


def metadata(about: Facts, out: Path) -> dict[str, Any]:
    """``croissant.json`` of an export.

    out: its folder, with its pictures and their index in place.

    Raises: OSError if they cannot be read.
    """
    files, records = _contents(about, out)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": title(about),
        "description": f"{about.pictures} pictures in {about.sets} sets of {about.photos} photos; see README.md.",
        "license": [name for name in about.licences if name != UNSTATED] or [f"Licences of the photos {UNSTATED}"],
        "datePublished": about.made[:10],
        "version": "1.0.0",
        "citeAs": PAPER,
        "keywords": ["counterfactual", "fairness", "synthetic", *about.attributes],
        "distribution": files,
        "recordSet": records,
        **_responsible(about),
    }


def _responsible(about: Facts) -> dict[str, Any]:
    models = "; ".join(f"{attribute} by {name}, sha256 {digest}" for attribute, name, digest, _ in about.editors)
    dropped = "; ".join(f"{count} of them: {reason}" for reason, count in about.dropped.items())
    return {
        "rai:dataCollection": "Photos of people, from a folder of the exporter's; licences are counted in README.md.",
        "rai:dataCollectionType": ["Secondary Data Analysis", "Others"],
        "rai:dataManipulationProtocol": f"One face a photo is edited along one attribute at a time: {models}.",
        "rai:dataPreprocessingProtocol": [
            f"A gate kept {about.kept} of {about.sweeps} sweeps." + (f" Dropped, {dropped}." if dropped else "")
        ],
        "rai:machineAnnotationTools": [f"gslopes {runtime.gslopes_version()}"],
        "rai:dataBiases": [
            "Edits of a perceived trait follow the people, and their stereotypes, in the editor's training photos; "
            "README.md has its known failures, and what else an independent reader sees move."
        ],
        "rai:dataLimitations": list(NOT_FOR),
        "rai:dataUseCases": [USES],
        "rai:dataSocialImpact": "It can show that a classifier's answer depends on a face. It has no labels of gender "
        "or race, and must not be used as if it had.",
        "rai:personalSensitiveInformation": ["Faces of people", "Perceived gender or race as the axis of an edit"],
    }


def _contents(about: Facts, out: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(distribution, recordSet)."""
    patterns = {"parquet": "data/*.parquet", "webdataset": "data/*.tar", "imagefolder": "*/metadata.jsonl"}
    patterns |= {"coco": "annotations/*.json", "fiftyone": "labels.json"}
    paths = sorted(out.glob(patterns[about.form]))
    files = [_file(path, out) for path in paths]
    if about.form == "parquet":
        files.append(_alike("pictures", "data/*.parquet", _FORMATS[".parquet"]))
        return files, [_records(about, "pictures", image=True)]
    if about.form == "imagefolder":
        files.append(_alike("lines", "*/metadata.jsonl", _FORMATS[".jsonl"]))
        return files, [_records(about, "lines", ("file_name",))]
    if about.form == "webdataset":
        inside = [{"@id": one["@id"]} for one in files]
        files.append(_alike("facts", "*.json", "application/json") | {"containedIn": inside})
    return files, []


def _file(path: Path, out: Path) -> dict[str, Any]:
    name = path.relative_to(out).as_posix()
    kind = _FORMATS.get(path.suffix, "application/json")
    known = {"contentUrl": name, "contentSize": f"{path.stat().st_size} B", "encodingFormat": kind}
    return {"@type": "cr:FileObject", "@id": name, "name": name, **known, "sha256": sha256_of(path)}


def _alike(name: str, pattern: str, kind: str) -> dict[str, Any]:
    """Several files alike."""
    return {"@type": "cr:FileSet", "@id": name, "name": name, "includes": pattern, "encodingFormat": kind}


def _records(about: Facts, source: str, first: tuple[str, ...] = (), image: bool = False) -> dict[str, Any]:
    """The record set, a record a picture.

    source: of the files.  first: columns before those of every form.  image: whether the picture is one of them.
    """

    def found(name: str, kind: str, **extra: Any) -> dict[str, Any]:
        place = {"fileSet": {"@id": source}, "extract": {"column": name}}
        return {"@type": "cr:Field", "@id": f"records/{name}", "name": name, "dataType": kind, "source": place | extra}

    fields = [found(name, _TYPES.get(name, "sc:Text")) for name in (*first, *about.columns) if name != "box"]
    if image:
        fields.insert(0, found("image", "sc:ImageObject", transform={"jsonPath": "bytes"}))
    return {"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}
