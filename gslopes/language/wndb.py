"""WordNet's database files (wndb(5WN)) as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ModelError
from gslopes.core.files import read_named

PARTS = ("noun", "verb", "adj", "adv")
CODES = "nvar"
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Lists of integers of different lengths in one array: list i is values[starts[i]:starts[i + 1]]."""

    values: Ints
    starts: Ints

    @classmethod
    def of(cls, lists: list[list[int]]) -> Ragged:
        """The same lists in one array."""
        values = np.array([value for one in lists for value in one], np.int32)
        return cls(values, np.cumsum([0, *map(len, lists)]).astype(np.int32))

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.starts[row] : self.starts[row + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """WordNet as arrays; S synsets and L pairs of lemma and part of speech.

    lemmas: L lower-case words, underscores for spaces.  part: (L,) 0 to 3, of n, v, a, r.
    senses: rows of synsets of each lemma, commonest first.
    offset: (S,) the byte offset, which ImageNet's ids are made of.  kind: (S,) 0 to 4, of n, v, a, r and s.
    head: (S,) the lemma that the synset is called after.
    above: rows of hypernyms of each synset.  classes: rows of the classes of which it is an instance.
    irregular: per part, form to lemma.
    """

    lemmas: list[str]
    part: Ints
    senses: Ragged
    offset: Ints
    kind: Ints
    head: Ints
    above: Ragged
    classes: Ragged
    irregular: dict[str, dict[str, str]]


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
        senses=Ragged.of(senses),
        offset=np.array([int(row[1]) for row in rows], np.int32),
        kind=np.array([4 if row[3] == "s" else int(row[0]) for row in rows], np.int32),
        head=np.array(heads, np.int32),
        above=Ragged.of(above),
        classes=Ragged.of(classes),
        irregular=exceptions,
    )


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
