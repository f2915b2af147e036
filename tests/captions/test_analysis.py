"""Options, stages and techniques: what is chosen, and what is missing."""

from pathlib import Path
from pkgutil import resolve_name

import pytest

from gslopes.captions.config import TECHNIQUES, AuditOptions, CaptionsConfig
from gslopes.captions.measures.techniques import chosen_stages, description_of, run_techniques
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.options import build
from gslopes.words.graph import Mentions
from gslopes.words.wordlists import shipped
from tests.benches.bench_captions_planted import COUNTS, Planted, recover, truths
from tests.captions.conftest import corpus, things


@pytest.mark.row("captions-3.2-harms")
def test_every_technique_says_how_it_is_read_and_what_it_assumes():
    assert len(TECHNIQUES) == 15
    assert all(
        callable(resolve_name(f"gslopes.captions.measures.{t.measure}"))
        for t in TECHNIQUES.values()
    )
    assert all(t.reading in ("look", "face") and t.assumptions for t in TECHNIQUES.values())


@pytest.mark.row("captions-3.4-truth")
def test_what_cannot_have_caused_a_difference():
    result = [
        TECHNIQUES["S1"].describe("system-captions", truth, "", shipped())
        for truth in ("human-captions", "human-labels")
    ]
    assert [row["not_the_fault_of"] for row in result] == [
        "the human captions",
        "nothing is excluded",
    ]


def test_a_missing_need_is_named_and_the_rest_runs(mentions: Mentions):
    built = corpus(mentions, {"system-captions": {str(i): [things("dog.n.01")] for i in range(12)}})
    assert "truth" in description_of("S1", built, "system-captions", "")["why"]
    result, described = run_techniques(
        built, "", ["system-captions"], ["S1", "D1", "I3"], AuditOptions()
    )
    assert {row["technique"]: row["ran"] for row in described} == {
        "S1": "no",
        "D1": "yes",
        "I3": "yes",
    }
    assert {row["technique"] for row in result["measures"]} == {"D1", "I3"}


@pytest.mark.row("captions-3.4-truth", "captions-s1-truth")
def test_truth_is_labels_else_human_captions_and_targets_lie_above():
    auto = CaptionsConfig()
    assert chosen_stages(auto, ["human-labels", "human-captions", "system-captions"]) == (
        "human-labels",
        ["human-captions", "system-captions"],
    )
    assert chosen_stages(auto, ["human-captions", "system-captions"]) == (
        "human-captions",
        ["system-captions"],
    )
    assert chosen_stages(auto, ["system-captions"]) == ("", ["system-captions"])


def test_a_stage_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="system-labels"):
        chosen_stages(CaptionsConfig(truth="system-labels"), ["human-captions"])


def test_flat_options_go_where_they_belong_and_over_those_of_a_file(tmp_path: Path):
    (tmp_path / "c.toml").write_text(
        'senses = "paper"\n[options]\nas_published = true\ntypes = 50\n'
    )
    given = {
        "config": tmp_path / "c.toml",
        "types": 70,
        "technique": "S1",
        "list": {"traits": Path("t.txt")},
    }
    config = build(CaptionsConfig, given)
    assert config.techniques == ("S1",)
    assert (config.senses, config.options.as_published, config.options.types) == ("paper", True, 70)
    assert config.lists == {"traits": Path("t.txt")}


@pytest.mark.parametrize("given", [{"limit": 0}, {"no_such": 1}])
def test_what_makes_no_sense_is_a_config_error(given: dict[str, object]):
    with pytest.raises(ConfigError):
        build(CaptionsConfig, given)


def test_unknown_stages_and_techniques_are_named():
    for given in ({"truth": "labels"}, {"techniques": ["S9"]}):
        with pytest.raises(UnknownName):
            build(CaptionsConfig, given)


@pytest.mark.row("captions-s1-share", "captions-d1-stages", "captions-d2-share")
def test_planted_harms_are_counted_to_the_case_and_recovered_within_their_intervals():
    result, truth = recover(Planted(), images=400, seed=5), truths(Planted())
    for name in COUNTS:
        planted, value = (result[f"{name}, cases"][column] for column in ("planted", "value"))
        assert (
            value == planted > 0 if name != "D4 female" else value <= planted
        )  # D4 goes by the tags of the text
    for name in (
        "D2 unmentioned, pp",
        "S1 umbrella, pp",
        "S3 dog in human captions, pp",
        "D1 lazy, pp",
    ):
        assert result[name]["ci_low"] <= truth[name] <= result[name]["ci_high"]
