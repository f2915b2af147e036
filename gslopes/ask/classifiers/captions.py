"""Captions as answers: what a function, an endpoint, a language model or a local model writes about a picture.

    transformers:FOLDER,task=caption                          an image-to-text model of the transformers library
    python:module:function,kind=caption                       a function, pictures to texts or None
    http:URL,kind=caption                                     {"answers": [{"caption": "A woman on a bench."}]}
    llm:gpt-6-luna,prompt=caption,repeats=1                   the chat endpoint

Their labels are the words, synsets and mentions of ``words.labels``; of several captions of one picture a label's score
is the share of captions that have it. The text is kept, without how it is read.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gslopes.core import AnswerError, Reason
from gslopes.core.records import Answer

LONGEST = 20_000  # characters of a caption


class CaptionReader:
    """Reads captions as labels.

    classifier: whose they are, None for recorded ones. The parser becomes part of its version, not of what its texts
        are kept under: reading them again by another parser costs no call.

    Raises: UsageError, ModelError if the parser is not available.
    """

    def __init__(self, classifier: Any = None) -> None:
        from gslopes.words.labels import caption_labels

        self._labels = caption_labels()
        if classifier:
            classifier.traits = replace(classifier.traits, kept_under=classifier.version)
            classifier.version = f"{classifier.version} {self._labels.name}".strip()

    def answer(self, texts: Sequence[object], version: str = "") -> Answer:
        """The labels of one picture's captions, each with the share of the captions that have it.

        texts: None for a caption that was refused. One in another language than English is not judged.
        Raises: AnswerError if one is empty, far too long for a caption, or not a text at all.
        """
        from gslopes.words.language import other_languages

        captions = [text for text in texts if text is not None]
        if not captions:
            return Answer("refused", (), Reason.NO_CAPTION, version)
        if other := max(other_languages(list(map(str, captions)))):
            return Answer("refused", (), f"a caption in {other}, and only English is read", version)
        counts: Counter[str] = Counter()
        for text in captions:
            if isinstance(text, str) and text.strip() and len(text) <= LONGEST:
                counts.update(self._labels.labels(text))
                continue
            what = type(text).__name__
            if isinstance(text, str):
                what = f"{len(text):,} characters"
            raise AnswerError(f"The captioner returned {what}, which is not a caption.")
        labels = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        shares = tuple((label, count / len(captions)) for label, count in labels)
        return Answer("answered", shares, version=version)
