"""A training shows held-out faces and its numbers, and is not changed by showing them."""

import sys

import numpy as np
import pytest
import torch
from PIL import Image

from gslopes.core.errors import ConfigError, UsageError
from gslopes.faces import zoo
from gslopes.faces.zoo.spec import find_spec
from tests.training.several import SMALL, case
from training.fader import train_fader
from training.sets import TrainingSet
from training.watch import GAP, HEAD, Watch, check_sheets, edited, sheets_of, tensorboard_at


@pytest.fixture
def faces():
    _, chips, labels, _ = case("small", 1)
    return TrainingSet(
        chips, labels.astype(np.float32), np.ones(len(chips)), np.ones(len(chips), bool)
    )


def trained(folder, faces, steps, watch=None):
    folder.mkdir(parents=True, exist_ok=True)
    options = case("small", steps)[3]
    sets = faces.pixels, faces.labels, faces.weights
    return train_fader(SMALL, *sets, folder, report_every=2, save_every=2, watch=watch, **options)


def test_sheets_and_tensorboard_show_the_training_and_leave_it_as_it_is(tmp_path, faces):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = tensorboard_at(tmp_path / "tensorboard", wanted=True)
    sheets = sheets_of(SMALL, faces, 3, "cpu")
    seen = trained(tmp_path / "seen", faces, 4, Watch(None, sheets, tmp_path / "samples", board))
    plain = trained(tmp_path / "plain", faces, 4)
    assert all(torch.equal(seen[name], plain[name]) for name in plain)

    assert sorted(p.name for p in (tmp_path / "samples").iterdir()) == [
        "step-000003.png",
        "step-000004.png",
    ]
    sheet = np.asarray(Image.open(tmp_path / "samples/step-000004.png"))
    assert sheet.shape == (HEAD + 8 * 32 + 7 * GAP, 6 * 32 + 5 * GAP, 3)
    np.testing.assert_array_equal(sheet[HEAD : HEAD + 32, :32], sheets.chips[0])

    events = accumulator.EventAccumulator(str(board))
    events.Reload()
    assert [event.step for event in events.Scalars("reconstruction")] == [2, 4]
    assert {"rate", "steps_per_s", "critic"} <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Images("held-out faces")] == [3, 4]


def test_a_run_that_goes_on_shows_each_step_once(tmp_path, faces):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = tmp_path / "tensorboard"
    for steps in (4, 8):  # the second goes on from the first one's checkpoint
        trained(tmp_path / "run", faces, steps, Watch(board=board))
    events = accumulator.EventAccumulator(str(board))
    events.Reload()
    assert [event.step for event in events.Scalars("critic")] == [2, 4, 6, 8]


def test_a_sheet_has_faces_of_both_ends(faces):
    sheets = sheets_of(SMALL, faces, 1, "cpu")
    assert {-1.0, 1.0} <= set(np.sign(sheets.labels[:, 0]).tolist())
    assert len(np.unique(sheets.chips.reshape(8, -1), axis=0)) == 8


@pytest.mark.parametrize("name", ["gender-field", "gender-teacher", "race-groups"])
def test_every_kind_of_editor_is_drawn_and_changes_the_face(name):
    spec = find_spec(name)
    model = zoo.load(name)
    chips = np.random.default_rng(0).integers(90, 160, (1, 128, 128, 3), np.uint8)
    titles, pictures = edited(spec, model.module, chips, np.zeros((1, 3), np.float32), "cpu")
    assert pictures.shape == (1, len(titles), 128, 128, 3)
    assert np.abs(pictures[0, 0] - pictures[0, -1]).max() > 2
    assert titles[0] in ("−2 feminine", "Black")


def test_what_edits_no_faces_has_no_sheets():
    with pytest.raises(ConfigError, match="celeba-tagger edits no faces"):
        check_sheets(find_spec("celeba-tagger"))


def test_a_tensorboard_that_is_not_installed_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(UsageError, match="not installed"):
        tensorboard_at(tmp_path, wanted=True)
    assert tensorboard_at(tmp_path, wanted=False) is None
