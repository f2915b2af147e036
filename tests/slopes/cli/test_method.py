"""``gslopes audit --method`` and ``--as-published``."""

import json

import pytest
from click.testing import CliRunner

from gslopes.core.errors import ConfigError
from gslopes.slopes.cli.audit import audit
from gslopes.slopes.config import configure


def test_it_prints_the_defaults_and_json():
    printed = CliRunner().invoke(audit, ["--method", "--out", "nowhere"])
    assert "K - 2 degrees of freedom" in printed.output
    rows = json.loads(CliRunner().invoke(audit, ["--method", "--out", "nowhere", "--json"]).output)
    assert {"what", "paper", "here", "reason", "option", "section", "same"} == set(rows[0])


@pytest.mark.parametrize("options", [{"region": "face"}, {"gate": True}, {"steps": 5}])
def test_as_published_contradicts_nothing_silently(options):
    with pytest.raises(ConfigError, match="As published"):
        configure("photos", {"as_published": True, **options})


@pytest.mark.row("slopes-3.3-network")
def test_as_published_each_attribute_has_its_fader_network_and_the_run_names_all_that_reads_for_it():
    from gslopes.faces.components import model_records

    config = configure("photos", {"as_published": True, "attribute": ["gender", "race"]})
    names = set(model_records(config))
    assert {"gender-fader", "race-fader", "labeller", "celeba-tagger"} <= names
    own = configure("photos", {"as_published": True, "editor": "drawn-fader"})  # a Fader Network of the user's own
    assert own.edit.model == "drawn-fader"
