"""The colours of skin at the steps of a scale: all that an editor of tone knows; see ``faces.compose.tone``."""

import torch
from torch import Tensor, nn


class ToneScale(nn.Module):
    """places: (steps, 3) L*, a*, b* of skin at each step, the lightest first."""

    places: Tensor

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.register_buffer("places", torch.zeros(steps, 3))
