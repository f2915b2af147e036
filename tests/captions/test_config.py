from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.captions.config import config_of
from gslopes.core.errors import ConfigError, UnknownName


def test_flat_options_go_where_they_belong_and_over_those_of_a_file(tmp_path: Path):
    (tmp_path / "c.toml").write_text('senses = "paper"\n[options]\nlch = 2.0\nbootstrap = 50\n')
    config = config_of({"bootstrap": 70, "techniques": ["S1"], "lists": {"traits": Path("t.txt")}}, tmp_path / "c.toml")
    assert (config.senses, config.options.lch, config.options.bootstrap) == ("paper", 2.0, 70)
    assert config.lists == {"traits": Path("t.txt")}


@pytest.mark.parametrize("given", [{"limit": 0}, {"relax": "nn"}, {"groups_from": "labels"}, {"no_such": 1}])
def test_what_makes_no_sense_is_a_config_error(given: dict[str, object]):
    with pytest.raises(ConfigError):
        config_of(given)


def test_unknown_stages_and_techniques_are_named():
    for given in ({"truth": "labels"}, {"targets": ["captions"]}, {"techniques": ["S9"]}):
        with pytest.raises(UnknownName):
            config_of(given)
