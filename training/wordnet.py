"""Write gslopes/language/data/wordnet-*.parquet from WordNet 3.0's database files.

    python training/wordnet.py /usr/share/wordnet

The files are those of Debian's wordnet-base 1:3.0-37 (the Princeton release without glosses being used). The digests
that it prints stand in gslopes/language/wordnet.py.
"""

from __future__ import annotations

import io
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.language.wndb import Arrays, Ragged, read_wndb
from gslopes.language.wordnet import DATA, FILES

CODING = {"offset": "DELTA_BINARY_PACKED", "head": "DELTA_BINARY_PACKED", "lemma": "DELTA_BYTE_ARRAY"}


def main(folder: str) -> None:
    """Read a folder of database files and write the embedded tables."""
    arrays, digest = read_wndb(Path(folder))
    print(f"{len(arrays.offset):,} synsets, {len(arrays.lemmas):,} lemmas, sha256 of the database {digest}")
    for name, content in zip(FILES, to_parquet(arrays), strict=True):
        (DATA / name).write_bytes(content)
        print(f'    "{name}": "{sha256(content).hexdigest()}",  # {len(content):,} bytes')


def to_parquet(arrays: Arrays) -> list[bytes]:
    """The three embedded files: lemmas, synsets, irregular forms."""
    senses, above, classes = map(_lists, (arrays.senses, arrays.above, arrays.classes))
    lemmas = pa.table({"lemma": arrays.lemmas, "part": arrays.part.astype(np.int8), "senses": senses})
    synsets = {"offset": arrays.offset, "kind": arrays.kind.astype(np.int8), "head": arrays.head}
    rows = [(part, form, base) for part, forms in arrays.irregular.items() for form, base in forms.items()]
    forms = dict(zip(("part", "form", "base"), zip(*rows, strict=True), strict=True))
    tables = (lemmas, pa.table({**synsets, "hypernyms": above, "classes": classes}), pa.table(forms))
    return [_bytes(table) for table in tables]


def _lists(ragged: Ragged) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(ragged.starts, pa.int32()), pa.array(ragged.values, pa.int32()))


def _bytes(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression="brotli",
        compression_level=11,
        use_dictionary=False,
        column_encoding={name: CODING[name] for name in table.column_names if name in CODING},
        store_schema=False,
        write_statistics=False,
    )
    return buffer.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
