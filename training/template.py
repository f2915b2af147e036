"""The template of a ratio: what an editor does to the average training face, for each unit of its attribute.

A narrow decoder draws skin in blotches, other ones on every face. Averaged over many aligned faces and their mirror
images they vanish, and what they have in common stays: the light on nose, lips and brows. Photos are edited by
``edit.ends`` instead.
"""

from __future__ import annotations

from typing import Any, cast

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gslopes.compose.tone import SIGMA
from gslopes.core.levels import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.networks.fader import Fader
from gslopes.zoo import ModelSpec, build
from gslopes.zoo.reader import face_window
from training.augment import to_float

BATCH = 32


@torch.no_grad()
def with_template(
    spec: ModelSpec,
    state: dict[str, Any],
    pixels: ByteArray,
    labels: NDArray[np.float32],
    device: str,
    tint: float = 1.0,
) -> dict[str, Any]:
    """An editor's weights with its template, (3, S, S): the mean of (log D(z, 1) - log D(z, -1)) / 2, in levels.

    pixels: (n, S, S, 3) uint8 RGB, chips of training photos.  labels: (n, A) theirs; all but the edited one are kept.
    tint: share of the template's slowly varying colour that stays. A latent that holds a face's mean colour makes the
        decoder tint the skin that the attribute does not reach, so that the mean stays as it is.
    """
    network = cast(Fader, build(spec).to(device).eval())
    network.load_state_dict(state, strict=False)  # but for the template
    total = torch.zeros(3, spec.size, spec.size, dtype=torch.float64, device=device)
    for start in range(0, len(pixels), BATCH):
        chips = torch.from_numpy(np.array(pixels[start : start + BATCH])).to(device)
        x = to_float(chips, spec.mean, spec.std)
        ahead = network.condition(torch.from_numpy(np.array(labels[start : start + BATCH])).to(device), 1.0)
        z = network.encode(x)
        logs = [
            ((network.decode(z, condition) + 1) * 127.5 + OFFSET).log()
            for condition in (ahead, network.mirrored(ahead))
        ]
        odd = (logs[0] - logs[1]) / 2
        total += (odd + odd.flip(3)).double().sum(0) / 2
    template = (total / len(pixels)).float().cpu()
    return {**state, "template": template if tint == 1 else with_less_tint(template, tint)}


def with_less_tint(template: Tensor, tint: float) -> Tensor:
    """A template (3, S, S) that keeps the share ``tint`` of the colour that varies slowly within the face.

    Colour is what is left of a logarithm when that of luminance is taken away; slow is what a Gaussian of ``SIGMA``
    lets through.
    """
    logs = template.permute(1, 2, 0).numpy()
    colour = logs - (logs @ np.array(LUMA, np.float32))[..., None]
    side = len(logs)
    face = face_window(side).reshape(side, side).numpy()
    sigma = SIGMA * side
    weight = np.maximum(cv2.GaussianBlur(face, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT), 1e-3)
    slow = cv2.GaussianBlur(colour * face[..., None], (0, 0), sigma, borderType=cv2.BORDER_CONSTANT)
    return torch.from_numpy(logs - (1 - tint) * slow / weight[..., None]).permute(2, 0, 1).contiguous()
