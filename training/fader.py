"""Train an editor: a Fader Network whose latent a critic must misread.

Source: Lample et al. 2017, Fader Networks, §3.3, equations 2 to 4: reconstruction, and a latent adversary that the
encoder drives towards the flipped attributes. The adversary's loss is never clipped: a certain critic would leave no
gradient, and nothing would be learned.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.faces.networks.fader import Fader
from gslopes.faces.zoo import ModelSpec, build
from training.augment import Augmentation, to_float, varied
from training.chips import face_window
from training.loop import Ema, Steps, descend, seed_step, set_rate

SIGMA = 12 / 128  # of the Gaussian between slowly varying colour and that of lips and brows, of the chip's side

# -- the adversary -----------------------------------------------------------------------------------------------------


class LatentCritic(nn.Module):
    """Reads the attributes from a latent; the encoder is trained until it cannot.

    latents (B, channels, side, side) to logits (B, attributes), one per attribute, positive for +1.

    Source: Lample et al. 2017, §3.2, equations 2 and 3.
    """

    def __init__(
        self, channels: int, side: int, attributes: int, widths: tuple[int, ...] = (512, 256), dropout: float = 0.2
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Flatten()]
        inputs = channels * side * side
        for width in widths:
            layers += [nn.Linear(inputs, width), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(dropout)]
            inputs = width
        self.body = nn.Sequential(*layers, nn.Linear(inputs, attributes))

    def forward(self, latents: Tensor) -> Tensor:
        """The logits of latents."""
        return self.body(latents)


# -- the training ------------------------------------------------------------------------------------------------------


AUGMENTATION = Augmentation()


@dataclass(frozen=True, slots=True)
class Optimisation:
    """How the weights move.

    steps: of the encoder and decoder.  batch: photos a step.
    lr: of encoder and decoder, Adam, beta1 0.5; constant, then linear to a tenth over the last third.
    ema: share of the averaged weights that each step keeps; 0 for those of the last step themselves.
    compiled: run the network through torch.compile, on CUDA.
    """

    steps: int = 4000
    batch: int = 32
    lr: float = 5e-4
    ema: float = 0.998
    compiled: bool = False


@dataclass(frozen=True, slots=True)
class Adversary:
    """The latent critic and its weight in the loss.

    weight: of the adversarial loss, reached linearly over the first ``ramp`` steps.
    others: weight of each attribute but the edited one, whose weight is 1.
    critic_lr: Adam, beta1 0.5.  memory: how many of the last batches the critic learns on at every step.
    widths, dropout: of the critic's hidden layers.
    """

    weight: float = 0.08
    ramp: int = 800
    others: float = 0.3
    critic_lr: float = 5e-4
    memory: int = 4
    widths: tuple[int, ...] = (512, 256)
    dropout: float = 0.2


class Recent:
    """The last few batches of latents with their attributes, so that an adversary learns on more than the last one.

    batches: how many it keeps.
    """

    def __init__(self, batches: int) -> None:
        self.kept: deque[tuple[Tensor, Tensor]] = deque(maxlen=max(1, batches))

    def add(self, latents: Tensor, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Keep a batch (no gradient flows into it); returns all that are kept, one after the other."""
        self.kept.append((latents.detach(), attributes))
        return torch.cat([z for z, _ in self.kept]), torch.cat([a for _, a in self.kept])

    def state_dict(self) -> dict[str, Any]:
        """What is kept."""
        return {"kept": [[z.cpu(), a.cpu()] for z, a in self.kept]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave."""
        self.kept.extend((z, a) for z, a in state["kept"])


def train_fader(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A) -1 to 1, the edited attribute first
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    optimisation: Optimisation = Optimisation(),
    adversary: Adversary = Adversary(),
    augmentation: Augmentation = AUGMENTATION,
    face_weight: float = 2.0,  # how much more the reconstruction counts within the face
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    On CUDA in bfloat16 autocast.
    """
    # What is trained, and where it stands.
    steps, lr = optimisation.steps, optimisation.lr
    torch.manual_seed(seed)
    cuda = torch.device(device).type == "cuda"
    network = cast(Fader, build(spec).to(device).to(memory_format=torch.channels_last).train())
    config, count = network.config, labels.shape[1]
    critic = LatentCritic(
        config.channels, spec.size >> len(config.widths), count, adversary.widths, adversary.dropout
    ).to(device).train()  # fmt: skip
    average = Ema(network, build(spec).to(device), optimisation.ema)
    optimiser = torch.optim.Adam(network.parameters(), lr=lr, betas=(0.5, 0.999), fused=cuda)
    critic_optimiser = torch.optim.Adam(critic.parameters(), lr=adversary.critic_lr, betas=(0.5, 0.999), fused=cuda)
    recent = Recent(adversary.memory)
    parts = {
        "network": network, "critic": critic, "average": average,
        "optimiser": optimiser, "critic_optimiser": critic_optimiser, "recent": recent,
    }  # fmt: skip
    generator = torch.Generator(device).manual_seed(seed)
    loop = Steps(folder, steps, parts, report_every=report_every, save_every=save_every)
    compiled_network = torch.compile(network) if optimisation.compiled and cuda else network

    # The whole set stays on the device.
    x_all, a_all = torch.from_numpy(pixels).to(device), torch.from_numpy(labels).to(device)
    odds = torch.from_numpy(weights / weights.sum()).to(device)
    face = face_window(spec.size).to(device)
    importance = torch.tensor([1.0] + [adversary.others] * (count - 1), device=device)

    for step in loop:
        seed_step(seed, step, generator, torch.default_generator)
        adversarial_ramp = min(1.0, step / max(1, adversary.ramp))
        set_rate(optimiser, lr * min(1.0, 0.1 + 2.7 * (1 - step / steps)))

        # A batch: mirrored and slightly moved and recoloured; some cut tight.
        index = torch.multinomial(odds, optimisation.batch, replacement=True, generator=generator)
        x, a = varied(x_all[index], augmentation, generator), a_all[index]

        with torch.autocast("cuda", torch.bfloat16, enabled=cuda):
            z, rebuilt = compiled_network(x, a)

            # The critic learns to read the attributes from the last batches' latents (equation 2) ...
            latents, truth = recent.add(z, a)
            critic_loss = attribute_loss(critic(latents).float(), truth, importance)

            # ... while encoder and decoder reconstruct and lead it to the opposite answers (equations 3 and 4).
            error = (rebuilt.float() - x).abs()
            reconstruction = error.mean() + face_weight * (error * face).sum() / (3 * optimisation.batch * face.sum())
            critic.requires_grad_(False)
            guess = critic(z).float()
            critic.requires_grad_(True)
            fooling = attribute_loss(guess, -a, importance)
            loss = reconstruction + adversary.weight * adversarial_ramp * fooling

        descend(optimiser, loss)
        descend(critic_optimiser, critic_loss)
        average.update(network, step)

        right = ((guess[:, 0] > 0) == (a[:, 0] > 0)).float().mean()
        losses = {"reconstruction": error.mean(), "critic": critic_loss, "fooling": fooling, "accuracy": right}
        loop.end(**losses)
    return average.state_dict()


def attribute_loss(logits: Tensor, attributes: Tensor, importance: Tensor) -> Tensor:
    """Mean binary cross-entropy of logits (B, A) against attributes (B, A) in [-1, 1], weighted by attribute (A,)."""
    losses = F.binary_cross_entropy_with_logits(logits, (attributes + 1) / 2, reduction="none")
    return (losses.mean(0) * importance).sum() / importance.sum()


# -- the template of a ratio -------------------------------------------------------------------------------------------


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
