"""The template is the average edit of the training faces, evenly left and right."""

import dataclasses

import numpy as np
import pytest
import torch

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.faces import zoo
from gslopes.faces.edit.editors import FaderEditor
from training import drawn as rendered, fader
from training.chips import face_window
from training.sets import drawn_chips


def ratio_editor(chips, reach):
    shipped = zoo.load("drawn-fader")
    config = {**shipped.spec.config, "template": True}
    spec = dataclasses.replace(shipped.spec, blend="ratio", config=config, steps=())
    state = {key: value for key, value in shipped.module.state_dict().items() if key != "template"}
    labels = np.zeros((len(chips), 1), np.float32)
    state = fader.with_template(spec, state, chips, labels, "cpu", reach=reach)
    network = zoo.build(spec).eval()
    network.load_state_dict(state)
    return state["template"], FaderEditor(zoo.LoadedModel(network, spec, "0" * 64), reader=None)


def test_the_template_is_the_edit_of_a_unit():
    chips = drawn_chips(rendered.sample(4, seed=4), 64)
    form, editor = ratio_editor(chips, reach=1.5)
    swept = editor.sweep(chips, np.array([-1, 0.5, 2], np.float32))
    edited, neutral = swept.edited, swept.neutral
    logs = np.log(edited + OFFSET)
    unit = form.permute(1, 2, 0).numpy()
    np.testing.assert_allclose(
        logs[:, 1] - logs[:, 0], np.broadcast_to(1.5 * unit, neutral.shape), atol=1e-4
    )
    np.testing.assert_allclose(
        logs[:, 2] - logs[:, 1], np.broadcast_to(1.5 * unit, neutral.shape), atol=1e-4
    )


def test_less_tint_takes_slow_colour_from_a_template_and_leaves_luminance_and_fine_colour():
    rng = np.random.default_rng(0)
    flat = torch.tensor([0.05, -0.02, 0.01])[:, None, None].expand(3, 64, 64)
    luma = torch.tensor(LUMA)[:, None, None]
    half = fader.with_less_tint(flat, 0.5)
    light = (flat * luma).sum(0)
    torch.testing.assert_close((half * luma).sum(0), light)
    face = face_window(64).reshape(64, 64) > 0.5
    torch.testing.assert_close(
        (half - light)[:, face], 0.5 * (flat - light)[:, face], atol=1e-3, rtol=0
    )
    noise = torch.from_numpy(rng.normal(0, 0.05, (3, 64, 64)).astype(np.float32))
    fine = noise - (noise * luma).sum(0)
    assert (fader.with_less_tint(fine, 0.0) - fine).abs().mean() < 0.1 * fine.abs().mean()


def test_a_beard_fades_towards_the_low_end_and_nothing_else_does():
    attributes = torch.tensor([[1.0, 0.5, 1.0], [0.0, 0.5, 1.0], [-1.5, 0.5, 1.0]])
    faded = fader.faded(attributes, torch.tensor([0.0, 0.0, 1.0]))
    assert faded[:, 2].tolist() == [1, 0, -1]
    torch.testing.assert_close(faded[:, :2], attributes[:, :2])


@pytest.mark.slow
def test_with_a_critic_of_pictures_training_resumes_where_it_stopped(tmp_path):
    """Perceptual loss, steered weight and both critics: a run cut in two ends with the weights of one in one piece."""
    chips = np.random.default_rng(0).integers(0, 256, (16, 128, 128, 3), np.uint8)
    labels = np.random.default_rng(1).choice(np.float32([-1, 1]), (16, 2))
    spec = zoo.ModelSpec(
        "s", "", "fader", 128, ("gender", "beard"), "", (), "", "", {"widths": [4, 4, 4, 4, 8]}
    )
    options = {
        "adversary": fader.Adversary(aim=0.6, widths=(8,)),
        "pictures": fader.Pictures(0.3, 0.1, 0.5, 0.3, gone=("beard",), widths=(4, 4, 4, 4, 4)),
        "report_every": 100,
    }
    undisturbed = train(spec, chips, labels, tmp_path / "whole", 6, save_every=4, **options)
    stopped_in_step(
        5, lambda: train(spec, chips, labels, tmp_path / "cut", 6, save_every=4, **options)
    )
    resumed = train(spec, chips, labels, tmp_path / "cut", 6, save_every=4, **options)
    for key, value in undisturbed.items():
        torch.testing.assert_close(value, resumed[key], rtol=0, atol=0)


def train(spec, chips, labels, folder, steps, **options):
    length = fader.Optimisation(steps=steps, batch=4, ema=0.0)
    return fader.train_fader(
        spec, chips, labels, np.ones(len(chips)), folder, optimisation=length, **options
    )


def stopped_in_step(number, run):
    """Call ``run`` and stop it as Ctrl-C would; the checkpoint before ``number`` is there."""
    real, calls = fader.varied, []

    def counting(*arguments):
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fader, "varied", counting)
        with pytest.raises(KeyboardInterrupt):
            run()
