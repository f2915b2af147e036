"""``gslopes audit --method`` and ``--as-published``."""

from __future__ import annotations

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


def test_as_published_each_attribute_has_its_fader_network_and_the_run_names_all_that_reads_for_it():
    from gslopes.faces.components import model_records

    config = configure("photos", {"as_published": True, "attribute": ["gender", "race"]})
    names = set(model_records(config))
    assert {"gender-fader", "race-fader", "labeller", "celeba-tagger"} <= names
    own = configure("photos", {"as_published": True, "editor": "drawn-fader"})  # a Fader Network of the user's own
    assert own.edit.model == "drawn-fader"


def test_as_published_the_edit_is_the_papers():
    printed = CliRunner().invoke(
        audit, ["--method", "--out", "nowhere", "--as-published", "--attribute", "race", "--json"]
    )
    rows = {row["what"]: row for row in json.loads(printed.output)}
    assert rows["edit of race-fader"]["same"]
    by_odd_part = CliRunner().invoke(audit, ["--method", "--out", "nowhere", "--json"])
    assert not {row["what"]: row for row in json.loads(by_odd_part.output)}["edit of gender-field"]["same"]


@pytest.mark.parametrize(
    ("kind", "config", "paper", "differs", "same"),
    [
        ("contexts", {"preset": "default", "pictures": {"kinds": ["original", "context", "empty"]}}, "Barlas",
         {"backgrounds", "baseline"}, {"pictures that are asked", "level of Tables 10 and 12"}),
        ("contexts", {"preset": "published"}, "Barlas", {"people"}, {"backgrounds", "photographs a context"}),
        ("crops", {"as_published": False, "draws": None, "cropper": ["fastgaze:f.pt"]}, "Yee",
         {"pairs", "ties", "orders"}, {"cropper", "padding"}),
        ("crops", {"as_published": True, "draws": 10000, "cropper": ["onnx:m.onnx"]}, "Yee",
         {"cropper", "people"}, {"pairs", "ties", "orders"}),
        ("captions", {"senses": "paper", "options": {"types": 100, "as_published": True}}, "Wang",
         {"types of S2", "parser"}, {"sense of a word", "estimate of S2"}),
    ],
)  # fmt: skip
def test_each_sibling_audits_run_is_held_against_its_own_paper(kind, config, paper, differs, same, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"kind": kind, "config": config}))
    text = CliRunner().invoke(audit, ["--method", "--out", str(tmp_path)]).output
    assert text.startswith(f"How this run differs from {paper}")
    rows = json.loads(CliRunner().invoke(audit, ["--method", "--out", str(tmp_path), "--json"]).output)
    assert differs <= {row["what"] for row in rows if not row["same"]}
    assert same <= {row["what"] for row in rows if row["same"]}
    assert all(row["reason"] for row in rows if not row["same"])
