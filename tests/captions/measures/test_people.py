"""D2 and E1 to E3: goldens 51 to 54, 62 and 64."""

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.people import LARGE, replaced
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli.corpus import Pair, covered
from gslopes.captions.stimuli.readers import clip
from gslopes.stats.intervals import newcombe
from gslopes.stats.shares import fisher
from gslopes.words.graph import Mentions
from gslopes.words.wordnet import WordNet
from tests.captions.conftest import corpus, things


@pytest.mark.row("captions-d2-area")
def test_golden_51_the_union_of_boxes():
    area = covered([(0, 0, 0.4, 0.3), (0.2, 0.1, 0.6, 0.4)])
    assert area == pytest.approx(0.20)
    assert area > LARGE


@pytest.mark.row("captions-d2-area")
def test_golden_52_boxes_of_ten_percent_and_twice_the_same():
    assert not covered([(0, 0, 0.2, 0.5)]) > LARGE
    twice = covered([(0, 0, 0.2, 0.3), (0, 0, 0.2, 0.3)])
    assert twice == pytest.approx(0.06)
    assert not twice > LARGE


@pytest.mark.row("captions-d2-share", "captions-d2-interval")
def test_golden_53_unmentioned_by_skin(mentions: Mentions):
    low, high = newcombe(12, 100, 30, 400)
    assert pytest.approx(4.5) == 100 * (12 / 100 - 30 / 400)
    assert (100 * low, 100 * high) == (
        pytest.approx(-1.33, abs=5e-3),
        pytest.approx(12.61, abs=5e-3),
    )
    assert fisher(12, 100, 30, 400) == pytest.approx(0.1589, abs=5e-5)
    names = {f"d{i}": i >= 12 for i in range(100)} | {f"l{i}": i >= 30 for i in range(400)}
    stages = {
        "human-labels": {name: [things("person.n.01")] for name in names},
        "system-captions": {
            name: [things("man.n.01" if text else "bench.n.01")] for name, text in names.items()
        },
    }
    groups = {"skin": {name: "darker" if name[0] == "d" else "lighter" for name in names}}
    built = corpus(
        mentions,
        stages,
        groups,
        [Pair("skin", "darker", "lighter")],
        areas=dict.fromkeys(names, 0.5),
    )
    result = run_technique("D2", built, "system-captions", "human-labels", AuditOptions())
    (row,) = [row for row in result.measures if row["unit"] == "pp"]
    assert row["value"] == pytest.approx(4.5)
    assert row["p"] == pytest.approx(0.1589, abs=5e-5)
    assert len(result.cases) == 42


@pytest.mark.row("captions-d2-stages", "captions-d2-area")
def test_people_go_unmentioned_at_each_stage_over_the_labels(mentions: Mentions):
    person, bench = things("person.n.01"), things("bench.n.01")
    silent = {"system-labels": 1, "human-captions": 2, "system-captions": 4}
    stages = {"human-labels": {str(i): [person] for i in range(20)}}
    stages |= {
        stage: {str(i): [person if i >= n else bench] for i in range(20)}
        for stage, n in silent.items()
    }
    groups = {"skin": {str(i): "darker" if i % 2 else "lighter" for i in range(20)}}
    areas = {str(i): 0.1 if i == 19 else 0.11 for i in range(20)}
    built = corpus(mentions, stages, groups, areas=areas)
    for stage, count in silent.items():
        result = run_technique("D2", built, stage, "human-labels", AuditOptions())
        (share,) = [
            row for row in result.measures if row["concept"] == "unmentioned" and not row["column"]
        ]
        assert (share["active"], share["n"], share["stage"]) == (count, 19, stage)


@pytest.mark.row("captions-fig-7")
def test_golden_54_a_pitcher_is_a_documented_false_mention(
    say: Callable, paper: Mentions, mentions: Mentions
):
    caption = "A pitcher of water on a table."
    assert paper.people(say(caption, paper))
    assert not mentions.people(say(caption))


def test_several_people_described_as_one(mentions: Mentions, say: Callable):
    stages = {
        "human-captions": {"a": [say("Two women and a man.")], "b": [say("Two men.")]},
        "system-captions": {"a": [say("A woman on a bench.")], "b": [say("Two men.")]},
    }
    result = run_technique(
        "E1", corpus(mentions, stages), "system-captions", "human-captions", AuditOptions()
    )
    (row,) = [row for row in result.measures if row["concept"] == "several described as one"]
    assert (row["active"], row["n"]) == (1, 2)


@given(st.lists(st.tuples(*[st.integers(-5, 12)] * 2, *[st.integers(0, 12)] * 2), max_size=6))
def test_the_union_is_what_counting_pixels_gives(boxes: list[tuple[int, ...]]):
    grid = {(x, y) for bx, by, w, h in boxes for x in range(bx, bx + w) for y in range(by, by + h)}
    inside = sum(0 <= x < 10 and 0 <= y < 10 for x, y in grid)
    assert covered([corners for box in boxes if (corners := clip(box, (10, 10)))]) == pytest.approx(
        inside / 100
    )


@pytest.mark.row("captions-supplement")
def test_golden_62_wheelchairs(mentions: Mentions):
    names = {f"d{i}": i < 3 for i in range(10)} | {f"l{i}": i < 7 for i in range(10)}
    stages = {
        "human-labels": {name: [things("wheelchair.n.01")] for name in names},
        "system-captions": {
            n: [things("wheelchair.n.01" if text else "bench.n.01")] for n, text in names.items()
        },
    }
    groups = {"skin": {name: "darker" if name[0] == "d" else "lighter" for name in names}}
    built = corpus(mentions, stages, groups, [Pair("skin", "darker", "lighter")])
    result = run_technique("E2", built, "system-captions", "human-labels", AuditOptions())
    (row,) = [row for row in result.measures if row["unit"] == "pp"]
    assert row["value"] == pytest.approx(-40)
    assert (row["ci_low"], row["ci_high"]) == (
        pytest.approx(-67.18, abs=5e-3),
        pytest.approx(2.88, abs=5e-3),
    )


@pytest.mark.row("captions-supplement")
def test_golden_64_a_doctor_described_as_a_person(words: WordNet, mentions: Mentions):
    assert replaced("doctor.n.01", things("person.n.01"), words) == "person.n.01"
    assert replaced("doctor.n.01", things("doctor.n.01", "person.n.01"), words) == ""
    stages = {
        "human-labels": {name: [things("doctor.n.01")] for name in "ab"},
        "system-captions": {
            "a": [things("person.n.01")],
            "b": [things("doctor.n.01", "person.n.01")],
        },
    }
    built = corpus(mentions, stages)
    result = run_technique("E3", built, "system-captions", "human-labels", AuditOptions())
    assert [case["image"] for case in result.cases] == ["a"]
