"""An editor's template, fitted to the shape of each face it edits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gslopes.core.errors import ModelError
from gslopes.edit.face_shape import FaceShape
from gslopes.edit.landmarks import SIDE, landmarks
from gslopes.networks.fader import Fader
from gslopes.zoo import load
from gslopes.zoo.parsing import probabilities_at_hand

PARSER = "parser"  # whose landmarks the templates were made with; masks may come from another one


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A template as it lies in b faces.

    template: (b, 3, S, S), or (3, S, S) for all of them.
    motion: (b, S, S, 2) pixels that a unit moves the parts of each face, see ``core.records.Motion``; None for none.
    """

    template: Tensor
    motion: Tensor | None = None


class FittedTemplate:
    """Carries a network's template to faces; the same template for all of them where it knows no landmarks.

    network: with a template, and with landmarks where its configuration has some.  device: where it runs.

    Raises: ModelError for landmarks and chips of another size than theirs, or no template.
    """

    def __init__(self, network: Fader, device: str | torch.device) -> None:
        if network.template is None:
            raise ModelError("This network has no template to edit with.", "Train it by a recipe with [regression].")
        self.template, self.device = network.template, torch.device(device)
        self.shape: FaceShape | None = None
        self.steps = network.landmark_motion
        if network.landmark_mean is not None and network.landmark_covariance is not None:
            if network.config.size != SIDE:
                raise ModelError(
                    f"An editor with landmarks needs chips of {SIDE} pixels, this one has {network.config.size}.",
                    f"Set size = {SIDE} in its spec.",
                )
            self.shape = FaceShape(network.landmark_mean, network.landmark_covariance)
            self.parser = load(PARSER, device)

    def __call__(self, chips: Tensor) -> Fitted:
        """Chips (b, 3, S, S), RGB in [0, 1], to their templates."""
        if self.shape is None:
            return Fitted(self.template)
        levels = (255 * chips).round().byte().permute(0, 2, 3, 1).cpu().numpy()
        seen = probabilities_at_hand(self.parser, levels, self.device)
        offsets = self.shape.offsets(landmarks(seen, self.parser.spec.labels))
        moved = None if self.steps is None else self.shape.motion_of_faces(self.steps, offsets)
        return Fitted(self.shape.to_faces(self.template, offsets), moved)
