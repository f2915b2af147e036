"""Noun phrases and prepositions in a tagged sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gslopes.language.pos_tagger import Token
from gslopes.language.wordnet import WordNet

MULTIWORD = tuple(
    tuple(words.split())
    for words in (
        "on the side of",
        "in the middle of",
        "in front of",
        "on top of",
        "in back of",
        "next to",
        "close to",
        "out of",
    )
)
_PREPOSITIONS = """
about above across after against along among around as at before behind below beneath beside between
beyond by down during for from in inside into like near of off on onto out outside over past through to
toward towards under underneath up upon with within next close
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
DETERMINERS = ("AT0", "DT0", "DPS", "CRD", "ORD")


@dataclass(frozen=True, slots=True)
class Noun:
    """A head with its attributes, base forms; plural: whether it is in the plural."""

    word: str
    attributes: tuple[str, ...] = ()
    plural: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """Heads that share their relations; negated: *no shirt*."""

    nouns: tuple[Noun, ...]
    negated: bool = False


def preposition(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """The preposition that begins here and its number of tokens; 0 if none does."""
    for words in MULTIWORD:
        if tuple(token.word for token in tokens[index : index + len(words)]) == words:
            return " ".join(words), len(words)
    token = tokens[index]
    return (token.word, 1) if token.tag in ("PRP", "PRF") else ("", 0)


def noun_phrase(tokens: Sequence[Token], index: int, wordnet: WordNet) -> tuple[Phrase | None, int]:
    """The noun phrase that begins here and where it ends; None if none does."""
    start, negated = index, False
    while index < len(tokens) and tokens[index].tag in DETERMINERS:
        negated |= tokens[index].word == "no"
        index += 1
    begun = index > start
    before = tokens[start - 1] if start else None
    free = begun or before is None or before.tag in ("PRP", "PRF")
    index, attributes = _attributes(tokens, index, ("VVG", "VVN", "VVD") if free else ("VVN",))
    first = index
    while index < len(tokens) and is_noun(tokens[index]):
        index += 1
    nouns = tokens[first:index]
    if not nouns:
        return None, start
    head, length = _head(nouns, wordnet)
    rest = [token.lemma for token in nouns[: len(nouns) - length]]
    noun = Noun(head, (*attributes, *rest), nouns[-1].tag == "NN2")
    return Phrase((noun,), negated), index


def _attributes(tokens: Sequence[Token], index: int, participles: tuple[str, ...]) -> tuple[int, list[str]]:
    """Adjectives and participles before a noun, joined by *and* or commas, too."""
    found: list[str] = []
    while index < len(tokens):
        token, following = tokens[index], tokens[index + 1] if index + 1 < len(tokens) else None
        joins = token.tag == "CJC" or token.word == ","
        if token.tag.startswith("AJ") or (
            token.tag in participles
            and following is not None
            and (is_noun(following) or following.tag.startswith("AJ"))
        ):
            found.append(token.lemma if token.tag in ("AJC", "AJS") else token.word)
        elif not (
            (joins and found and following is not None and following.tag.startswith("AJ"))
            or (token.tag == "AV0" and following is not None and following.tag.startswith("AJ"))
        ):
            break
        index += 1
    return index, found


def is_noun(token: Token) -> bool:
    """Whether a token is tagged as a noun or a name."""
    return token.tag.startswith(("NN", "NP"))


def _head(nouns: Sequence[Token], wordnet: WordNet) -> tuple[str, int]:
    """The longest suffix that WordNet knows as a noun, else the last noun; and its number of tokens."""
    for length in range(len(nouns), 1, -1):
        words = [token.word for token in nouns[-length:-1]] + [nouns[-1].lemma]
        if wordnet.knows("_".join(words), "n"):
            return "_".join(words), length
    return nouns[-1].lemma, 1
