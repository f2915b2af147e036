"""A small edit field learns what a large one says of a face and of its mirror image."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.faces import zoo
from gslopes.photos import drawn as rendered
from training import distillation, loop
from training.distillation import Distillation, distilled, mean_with_mirror_image
from training.sets import drawn_chips

NARROW = [8, 16, 16, 32, 32]


@pytest.fixture(scope="module")
def teacher() -> zoo.LoadedModel:
    return zoo.load("gender-teacher")


@pytest.fixture(scope="module")
def chips() -> np.ndarray:
    """32 drawn faces, (32, 128, 128, 3) uint8."""
    return drawn_chips(rendered.sample(32, seed=5), 128)


@pytest.fixture(scope="module")
def narrow(teacher) -> zoo.ModelSpec:
    return replace(teacher.spec, config={**teacher.spec.config, "widths": NARROW})


def run(narrow, teacher, chips, folder, steps):
    config = Distillation(steps=steps, batch=4)
    weights = np.ones(len(chips))
    return distilled(narrow, teacher.module, chips, weights, folder, config=config, report_every=1, save_every=2)


def logged(folder) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_what_is_learned_is_the_same_for_a_face_in_the_mirror(teacher, chips):
    x = torch.from_numpy(chips[:2]).permute(0, 3, 1, 2).float() / 127.5 - 1
    (form, motion), (form_there, motion_there) = (mean_with_mirror_image(teacher.module, y) for y in (x, x.flip(3)))
    torch.testing.assert_close(form_there, form.flip(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(motion_there[:, 0], -motion[:, 0].flip(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(motion_there[:, 1], motion[:, 1].flip(2), atol=1e-5, rtol=0)
    alone = teacher.module(x)[0]
    assert (form - alone).abs().mean() > 1e-3  # and it is not what the picture alone would say


def test_agreement_is_0_and_a_field_of_zeros_1():
    wanted, face = torch.randn(4, 2, 16, 16, generator=torch.Generator().manual_seed(0)), torch.ones(16, 16)
    assert not distillation._difference(wanted, wanted, face).any()
    assert not distillation._roughness(wanted, wanted).any()
    nothing = distillation._difference(torch.zeros_like(wanted), wanted, face)
    torch.testing.assert_close(nothing, torch.ones(2), atol=0.02, rtol=0)
    torch.testing.assert_close(
        distillation._difference(wanted, 3 * wanted, face), torch.full((2,), 4 / 9), atol=0.02, rtol=0
    )


@pytest.mark.slow
def test_the_narrow_field_learns_and_a_stopped_run_ends_in_the_same_weights(
    narrow, teacher, chips, tmp_path, monkeypatch
):
    whole = run(narrow, teacher, chips, tmp_path / "whole", 40)
    assert [len(value) for key, value in whole.items() if key == "stem.weight"] == [NARROW[0]]
    lightness = [row["lightness"] for row in logged(tmp_path / "whole")]
    assert np.mean(lightness[-5:]) < 0.8 * np.mean(lightness[:5])

    class Stopped(Exception):
        pass

    keep = loop.save_state

    def save_and_stop(path, step, *given):
        keep(path, step, *given)
        if step == 20:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(loop, "save_state", save_and_stop)
        with pytest.raises(Stopped):
            run(narrow, teacher, chips, tmp_path / "halved", 40)
    halved = run(narrow, teacher, chips, tmp_path / "halved", 40)
    assert all(torch.equal(whole[key], halved[key]) for key in whole)
    assert len(logged(tmp_path / "halved")) == 40
