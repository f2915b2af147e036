"""The walk and the trainings on a CUDA device, against the CPU: real photos, the weights that ship.

They need photos that the library brings along and nothing else. ``GSLOPES_TEST_DEVICE=cpu`` tries them without a
device; they then compare the CPU with itself.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from pandas.testing import assert_frame_equal
from PIL import Image

from gslopes.core import tables
from gslopes.core.geometry import warp
from gslopes.core.records import Face, Photo
from gslopes.faces import zoo
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.photos.folder import list_photos, open_photo
from gslopes.slopes import audit as stages
from tests.benches.bench_machine import write_variants

DEVICE = os.environ.get("GSLOPES_TEST_DEVICE", "cuda")
VALUES = np.array([-2, -1, 0, 1, 2], np.float32)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        DEVICE == "cuda" and not torch.cuda.is_available(),
        reason="This machine has no CUDA device: run it on one that has.",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of several sizes, colour and gray, one without a face."""
    position = tmp_path_factory.mktemp("photos")
    write_variants(position, 10)
    for index, side in enumerate((90, 160, 300, 700)):
        with Image.open(position / f"{index:06d}.jpg") as photo:
            photo.resize((side, side)).convert("L" if index == 3 else "RGB").save(
                position / f"{index:06d}.jpg"
            )
    Image.new("RGB", (200, 100), (90, 120, 90)).save(position / "no-face.jpg")
    return position


@pytest.fixture(scope="module")
def photos(folder: Path) -> list[Photo]:
    return [open_photo(file.path) for file in list_photos(folder)]


def test_masks_and_sweeps_are_the_same_but_for_rounding(photos):
    result = [
        choose(f, p.pixels.shape[1], p.pixels.shape[0], 20, 128)
        for p, f in zip(photos, MtcnnFinder(20)(photos), strict=True)
    ]
    used = [
        (photo, face) for photo, face in zip(photos, result, strict=True) if isinstance(face, Face)
    ]
    chips = np.stack([warp(photo.pixels, face.matrix, 128) for photo, face in used])
    assert len(chips) >= 10
    used_photos, faces = ([photo for photo, _ in used], [face for _, face in used])
    masks = [
        ParserMasker(zoo.load("face-parser", device), device=device)(used_photos, faces, chips)
        for device in ("cpu", DEVICE)
    ]
    assert np.abs(masks[0] - masks[1]).mean() < 0.002
    for name in ("gender-field", "race-field"):
        sweeps = [editor_of(name, device).sweep(chips, VALUES) for device in ("cpu", DEVICE)]
        first, present = (swept.edited - swept.neutral[:, None] for swept in sweeps)
        assert np.abs(first - present).max() <= 1
        assert np.abs(first - present).mean() < 0.1
    first, present = (
        editor_of("gender-fader", item).sweep(chips, VALUES).edited for item in ("cpu", DEVICE)
    )
    assert np.abs(first - present).max() <= 1


def test_the_walk_gives_the_same_tables_and_pictures_but_for_rounding(folder, tmp_path):
    runs = []
    for device in ("cpu", DEVICE):
        run = tmp_path / f"run-{len(runs)}"
        stages.synthesise(folder, run, min_face=20, steps=5, device=device, placebo=True, part=4)
        runs.append(
            (
                run,
                tables.read(tables.PHOTOS, run / "photos.parquet"),
                tables.read(tables.EDITS, run / "edits.parquet"),
            )
        )
    (run, photos, edits), (run_on_device, photos_on_device, edits_on_device) = runs
    assert_frame_equal(photos, photos_on_device, check_exact=True)
    assert (photos["status"] == "used").sum() >= 10
    assert_frame_equal(edits.drop(columns="mask_area"), edits_on_device.drop(columns="mask_area"))
    np.testing.assert_allclose(edits["mask_area"], edits_on_device["mask_area"], atol=1e-4)
    for file in edits["file"]:
        first, second = (
            np.asarray(Image.open(folder_of_run / file).convert("RGB")).astype(int)
            for folder_of_run in (run, run_on_device)
        )
        assert np.abs(first - second).mean() < 0.5, file


def test_a_training_goes_down_on_the_device(tmp_path):
    from training.fader import Adversary, Optimisation, Pictures, train_fader

    write_variants(tmp_path, 64)
    chips = np.stack(
        [np.asarray(Image.open(path).resize((128, 128))) for path in sorted(tmp_path.glob("*.jpg"))]
    )
    spec = zoo.ModelSpec(
        "small", "", "fader", 128, ("gender",), "", (), "", "", {"widths": [16, 32, 64]}
    )
    labels = np.random.default_rng(0).choice(np.float32([-1, 1]), (len(chips), len(spec.labels)))
    weights = np.ones(len(chips))
    (tmp_path / "work").mkdir()
    options = {
        "optimisation": Optimisation(
            steps=60, batch=16
        ),  # recorded as a graph after 12 steps, twice
        "adversary": Adversary(aim=0.6, widths=(32,)),
        "pictures": Pictures(perceptual=0.3, critic=0.1, begins=0.3, same=0.2),
    }
    train_fader(
        spec, chips, labels, weights, tmp_path / "work", **options, device=DEVICE, report_every=10
    )
    lines = (tmp_path / "work" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [json.loads(line)["reconstruction"] for line in lines]
    assert losses[-1] < 0.8 * losses[0]


def test_an_edit_field_trains_on_the_device(tmp_path):
    from training.edit_field import Optimisation, train_edit_field

    write_variants(tmp_path, 32)
    chips = np.stack(
        [np.asarray(Image.open(path).resize((128, 128))) for path in sorted(tmp_path.glob("*.jpg"))]
    )
    spec = zoo.load("race-teacher").spec
    labels = np.random.default_rng(0).choice(np.float32([-1, 1]), (len(chips), len(spec.labels)))
    (tmp_path / "work").mkdir()
    length = Optimisation(steps=4, batch=8, warm=1)
    state = train_edit_field(
        spec, chips, labels, np.ones(len(chips)), tmp_path / "work", optimisation=length, device=DEVICE, report_every=1,
    )  # fmt: skip
    assert all(torch.isfinite(part).all() for part in state.values())
    assert state["to_form.weight"].any()


def test_both_ends_are_learned_on_the_device(tmp_path):
    from training.distillation import Optimisation, train_edit_ends

    write_variants(tmp_path, 32)
    chips = np.stack(
        [np.asarray(Image.open(path).resize((128, 128))) for path in sorted(tmp_path.glob("*.jpg"))]
    )
    spec = zoo.load("race-field").spec
    (tmp_path / "work").mkdir()
    train_edit_ends(
        spec, chips, np.zeros((len(chips), 4), np.float32), np.ones(len(chips)), tmp_path / "work",
        teacher="race-teacher", optimisation=Optimisation(steps=20, batch=8), device=DEVICE, report_every=5,
    )  # fmt: skip
    lines = (tmp_path / "work" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    losses = [json.loads(line)["loss"] for line in lines]
    assert losses[-1] < losses[0]
