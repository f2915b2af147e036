"""Train an editor: a Fader Network whose latent a critic must misread.

Source: Lample et al. 2017, Fader Networks, §3.3, equations 2 to 4: reconstruction, and a latent adversary that the
encoder drives towards the flipped attributes. The adversary's loss is never clipped: a certain critic would leave no
gradient, and nothing would be learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.faces.networks.fader import Fader
from gslopes.faces.zoo import ModelSpec, build, load
from training.augment import Augmentation, disturbed, to_float, varied
from training.chips import face_window
from training.critics import (
    LatentCritic,
    PictureCritic,
    Recent,
    attribute_loss,
    false_label,
    squared_gradient,
)
from training.loop import Captured, Ema, Steps, descend, seed_step, set_rate
from training.parallel import averaged, drawn, mine, share
from training.watch import Watch

SIGMA = (
    12 / 128
)  # of the Gaussian between slowly varying colour and the colour of lips and brows, of the chip's side

# -- the training ------------------------------------------------------------------------------------------------------


AUGMENTATION = Augmentation()


@dataclass(frozen=True, slots=True)
class Optimisation:
    """How the weights move.

    steps: of the encoder and decoder.  batch: photos a step.
    lr: of encoder and decoder, Adam, beta1 0.5; constant, then linear to a tenth over the last third.
    ema: share of the averaged weights that each step keeps; 0 for the last step's own weights.
    """

    steps: int = 4000
    batch: int = 32
    lr: float = 5e-4
    ema: float = 0.998


@dataclass(frozen=True, slots=True)
class Adversary:
    """The latent critic and its weight in the loss.

    weight: of the adversarial loss, reached linearly over the first ``ramp`` steps.
    others: weight of each attribute but the edited one, whose weight is 1.
    critic_lr: Adam, beta1 0.5.  memory: how many of the last batches the critic learns on at every step.
    widths, dropout: of the critic's hidden layers.
    aim: share of right guesses of the edited attribute that the weight is steered to, slowly; 0 leaves it as it is.
    """

    weight: float = 0.08
    ramp: int = 800
    others: float = 0.3
    critic_lr: float = 5e-4
    memory: int = 4
    widths: tuple[int, ...] = (512, 256)
    dropout: float = 0.2
    aim: float = 0.0


@dataclass(frozen=True, slots=True)
class Pictures:
    """What pictures are held to in addition to the reconstruction; every weight is 0 in the paper.

    perceptual: weight of the difference between the parser's features of half of the reconstructions and of
        their photos.
    critic: weight of a critic of pictures, which knows photos of both ends, reconstructions, and faces decoded at
        another value.  begins: the share of the steps after which it joins; its weight grows over a tenth of them.
    same: weight of the L1 difference between a face decoded at another value and its reconstruction.
    farthest: the largest such value.  gone: attributes that fade away towards the low end, as a beard does.
    critic_lr: Adam, beta1 0.  r1, wrong: as of an edit field, see ``training.edit_field.LossWeights``.
    widths: channels of the critic.

    Source: Choi et al. 2020, StarGAN v2, §2; Johnson, Alahi, Fei-Fei 2016, Perceptual losses, §3.2.
    """

    perceptual: float = 0.0
    critic: float = 0.0
    begins: float = 0.3
    same: float = 0.0
    farthest: float = 1.5
    gone: tuple[str, ...] = ()
    critic_lr: float = 4e-4
    r1: float = 1.0
    wrong: float = 0.5
    widths: tuple[int, ...] = (32, 64, 128, 256, 256)


FINE = (
    3  # stages of the parser, down to an eighth of the side, that a reconstruction is compared in
)
EVERY = 16  # steps between two measurements of the picture critic's gradient
STEERED = 1e-3  # relative change a step of a steered weight, for each unit of accuracy too much


def train_fader(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A) -1 to 1, the edited attribute first
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    optimisation: Optimisation = Optimisation(),
    adversary: Adversary = Adversary(),
    pictures: Pictures = Pictures(),
    augmentation: Augmentation = AUGMENTATION,
    face_weight: float = 2.0,  # how much more the reconstruction counts within the face
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    On CUDA in bfloat16 autocast, each step a replayed graph.
    """
    # What is trained, and the step reached.
    steps = optimisation.steps
    lr = optimisation.lr
    torch.manual_seed(seed)
    cuda = torch.device(device).type == "cuda"
    network = cast(Fader, build(spec).to(device).to(memory_format=torch.channels_last).train())
    count = labels.shape[1]
    side = spec.size >> len(network.config.widths)
    critic = LatentCritic(
        network.channels, side, count, adversary.widths, adversary.dropout
    ).to(device).train()  # fmt: skip
    adversary_weight = torch.tensor(adversary.weight, device=device)
    critic.register_buffer("weight", adversary_weight)  # so that a checkpoint holds it
    picture_critic = (
        PictureCritic(3, count, pictures.widths, strided=True)
        .to(device)
        .to(memory_format=torch.channels_last)
        .train()
    )
    average = Ema(network, build(spec).to(device), optimisation.ema)

    def adam(module: torch.nn.Module, rate: float, betas: tuple[float, float]) -> torch.optim.Adam:
        optimizer = torch.tensor(rate, device=device) if cuda else rate
        return torch.optim.Adam(module.parameters(), optimizer, betas, fused=cuda, capturable=cuda)

    optimiser = adam(network, lr, (0.5, 0.999))
    critic_optimiser = adam(critic, adversary.critic_lr, (0.5, 0.999))
    picture_optimiser = adam(picture_critic, pictures.critic_lr, (0.0, 0.99))
    recent = Recent(adversary.memory, optimisation.batch, (network.channels, side, side), count).to(
        device
    )
    parts = {
        "network": network, "critic": critic, "average": average,
        "optimiser": optimiser, "critic_optimiser": critic_optimiser, "recent": recent,
    }  # fmt: skip
    if pictures.critic:
        parts |= {"picture_critic": picture_critic, "picture_optimiser": picture_optimiser}
    loop = Steps(
        folder, steps, parts, report_every=report_every, save_every=save_every, watch=watch
    )
    for optimizer in (optimiser, critic_optimiser, picture_optimiser):
        for group in optimizer.param_groups:  # a checkpoint is read to the CPU
            group["lr"] = group["lr"].to(device) if isinstance(group["lr"], Tensor) else group["lr"]

    # The whole set stays on the device. All that is random there comes from its one generator, as a graph wants it.
    generator = (
        torch.cuda.default_generators[torch.cuda.current_device()]
        if cuda
        else torch.Generator(device)
    )
    x_all = torch.from_numpy(pixels).to(device)
    a_all = torch.from_numpy(labels).to(device)
    odds = torch.from_numpy(weights / weights.sum()).to(device)
    face = face_window(spec.size).to(device)
    importance = torch.tensor([1.0] + [adversary.others] * (count - 1), device=device)
    fading = torch.tensor(
        [float(name in pictures.gone) for name in spec.labels[:count]], device=device
    )
    features: Any = load("face-parser", device).module.encoder if pictures.perceptual else None
    batch = share(optimisation.batch, 4)
    half = batch // 2

    def learn(x: Tensor, a: Tensor, ramps: Tensor, judged: bool) -> dict[str, Tensor]:
        """One step of all parts.  ramps: (2,) shares of the two critics' weights.  judged: pictures too."""
        with torch.autocast("cuda", torch.bfloat16, enabled=cuda, cache_enabled=False):
            z = network.encode(x)
            wanted = a[:0]
            if judged:  # half of the faces at another value as well
                opposite = pictures.farthest * (2 * drawn(torch.rand, (half, 1), generator) - 1)
                wanted = torch.cat([opposite, a[:half, 1:]], 1)
            decoded = network.decode(
                torch.cat([z, z[: len(wanted)]]), torch.cat([a, wanted])
            ).float()
            rebuilt = decoded[: len(x)]
            changed = decoded[len(x) :]

            # The critic learns to read the attributes from the last batches' latents (equation 2) ...
            latents, truth = recent.add(z, a)
            critic_loss = attribute_loss(critic(latents).float(), truth, importance)

            # ... while encoder and decoder reconstruct and lead it to the opposite answers (equations 3 and 4).
            error = (rebuilt - x).abs()
            reconstruction = error.mean() + face_weight * (error * face).sum() / (
                3 * batch * face.sum()
            )
            critic.requires_grad_(False)
            guess = critic(z).float()
            critic.requires_grad_(True)
            fooling = attribute_loss(guess, -a, importance)
            loss = reconstruction + adversary_weight * ramps[0] * fooling
            metrics = {"reconstruction": error.mean(), "critic": critic_loss, "fooling": fooling}
            if features is not None:
                perceptual = difference(features(rebuilt[:half])[:FINE], features(x[:half])[:FINE])
                loss, metrics["perceptual"] = loss + pictures.perceptual * perceptual, perceptual

            # A critic of pictures: photos, photos under one false label, reconstructions, faces at another value.
            picture_loss = None
            if judged:
                targets = torch.cat([a[half:], faded(wanted, fading)])
                pictures_made = torch.cat([rebuilt[half:], changed])
                false_labels, certainty = false_label(a, generator)
                seen = picture_critic.features(disturbed(x, generator))
                on_photos, on_lies = (
                    picture_critic.answer(seen, labels).float() for labels in (a, false_labels)
                )
                on_made = picture_critic(
                    disturbed(pictures_made.detach(), generator), targets
                ).float()
                picture_loss = F.softplus(-on_photos).mean() + F.softplus(on_made).mean()
                picture_loss = (
                    picture_loss + pictures.wrong * (certainty * F.softplus(on_lies)).mean()
                )
                picture_critic.requires_grad_(False)
                answer = picture_critic(disturbed(pictures_made, generator), targets).float()
                picture_critic.requires_grad_(True)
                same = (changed - rebuilt[:half].detach()).abs().mean()
                loss = (
                    loss
                    + pictures.critic * ramps[1] * F.softplus(-answer).mean()
                    + pictures.same * same
                )
                metrics |= {
                    "photos": on_photos.mean(),
                    "made": on_made.mean(),
                    "lies": on_lies.mean(),
                    "same": same,
                }

        descend(optimiser, loss)
        descend(critic_optimiser, critic_loss)
        if picture_loss is not None:
            descend(picture_optimiser, picture_loss)
        right = averaged(((guess[:, 0] > 0) == (a[:, 0] > 0)).float().mean())
        if adversary.aim:
            adversary_weight.mul_(torch.exp(STEERED * (right - adversary.aim)))
            adversary_weight.clamp_(adversary.weight / 8, adversary.weight * 8)
        return {name: value.detach() for name, value in metrics.items()} | {
            "accuracy": right, "weight": adversary_weight.clone(),
        }  # fmt: skip

    def flatten(x: Tensor, a: Tensor) -> None:
        """Lower the picture critic's gradient at photos. Nothing of it may live on: a recording would wait for it."""
        gradient = squared_gradient(picture_critic, disturbed(x, generator), a)
        descend(picture_optimiser, pictures.r1 / 2 * EVERY * gradient)

    plain, whole = (Captured(partial(learn, judged=judged), device) for judged in (False, True))
    ramps = torch.zeros(2, device=device)
    for step in loop:
        seed_step(seed, step, generator, torch.default_generator)
        set_rate(optimiser, lr * min(1.0, 0.1 + 2.7 * (1 - step / steps)))
        for new in loop.renewed(step):
            x_all[new.rows], a_all[new.rows] = new.pixels, new.labels
            odds[new.rows] = new.weights / weights.sum()
        joined = step - int(pictures.begins * steps)
        judged = pictures.critic > 0 and joined >= 0
        ramps[0].fill_(min(1.0, step / max(1, adversary.ramp)))
        ramps[1].fill_(min(1.0, joined / (0.1 * steps)))

        # A batch: mirrored and slightly moved and recoloured; some cut tight.
        index = torch.multinomial(odds, optimisation.batch, replacement=True, generator=generator)
        index = mine(index)
        x = varied(x_all[index], augmentation, generator)
        a = a_all[index]
        losses = (whole if judged else plain)(x, a, ramps)
        if judged and step % EVERY == 0 and whole.calls > Captured.WARM:  # not before the recording
            flatten(x[: half // 2], a[: half // 2])
        average.update(network, step)
        loop.end(**losses)
    return average.state_dict()


def difference(features: list[Tensor], others: list[Tensor]) -> Tensor:
    """Mean over layers of the L1 difference between features, as a share of the second ones' mean size."""
    shares = [
        averaged((a - b).abs().mean()) / averaged(b.abs().mean()).clamp(min=1e-6)
        for a, b in zip(features, others, strict=True)
    ]
    return torch.stack([share.float() for share in shares]).mean()


def faded(attributes: Tensor, fading: Tensor) -> Tensor:
    """Attributes (B, A) of which those marked in ``fading`` (A,) go down to -1 as the first goes from 1 to -1."""
    share = ((attributes[:, :1] + 1) / 2).clamp(0, 1)
    return torch.where(fading > 0, (attributes + 1) * share - 1, attributes)


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
    reach: float = 1.0,
) -> dict[str, Any]:
    """An editor's weights with its template, (3, S, S): the mean of (log D(z, 1) - log D(z, -1)) / 2, in levels.

    pixels: (n, S, S, 3) uint8 RGB, chips of training photos.  labels: (n, A) theirs; all but the edited one are kept.
    tint: share of the template's slowly varying colour that stays. A latent that holds a face's mean colour makes the
        decoder tint the skin that the attribute does not reach, so that the mean stays as it is.
    reach: what the template is multiplied by.
    """
    network = cast(Fader, build(spec).to(device).eval())
    network.load_state_dict(state, strict=False)  # but for the template
    total = torch.zeros(3, spec.size, spec.size, dtype=torch.float64, device=device)
    for start in range(0, len(pixels), BATCH):
        chips = torch.from_numpy(np.array(pixels[start : start + BATCH])).to(device)
        x = to_float(chips, spec.mean, spec.std)
        ahead = torch.from_numpy(np.array(labels[start : start + BATCH])).to(device)
        behind = ahead.clone()
        ahead[:, 0], behind[:, 0] = 1.0, -1.0
        z = network.encode(x)
        logs = [
            ((network.decode(z, condition) + 1) * 127.5 + OFFSET).log()
            for condition in (ahead, behind)
        ]
        odd = (logs[0] - logs[1]) / 2
        total += (odd + odd.flip(3)).double().sum(0) / 2
    template = (total / len(pixels)).float().cpu()
    if tint < 1:
        template = with_less_tint(template, tint)
    return {**state, "template": reach * template}


def with_less_tint(template: Tensor, tint: float) -> Tensor:
    """A template (3, S, S) that keeps the share ``tint`` of the colour that varies slowly within the face.

    Colour is what is left of a logarithm when the luminance's is taken away; slow is what a Gaussian of ``SIGMA``
    lets through.
    """
    logs = template.permute(1, 2, 0).numpy()
    colour = logs - (logs @ np.array(LUMA, np.float32))[..., None]
    side = len(logs)
    face = face_window(side).reshape(side, side).numpy()
    sigma = SIGMA * side
    weight = np.maximum(cv2.GaussianBlur(face, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT), 1e-3)
    slow = cv2.GaussianBlur(colour * face[..., None], (0, 0), sigma, borderType=cv2.BORDER_CONSTANT)
    return (
        torch.from_numpy(logs - (1 - tint) * slow / weight[..., None]).permute(2, 0, 1).contiguous()
    )
