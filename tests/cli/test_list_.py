"""The list of classifiers: nothing is cut in the middle, and all that is asked for is named."""

import json

import pytest
from click.testing import CliRunner

from gslopes.ask.classifiers import list_classifiers
from gslopes.cli import main
from gslopes.cli.list_ import WIDTH


@pytest.fixture(scope="module")
def listed() -> str:
    return CliRunner().invoke(main, ["list", "classifiers"]).output


def test_every_classifier_is_there_with_each_parameter_whole(listed: str) -> None:
    lines = listed.splitlines()
    assert max(map(len, lines)) <= WIDTH
    for entry in list_classifiers():
        assert any(line.split("  (")[0] == entry.name for line in lines)
        for parameter in entry.parameters:
            assert any(parameter in line for line in lines), parameter


def test_what_is_as_good_as_a_missing_credential_is_named(
    listed: str, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    printed = json.loads(CliRunner().invoke(main, ["list", "classifiers", "--json"]).stdout)
    by_name = {entry["name"]: entry for entry in printed}
    assert "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_API_KEY" in by_name["google"]["credentials"]
    monkeypatch.setenv("GOOGLE_API_KEY", "planted")
    printed = json.loads(CliRunner().invoke(main, ["list", "classifiers", "--json"]).stdout)
    assert {entry["name"]: entry for entry in printed}["google"]["credentials"] == "present"
