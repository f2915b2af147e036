"""The forms in which pictures are written, shard by shard: each shard whole and in its place, or not there."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.core import runfolder
from gslopes.core.killpoints import kill_point

Record = dict[str, Any]
Picture = tuple[Record, bytes]  # the row's facts, and the file

_ROW_GROUP = 32_000_000  # bytes of pictures in a row group of Parquet: what is in memory at once
_KINDS = {"value": pa.float64(), "step": pa.int64(), "kept": pa.bool_(), "box": pa.list_(pa.float64())}
_KINDS |= {"width": pa.int64(), "height": pa.int64()}  # of the columns that are no texts


def name_of(record: Record) -> str:
    """A picture's name within its set: the original, or its step and value."""
    return "original" if record["kind"] == "original" else f"{record['step']:02d}_{round(record['value'], 2):g}"


def key_of(record: Record) -> str:
    """A picture's name in the whole export, without a full stop."""
    return f"{record['set']}_{name_of(record)}".replace(".", "p")


def suffix(file: bytes) -> str:
    """``.jpg`` or ``.png``, by content."""
    return ".png" if file.startswith(b"\x89P") else ".jpg"


# -- files, with an index ---------------------------------------------------------------------------------------------


def file_of(form: str, record: Record) -> str:
    """Where a picture lies in an export of files, relative to it and without suffix."""
    if form == "fiftyone":
        return f"data/{key_of(record)}"
    return f"{record['split']}/{record['set']}/{name_of(record)}"


def write_files(form: str, out: Path, shard: Iterable[Picture]) -> None:
    """Pictures as files, in the place that ``file_of`` names."""
    written = []
    for record, data in shard:
        path = out / f"{file_of(form, record)}{suffix(data)}"
        runfolder.make_folder(path.parent)
        runfolder.write_bytes(path, data)
        written.append(path)
    runfolder.settle(written)


def metadata_lines(records: Iterable[Record]) -> Iterator[str]:
    """``metadata.jsonl`` of an image folder: a line a picture.  records: with ``file_name``."""
    for record in records:
        yield json.dumps(plain(record), ensure_ascii=False) + "\n"


def coco(records: Sequence[Record], about: str) -> Iterator[str]:
    """COCO's JSON: pictures, and the edited face of each as a box of category 1.

    records: with ``file_name``; ``box`` is x0 y0 x1 y1 in pixels.  about: the set in a sentence.
    """
    yield f'{{"info": {json.dumps({"description": about})},\n"categories": [{{"id": 1, "name": "face"}}],\n"images": ['
    for index, record in enumerate(records, start=1):
        yield ("," if index > 1 else "") + "\n" + json.dumps({"id": index, **plain(record)}, ensure_ascii=False)
    yield '],\n"annotations": ['
    comma = ""
    for index, record in enumerate(records, start=1):
        box = plain(record)["box"]
        if box:
            x0, y0, x1, y1 = box
            sides = {"bbox": [x0, y0, round(x1 - x0, 3), round(y1 - y0, 3)], "area": round((x1 - x0) * (y1 - y0), 3)}
            yield f"{comma}\n{json.dumps({'id': index, 'image_id': index, 'category_id': 1, 'iscrowd': 0, **sides})}"
            comma = ","
    yield "]}\n"


def fiftyone_labels(records: Sequence[Record]) -> Iterator[str]:
    """``labels.json`` of a FiftyOneImageClassificationDataset: a label a picture, its facts as attributes of it."""
    labels = list(dict.fromkeys(map(_label, records)))
    place = {label: index for index, label in enumerate(labels)}
    yield f'{{"classes": {json.dumps(labels)},\n"labels": {{'
    for index, record in enumerate(records):
        entry = json.dumps({"label": place[_label(record)], "attributes": plain(record)}, ensure_ascii=False)
        yield ("," if index else "") + f"\n{json.dumps(key_of(record))}: {entry}"
    yield "}}\n"


