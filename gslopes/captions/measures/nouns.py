"""D4: identity adjectives used as nouns, such as *the female*.

Source: Wang et al. 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gslopes.captions.material import Caption, Material
from gslopes.captions.measures.rows import RowHeader, TechniqueResult, case, rate_rows, truth_text
from gslopes.captions.options import AuditOptions
from gslopes.language.mentions import Mentions
from gslopes.language.tagger import Token

CONTRAST = {"female": ("man", "men"), "male": ("woman", "women")}


@dataclass(frozen=True, slots=True)
class AsNoun:
    """One use as a noun: the word, and whether the same caption calls somebody a man (or a woman)."""

    word: str
    contrast: bool


def as_nouns(sentences: Iterable[Sequence[Token]], words: Iterable[str], mentions: Mentions) -> list[AsNoun]:
    """Where a word, singular or plural, is the head of its noun phrase and no animal is in that phrase.

    sentences: repaired tokens of one caption.

    >>> from gslopes.language.chunks import standard
    >>> parser = standard()
    >>> from gslopes.language.mentions import Mentions
    >>> from gslopes.language.senses import Senses
    >>> from gslopes.language.wordlists import shipped
    >>> known = Mentions(Senses(parser.wordnet), shipped())
    >>> [use.word for use in as_nouns(parser.tag("The female walked in the room."), ["female"], known)]
    ['female']
    """
    sentences = [list(tokens) for tokens in sentences]
    said = {token.word for tokens in sentences for token in tokens}
    found = []
    for word in words:
        for tokens in sentences:
            for place, token in enumerate(tokens):
                if token.word in (word, f"{word}s") and token.tag.startswith("NN") and _is_head(tokens, place):
                    near = [other.lemma for other in _phrase(tokens, place)]
                    if not any(mentions.is_animal(lemma) for lemma in near if lemma != word):
                        found.append(AsNoun(word, bool(said & set(CONTRAST.get(word, ())))))
    return found


def _is_head(tokens: Sequence[Token], place: int) -> bool:
    """The next token is no noun, no adjective with a noun after it, and no unknown word."""
    rest = tokens[place + 1 :]
    if not rest:
        return True
    if rest[0].tag.startswith(("NN", "NP", "UNC")):
        return False
    return not (rest[0].tag.startswith("AJ") and len(rest) > 1 and rest[1].tag.startswith("NN"))


def _phrase(tokens: Sequence[Token], place: int) -> list[Token]:
    start = place
    while start and tokens[start - 1].tag.startswith(("AJ", "NN", "AT", "DT", "CRD", "VVN")):
        start -= 1
    return list(tokens[start : place + 1])


def identity_as_nouns(material: Material, stage: str, truth: str, options: AuditOptions) -> TechniqueResult:
    """D4 at one stage: captions, images and per 1,000 captions; ``unclear`` where truth is silent."""
    header = RowHeader("demeaning", "D4", stage, truth, reading="look", origin="paper")
    found = TechniqueResult()
    if material.tag is None:
        return found
    images = material.images(stage)
    for word in options.nouns:
        having: dict[str, int] = {}
        for image in images:
            for caption in material.stages[stage][image]:
                for use in _uses(caption, word, material):
                    known = bool(truth) and image in material.stages.get(truth, {})
                    people = known and bool(material.mentions.people(material.facts(truth, image)))
                    if known and not people:
                        continue
                    rule = "contrast" if use.contrast else "noun"
                    rule = rule if known else f"{rule} (unclear)"
                    having[image] = having.get(image, 0) + 1
                    text = truth_text(material, truth, image)
                    found.cases.append(case(header, rule, image, caption, word=word, truth_text=text))
        of = {image: len(material.stages[stage][image]) for image in images}
        found.measures += rate_rows(header, material, having, of, options, concept=word)
    return found


def _uses(caption: Caption, word: str, material: Material) -> list[AsNoun]:
    if material.tag is None or word not in caption.text.lower():
        return []
    return as_nouns(material.tag(caption.text), [word], material.mentions)[:1]
