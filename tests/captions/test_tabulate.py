from __future__ import annotations

import pytest

from gslopes.captions.tabulate import LONGEST, judge_text


@pytest.mark.parametrize(
    ("caption", "status"),
    [
        ("A dog.", "parsed"),
        (None, "empty"),
        *((blank, "empty") for blank in ("  ", "\u200b")),
        (3.5, "failed"),
        (["A dog."], "failed"),
    ],
)
def test_every_caption_has_a_status(caption: object, status: str):
    assert judge_text(caption)[1] == status


def test_what_is_too_long_or_no_unicode_is_still_a_caption():
    text, status, why = judge_text("x" * (LONGEST + 1))
    assert (status, len(text)) == ("parsed", LONGEST + 1)
    assert why == "cut for parsing (at 2,000 characters)"
    assert judge_text("a \ud800 dog")[:2] == ("a ? dog", "parsed")


def test_one_caption_written_in_two_ways_is_one():
    assert judge_text("A Ｗoman’s o\u200bﬃce") == judge_text("A Woman's office")
