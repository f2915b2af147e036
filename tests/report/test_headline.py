"""The one writer of headlines."""

import tomllib
from pathlib import Path
from string import Formatter

import pytest

from gslopes.report.headline import Nothing, Sentences

HOME = Path(__file__).parents[2] / "gslopes"
SECTIONS = [
    *(("contexts", "headline"), ("crops", "headline"), ("captions", "headline")),
    *(("slopes", "headline"), ("slopes", "changes"), ("slopes", "drift")),
]
SENTENCES = Sentences(
    {
        "none": ["{name}: nothing ({n}; {interval}).", "None of {count} ({n}; {interval})."],
        "unknown": ["Who knows {name} with {n}: {fits}.", "Who knows {open} of {count}: {fits}."],
    }
)
CLEAR = Nothing("a", -1, 2, 40, 5, "[−1, +2]")
WIDE = Nothing("b", -9, 2, 40, 5, "[−9, +2]")
FEW = Nothing("c", -1, 2, 9, 5, "[−1, +2]")


@pytest.mark.parametrize(
    ("estimates", "sentence"),
    [
        ([CLEAR], "a: nothing (40 photos; [−1, +2], 5 or more would matter)."),
        ([CLEAR, CLEAR], "None of 2 (40 photos; [−1, +2], 5 or more would matter)."),
        (
            [WIDE],
            "Who knows b with 40 photos: b has the 95 % interval [−9, +2] (5 or more would matter).",
        ),
        (
            [CLEAR, FEW],
            "Who knows 1 of 2: c has the 95 % interval [−1, +2] (5 or more would matter).",
        ),
    ],
)
def test_nothing_is_claimed_only_if_every_interval_shows_it(
    estimates: list[Nothing], sentence: str
) -> None:
    assert SENTENCES.nothing(estimates, "photo") == sentence


def test_an_audit_may_name_how_many_estimates_nothing_is_known() -> None:
    with_some = Sentences({**SENTENCES.texts, "some": "{open} of {count}: {undecided}"})
    assert with_some.nothing([CLEAR, WIDE], "photo").startswith(
        "1 of 2: b is undecided: it has the"
    )
    assert with_some.nothing([WIDE, WIDE], "photo").startswith("Who knows 2 of 2")


@pytest.mark.parametrize(("audit", "section"), SECTIONS)
def test_every_audit_has_nothing_and_unknown_and_names_facts_only(audit: str, section: str) -> None:
    texts = tomllib.loads((HOME / audit / "sentences.toml").read_text("utf-8"))[section]
    assert {"none", "unknown"} <= set(texts)
    for text in texts.values():
        forms = [text] if isinstance(text, str) else text
        assert isinstance(text, str) or len(forms) == 2
        for form in forms:
            assert all(name != "" for _, name, _, _ in Formatter().parse(form))
