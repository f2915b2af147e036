from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import torch

from gslopes.faces.networks.bisenet_resnet18 import BiSeNetResNet18

GOLDEN = Path(__file__).parents[2] / "golden" / "bisenet_resnet18.json"
golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
_spec = importlib.util.spec_from_file_location("bisenet_resnet18_golden", GOLDEN.with_suffix(".py"))
assert _spec is not None
assert _spec.loader is not None
maker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(maker)


def test_names_and_shapes_are_those_of_the_public_checkpoints() -> None:
    ours = {name: list(value.shape) for name, value in BiSeNetResNet18().state_dict().items()}
    assert ours == golden["shapes"]
    assert ours["cp.arm16.conv.conv.weight"] == [128, 256, 3, 3]
    assert ours["conv_out.conv_out.weight"] == [19, 256, 1, 1]


def test_it_computes_what_an_independent_network_of_the_layout_computes() -> None:
    network = BiSeNetResNet18().eval()
    network.load_state_dict(maker.filled(golden["shapes"]))
    with torch.inference_mode():
        logits = network(maker.picture())[0].numpy()
    assert logits.shape == (19, golden["side"], golden["side"])
    for place in golden["logits"]:
        np.testing.assert_allclose(logits[:, place["y"], place["x"]], place["classes"], rtol=1e-3, atol=0.02)


def test_every_pixel_gets_a_logit_for_every_class() -> None:
    assert BiSeNetResNet18(classes=5).eval()(torch.rand(1, 3, 64, 64)).shape == (1, 5, 64, 64)
