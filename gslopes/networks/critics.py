"""The adversary of an editor: what is still to be read from its latent."""

from __future__ import annotations

from torch import Tensor, nn


class LatentCritic(nn.Module):
    """Reads the attributes from a latent; the encoder is trained until it cannot.

    latents (B, channels, side, side) to logits (B, attributes), one per attribute, positive for +1.

    Source: Lample et al. 2017, §3.2, equations 2 and 3.
    """

    def __init__(
        self,
        channels: int,
        side: int,
        attributes: int,
        widths: tuple[int, ...] = (512, 256),
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Flatten()]
        inputs = channels * side * side
        for width in widths:
            layers += [nn.Linear(inputs, width), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(dropout)]
            inputs = width
        self.body = nn.Sequential(*layers, nn.Linear(inputs, attributes))

    def forward(self, latents: Tensor) -> Tensor:
        return self.body(latents)