def _label(record: Record) -> str:
    """``gender -2`` or ``gender original``: what a picture shows along its attribute."""
    shown = "original" if record["kind"] == "original" else f"{round(record['value'], 2):g}"
    return f"{record['attribute']} {shown}"


def write_text(path: Path, chunks: Iterable[str]) -> None:
    """A text file in UTF-8, piece by piece."""
    with _placed(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(chunks)


# -- Parquet ----------------------------------------------------------------------------------------------------------


def write_parquet(path: Path, shard: Iterable[Picture], columns: Sequence[str]) -> None:
    """One Parquet file with the pictures within, as ``datasets`` reads it: ``image`` is bytes and path.

    columns: of the records.
    """
    schema = _schema(columns)
    texts = [name for name in columns if name not in _KINDS]
    with (
        _placed(path) as temporary,
        # a picture is compressed already; its bytes have neither a dictionary nor a least and a greatest
        pq.ParquetWriter(temporary, schema, compression="none", use_dictionary=texts, write_statistics=texts) as writer,
    ):
        for group in _groups(shard):
            rows = [
                {**plain(record), "image": {"bytes": data, "path": f"{key_of(record)}{suffix(data)}"}}
                for record, data in group
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def _groups(shard: Iterable[Picture]) -> Iterator[list[Picture]]:
    group: list[Picture] = []
    size = 0
    for picture in shard:
        group.append(picture)
        size += len(picture[1])
        if size >= _ROW_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _schema(columns: Sequence[str]) -> pa.Schema:
    features: Record = {"image": {"_type": "Image"}}
    for name in columns:
        kind = "float64" if name in ("value", "box") else str(_KINDS.get(name, "string"))
        one = {"dtype": kind, "_type": "Value"}
        features[name] = {"feature": one, "_type": "Sequence"} if name == "box" else one
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    fields = [pa.field("image", image), *(pa.field(name, _KINDS.get(name, pa.string())) for name in columns)]
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


# -- WebDataset -------------------------------------------------------------------------------------------------------


def write_tar(path: Path, shard: Iterable[Picture]) -> None:
    """One tar of WebDataset: a sample a picture, ``SET_NAME`` with the picture and its facts as ``.json``.

    Times, owners and modes are fixed, so that the same pictures make the same file.
    """
    with _placed(path) as temporary, tarfile.open(temporary, "w", format=tarfile.PAX_FORMAT) as tar:
        for record, data in shard:
            facts = json.dumps(plain(record), ensure_ascii=False).encode()
            for ending, content in ((suffix(data), data), (".json", facts)):
                member = tarfile.TarInfo(key_of(record) + ending)
                member.size, member.mode = len(content), 0o644
                tar.addfile(member, io.BytesIO(content))
            tar.members.clear()  # type: ignore[attr-defined]  # else it remembers each of them


# -- places and rows --------------------------------------------------------------------------------------------------


@contextmanager
def _placed(path: Path) -> Iterator[Path]:
    """A temporary file that takes its place, durably, once it is whole.  Raises: StorageError."""
    temporary = path.with_name(f".{path.name}.tmp")
    runfolder.make_folder(path.parent)
    with runfolder.storage(path):
        try:
            yield temporary
            runfolder.settle([temporary])
            kill_point("file:temporary")
            temporary.replace(path)
            kill_point("file:placed")
        finally:
            temporary.unlink(missing_ok=True)
    runfolder.settle([path])


def records_of(rows: pd.DataFrame) -> Iterator[Record]:
    """Each row as a mapping."""
    columns = [str(name) for name in rows.columns]
    for row in rows.itertuples(index=False, name=None):
        yield dict(zip(columns, row, strict=True))


def plain(record: Record) -> Record:
    """A record as JSON takes it: a missing value is None."""
    return {key: _plain(value) for key, value in record.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, list):
        return [round(float(entry), 3) for entry in value]
    if isinstance(value, float):
        return None if value != value else round(value, 4)
    return value
