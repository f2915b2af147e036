"""The three forms in which pictures are written: each file whole and in its place, or not there; and the card.

The card of an export and its Croissant file: what was edited, by what, with which faults, whose photos.
"""

import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core import JsonObject, read_beside, read_json, runfolder, runtime, sha256_of
from gslopes.export.pictures import maker
from gslopes.report.inline import plain, templates
from gslopes.report.layouts import escaped

Record = dict[Any, Any]  # column to value, as JSON has it
# the row's facts, the ending of its file, and what reads it
Picture = tuple[Record, str, Callable[[], bytes]]

_ROW_GROUP = 32_000_000  # bytes of pictures in a row group of Parquet: what is in memory at once
# Columns of attributes to those of their values: one pair of them, or two of crossed attributes.
VALUES = {"attribute": "value", "attribute_1": "value_1", "attribute_2": "value_2"}
_ALIASES = read_beside(__file__, "writers.toml")
_KINDS = {column: pa.type_for_alias(alias) for column, alias in _ALIASES.items()}
_KINDS["box"] = pa.list_(pa.float64())


def name_of(record: Record) -> str:
    """A picture's name within its set: the original, or its step and value."""
    if record["kind"] == "original":
        return "original"
    values = (
        value if isinstance(value, str) else f"{round(value, 2):g}"
        for value in asked(record).values()
    )
    return re.sub("[^A-Za-z0-9_.+-]+", "-", f"{record['step']:02d}_{'_'.join(values)}")[:80]


def asked(record: Record) -> Record:
    """Attribute to value: what a picture shows."""
    return {record[name]: record[value] for name, value in VALUES.items() if name in record}


def write_imagefolder(path: Path, pictures: Iterable[Picture]) -> None:
    """The pictures of a split as files, and ``metadata.jsonl``, a line a picture, once they are there.

    path: of ``metadata.jsonl``.  A picture that is there is not written again.
    """
    written = []
    lines = []
    for record, suffix, read in pictures:
        name = f"{record['set']}/{name_of(record)}{suffix}"
        file = path.parent / name
        if not file.is_file():
            runfolder.write_bytes(file, read())
            written.append(file)
        lines.append(json.dumps({"file_name": name, **record}, ensure_ascii=False) + "\n")
    runfolder.settle(written)
    runfolder.write_bytes(path, "".join(lines).encode())
    runfolder.settle([path])


def write_parquet(path: Path, pictures: Iterable[Picture]) -> None:
    """One Parquet file with the pictures within, as ``datasets`` reads it: ``image`` is bytes and path."""
    with runfolder.placed(path) as temporary:
        writer = None
        for group in _groups(pictures):
            if not writer:
                schema = _schema(group[0][0])
                texts = [field.name for field in schema if field.type == pa.string()]
                # a picture is compressed already; its bytes have neither a dictionary nor a least and a greatest
                writer = pq.ParquetWriter(
                    temporary,
                    schema,
                    compression="none",
                    use_dictionary=texts,
                    write_statistics=texts,
                )
            rows = [
                {**record, "image": {"bytes": data, "path": f"{_key(record)}{suffix}"}}
                for record, suffix, data in group
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=writer.schema))
        if writer:
            writer.close()


def _groups(pictures: Iterable[Picture]) -> Iterator[list[tuple[Record, str, bytes]]]:
    group = []
    size = 0
    for record, suffix, read in pictures:
        group.append((record, suffix, read()))
        size += len(group[-1][2])
        if size >= _ROW_GROUP:
            yield group
            group = []
            size = 0
    if group:
        yield group


