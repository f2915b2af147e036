"""Writes bisenet_resnet18.json: names and shapes of the public layout, and what an independent network of it computes.

The peer is facexlib's BiSeNet, which loads the same public checkpoints. Its parameters are filled from a fixed pattern
(``filled``, which the test repeats), its input is another. Run from the repository root, with facexlib installed:

    python tests/golden/bisenet_resnet18.py
"""

from __future__ import annotations

import json
import platform
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

SIDE = 96
PIXELS = [(0, 0), (0, 95), (17, 40), (48, 48), (63, 5), (95, 95)]


def filled(shapes: dict[str, list[int]]) -> dict[str, torch.Tensor]:
    """A state of these names and shapes, the same on every machine: no generator of random numbers is asked."""
    state = {}
    for index, (name, shape) in enumerate(shapes.items()):
        count = int(np.prod(shape))
        wave = np.sin(np.arange(count, dtype=np.float64) * 12.9898 + index) * 43758.5453
        even = wave - np.floor(wave)  # in [0, 1)
        if name.endswith("num_batches_tracked"):
            values = np.zeros(count)
        elif name.endswith("running_var"):
            values = 0.5 + even
        elif len(shape) == 4:
            values = (even - 0.5) * np.sqrt(24 / np.prod(shape[1:]))
        else:
            values = even - 0.5 + (1.0 if name.endswith("weight") else 0.0)
        kind = torch.int64 if name.endswith("num_batches_tracked") else torch.float32
        state[name] = torch.from_numpy(values.reshape(shape)).to(kind)
    return state


def picture() -> torch.Tensor:
    """(1, 3, SIDE, SIDE), smooth, different in each channel."""
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    channels = [np.sin(6 * x + c) + np.cos(5 * y * (c + 1)) for c in range(3)]
    return torch.from_numpy(np.stack(channels)[None]).float()


if __name__ == "__main__":
    from facexlib.parsing.bisenet import BiSeNet

    net = BiSeNet(num_class=19).eval()
    shapes = {name: list(value.shape) for name, value in net.state_dict().items()}
    net.load_state_dict(filled(shapes))
    with torch.inference_mode():
        logits = net(picture())[0][0]
    peer = f"facexlib {metadata.version('facexlib')}"
    golden = {
        "tool": f"{peer}, torch {torch.__version__}, Python {platform.python_version()}",
        "command": "python tests/golden/bisenet_resnet18.py",
        "shapes": shapes,
        "side": SIDE,
        "logits": [{"y": y, "x": x, "classes": [round(float(v), 6) for v in logits[:, y, x]]} for y, x in PIXELS],
    }
    text = json.dumps(golden).replace('], "', '],\n"').replace(" {", "\n{")
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")
