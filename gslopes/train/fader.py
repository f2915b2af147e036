"""Train an editor: a Fader Network whose latent a critic must misread.

Source: Lample et al. 2017, Fader Networks, §3.3, equations 2 to 4: reconstruction, and a latent adversary that the
encoder drives towards the flipped attributes. The adversary's loss is never clipped: a critic that is sure would leave
no gradient, and nothing would be learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.networks.critics import LatentCritic
from gslopes.networks.fader import Fader
from gslopes.train import parallel
from gslopes.train.augment import color_jitter, mirrored_outside, random_affine, random_rectangle, to_float, warp
from gslopes.train.checkpoint import Ema, Recent, load_state, save_state
from gslopes.train.log import Log
from gslopes.train.sheet import sheet
from gslopes.zoo import ModelSpec, build
from gslopes.zoo.reader import face_window


@dataclass(frozen=True, slots=True)
class Optimisation:
    """How the weights move.

    steps: of the encoder and decoder.  batch: photos a step, over all processes.
    lr: of encoder and decoder, Adam, beta1 0.5; constant, then linear to a tenth over the last third.
    ema: share of the averaged weights that each step keeps.  compiled: run the network through torch.compile.
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


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How photos vary.

    zoom: largest change of scale.  turn: radians.  shift: share of the side.  color: strength of the colour jitter.
    mirrored: share of the chips that are cut to a tight rectangle and mirrored beyond it, as those of a tightly cropped
        photo are.
    """

    zoom: float = 0.04
    turn: float = 0.05
    shift: float = 0.015
    color: float = 0.08
    mirrored: float = 0.0


def train_fader(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A) -1 to 1, the edited attribute first
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    optimisation: Optimisation = Optimisation(),
    adversary: Adversary = Adversary(),
    augmentation: Augmentation = Augmentation(),
    face_weight: float = 2.0,  # the reconstruction counts so many times more within the face
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    Under torchrun every process takes its share of the batch and gradients are averaged. On CUDA in bfloat16 autocast.
    """
    # What is trained, and where it stands.
    steps, lr = optimisation.steps, optimisation.lr
    torch.manual_seed(seed)
    rank, world = parallel.join(device)
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
    start = load_state(folder / "state.pt", parts, torch.Generator())
    compiled_network = torch.compile(network) if optimisation.compiled else network

    # The whole set stays on the device.
    x_all, a_all = torch.from_numpy(pixels).to(device), torch.from_numpy(labels).to(device)
    odds = torch.from_numpy(weights / weights.sum()).to(device)
    face = face_window(spec.size).to(device)
    importance = torch.tensor([1.0] + [adversary.others] * (count - 1), device=device)
    local_batch = optimisation.batch // world
    log = Log(folder, steps, start, quiet=rank > 0)

    for step in range(start, steps):
        # All that is random in a step comes from its number: a resumed run goes on as if never stopped.
        generator.manual_seed(seed + 1000003 * step + 7919 * rank)
        torch.manual_seed(seed + 1000003 * step + 7919 * rank)
        adversarial_ramp = min(1.0, step / max(1, adversary.ramp))
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, 0.1 + 2.7 * (1 - step / steps))

        # A batch: mirrored and slightly moved and recoloured; some cut tight.
        index = torch.multinomial(odds, local_batch, replacement=True, generator=generator)
        x = to_float(x_all[index], spec.mean, spec.std)
        if augmentation.mirrored:
            x = mirrored_outside(x, random_rectangle(local_batch, generator, share=augmentation.mirrored))
        affine = random_affine(
            local_batch, generator, zoom=augmentation.zoom, turn=augmentation.turn, shift=augmentation.shift
        )
        x = color_jitter(warp(x, affine), generator, strength=augmentation.color).clamp(-1, 1)
        a = a_all[index]

        with torch.autocast("cuda", torch.bfloat16, enabled=cuda):
            z, rebuilt = compiled_network(x, a)

            # The critic learns to read the attributes from the last batches' latents (equation 2) ...
            latents, truth = recent.add(z, a)
            critic_loss = attribute_loss(critic(latents).float(), truth, importance)

            # ... while encoder and decoder reconstruct and lead it to the opposite answers (equations 3 and 4).
            error = (rebuilt.float() - x).abs()
            reconstruction = error.mean() + face_weight * (error * face).sum() / (3 * local_batch * face.sum())
            critic.requires_grad_(False)
            guess = critic(z).float()
            critic.requires_grad_(True)
            fooling = attribute_loss(guess, -a, importance)
            loss = reconstruction + adversary.weight * adversarial_ramp * fooling

        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        parallel.average_gradients(network.parameters())
        optimiser.step()
        critic_optimiser.zero_grad(set_to_none=True)
        critic_loss.backward()
        parallel.average_gradients(critic.parameters())
        critic_optimiser.step()
        average.update(network, step)

        right = ((guess[:, 0] > 0) == (a[:, 0] > 0)).float().mean()
        losses = {"reconstruction": error.mean(), "critic": critic_loss, "fooling": fooling, "accuracy": right}
        if log.end_step(step + 1, report_every, save_every, **losses) and rank == 0:
            save_state(folder / "state.pt", step + 1, parts, torch.Generator())
            sheet(spec, average.average, pixels[:8], labels[:8], folder / f"sheet-{step + 1:06}.png", device)
    log.close()
    return average.state_dict()


def attribute_loss(logits: Tensor, attributes: Tensor, importance: Tensor) -> Tensor:
    """Mean binary cross-entropy of logits (B, A) against attributes (B, A) in [-1, 1], weighted by attribute (A,)."""
    losses = F.binary_cross_entropy_with_logits(logits, (attributes + 1) / 2, reduction="none")
    return (losses.mean(0) * importance).sum() / importance.sum()
