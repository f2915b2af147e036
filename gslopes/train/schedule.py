"""The learning rate of a training step."""

from __future__ import annotations

import math

from torch.optim import Optimizer


def one_cycle(optimiser: Optimizer, peak: float, step: int, steps: int) -> float:
    """Set and return the rate of a step: up to the peak within the first tenth of them, and down to 0 on a cosine.

    peak: the rate that the schedule stays just below.  step: from 0.

    Source: Smith & Topin 2019, arXiv 1708.07120, with a cosine in place of the second line.
    """
    rate = peak * min(1.0, (step + 1) / (0.1 * steps)) * 0.5 * (1 + math.cos(math.pi * step / steps))
    for group in optimiser.param_groups:
        group["lr"] = rate
    return rate
