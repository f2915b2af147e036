"""WordNet 3.0: senses of a word, what lies above what, similarity, base forms; from embedded tables.

Synsets go by their names, such as ``woman.n.01``: first lemma, part of speech (n noun, v verb, a adjective, s adjective
satellite, r adverb) and the number of the lemma's sense.

Source: Fellbaum (ed.) 1998, WordNet: An Electronic Lexical Database; database files of version 3.0.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gslopes.core.errors import ModelError

DATA = Path(__file__).parent / "data"
FILES = ("wordnet-lemmas.parquet", "wordnet-synsets.parquet", "wordnet-irregular.parquet")
SHA256 = {
    "wordnet-lemmas.parquet": "f1d7b411f387d23fedc65c5cbfbc485d71822f55f6bee6e2f5e62c8e754c8730",
    "wordnet-synsets.parquet": "a73387b386f4fb30a8d423d890adb20a82a2263ba58b09b5ee4fd6a4e7b4dbd7",
    "wordnet-irregular.parquet": "7bf35f1209fa1f4aa0d15041e589d4292891706fdaef5e6173bbdec8e667577c",
}
DEPTH = {"n": 19, "v": 13}  # of the taxonomies, in NLTK's counting
SUFFIXES = {
    "n": ("s:", "ses:s", "ves:f", "xes:x", "zes:z", "ches:ch", "shes:sh", "men:man", "ies:y"),
    "v": ("s:", "ies:y", "es:e", "es:", "ed:e", "ed:", "ing:e", "ing:"),
    "a": ("er:", "est:", "er:e", "est:e"),
    "r": (),
}
CODES = "nvar"
_KINDS = "nvars"
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Lists of integers of different lengths in one array: list i is values[starts[i]:starts[i + 1]]."""

    values: Ints
    starts: Ints

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


class WordNet:
    """Senses, taxonomy and base forms.

    arrays: the content.  name: such as ``wordnet-3.0``.  digest: sha256 of its files.
    """

    def __init__(self, arrays: Arrays, name: str, digest: str) -> None:
        self.name = name
        self.digest = digest
        self._a = arrays
        self._row = {
            (lemma, CODES[part]): row for row, (lemma, part) in enumerate(zip(arrays.lemmas, arrays.part, strict=True))
        }
        self._names = self._call()
        self._index = {name: index for index, name in enumerate(self._names)}
        self._by_offset: dict[tuple[str, int], str] = {}
        self._distances = lru_cache(maxsize=200_000)(self._distances_of)
        self._similarity = lru_cache(maxsize=500_000)(self._similarity_of)
        self._above = cache(self._above_of)

    def _call(self) -> list[str]:
        """Every synset's name: the number of a sense is its place among those of the lemma."""
        a = self._a
        owner = np.repeat(np.arange(len(a.lemmas), dtype=np.int32), np.diff(a.senses.starts))
        rank = np.arange(len(a.senses.values)) - a.senses.starts[owner]
        is_head = a.head[a.senses.values] == owner
        number = np.zeros(len(a.head), np.int64)
        number[a.senses.values[is_head]] = rank[is_head] + 1
        rows = zip(a.head.tolist(), a.kind.tolist(), number.tolist(), strict=True)
        return [f"{a.lemmas[head]}.{_KINDS[kind]}.{count:02d}" for head, kind, count in rows]

    # -- words to synsets --

    def synsets(self, word: str, part: str) -> tuple[str, ...]:
        """Synsets of a base form, commonest first; none if it is unknown.

        word: lower case; spaces and underscores are one.  part: n, v, a or r.
        """
        row = self._row.get((word.replace(" ", "_"), part))
        if row is None:
            return ()
        return tuple(self._names[index] for index in self._a.senses[row])

    def knows(self, word: str, part: str) -> bool:
        """Whether it is a base form of this part of speech."""
        return (word.replace(" ", "_"), part) in self._row

    def base(self, form: str, part: str) -> str | None:
        """The base form of an inflected one: the irregular list, then the suffixes; None if there is none.

        >>> wordnet().base("men", "n"), wordnet().base("skis", "n"), wordnet().base("zzzs", "n")
        ('man', 'ski', None)
        """
        form = form.replace(" ", "_")
        listed = self._a.irregular[part].get(form)
        if listed is not None and self.knows(listed, part):
            return listed
        for rule in SUFFIXES[part]:
            suffix, _, ending = rule.partition(":")
            stem = form.removesuffix(suffix) + ending
            if form.endswith(suffix) and len(stem) > len(ending) and self.knows(stem, part):
                return stem
        return form if self.knows(form, part) else None

    def known(self, synset: str) -> bool:
        """Whether there is a synset of this name."""
        return synset in self._index

    def by_id(self, wnid: str) -> str | None:
        """The synset of ImageNet's id, part of speech and offset; None if there is none.

        >>> wordnet().by_id("n10787470")
        'woman.n.01'
        """
        if not self._by_offset:
            kinds = ("nvara"[kind] for kind in self._a.kind.tolist())
            self._by_offset.update(zip(zip(kinds, self._a.offset.tolist(), strict=True), self._names, strict=True))
        part, digits = wnid[:1].replace("s", "a"), wnid[1:]
        return self._by_offset.get((part, int(digits))) if digits.isdecimal() else None

    # -- the taxonomy --

    def is_instance(self, synset: str) -> bool:
        """Whether it names one person or place rather than a class."""
        index = self._index.get(synset)
        return index is not None and len(self._a.classes[index]) > 0

    def parents(self, synset: str) -> tuple[str, ...]:
        """Direct hypernyms, and the classes of an instance."""
        index = self._index.get(synset)
        return () if index is None else tuple(self._names[above] for above in self._up(index))

    def above(self, synset: str) -> frozenset[str]:
        """All its hypernyms, itself not among them; none for a name that is not known."""
        return self._above(synset)

    def at_or_below(self, synset: str, other: str) -> bool:
        """Whether a synset is the other, or lies below it.

        >>> wordnet().at_or_below("street.n.01", "road.n.01")
        True
        """
        return synset == other or other in self._above(synset)

    def depth(self, synset: str) -> int:
        """The fewest hypernyms between a synset and one without any; 0 for an unknown name."""
        count, edge = 0, {synset}
        while edge and all(self.parents(name) for name in edge):
            edge = {above for name in edge for above in self.parents(name)}
            count += 1
        return count

    def similarity(self, one: str, other: str) -> float | None:
        """Leacock and Chodorow's similarity, natural logarithm; None for other parts than nouns and verbs.

        −ln((d + 1) / (2 D)), d the edges of the shortest way over hypernyms; verbs have a virtual root above them all.

        Source: Leacock & Chodorow 1998, Combining local context and WordNet similarity.

        >>> round(wordnet().similarity("dog.n.01", "cat.n.01"), 4)
        2.0281
        """
        return self._similarity(*sorted((one, other)))

    def _up(self, index: int) -> list[int]:
        above: list[int] = self._a.above[index].tolist()
        return above + self._a.classes[index].tolist()

    def _above_of(self, synset: str) -> frozenset[str]:
        index = self._index.get(synset)
        return frozenset() if index is None else frozenset(self._names[p] for p in self._distances(index) if p != index)

    def _distances_of(self, index: int) -> dict[int, int]:
        """Every hypernym's number of edges, the synset itself at 0; of verbs the virtual root as −1."""
        found = {index: 0}
        edge, steps = [index], 0
        while edge:
            steps += 1
            edge = [above for below in edge for above in self._up(below) if above not in found]
            found.update(dict.fromkeys(edge, steps))
        if _KINDS[self._a.kind[index]] == "v":
            found[-1] = max(found.values()) + 1
        return found

    def _similarity_of(self, one: str, other: str) -> float | None:
        first, second = self._index.get(one), self._index.get(other)
        if first is None or second is None:
            return None
        kinds = {_KINDS[self._a.kind[first]], _KINDS[self._a.kind[second]]}
        if len(kinds) > 1 or not kinds <= set(DEPTH):
            return None
        ours, theirs = self._distances(first), self._distances(second)
        ways = [ours[index] + theirs[index] for index in ours.keys() & theirs.keys()]
        return -math.log((min(ways) + 1) / (2 * DEPTH[kinds.pop()])) if ways else None


