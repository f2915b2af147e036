"""I1 to I3: golden 63."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.identity import reading
from gslopes.words.mentions import Mentions
from tests.captions.conftest import material, things


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A man.", "mismatch"),
        ("A person.", "neutral"),
        ("A man and a woman.", "both"),
        ("A dog.", "none"),
        ("A woman.", "match"),
    ],
)
def test_golden_63_how_somebody_annotated_female_is_spoken_of(
    say: Callable, mentions: Mentions, caption: str, expected: str
):
    assert reading("female", say(caption), mentions) == expected


def test_shares_over_images_of_one_person(say: Callable, mentions: Mentions):
    stages = {
        "human-labels": {str(i): [things("person.n.01")] for i in range(4)},
        "system-captions": {str(i): [say("A man." if i else "A black woman.")] for i in range(4)},
    }
    made = material(mentions, stages, {"gender": {str(i): "female" for i in range(4)}})
    i1, i2, i3 = (
        run_technique(name, made, "system-captions", "human-labels", AuditOptions(bootstrap=0)).measures
        for name in ("I1", "I2", "I3")
    )
    values = {row["concept"]: row["value"] for row in i2}
    assert (values["mismatch"], values["match"]) == (0.75, 0.25)
    imposed = {row["concept"]: row["active"] for row in i1}
    assert (imposed["gender"], imposed["ethnicity"], imposed.get("religion", 0)) == (4, 1, 0)
    assert [row["value"] for row in i3] == [0.25]
