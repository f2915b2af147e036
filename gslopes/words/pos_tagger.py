"""Sentences, tokens and their tags: HanTa's English model with BNC tags.

HanTa (Hanover Tagger, LGPL-3.0-or-later, extra ``captions``) was chosen because its model lies inside its package: it
needs no download, and tags a caption in under a millisecond.

Source: Wartena 2019, A probabilistic morphology model for German lemmatization; tags of the British National Corpus.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import metadata, util
from pathlib import Path
from typing import NamedTuple

from gslopes.core import ModelError, Names, UsageError, plain, sha256_of
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import GRAMMAR as GRAMMAR, WordNet

VERSION = "1.2.1"
DIGEST = "99ddc9b14b3fe604b245e2d7a3aef59ab1bdd06b1bae4f4ce74738902e2a0265"
LONGEST = 2000
VOCABULARY = 50_000  # words that are remembered
_SENTENCE = re.compile(r"[.!?;\n]+")
_TOKEN = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*(?:(?<=s)'(?=\s+[^\W\d_]))?|\d+(?:[.,]\d+)*|,")
_QUOTE = re.compile(r"(?<!\w)'(?=\w)")
_INSTALL = "Install it with: pip install 'gslopes[captions]'."


Animate = Callable[[str], bool]  # whether a base form is a person or an animal


class Token(NamedTuple):
    """A word as it was written, in lower case; its base form; its BNC tag."""

    word: str
    lemma: str
    tag: str


NOTHING = Token("", "", "")


def sentences(text: str) -> list[list[str]]:
    """Lower-case tokens of each sentence: words with inner hyphens, numbers, commas; a possessive 's is separate.

    That of *ladies'* is one, too, unless a quotation began before.

    text: what is beyond 2,000 characters is left out.

    >>> sentences("A man's T-shirt, 2 dogs. Hi!")
    [['a', 'man', "'s", 't-shirt', ',', '2', 'dogs'], ['hi']]
    """
    tokens = []
    for sentence in _SENTENCE.split(plain(text[:LONGEST]).lower()):
        words = []
        quoted = _QUOTE.search(sentence)
        for token in _TOKEN.findall(sentence):
            owner = token.removesuffix("'s").removesuffix("'")
            words += (
                [owner] if owner == token or (quoted and token.endswith("'")) else [owner, "'s"]
            )
        if words:
            tokens.append(words)
    return tokens


class HanTa:
    """The Hanover Tagger with its English model.

    Raises: UsageError if it is missing or of another version; ModelError if its model has another digest.
    """

    def __init__(self) -> None:
        index = util.find_spec("HanTa")
        if index is None or index.origin is None or util.find_spec("py3langid") is None:
            raise UsageError(
                "Captions are read with HanTa and py3langid, which are not installed.", _INSTALL
            )
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
            raise ModelError(
                "HanTa's English model is not the published one; it was not opened.", _INSTALL
            )
        from HanTa.HanoverTagger import HanoverTagger

        self.name = f"hanta-{version}"
        self._tagger = HanoverTagger(str(model))
        # A word's possible tags and base forms are the same in every sentence.
        self._tagger._tag_word = lru_cache(VOCABULARY)(self._tagger._tag_word)
        self._tagger._analyze = lru_cache(VOCABULARY)(self._tagger._analyze)

    def tag(self, words: Sequence[str]) -> list[Token]:
        """One token for each word; UNC if HanTa has no tag."""
        return [
            Token(word, lemma.lower(), tag)
            for word, lemma, tag in self._tagger.tag_sent(list(words))
        ]


@cache
def hanta() -> HanTa:
    """The tagger, loaded once a process.  Raises: UsageError, ModelError as ``HanTa``."""
    return HanTa()


# --- Nouns, prepositions and possessives in a tagged sentence ---------------------------------------------------------
# Possessives that tell for whom a thing is, and name no person: *the women's restroom*, *a men's hat*.
#
# The rule, for a person or animal before *'s*; the lists are in ``lists/for-whom.toml``:
#
# 1. A plural after a singular article tells the users, since the article can only be the thing's: *a women's hat*.
# 2. A plural with *the* or without a determiner tells the users if the thing is a listed place or convenience; without
#    one, also if it is a listed ware: *the men's room*, *girls' school*, *children's books*.  Any other determiner or
#    number speaks of people: *two girls' school bags*, *these women's hats*.
# 3. A singular tells the users if the thing is a listed convenience: *a woman's restroom*.
# 4. All others name whose it is, who counts as a person: *a woman's hat*, *the man's dog*, *the women's hats*; and so
#    do the members of the thing: *a women's team*.
#
# The thing is the head of the phrase that follows; of *girls' school sign*, as a sign is a listed marker, the
# school; of what is in a convenience for several, such as *men's bathroom sink*, the convenience.


PREPOSITIONS = frozenset(GRAMMAR["prepositions"])
DETERMINERS = ("AT0", "DT0", "DPS", "CRD", "ORD")


class Noun(NamedTuple):
    """A head with its attributes, base forms; plural: whether it is in the plural."""

    word: str
    attributes: Names = ()
    plural: bool = False


class Phrase(NamedTuple):
    """Heads that share their relations; negated: *no shirt*."""

    nouns: tuple[Noun, ...]
    negated: bool = False


def preposition(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """The preposition that begins here and its number of tokens; 0 if none does."""
    for words in GRAMMAR["multiword"]:
        if [token.word for token in tokens[index : index + len(words)]] == words:
            return " ".join(words), len(words)
    token = tokens[index]
    if token.tag in ("PRP", "PRF"):
        return token.word, 1
    return "", 0


def noun_phrase(tokens: Sequence[Token], index: int, wordnet: WordNet) -> tuple[Phrase | None, int]:
    """The noun phrase that begins here and its end; None without one.

    Its head is the longest suffix that WordNet knows as a noun, else the last noun.
    """
    start = index
    negated = False
    while index < len(tokens) and tokens[index].tag in DETERMINERS:
        negated |= tokens[index].word == "no"
        index += 1
    free = index > start or not start or tokens[start - 1].tag in ("PRP", "PRF")
    index, attributes = _attributes(tokens, index, ("VVG", "VVN", "VVD") if free else ("VVN",))
    end = _end_of_nouns(tokens, index)
    lemmas = [token.lemma for token in tokens[index:end]]
    if not lemmas:
        return None, start
    words = [*(token.word for token in tokens[index : end - 1]), lemmas[-1]]
    first = 0
    while first < len(words) - 1 and not wordnet.knows("_".join(words[first:]), "n"):
        first += 1
    plural = tokens[end - 1].tag == "NN2"
    noun = Noun("_".join(words[first:]), (*attributes, *lemmas[:first]), plural)
    return Phrase((noun,), negated), end


def _attributes(tokens: Sequence[Token], index: int, participles: Names) -> tuple[int, list[str]]:
    """Adjectives and participles before a noun, joined by *and* or commas, too."""
    attributes = []
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1] if index + 1 < len(tokens) else NOTHING
        adjective = following.tag.startswith("AJ")
        if token.tag.startswith("AJ") or (
            token.tag in participles and (is_noun(following) or adjective)
        ):
            attributes.append(token.lemma if token.tag in ("AJC", "AJS") else token.word)
        elif not (
            adjective
            and ((attributes and (token.tag == "CJC" or token.word == ",")) or token.tag == "AV0")
        ):
            break
        index += 1
    return index, attributes


def _end_of_nouns(tokens: Sequence[Token], index: int) -> int:
    while index < len(tokens) and is_noun(tokens[index]):
        index += 1
    return index


def is_noun(token: Token) -> bool:
    """Whether a token is tagged as a noun or a name."""
    return token.tag.startswith(("NN", "NP"))


LIST = "for-whom"
_OF_ONE = frozenset(GRAMMAR["of_one"])
_ARTICLES = frozenset(("a", "an", "the", ""))


def for_whom(plural: bool, determiner: str, thing: Sequence[str], animate: Animate) -> bool:
    """Whether a possessor only tells the users of a thing.

    determiner: the word before the possessor, empty without one.  thing: base forms of its nouns, head last.
    animate: whether a base form is a person or an animal.

    >>> for_whom(True, "the", ["restroom"], lambda word: False), for_whom(False, "a", ["hat"], lambda word: False)
    (True, False)
    """
    listed = shipped()[LIST].groups
    nouns = list(thing)
    if not nouns or animate(nouns[-1]):
        return False
    if plural and determiner in _OF_ONE:
        return True
    while len(nouns) > 1 and last_part(nouns[-1]) in listed["markers"]:
        nouns.pop()
    things = {nouns[-1], last_part(nouns[-1])}
    groups = {name for name, words in listed.items() if things & words}
    groups |= {"conveniences"} if plural and nouns[0] in listed["conveniences"] else set()
    if not plural:
        return determiner in _ARTICLES and "conveniences" in groups
    kinds = {"conveniences", "places"} if determiner else {"conveniences", "places", "wares"}
    return determiner in ("", "the") and bool(groups & kinds)


def last_part(word: str) -> str:
    """The last part of a compound."""
    return word.rpartition("_")[2]


def as_adjectives(tokens: Sequence[Token], animate: Animate) -> list[Token]:
    """The sentence with possessors that only tell the users as adjectives of the thing, and without their *'s*.

    tokens: repaired.
    """
    sentence = list(tokens)
    for index in range(
        len(tokens) - 1, 0, -1
    ):  # from the right: of "men's and women's" the second decides first
        if tokens[index].tag != "POS":
            continue
        start, determiner = _owner(sentence, index)
        if start == index or not animate(sentence[index - 1].lemma):
            continue
        plural = _is_plural(sentence[index - 1])
        if for_whom(plural, determiner, _thing(sentence, index + 1, participles=plural), animate):
            sentence[start : index + 1] = map(_adjective, sentence[start:index])
            if (
                start > 1 and sentence[start - 1].tag == "CJC" and _is_plural(sentence[start - 2])
            ):  # men and women's
                first, determiner = _owner(sentence, start - 1)
                if animate(sentence[start - 2].lemma) and determiner in {*_ARTICLES, *_OF_ONE}:
                    sentence[first : start - 1] = map(_adjective, sentence[first : start - 1])
    return sentence


def _owner(tokens: Sequence[Token], end: int) -> tuple[int, str]:
    """Where the nouns that end there begin, and the word before them and their adjectives if it is a determiner."""
    start = end
    while start and is_noun(tokens[start - 1]):
        start -= 1
    before = start
    while before and tokens[before - 1].tag.startswith("AJ"):
        before -= 1
    determiner = tokens[before - 1].word if before and tokens[before - 1].tag in DETERMINERS else ""
    return start, determiner


def _thing(tokens: Sequence[Token], index: int, participles: bool) -> list[str]:
    """Base forms of the nouns that follow, past adjectives and the possessor that an *and* joins."""
    skipped = ("AJ", "AV0", "CRD", "ORD", *(("VVG", "VVN") if participles else ()))
    while index < len(tokens) and not is_noun(tokens[index]):
        if [token.tag for token in tokens[index : index + 2]] == ["CJC", "AT0"]:
            index += 1
        elif not tokens[index].tag.startswith((*skipped, "CJC")):
            return []
        index += 1
    return [token.lemma for token in tokens[index : _end_of_nouns(tokens, index)]]


def _is_plural(token: Token) -> bool:
    return token.tag == "NN2" or token.word == "people"


def _adjective(token: Token) -> Token:
    return Token(token.lemma, token.lemma, "AJ0")