@cache
def wordnet() -> WordNet:
    """WordNet 3.0 from the embedded tables, read once a process.

    Raises: ModelError if its files are damaged or missing.
    """
    contents = [_checked(name) for name in FILES]
    return WordNet(from_parquet(contents), "wordnet-3.0", sha256("".join(SHA256.values()).encode()).hexdigest())


def _checked(name: str) -> bytes:
    try:
        content = (DATA / name).read_bytes()
    except OSError as error:
        raise ModelError(f"The embedded WordNet table {name} is missing.", "Install gslopes again.") from error
    if sha256(content).hexdigest() != SHA256[name]:
        raise ModelError(f"The embedded WordNet table {name} is damaged.", "Install gslopes again.")
    return content


def from_parquet(contents: Iterable[bytes]) -> Arrays:
    """The arrays of the embedded files (lemmas, synsets, irregular forms), made from Debian's wordnet-base 1:3.0-37."""
    lemmas, synsets, forms = (pq.read_table(io.BytesIO(content)) for content in contents)
    irregular: dict[str, dict[str, str]] = {code: {} for code in CODES}
    for part, form, base in zip(*(forms[name].to_pylist() for name in ("part", "form", "base")), strict=True):
        irregular[part][form] = base
    return Arrays(
        lemmas=lemmas["lemma"].to_pylist(),
        part=lemmas["part"].to_numpy().astype(np.int32),
        senses=_ragged(lemmas["senses"]),
        **{name: synsets[name].to_numpy().astype(np.int32) for name in ("offset", "kind", "head")},
        above=_ragged(synsets["hypernyms"]),
        classes=_ragged(synsets["classes"]),
        irregular=irregular,
    )


def _ragged(column: pa.ChunkedArray) -> Ragged:
    whole = column.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return Ragged(whole.values.to_numpy(), whole.offsets.to_numpy())
