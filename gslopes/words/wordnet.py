"""WordNet 3.0: senses of a word, what lies above what, similarity, base forms; from embedded tables.

Synsets go by their names, such as ``woman.n.01``: first lemma, part of speech (n noun, v verb, a adjective, s adjective
satellite, r adverb) and the number of the lemma's sense.

Source: Fellbaum (ed.) 1998, WordNet: An Electronic Lexical Database; database files of version 3.0.
"""

import io
import math
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

import pyarrow.parquet as pq

from gslopes.core import ModelError, Names, hexdigest, read_named, read_toml

DATA = Path(__file__).parent / "data"
GRAMMAR = read_toml(DATA / "grammar.toml")
SHA256 = {
    "wordnet-lemmas.parquet": "f1d7b411f387d23fedc65c5cbfbc485d71822f55f6bee6e2f5e62c8e754c8730",
    "wordnet-synsets.parquet": "1cf84ae14bb7a79c764e3d59af00bc5b09bb76d80c83d7c78c1535cb11f7c036",
    "wordnet-irregular.parquet": "7bf35f1209fa1f4aa0d15041e589d4292891706fdaef5e6173bbdec8e667577c",
}
DEPTH = {"n": 19, "v": 13}  # of the taxonomies, in NLTK's counting


class WordNet:
    """Senses, taxonomy and base forms.  name: such as ``wordnet-3.0``.  digest: sha256 of its files' digests.

    lemmas.parquet: 155,287 lower-case words, underscores for spaces, with the part (0 to 3, of n, v, a, r) and the rows
    of their synsets, commonest first. synsets.parquet: 117,659 with their name, ImageNet's id (the part, and the byte
    offset in WordNet's file), the rows of their hypernyms, and of the classes of which they are instances.
    irregular.parquet: part, form and base.

    Raises: ModelError if a file is damaged or missing.
    """

    def __init__(self) -> None:
        lemmas, synsets, forms = (pq.read_table(io.BytesIO(_checked(name))) for name in SHA256)
        self.name = "wordnet-3.0"
        self.digest = hexdigest("".join(SHA256.values()))
        parts = map("nvar".__getitem__, lemmas["part"].to_pylist())
        words = zip(lemmas["lemma"].to_pylist(), parts, strict=True)
        self._senses = dict(zip(words, lemmas["senses"].to_numpy(), strict=True))
        self._above = synsets["hypernyms"].to_numpy(), synsets["classes"].to_numpy()
        self._irregular = {(row["part"], row["form"]): row["base"] for row in forms.to_pylist()}
        self._names = synsets["name"].to_pylist()
        self._index = {name: index for index, name in enumerate(self._names)}
        self._by_id = dict(zip(synsets["id"].to_pylist(), self._names, strict=True))
        self._distances = lru_cache(maxsize=200_000)(self._distances_of)
        self._similarity = lru_cache(maxsize=500_000)(self._similarity_of)
        self.above = cache(self._above_of)

    # -- words to synsets --

    def synsets(self, word: str, part: str) -> Names:
        """Synsets of a base form, commonest first; none if it is unknown.

        word: lower case; spaces and underscores are one.  part: n, v, a or r.
        """
        rows = self._senses.get((word.replace(" ", "_"), part), ())
        return tuple(map(self._names.__getitem__, rows))

    def knows(self, word: str, part: str) -> bool:
        """Whether it is a base form of this part of speech."""
        return (word.replace(" ", "_"), part) in self._senses

    def base(self, form: str, part: str) -> str | None:
        """The base form of an inflected one: the irregular list, then the suffixes; None without one.

        >>> wordnet().base("men", "n"), wordnet().base("skis", "n"), wordnet().base("zzzs", "n")
        ('man', 'ski', None)
        """
        form = form.replace(" ", "_")
        listed = self._irregular.get((part, form))
        if listed and self.knows(listed, part):
            return listed
        for suffix, ending in GRAMMAR["suffixes"][part]:
            stem = form.removesuffix(suffix) + ending
            if form.endswith(suffix) and len(stem) > len(ending) and self.knows(stem, part):
                return stem
        if self.knows(form, part):
            return form
        return None

    def known(self, synset: str) -> bool:
        """Whether there is a synset of this name."""
        return synset in self._index

    def by_id(self, wnid: str) -> str | None:
        """The synset of ImageNet's id, part of speech and offset; None without one.

        >>> wordnet().by_id("n10787470")
        'woman.n.01'
        """
        return self._by_id.get(wnid[:1].replace("s", "a") + wnid[1:])

    # -- the taxonomy --

    def is_instance(self, synset: str) -> bool:
        """Whether it names one person or place rather than a class."""
        index = self._index.get(synset)
        return index is not None and len(self._up(index)[1]) > 0

    def at_or_below(self, synset: str, top: str) -> bool:
        """Whether a synset is ``top``, or lies below it.

        >>> wordnet().at_or_below("street.n.01", "road.n.01")
        True
        """
        return synset == top or top in self.above(synset)

    def similarity(self, first: str, second: str) -> float | None:
        """Leacock and Chodorow's similarity, natural logarithm; None for other parts than nouns and verbs.

        −ln((d + 1) / (2 D)), d the edges of the shortest way over hypernyms; verbs have a virtual root above them all.

        Source: Leacock & Chodorow 1998, Combining local context and WordNet similarity.

        >>> round(wordnet().similarity("dog.n.01", "cat.n.01"), 4)
        2.0281
        """
        return self._similarity(*sorted((first, second)))

    def _up(self, index: int) -> tuple[list[int], ...]:
        """Rows of the hypernyms of a synset, and of the classes of which it is an instance."""
        return tuple(rows[index].tolist() for rows in self._above)

    def _above_of(self, synset: str) -> frozenset[str]:
        """All hypernyms of a synset, itself not among them; none for a name that is not known."""
        index = self._index.get(synset)
        if index is None:
            return frozenset()
        return frozenset(self._names[p] for p in self._distances(index) if p != index)

    def _distances_of(self, index: int) -> dict[int, int]:
        """Every hypernym's number of edges, the synset itself at 0; of verbs the virtual root as −1."""
        distances = {index: 0}
        edge = [index]
        steps = 0
        while edge:
            steps += 1
            above = chain.from_iterable(chain(*self._up(below)) for below in edge)
            edge = [row for row in above if row not in distances]
            distances.update(dict.fromkeys(edge, steps))
        if ".v." in self._names[index]:
            distances[-1] = max(distances.values()) + 1
        return distances

    def _similarity_of(self, first: str, second: str) -> float | None:
        if not {first, second} <= self._index.keys():
            return None
        parts = {first[-4], second[-4]}  # of n in dog.n.01
        if len(parts) > 1 or not parts <= set(DEPTH):
            return None
        ours, theirs = (self._distances(self._index[name]) for name in (first, second))
        ways = [ours[index] + theirs[index] for index in ours.keys() & theirs.keys()]
        if ways:
            return -math.log((min(ways) + 1) / (2 * DEPTH[parts.pop()]))
        return None


@cache
def wordnet() -> WordNet:
    """WordNet 3.0 from the embedded tables, read once a process.  Raises: ModelError as ``WordNet``."""
    return WordNet()


def _checked(name: str) -> bytes:
    content = read_named(DATA / name, 1 << 24, raises=ModelError, hint="Install gslopes again.")
    if hexdigest(content) != SHA256[name]:
        raise ModelError(f"The embedded WordNet table {name} is damaged.", "Install gslopes again.")
    return content
