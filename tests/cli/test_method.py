"""``gslopes method`` and ``--as-published``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from gslopes.cli.method import method
from gslopes.core.errors import ConfigError, UsageError
from gslopes.run.config import configure


def test_it_prints_the_defaults_and_json():
    printed = CliRunner().invoke(method, [])
    assert "K - 2 degrees of freedom" in printed.output
    rows = json.loads(CliRunner().invoke(method, ["--json"]).output)
    assert {"what", "paper", "here", "reason", "option", "same"} == set(rows[0])


def test_a_folder_that_is_no_run_is_named(tmp_path):
    found = CliRunner().invoke(method, [str(tmp_path)])
    assert isinstance(found.exception, UsageError)


@pytest.mark.parametrize("options", [{"region": "face"}, {"gate": True}, {"steps": 5}])
def test_as_published_contradicts_nothing_silently(options):
    with pytest.raises(ConfigError, match="As published"):
        configure("photos", {"as_published": True, **options})
