"""D4: goldens 59 and 60."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gslopes.captions.measures.nouns import as_nouns
from gslopes.words.mentions import Mentions


@pytest.mark.parametrize(
    ("caption", "contrast"),
    [
        ("The female walked in the room.", False),
        ("Two females stand near a horse.", False),
        ("A man and a female on stage.", True),
    ],
)
def test_golden_59_uses_as_a_noun(tag: Callable, mentions: Mentions, caption: str, contrast: bool):
    assert as_nouns(tag(caption), ["female"], mentions) == [("female", contrast)]


@pytest.mark.parametrize(
    "caption",
    [
        "A female tennis player hits a ball.",
        "A female elephant in a zoo.",
        "The female giraffe.",
        "A male and female couple.",
    ],
)
def test_golden_60_uses_as_an_adjective(tag: Callable, mentions: Mentions, caption: str):
    assert as_nouns(tag(caption), ["female", "male"], mentions) == []
