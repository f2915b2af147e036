"""Write gslopes/words/data/wordnet-*.parquet from WordNet 3.0's database files.

    python training/wordnet.py /usr/share/wordnet

The files are those of Debian's wordnet-base 1:3.0-37 (the Princeton release without glosses being used). The digests
that it prints stand in gslopes/words/wordnet.py.
"""

from __future__ import annotations

import io
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gslopes.core.errors import ModelError
from gslopes.core.files import read_named
from gslopes.words.wordnet import CODES, DATA, FILES, Arrays, Ragged

PARTS = ("noun", "verb", "adj", "adv")

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


def read_wndb(folder: Path) -> tuple[Arrays, str]:
    """The database files of a folder, and one sha256 over them.

    folder: holds index, data and exc files of noun, verb, adj and adv.

    Raises: ModelError if a file is missing or damaged.
    """
    digest = sha256()
    texts: dict[str, str] = {}
    hint = "Give a folder of WordNet database files, such as /usr/share/wordnet of Debian's wordnet-base."
    for part in PARTS:
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            content = read_named(folder / name, raises=ModelError, hint=hint)
            digest.update(content)
            texts[name] = content.decode("latin-1")
    try:
        return _arrays(texts), digest.hexdigest()
    except (ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{folder} holds damaged WordNet files: {error!r}.", "Install them again.") from error


def _arrays(texts: dict[str, str]) -> Arrays:
    row_of: dict[tuple[int, int], int] = {}
    rows: list[list[str]] = []
    for part, name in enumerate(PARTS):
        for line in _lines(texts[f"data.{name}"]):
            fields = line.partition(" | ")[0].split()
            row_of[part, int(fields[0])] = len(rows)
            rows.append([str(part), *fields])
    lemmas: list[str] = []
    parts: list[int] = []
    senses: list[list[int]] = []
    number: dict[tuple[str, int], int] = {}
    for part, name in enumerate(PARTS):
        for line in _lines(texts[f"index.{name}"]):
            fields = line.split()
            count = int(fields[2])
            number[fields[0], part] = len(lemmas)
            lemmas.append(fields[0])
            parts.append(part)
            senses.append([row_of[part, int(offset)] for offset in fields[-count:]])
    heads, above, classes = [], [], []
    for row in rows:
        part = int(row[0])
        heads.append(number[row[5].split("(")[0].lower(), part])
        kinds = _pointers(row, row_of)
        above.append(kinds["@"])
        classes.append(kinds["@i"])
    exceptions = {
        code: {form: fields[0] for form, *fields in map(str.split, _lines(texts[f"{name}.exc"])) if fields and form}
        for code, name in zip(CODES, PARTS, strict=True)
    }
    return Arrays(
        lemmas=lemmas,
        part=np.array(parts, np.int32),
        senses=_ragged(senses),
        offset=np.array([int(row[1]) for row in rows], np.int32),
        kind=np.array([4 if row[3] == "s" else int(row[0]) for row in rows], np.int32),
        head=np.array(heads, np.int32),
        above=_ragged(above),
        classes=_ragged(classes),
        irregular=exceptions,
    )


def _ragged(lists: list[list[int]]) -> Ragged:
    values = np.array([value for one in lists for value in one], np.int32)
    return Ragged(values, np.cumsum([0, *map(len, lists)]).astype(np.int32))


def _lines(text: str) -> list[str]:
    """The lines after the licence, whose own lines begin with two spaces."""
    return [line for line in text.split("\n") if line and not line.startswith("  ")]


def _pointers(row: list[str], row_of: dict[tuple[int, int], int]) -> dict[str, list[int]]:
    """Hypernyms (@) and classes of an instance (@i); row: part, offset, file, type, count of words, words …"""
    found: dict[str, list[int]] = {"@": [], "@i": []}
    start = 5 + 2 * int(row[4], 16)
    for index in range(start + 1, start + 1 + 4 * int(row[start]), 4):
        symbol, offset, code = row[index : index + 3]
        if symbol in found:
            found[symbol].append(row_of[CODES.index("a" if code == "s" else code), int(offset)])
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
