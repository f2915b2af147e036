"""I1 to I3: golden 63."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gslopes.captions.measures.identity import gender_mismatch, imposed_terms, marking, reading
from gslopes.captions.options import AuditOptions
from gslopes.language.mentions import Mentions
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
    options = AuditOptions(bootstrap=0)
    values = {
        r["concept"]: r["value"] for r in gender_mismatch(made, "system-captions", "human-labels", options).measures
    }
    assert (values["mismatch"], values["match"]) == (0.75, 0.25)
    imposed = {
        r["concept"]: r["active"] for r in imposed_terms(made, "system-captions", "human-labels", options).measures
    }
    assert (imposed["gender"], imposed["ethnicity"], imposed.get("religion", 0)) == (4, 1, 0)
    (row,) = marking(made, "system-captions", options).measures
    assert row["value"] == 0.25
