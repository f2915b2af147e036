"""What holds for every shipped model: a new one is tested by being registered."""

import json

import pytest
import torch

from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.files import sha256_of
from gslopes.faces import zoo
from gslopes.faces.zoo import loading
from gslopes.faces.zoo.spec import PACKAGE
from training.evaluation import models as cards

ROOT = PACKAGE.parent
NAMES = sorted(path.name for path in (ROOT / "models").iterdir() if path.is_dir())


@pytest.mark.row("slopes-1-public")
@pytest.mark.parametrize("name", NAMES)
def test_every_model_has_spec_card_weights_metrics_and_recipe(name):
    assert (ROOT / "models" / name / "card.md").is_file()
    assert (ROOT / "weights" / name / loading.FILE).is_file()
    spec = zoo.read_spec(ROOT / "models" / name / "spec.toml")
    assert zoo.load(name).spec == spec
    assert spec.name == name
    assert (ROOT / "training" / f"{spec.recipe}.toml").is_file()
    assert json.loads((ROOT / "weights" / name / "metrics.json").read_text())["held_out"] > 0


@pytest.mark.row("slopes-3.3-size")
def test_the_fader_edits_chips_of_128_pixels():
    loaded = zoo.load("gender-fader")
    assert loaded.spec.size == 128
    chips = torch.zeros(1, 3, 128, 128)
    assert loaded.module(chips, torch.zeros(1, len(loaded.spec.labels)))[1].shape == chips.shape


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_what_spec_weights_and_metrics_say_in_80_lines(name):
    card = (ROOT / "models" / name / "card.md").read_text(encoding="utf-8")
    assert card == cards.fill(ROOT, name)
    assert len(card.splitlines()) <= 80
    assert sum(line.endswith("] |") for line in card.splitlines()) <= cards.MOST


def test_the_list_shows_every_model_with_its_sha256():
    listed = {entry.name: entry for entry in zoo.list_models()}
    assert set(listed) == set(NAMES)
    for name, entry in listed.items():
        assert entry.sha256 == sha256_of(ROOT / "weights" / name / loading.FILE)
        assert entry.bytes > 0


def test_no_weights_are_pickles():
    kinds = {
        path.suffix
        for path in (ROOT / "weights").rglob("*")
        if path.is_file() and "training" not in path.parts
    }
    assert kinds <= {".safetensors", ".json", ""}


def test_a_kind_of_editor_is_that_of_each_attribute_and_a_name_stays_itself():
    with pytest.raises(UnknownName, match="gender"):
        zoo.editor_for("gendr")
    assert zoo.editor_for("gender", "fader") == "gender-fader"
    assert zoo.editor_for("gender", "field") == zoo.editor_for("gender")
    assert (
        zoo.editor_for("gender", "race-field") == "race-field"
    )  # who edits what is checked on use
    assert zoo.editor_for("gender", "no-such") == "no-such"


@pytest.mark.parametrize("attribute", ["age", "tone", "ages"])
def test_the_papers_editor_is_of_gender_alone(attribute):
    with pytest.raises(UsageError, match=f"No Fader Network of {attribute} ships"):
        zoo.editor_for(attribute, "fader")


@pytest.mark.parametrize("model", ["fader", "race-fader"])
def test_the_fader_network_of_race_ships_no_more_and_what_to_take_is_told(
    model, monkeypatch, tmp_path
):
    with pytest.raises(UsageError, match="hardly their lightness") as told:
        zoo.editor_for("race", model)
    assert "--editor race-field" in told.value.hint
    assert "training/race/training/race-fader.toml" in told.value.hint
    assert (ROOT / "training/race/training/race-fader.toml").is_file()
    (tmp_path / "weights/race-fader").mkdir(parents=True)
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path))  # one that the user has trained is taken
    assert zoo.editor_for("race", model) == "race-fader"
