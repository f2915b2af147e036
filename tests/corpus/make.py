"""Makes the corpus of tables that ``tests.fuzz`` mutates: a few kB each, one of each kind that is read.

    python -m tests.corpus.make

Files named ``found-*`` are inputs that once ended in anything but a result or an error of gslopes; they stay.
"""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TABLES = Path(__file__).parent / "tables"
ROWS = [
    {"picture": f"{unit}{value}.jpg", "unit": unit, "attribute": "look", "value": value}
    for unit in ("u0", "u1", "u2")
    for value in ("a", "b")
]
PEOPLE = [
    {"image": f"{row}.jpg", "gender": ("female", "male", "NA")[row % 3], "age": row or None}
    for row in range(6)
]
CAPTIONS = [{"image": str(row), "caption": f"A woman with {row} dogs."} for row in range(4)]


def made() -> dict[str, bytes]:
    """Name of a file to its bytes."""
    cells = [
        row | {"picture": {"bytes": b"\xff\xd8\xff" + bytes(40), "path": row["picture"]}}
        for row in ROWS
    ]
    lists = [row | {"caption": [row["caption"], "A man."]} for row in CAPTIONS]
    odd = [row | {"value": ["a"], "note": {"x": [1, None]}} for row in ROWS]
    emoji = [
        row | {"unit": "\U0001f469\U0001f3fd", "value": "\ud800" + row["value"]} for row in ROWS
    ]
    files = {
        "pairs.csv": csv(ROWS),
        "people.csv": csv(PEOPLE),
        "captions.csv": csv(CAPTIONS),
        "pairs.jsonl": lines(ROWS),
        "odd.jsonl": lines(odd),
        "emoji.jsonl": lines(emoji),
        "captions.json": json.dumps([{"image_id": 1, "caption": "A man. \ud83d"}]).encode(),
    }
    tables = {"pairs": ROWS, "people": PEOPLE, "captions": CAPTIONS, "cells": cells, "lists": lists}
    for name, rows in tables.items():
        files[f"{name}.parquet"] = parquet(rows)
    views = pa.table({"image": ["NA", None], "view": pa.array(["v", ""], pa.string_view())})
    files["views.parquet"] = parquet(views)
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    files["plain.parquet"] = parquet(ROWS, **plain)
    files["pages2.parquet"] = parquet(
        ROWS, data_page_version="2.0", compression="snappy", row_group_size=2
    )
    files["delta.parquet"] = parquet(ROWS, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")
    return files


def csv(rows: list[dict]) -> bytes:
    text = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    return "\n".join(text).encode() + b"\n"


def lines(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows: list[dict] | pa.Table, **options: object) -> bytes:
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **{"compression": "zstd", **options})
    return sink.getvalue().to_pybytes()


if __name__ == "__main__":
    TABLES.mkdir(exist_ok=True)
    for name, data in made().items():
        (TABLES / name).write_bytes(data)