def _schema(record: Record) -> pa.Schema:
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    fields = [pa.field("image", image)]
    features: Record = {"image": {"_type": "Image"}}
    for name, value in record.items():
        kind = pa.string() if isinstance(value, str) else _KINDS.get(name, pa.string())
        fields.append(pa.field(name, kind))
        feature = {"dtype": str(getattr(kind, "value_type", kind)), "_type": "Value"}
        features[name] = {"feature": feature, "_type": "Sequence"} if name == "box" else feature
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def write_tar(path: Path, pictures: Iterable[Picture]) -> None:
    """One tar of WebDataset: a sample a picture, ``SET_NAME`` with the picture and its facts as ``.json``.

    Times, owners and modes are fixed, so that the same pictures make the same file.
    """
    with (
        runfolder.placed(path) as temporary,
        tarfile.open(temporary, "w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for record, suffix, read in pictures:
            facts = json.dumps(record, ensure_ascii=False).encode()
            for ending, content in ((suffix, read()), (".json", facts)):
                member = tarfile.TarInfo(_key(record) + ending)
                member.size = len(content)
                member.mode = 0o644
                tar.addfile(member, io.BytesIO(content))
            tar.members.clear()  # type: ignore[attr-defined]  # else it remembers each of them


WRITERS = {
    "imagefolder": write_imagefolder,
    "parquet": write_parquet,
    "webdataset": write_tar,
}


def _key(record: Record) -> str:
    """A picture's name in the whole export, without a full stop."""
    return f"{record['set']}_{name_of(record)}".replace(".", "p")


# -- the origin of a picture: XMP with IPTC's digital source type --------------------------------------------------

SOURCE_TYPE = "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"

_XMP = b"http://ns.adobe.com/xap/1.0/\x00"
_PNG = b"\x89PNG\r\n\x1a\n"
_KEYWORD = (
    b"XML:com.adobe.xmp\x00\x00\x00\x00\x00"  # an iTXt chunk's head: not compressed, no language
)


def packet(tool: str, record: Record) -> bytes:
    """The XMP packet of an edited picture, UTF-8.

    tool: name and version of the program.  record: the facts of the picture: ``editor`` and ``editor_sha256``, who
    edited it, and the sha256 of the weights; what was changed, and to which value: what the model was asked for.

    Source: IPTC Photo Metadata Standard 2025.1, Digital Source Type and the properties of AI systems.
    """
    words = {"tool": tool, "source": SOURCE_TYPE, "record": record, "asked": asked(record)}
    return templates(__file__).get_template("provenance.xml.j2").render(words).encode()


def embed(file: bytes, xmp: bytes) -> bytes:
    """The same JPEG or PNG with this XMP packet in place of its own; its pixels are the same bytes.

    xmp: at most 65,000 bytes.

    Raises: ValueError if it is neither a JPEG nor a PNG.

    Source: XMP Specification Part 3, Storage in Files, sections 1.1.3 (JPEG) and 1.1.5 (PNG).
    """
    if file.startswith(b"\xff\xd8"):
        if (own := file.find(_XMP) - 4) > 0:  # after marker and length
            file = file[:own] + file[own + 2 + int.from_bytes(file[own + 2 : own + 4]) :]
        jfif = file[2:4] == b"\xff\xe0"  # a segment that must stay the first
        at = 4 + int.from_bytes(file[4:6]) if jfif else 2
        segment = _XMP + xmp
        return file[:at] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2) + segment + file[at:]
    if file.startswith(_PNG):
        if (own := file.find(b"iTXt" + _KEYWORD[:18]) - 4) > 0:  # after its length
            file = file[:own] + file[own + 12 + int.from_bytes(file[own : own + 4]) :]
        at = len(_PNG) + 12 + 13  # after IHDR: length, name, 13 bytes, checksum
        body = b"iTXt" + _KEYWORD + xmp
        chunk = (len(body) - 4).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)
        return file[:at] + chunk + file[at:]
    raise ValueError("The picture is neither a JPEG nor a PNG.")


# -- card --------------------------------------------------------------------------------------------------------------

TEXTS = read_beside(__file__, "card.toml")


def facts_of(run: Path, form: str, rows: DataFrame) -> JsonObject:
    """The content of an export's card and Croissant file; ``facts.j2`` counts what is in it.

    form: of the export.  rows: as ``pictures`` made them.

    Returns editors: (attribute, model, sha256, licence), one each; readings: of the run's ``validity.json``; edited:
        rows without originals.
    """
    from gslopes.faces.gate.verdict import VALIDITY  # it needs torch

    manifest = runfolder.read_manifest(run)
    judged = run / VALIDITY
    edited = rows[rows["kind"] != "original"]
    attributes = sorted({*edited.filter([*VALUES]).to_numpy().flat})
    return {
        "form": form,
        "manifest": manifest,
        "rows": rows,
        "edited": edited,
        "attributes": attributes,
        "editors": [(attribute, *maker(manifest, attribute)) for attribute in attributes],
        "readings": read_json(judged).get("attributes", []) if judged.is_file() else [],
    }


def readme(about: JsonObject) -> str:
    """The card, Markdown with the front matter that hubs read."""
    return _rendered("card.md.j2", about, faults=list(_faults(about)), escaped=escaped)


def _faults(about: JsonObject) -> Iterator[tuple[str, str]]:
    """The measured faults on the cards of the editors: model and text; of one that edits twice, twice."""
    from gslopes.faces.zoo.spec import find_asset

    for _, model, digest, _ in about["editors"]:
        folder = find_asset("models", model)
        if folder is None or not (folder / "card.md").is_file():
            continue
        text = (folder / "card.md").read_text("utf-8")
        faults = text.partition("## Known failures\n")[2].partition("\n## ")[0].strip()
        if faults and f"sha256: {digest}" in text:  # a card is only about its weights
            yield model, faults


def metadata(about: JsonObject, out: Path) -> JsonObject:
    """``croissant.json`` of an export.

    out: its folder, with its pictures and their index in place.

    Raises: OSError if they cannot be read.
    """
    form = TEXTS["forms"][about["form"]]
    files = [
        (path.relative_to(out).as_posix(), path.stat().st_size, sha256_of(path))
        for path in sorted(out.glob(form["pattern"]))
    ]
    return dict(json.loads(_rendered("croissant.json.j2", about, form=form, files=files)))


def _rendered(template: str, about: JsonObject, **more: Any) -> str:
    tool = f"gslopes {runtime.gslopes_version()}"
    return plain(template, __file__, **TEXTS, about=about, tool=tool, **more) + "\n"
