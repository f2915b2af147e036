from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.config import CaptionsConfig
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.options import build


def test_flat_options_go_where_they_belong_and_over_those_of_a_file(tmp_path: Path):
    (tmp_path / "c.toml").write_text('senses = "paper"\n[options]\nthreshold = 0.01\nbootstrap = 50\n')
    given = {"config": tmp_path / "c.toml", "bootstrap": 70, "technique": "S1", "list": {"traits": Path("t.txt")}}
    config = build(CaptionsConfig, given)
    assert config.techniques == ("S1",)
    assert (config.senses, config.options.threshold, config.options.bootstrap) == ("paper", 0.01, 70)
    assert config.lists == {"traits": Path("t.txt")}


@pytest.mark.parametrize("given", [{"limit": 0}, {"relax": "nn"}, {"groups_from": "labels"}, {"no_such": 1}])
def test_what_makes_no_sense_is_a_config_error(given: dict[str, object]):
    with pytest.raises(ConfigError):
        build(CaptionsConfig, given)


def test_unknown_stages_and_techniques_are_named():
    for given in ({"truth": "labels"}, {"targets": ["captions"]}, {"techniques": ["S9"]}):
        with pytest.raises(UnknownName):
            build(CaptionsConfig, given)
