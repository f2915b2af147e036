"""Sentences, tokens and their tags: HanTa's English model with BNC tags, behind a protocol.

HanTa (Hanover Tagger, LGPL-3.0-or-later, extra ``captions``) was chosen because its model lies inside its package: it
needs no download, and tags a caption in under a millisecond.

Source: Wartena 2019, A probabilistic morphology model for German lemmatization; tags of the British National Corpus.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import metadata, util
from pathlib import Path
from typing import Protocol

from gslopes.core.errors import ModelError, UsageError
from gslopes.core.files import sha256_of
from gslopes.core.text import plain

VERSION = "1.2.1"
DIGEST = "99ddc9b14b3fe604b245e2d7a3aef59ab1bdd06b1bae4f4ce74738902e2a0265"
LONGEST = 2000
VOCABULARY = 50_000  # words that are remembered
_SENTENCE = re.compile(r"[.!?;\n]+")
_TOKEN = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*(?:(?<=s)'(?=\s+[^\W\d_]))?|\d+(?:[.,]\d+)*|,")
_QUOTE = re.compile(r"(?<!\w)'(?=\w)")
_INSTALL = "Install it with: pip install 'gslopes[captions]'."


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it was written, in lower case; its base form; its BNC tag."""

    word: str
    lemma: str
    tag: str


class PosTagger(Protocol):
    """Whatever tags a sentence; ``name`` becomes part of a run's identity."""

    name: str

    def tag(self, words: Sequence[str]) -> list[Token]:
        """One token for each word of one sentence."""
        ...


def sentences(text: str) -> list[list[str]]:
    """Lower-case tokens of each sentence: words with inner hyphens, numbers, commas; a possessive 's is its own.

    That of *ladies'* is one, too, unless a quotation began before.

    text: what is beyond 2,000 characters is left out.

    >>> sentences("A man's T-shirt, 2 dogs. Hi!")
    [['a', 'man', "'s", 't-shirt', ',', '2', 'dogs'], ['hi']]
    """
    found = []
    for sentence in _SENTENCE.split(plain(text[:LONGEST]).lower()):
        words = []
        quoted = _QUOTE.search(sentence) is not None
        for token in _TOKEN.findall(sentence):
            owner = token.removesuffix("'s").removesuffix("'")
            words += [owner] if owner == token or (quoted and token.endswith("'")) else [owner, "'s"]
        if words:
            found.append(words)
    return found


class HanTa:
    """The Hanover Tagger with its English model.

    Raises: UsageError if it is missing or of another version; ModelError if its model has another digest.
    """

    def __init__(self) -> None:
        index = util.find_spec("HanTa")
        if index is None or index.origin is None:
            raise UsageError("Captions are parsed with HanTa, which is not installed.", _INSTALL)
        version = metadata.version("hanta")
        if version != VERSION:
            raise UsageError(f"HanTa is installed in version {version}, not {VERSION}.", _INSTALL)
        # The model is a pickle: it is opened only if it is the very file that was published. The path is absolute, as
        # a file of the same name in the working folder would be preferred.
        model = Path(index.origin).with_name("morphmodel_en.pgz").resolve()
        try:
            digest = sha256_of(model)
        except OSError as error:
            raise ModelError("HanTa lacks its English model.", _INSTALL) from error
        if digest != DIGEST:
            raise ModelError("HanTa's English model is not the published one; it was not opened.", _INSTALL)
        from HanTa.HanoverTagger import HanoverTagger

        self.name = f"hanta-{version}"
        self._tagger = HanoverTagger(str(model))
        # What a word alone says of its tags and its base form is the same in every sentence.
        self._tagger._tag_word = lru_cache(VOCABULARY)(self._tagger._tag_word)
        self._tagger._analyze = lru_cache(VOCABULARY)(self._tagger._analyze)

    def tag(self, words: Sequence[str]) -> list[Token]:
        """One token for each word; UNC where HanTa has no tag."""
        if not words:
            return []
        return [Token(word, lemma.lower(), tag) for word, lemma, tag in self._tagger.tag_sent(list(words))]


@cache
def hanta() -> HanTa:
    """The tagger, loaded once a process.

    Raises: UsageError, ModelError as ``HanTa``.
    """
    return HanTa()
