"""D4: identity adjectives used as nouns, such as *the female*.

Source: Wang et al. 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gslopes.captions.measures.rows import Recorder
from gslopes.words.mentions import Mentions
from gslopes.words.pos_tagger import Token

CONTRAST = {"female": ("man", "men"), "male": ("woman", "women")}


def as_nouns(sentences: Iterable[Sequence[Token]], words: Iterable[str], mentions: Mentions) -> list[tuple[str, bool]]:
    """Where a word, singular or plural, is the head of its noun phrase and no animal is in that phrase.

    Returns (the word, whether the same caption calls another person a man or a woman) of each use.

    sentences: repaired tokens of one caption.

    >>> from gslopes.words.chunks import standard
    >>> parser = standard()
    >>> from gslopes.words.mentions import Mentions
    >>> from gslopes.words.graph import Senses
    >>> from gslopes.words.wordlists import shipped
    >>> known = Mentions(Senses(parser.wordnet), shipped())
    >>> [word for word, _ in as_nouns(parser.tag("The female walked in the room."), ["female"], known)]
    ['female']
    """
    sentences = [list(tokens) for tokens in sentences]
    words_used = {token.word for tokens in sentences for token in tokens}
    found = []
    for word in words:
        contrast = bool(words_used & set(CONTRAST.get(word, ())))
        for tokens in sentences:
            for index, token in enumerate(tokens):
                if token.word in (word, f"{word}s") and token.tag.startswith("NN") and _is_head(tokens, index):
                    near = [other.lemma for other in _phrase(tokens, index)]
                    if not any(mentions.is_animal(lemma) for lemma in near if lemma != word):
                        found.append((word, contrast))
    return found


def _is_head(tokens: Sequence[Token], index: int) -> bool:
    """The next token is no noun, no adjective with a noun after it, and no unknown word."""
    rest = tokens[index + 1 :]
    if not rest:
        return True
    if rest[0].tag.startswith(("NN", "NP", "UNC")):
        return False
    return not (rest[0].tag.startswith("AJ") and len(rest) > 1 and rest[1].tag.startswith("NN"))


def _phrase(tokens: Sequence[Token], index: int) -> list[Token]:
    start = index
    while start and tokens[start - 1].tag.startswith(("AJ", "NN", "AT", "DT", "CRD", "VVN")):
        start -= 1
    return list(tokens[start : index + 1])


def identity_as_nouns(recorder: Recorder) -> None:
    """D4 at one stage: captions, images and per 1,000 captions; ``unclear`` where truth has no such image."""
    material, tag = recorder.material, recorder.material.tag
    if tag is None:
        return
    recorder.header |= {"truth": recorder.truth}  # it is not needed, but used where there is one
    for word in recorder.options.nouns:
        counts: dict[str, int] = {}
        for image in recorder.images:
            known = bool(recorder.truth) and image in material.stages.get(recorder.truth, {})
            if known and not material.mentions.people(recorder.truth_facts(image)):
                continue
            for caption in material.stages[recorder.stage][image]:
                if word not in caption.text.lower():
                    continue
                for _, contrast in as_nouns(tag(caption.text), [word], material.mentions)[:1]:
                    rule = "contrast" if contrast else "noun"
                    counts[image] = counts.get(image, 0) + 1
                    recorder.case(rule if known else f"{rule} (unclear)", image, caption, word=word)
        recorder.rates(counts, recorder.images, concept=word)
