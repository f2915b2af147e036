"""The template is the average edit of the training faces, evenly left and right."""

import dataclasses

import numpy as np
import torch

from gslopes import zoo
from gslopes.datasets import rendered
from gslopes.edit.sweep import FaderEditor
from gslopes.train import template
from gslopes.train.sets import rendered_chips


def ratio_editor(monkeypatch, chips):
    shipped = zoo.load("fader-rendered")
    config = {**shipped.spec.config, "template": True}
    spec = dataclasses.replace(shipped.spec, blend="ratio", config=config)
    state = {key: value for key, value in shipped.module.state_dict().items() if key != "template"}
    monkeypatch.setattr(template, "load", lambda *_: None)
    monkeypatch.setattr(template, "PhotoValues", lambda *_: lambda chips: torch.zeros(len(chips), 1))
    state = template.with_template(spec, state, chips, "cpu")
    network = zoo.build(spec).eval()
    network.load_state_dict(state)
    return state["template"], FaderEditor(zoo.LoadedModel(network, spec, "0" * 64), reader=None)


def test_the_template_is_even_and_a_sweep_moves_every_chip_from_its_own_value(monkeypatch):
    chips = rendered_chips(rendered.sample(8, seed=4), 64)
    form, editor = ratio_editor(monkeypatch, chips)
    assert form.shape == (3, 64, 64)
    torch.testing.assert_close(form, form.flip(2))
    edited, neutral = editor.sweep(chips[:3], np.array([-1, 0, 1], np.float32))
    np.testing.assert_allclose(neutral, chips[:3], atol=0.01)
    light = edited.mean((2, 3, 4))
    assert (np.diff(light, axis=1) > 1).all()
