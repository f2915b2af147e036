"""The adversaries of an editor: what is still to be read from its latent, and whether its pictures look like photos."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm


class LatentCritic(nn.Module):
    """Reads the attributes from a latent; the encoder is trained until it cannot.

    latents (B, channels, side, side) to logits (B, attributes), one per attribute, positive for +1.

    Source: Lample et al. 2017, §3.2, equations 2 and 3.
    """

    def __init__(self, channels: int, side: int, attributes: int, width: int = 256) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, width, 3, padding=1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width, width, side),  # (B, width, 1, 1)
            nn.LeakyReLU(0.2, inplace=True),
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Linear(width, width),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(width, attributes),
        )

    def forward(self, latents: Tensor) -> Tensor:
        return self.body(latents)


class PatchCritic(nn.Module):
    """Tells photos from composites patch by patch: (B, 3, S, S) in [-1, 1] to logits (B, 1, S/16, S/16).

    It may be told which end of the attribute a picture should show, (B,) -1 or 1, or 0 for nothing: then it judges
    whether this is a photo of that end.

    Source: Isola et al. 2017, Image-to-Image Translation with Conditional Adversarial Networks, §3.2.2; spectral
    normalisation after Miyato et al. 2018.
    """

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.body = nn.Sequential(
            spectral_norm(nn.Conv2d(4, width, 4, stride=2, padding=1)),
            nn.LeakyReLU(0.2, inplace=True),
            spectral_norm(nn.Conv2d(width, 2 * width, 4, stride=2, padding=1)),
            nn.LeakyReLU(0.2, inplace=True),
            spectral_norm(nn.Conv2d(2 * width, 4 * width, 4, stride=2, padding=1)),
            nn.LeakyReLU(0.2, inplace=True),
            spectral_norm(nn.Conv2d(4 * width, 4 * width, 4, stride=2, padding=1)),
            nn.LeakyReLU(0.2, inplace=True),
            spectral_norm(nn.Conv2d(4 * width, 1, 3, padding=1)),
        )

    def forward(self, chips: Tensor, end: Tensor) -> Tensor:
        told = end[:, None, None, None].expand(-1, 1, *chips.shape[2:]).to(chips.dtype)
        return self.body(torch.cat([chips, told], 1))
