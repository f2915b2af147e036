"""Which language a text is in, told offline: by the share of its words that are English, and if these are too few by
py3langid, which was chosen because its model lies inside its package, it needs NumPy alone, and it is maintained.

Of 88 captions in English (58 of MS COCO) none is taken for another language; of 200 in 27 others two are for English.
Where a few words decide nothing, the other captions of the set do. Those of ours are in ``tests/words/captions.toml``.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from statistics import mode
from typing import Any

from gslopes.core import read_toml
from gslopes.words.pos_tagger import PREPOSITIONS, sentences
from gslopes.words.wordnet import DATA, wordnet

LANGUAGES = read_toml(DATA / "languages.toml")
_FUNCTION = PREPOSITIONS.union(LANGUAGES["function"].split())


@lru_cache(100_000)
def language(text: str) -> str:
    """The name of a text's language; empty if it cannot be told.

    >>> language("A woman on a bench."), language("Eine Frau sitzt auf einer Bank."), language("Bank")
    ('English', 'German', '')
    """
    words = [word for sentence in sentences(text) for word in sentence if word.isalpha()]
    known = list(filter(_is_english, words))
    if len(known) >= 0.75 * len(words) and not _FUNCTION.isdisjoint(known):
        return "English"
    if len(known) >= 0.9 * len(words):  # such as a list of things: not another language
        return ""
    code, probability = _identifier().classify(" ".join(words))
    return LANGUAGES["names"][code] if probability >= 0.3 else ""


def other_languages(texts: Sequence[str]) -> list[str]:
    """Of each text of one origin the name of its language, empty if it is English.

    A text whose language cannot be told has that of most others, or of all together.
    """
    names = [language(text) for text in texts]
    usual = mode([*filter(None, names)] or [language(" ".join(dict.fromkeys(texts)))])
    return [(name or usual).replace("English", "") for name in names]


@cache
def _is_english(word: str) -> bool:
    return word in _FUNCTION or any(wordnet().base(word, part) for part in "nvar")


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([*LANGUAGES["names"]])
    return identifier
