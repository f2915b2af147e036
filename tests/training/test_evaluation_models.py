"""The evaluation itself, on a few real photos: a few of everything, so that it runs; its numbers are the cards'."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from gslopes.faces.zoo.spec import DIGEST, FILE, find_asset
from training.evaluation.models import measure_model
from training.sources import fold

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def few(unpacked, tmp_path_factory):
    """A folder with 200 held-out photos of UTKFace, half of which the evaluation of editors looks at."""
    root = tmp_path_factory.mktemp("data")
    (root / "UTKFace").mkdir()
    source = next(
        path
        for path in [unpacked("UTKFace"), unpacked("UTKFace") / "UTKFace"]
        if list(path.glob("*.jpg"))
    )
    held_out = sorted(path for path in source.glob("*.jpg") if fold(path.name) == "held-out")
    for path in held_out[:: max(1, len(held_out) // 200)][:200]:
        shutil.copy(path, root / "UTKFace" / path.name)
    return root


@pytest.mark.evidence
def test_an_editors_tables_hold_every_way_and_value(few, tmp_path):
    result = measure_model(
        "gender-field", data=few, photos=48, write=False, sheets=tmp_path / "sheets"
    )
    measured = result["tables"]
    titles = {"what it edits", "what else moves", "for whom", "how natural", "who it is"}
    assert set(measured) == {"reached", *(f"{title}, UTKFace" for title in titles)}
    assert len(measured["what it edits, UTKFace"]) == 3
    assert len(measured["how natural, UTKFace"]) == 5
    assert np.isfinite(
        measured["how natural, UTKFace"]["face, ratio at +2"]["two-sample AUC"]["value"]
    )
    shift = measured["what it edits, UTKFace"]["face, ratio: reader"]["shift"]
    card = json.loads((find_asset("weights", "gender-field") / "metrics.json").read_text())[
        "evaluation"
    ]["tables"]
    on_card = card["what it edits, UTKFace"]["face, ratio: reader"]["shift"]
    assert shift["low"] < shift["value"] < shift["high"]
    assert (
        shift["low"] <= on_card["value"] <= shift["high"]
    )  # fewer photos, wider around the card's value
    assert shift["low"] > on_card["value"] / 2
    (sheet,) = (tmp_path / "sheets").iterdir()
    with Image.open(sheet) as picture:
        assert picture.size == (6 * 256, 12 * 256)


def test_a_folder_of_weights_is_measured_and_not_the_shipped_model_of_that_name(few, tmp_path):
    folder = tmp_path / "trial"
    shutil.copytree(find_asset("weights", "gender-field"), folder)
    state = load_file(folder / FILE)
    with safe_open(folder / FILE, "pt") as file:
        metadata = file.metadata()
    for name in state:
        if name.startswith(("to_ends", "to_motion")):
            state[name].zero_()  # nothing changes and nothing moves
    save_file(state, folder / FILE, metadata)
    (folder / DIGEST).write_text(hashlib.sha256((folder / FILE).read_bytes()).hexdigest())
    measured = measure_model(str(folder), data=few, photos=16, write=False)["tables"]
    assert abs(measured["what it edits, UTKFace"]["face, ratio: reader"]["shift"]["value"]) < 0.01
