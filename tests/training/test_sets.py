"""A packed set is the set, but for what WebP loses."""

import csv
import json
import shutil

import numpy as np
import pytest
import torch
from torchvision.models import resnet34

from gslopes.collect.census import COLUMNS, take_census
from gslopes.collect.config import CensusConfig
from gslopes.core import tables
from gslopes.core.errors import DataMissing
from gslopes.core.tables import CENSUS
from gslopes.faces.zoo.spec import HOME_VARIABLE, PACKAGE, find_spec
from training import drawn as rendered
from training.recipe import run_recipe
from training.sets import TrainingSet, balanced, drawn_chips, evened, packed, write_packed


def test_a_packed_set_comes_back_whole(tmp_path):
    spec = find_spec("drawn-fader")
    drawn = rendered.sample(20, seed=3)
    chips = drawn_chips(drawn, spec.size)
    held_out = np.arange(20) % 5 == 0
    write_packed(
        TrainingSet(chips, drawn.gender[:, None], np.arange(20.0), held_out),
        tmp_path / f"{spec.name}.npz",
    )
    again = packed(spec, tmp_path)
    assert np.abs(again.pixels.astype(int) - chips).mean() < 4
    np.testing.assert_array_equal(again.labels, drawn.gender[:, None])
    np.testing.assert_array_equal(again.weights, np.arange(20.0))
    np.testing.assert_array_equal(again.held_out, held_out)


def test_rare_skin_tones_are_drawn_more_often_and_common_ones_still_most():
    angles = np.concatenate([np.full(90, 45.0), np.full(10, -30.0)])
    weights = evened(angles)
    assert weights[-1] / weights[0] == pytest.approx(3, rel=0.01)  # the root of 90 / 10
    assert weights[:90].sum() > weights[90:].sum()
    np.testing.assert_allclose(evened(angles[::-1]), weights[::-1])


def test_every_combination_is_drawn_as_often_but_a_very_rare_one_eight_times_its_share():
    first = np.array([0] * 50 + [1] * 49 + [2], np.float32)
    weights = balanced(first)
    assert weights[:50].sum() == pytest.approx(weights[50:99].sum())
    assert weights[99] == pytest.approx(8 / 100)


RACE = {"0": "white", "1": "black"}  # of UTKFace's file names


@pytest.mark.row("slopes-4.2-estimated", "slopes-4.2-race")
@pytest.mark.slow
def test_photos_fairface_weights_and_a_review_become_a_race_set(unpacked, tmp_path, monkeypatch):
    """The whole path on few photos; the weights are FairFace's in shape and sure of nothing, so people decide all."""
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(HOME_VARIABLE, str(PACKAGE.parent / "training/race"))
    photos, out = tmp_path / "photos", tmp_path / "census"
    photos.mkdir()
    for race in RACE:
        for path in sorted(unpacked("UTKFace").rglob(f"[2-5]?_?_{race}_*.jpg"))[:40]:
            shutil.copy(path, photos / path.name)
    network = resnet34(num_classes=18)
    torch.nn.init.zeros_(network.fc.weight)
    torch.nn.init.zeros_(network.fc.bias)
    torch.save(network.state_dict(), tmp_path / "res34.pt")
    config = CensusConfig(reader=tmp_path / "res34.pt", unsure=("race",), device="cpu")
    first = take_census(photos, out, config)
    assert first.queue == first.read > 60
    with pytest.raises(DataMissing, match="0 Black and 0 White are left to learn from"):
        run_recipe("race-fader", data=out, steps=2, device="cpu", out=tmp_path / "none" / "deep")
    assert not (tmp_path / "none").exists()
    rows = tables.read(CENSUS, out / "census.parquet").query("status == 'read'")
    reviewed = [
        (photo, path, "correct", "", RACE[path.split("_")[2]], "")
        for photo, path in zip(rows["photo"], rows["path"], strict=True)
    ]
    with (out / "review.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *reviewed])
    assert take_census(photos, out, config).queue == 0
    trained = run_recipe("race-fader", data=out, steps=2, device="cpu", out=tmp_path / "weights")
    numbers = json.loads((trained / "metrics.json").read_text("utf-8"))
    assert numbers["trained_on"] + numbers["held_out"] > 25
    assert (trained / "model.safetensors").is_file()
