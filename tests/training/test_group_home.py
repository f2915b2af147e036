"""Four commands: from a folder of labelled photos to an editor of named ends with its card."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing, UsageError
from gslopes.faces.zoo import load
from gslopes.faces.zoo.spec import read_spec
from training import drawn
from training.evaluation.models import measure_model
from training.group_home import begin_home
from training.recipe import run_recipe

FACES = 24  # of a label


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Drawn faces with broad smiles and with closed mouths, a folder each."""
    folder = tmp_path_factory.mktemp("faces") / "looks"
    for seed, (label, smile) in enumerate({"closed-mouth": 0.0, "smiling": 1.0}.items()):
        faces = drawn.sample(FACES, seed=seed)
        faces = faces.replace(smile=np.full(FACES, smile, np.float32))
        (folder / label).mkdir(parents=True)
        for number, picture in enumerate(drawn.render(faces, 160).pixels):
            Image.fromarray(picture).save(folder / label / f"{label}-{number}.png")
    return folder


@pytest.mark.slow
def test_labelled_photos_become_an_editor_with_its_card(
    looks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "home"
    begin_home(looks, home, steps=3)
    spec = read_spec(home / "models/looks-groups/spec.toml")
    assert spec.ends == ("closed-mouth", "smiling")
    assert spec.labels[0] == spec.edits == "looks"
    tones = np.array(spec.config["tones"])
    assert tones.shape == (2, 6)
    assert np.all((tones[:, 0] > 10) & (tones[:, 0] < 95))

    monkeypatch.setenv("GSLOPES_HOME", str(home))
    folder = run_recipe("looks-groups", data=looks)
    assert folder == home / "weights/looks-groups"
    assert (folder / "model.safetensors").stat().st_size < 2_000_000
    measured = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert set(measured["edit_size"]) == set(spec.ends)
    assert load("looks-groups").spec == spec

    result = measure_model("looks-groups", data=looks)
    edits = result["tables"]["what it edits"]
    assert set(edits) == set(spec.ends)
    assert all(row["its own photos read so"]["value"] >= 0.5 for row in edits.values())
    card = (home / "models/looks-groups/card.md").read_text("utf-8")
    assert "read as smiling, faces of the others, after" in card
    assert "Not measured yet" not in card
    assert "name: looks-groups" in card

    with pytest.raises(UsageError, match="is there already"):
        begin_home(looks, home)


@pytest.mark.parametrize(
    ("options", "says"),
    [({"name": "My Groups"}, "is no name"), ({"attribute": "1"}, "is no attribute")],
)
def test_names_that_are_none_are_told_before_any_photo_is_opened(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        begin_home(tmp_path / "absent", tmp_path / "home", **options)


def test_a_label_with_a_space_is_told(tmp_path: Path) -> None:
    for label in ("South Asian", "white"):
        (tmp_path / "race" / label).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(tmp_path / "race" / label / "1.png")
    with pytest.raises(UsageError, match="'South Asian' is no name of an end"):
        begin_home(tmp_path / "race", tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_folder_without_labels_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="photos of 0 labels"):
        begin_home(tmp_path, tmp_path / "home", attribute="race")
