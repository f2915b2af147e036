"""Word lists: ours, small and mild, and the user's own; every result names list, version and digest.

Lists are assumed exclusive, exhaustive and up to date, and are not. No list of slurs is shipped or printed.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path

from gslopes.core import (
    ConfigError,
    JsonObject,
    Names,
    UnknownName,
    frozen,
    hexdigest,
    read_text,
    read_toml,
)
from gslopes.words.reading import label_of
from gslopes.words.wordnet import GRAMMAR, WordNet

SHIPPED = Path(__file__).parent / "lists"


@frozen
class WordList:
    """One list.

    entries: lemmas with underscores for spaces, or names of synsets.
    groups: entries by group, if the list has any (such as feminine and masculine).
    below, but: synsets as a rule: what is or lies below one of ``below`` is listed, and none of ``but`` or below them.
    """

    name: str
    version: str
    entries: frozenset[str]
    digest: str = ""
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    below: frozenset[str] = frozenset()
    but: frozenset[str] = frozenset()

    def __contains__(self, entry: object) -> bool:
        return entry in self.entries

    def holds(self, concept: str, wordnet: WordNet) -> bool:
        """Whether a concept is an entry, or a synset that the rule lists."""
        lines = wordnet.above(concept) | {concept}
        return concept in self.entries or (
            not lines.isdisjoint(self.below) and lines.isdisjoint(self.but)
        )

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Lists(dict[str, WordList]):
    """The lists of a run by name: the shipped ones, and the user's, which replace shipped ones of the same name."""

    def __missing__(self, name: str) -> WordList:
        raise UnknownName("word list", name, self)

    def versions(self, *names: str) -> str:
        """Names and versions, as the tables show them."""
        return ", ".join(str(self[name]) for name in names if name in self)


@cache
def shipped() -> Lists:
    """The lists that come with gslopes."""
    lists = [read_list(path) for path in sorted(SHIPPED.glob("*.toml"))]
    return Lists({listed.name: listed for listed in lists})


def read_list(path: Path, name: str = "", wordnet: WordNet | None = None) -> WordList:
    """A list from TOML, or from plain text, one entry a line; ``#`` begins a comment.

    TOML may have groups of entries, or the rule of a ``WordList`` as ``below`` and ``but``.

    name: of the list; empty for the TOML's own name, or the file's.
    wordnet: turns ImageNet's ids into names of synsets, and knows which names there are.

    Raises: ConfigError if the file is missing or no list, or holds an unknown synset.
    """
    text = read_text(path, raises=ConfigError, hint="Name a word list in UTF-8 that you may read.")
    digest = hexdigest(text)
    content: JsonObject = {"entries": text}
    if path.suffix == ".toml":
        content = read_toml(path)
    groups = {
        key: _entries(value, wordnet, path) for key, value in content.get("groups", {}).items()
    }
    entries, below, but = (
        _entries(content.get(key, []), wordnet, path) for key in ("entries", "below", "but")
    )
    name = name or str(content.get("name", path.stem))
    version = str(content.get("version", digest[:8]))
    return WordList(name, version, entries.union(*groups.values()), digest, groups, below, but)


_REACH = 3  # words


def named_in(text: str, lists: Mapping[str, Collection[str]]) -> Names:
    """The names of the lists of which a text has a word that no "not" shortly before it denies, sorted.

    >>> named_in("Kind, but not very capable.", {"warm": ["kind"], "competent": ["capable"]})
    ('warm',)
    """
    words = re.findall(r"[^\W_]+(?:['-][^\W_]+)*|[.,;:!?]", label_of(text))
    denied = 0  # how many more words are
    affirmed: set[str] = set()
    for place, word in enumerate(words):
        denied = max(denied - 1, 0)
        if word in (*".;:!?", "but"):
            denied = 0
        elif word in GRAMMAR["denials"]:
            denied = _REACH + 1
        if not denied:
            affirmed |= {word.replace("-", "_"), "_".join(words[place : place + 2])}
    return tuple(
        sorted(name for name, entries in lists.items() if not affirmed.isdisjoint(entries))
    )


def _entries(value: object, wordnet: WordNet | None, path: Path) -> frozenset[str]:
    lines = value.splitlines() if isinstance(value, str) else value
    if not isinstance(lines, list):
        raise ConfigError(f"The entries of {path} must be a list, or a text with one entry a line.")
    words = [label_of(str(line).partition("#")[0]).replace(" ", "_") for line in lines]
    return frozenset(_entry(word, wordnet, path) for word in words if word)


def _entry(entry: str, wordnet: WordNet | None, path: Path) -> str:
    if wordnet is None:
        return entry
    is_id = entry[:1] in "nvar" and entry[1:].isdecimal() and len(entry) == 9
    name = wordnet.by_id(entry) if is_id else entry
    is_synset = name and re.fullmatch(r".+\.[nvars]\.\d+", name)
    if name is None or (is_synset and not wordnet.known(name)):
        raise ConfigError(
            f"{path} names {entry}, which is not a synset of {wordnet.name}.",
            "Look it up, or take it out.",
        )
    return name
