"""The template is the average edit of the training faces, evenly left and right."""

import dataclasses

import numpy as np
import torch

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.faces import zoo
from gslopes.faces.edit.editors import FaderEditor
from gslopes.photos import drawn as rendered
from training import fader
from training.chips import face_window
from training.sets import drawn_chips


def ratio_editor(chips, **config):
    shipped = zoo.load("drawn-fader")
    config = {**shipped.spec.config, "template": True, **config}
    spec = dataclasses.replace(shipped.spec, blend="ratio", config=config)
    state = {key: value for key, value in shipped.module.state_dict().items() if key != "template"}
    state = fader.with_template(spec, state, chips, np.zeros((len(chips), 1), np.float32), "cpu")
    network = zoo.build(spec).eval()
    network.load_state_dict(state)
    return state["template"], FaderEditor(zoo.LoadedModel(network, spec, "0" * 64), reader=None)


def test_the_template_is_the_edit_of_a_unit():
    chips = drawn_chips(rendered.sample(4, seed=4), 64)
    form, editor = ratio_editor(chips, gain=1.5)
    swept = editor.sweep(chips, np.array([-1, 0.5, 2], np.float32))
    edited, neutral = swept.edited, swept.neutral
    logs = np.log(edited + OFFSET)
    unit = 1.5 * form.permute(1, 2, 0).numpy()
    np.testing.assert_allclose(logs[:, 1] - logs[:, 0], np.broadcast_to(1.5 * unit, neutral.shape), atol=1e-4)
    np.testing.assert_allclose(logs[:, 2] - logs[:, 1], np.broadcast_to(1.5 * unit, neutral.shape), atol=1e-4)


def test_less_tint_takes_slow_colour_from_a_template_and_leaves_luminance_and_fine_colour():
    rng = np.random.default_rng(0)
    flat = torch.tensor([0.05, -0.02, 0.01])[:, None, None].expand(3, 64, 64)
    luma = torch.tensor(LUMA)[:, None, None]
    half = fader.with_less_tint(flat, 0.5)
    light = (flat * luma).sum(0)
    torch.testing.assert_close((half * luma).sum(0), light)
    face = face_window(64).reshape(64, 64) > 0.5
    torch.testing.assert_close((half - light)[:, face], 0.5 * (flat - light)[:, face], atol=1e-3, rtol=0)
    noise = torch.from_numpy(rng.normal(0, 0.05, (3, 64, 64)).astype(np.float32))
    fine = noise - (noise * luma).sum(0)
    assert (fader.with_less_tint(fine, 0.0) - fine).abs().mean() < 0.1 * fine.abs().mean()
