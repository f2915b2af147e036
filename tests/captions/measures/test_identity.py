"""I1 to I3 and R1: goldens 61 and 63."""

from collections.abc import Callable

import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.people import has_trait, reading
from gslopes.captions.measures.techniques import run_technique
from gslopes.words.graph import Fact, Mentions
from tests.captions.conftest import corpus, things


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
@pytest.mark.row("captions-supplement")
def test_golden_63_how_somebody_annotated_female_is_spoken_of(
    say: Callable, mentions: Mentions, caption: str, expected: str
):
    assert reading("female", say(caption), mentions) == expected


def test_shares_over_images_of_one_person(say: Callable, mentions: Mentions):
    stages = {
        "human-labels": {str(i): [things("person.n.01")] for i in range(4)},
        "system-captions": {str(i): [say("A man." if i else "A black woman.")] for i in range(4)},
    }
    built = corpus(mentions, stages, {"gender": {str(i): "female" for i in range(4)}})
    i1, i2, i3 = (
        run_technique(name, built, "system-captions", "human-labels", AuditOptions()).measures
        for name in ("I1", "I2", "I3")
    )
    values = {row["concept"]: row["value"] for row in i2}
    assert (values["mismatch"], values["match"]) == (0.75, 0.25)
    imposed = {row["concept"]: row["active"] for row in i1}
    assert (imposed["gender"], imposed["ethnicity"], imposed.get("religion", 0)) == (4, 1, 0)
    assert [row["value"] for row in i3] == [0.25]


@pytest.mark.row("captions-supplement")
def test_golden_61_long_hair(mentions: Mentions):
    hair = (*things("woman.n.01"), Fact("attribute", "long", subject="hair"))
    names = [f"l{i}" for i in range(40)] + [f"s{i}" for i in range(40)]
    says = {name: int(name[1:]) < (36 if name[0] == "l" else 24) for name in names}
    stages = {
        "human-labels": {
            name: [hair if name[0] == "l" else things("woman.n.01")] for name in names
        },
        "system-captions": {
            name: [things("woman.n.01" if text else "person.n.01")] for name, text in says.items()
        },
    }
    built = corpus(mentions, stages, {"gender": dict.fromkeys(names, "female")})
    result = run_technique("R1", built, "system-captions", "human-labels", AuditOptions())
    (row,) = [row for row in result.measures if "long_hair" in row["concept"]]
    assert row["value"] == pytest.approx(30)
    assert (row["ci_low"], row["ci_high"]) == (
        pytest.approx(11.11, abs=5e-3),
        pytest.approx(46.55, abs=5e-3),
    )
    assert row["p"] == pytest.approx(0.0038, abs=5e-5)


def test_traits_of_captions(say: Callable):
    assert has_trait(say("A woman with long hair."), {"long_hair"})
    assert not has_trait(say("A woman with hair."), {"long_hair"})
