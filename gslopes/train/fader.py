"""Train an editor: a Fader Network, optionally guided by a reader and kept honest by a patch critic.

Source: Lample et al. 2017, Fader Networks, §3.3, equations 2 to 4 (reconstruction and the latent adversary); the guided
part, on composites x + w (D(z, a') - D(z, a)), is ours and off by default.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.networks.critics import LatentCritic, PatchCritic
from gslopes.networks.fader import Fader
from gslopes.train.augment import coloured, moved, places, to_float
from gslopes.train.checkpoint import Ema, load_state, save_state
from gslopes.train.guide import Guide, Tone, window
from gslopes.train.log import Log
from gslopes.train.sheet import sheet
from gslopes.zoo import ModelSpec, build


def train_fader(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A) -1 to 1, the edited attribute first
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    steps: int = 4000,
    batch: int = 32,
    lr: float = 4e-4,  # of encoder and decoder, Adam, beta1 0.5; falls linearly to a tenth over the last third
    critic_lr: float = 4e-4,  # of both critics
    latent: float = 0.03,  # weight of the latent adversary at its height
    ramp: float = 0.4,  # share of the steps over which the adversarial and guiding weights grow from 0
    wait: float = 0.1,  # share of the steps before guidance begins to grow: first it must draw faces
    guidance: float = 0.0,  # weight of the reader's wish to see the edit; 0 leaves the plain Fader
    guided: float = 0.5,  # share of each batch on which guidance and patch critic work
    margin: float = 1.5,  # logit at which the reader is content
    keep: float = 0.1,  # weight of the reader's other answers staying as they are
    difference: float = 0.1,  # weight of the size of the edit (mean absolute, in [-1, 1] units)
    smooth: float = 0.3,  # weight of the edit's total variation
    tint: float = 0.0,  # weight of the edit's mean colour: a reader can be swayed by a cast over the whole face
    tone: float = 0.0,  # weight of the face's mean colour going to where the other end's colours lie (see guide.Tone)
    patch: float = 0.0,  # weight of the patch critic on composites
    ema: float = 0.998,
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights."""
    # What is trained, and where it stands.
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = cast(Fader, build(spec).to(device).to(memory_format=torch.channels_last).train())
    widths = network.config.widths
    critic = LatentCritic(widths[-1], spec.size >> len(widths), labels.shape[1]).to(device).train()
    realism = PatchCritic().to(device).to(memory_format=torch.channels_last).train()
    average = Ema(network, build(spec).to(device), ema)
    optimiser = torch.optim.Adam(network.parameters(), lr=lr, betas=(0.5, 0.999))
    critic_optimiser = torch.optim.Adam([*critic.parameters(), *realism.parameters()], lr=critic_lr, betas=(0.5, 0.999))
    parts = {
        "network": network, "critic": critic, "realism": realism, "average": average,
        "optimiser": optimiser, "critic_optimiser": critic_optimiser,
    }  # fmt: skip
    start = load_state(folder / "state.pt", parts, generator)
    guide = Guide(spec.labels[0], device) if guidance else None
    transport = Tone(pixels, labels[:, 0], spec, device) if tone else None

    # The whole set stays on the device.
    x_all, a_all = torch.from_numpy(pixels).to(device), torch.from_numpy(labels).to(device)
    odds = torch.from_numpy(weights / weights.sum())
    region = window(spec.size).to(device)
    log = Log(folder, steps, start)

    for step in range(start, steps):
        grown = min(1.0, step / (ramp * steps))
        late = min(1.0, max(0.0, step / steps - wait) / ramp)
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, 0.1 + 2.7 * (1 - step / steps))

        # A batch: mirrored and slightly moved and recoloured.
        index = torch.multinomial(odds, batch, replacement=True, generator=generator).to(device)
        x = to_float(x_all[index], spec.mean, spec.std)
        x = moved(x, places(batch, generator, zoom=0.04, turn=0.05, shift=0.015))
        x = coloured(x, generator, strength=0.08).clamp(-1, 1)
        a = a_all[index]

        # The latent critic learns to read the attributes from the latent (equation 2) ...
        z = network.encode(x)
        critic_loss = F.binary_cross_entropy_with_logits(critic(z.detach()), (a + 1) / 2)

        # ... while encoder and decoder reconstruct and make it fail (equations 3 and 4).
        rebuilt = network.decode(z, a)
        reconstruction = (rebuilt - x).abs().mean()
        critic.requires_grad_(False)
        fooling = F.binary_cross_entropy_with_logits(critic(z), (1 - a) / 2)
        critic.requires_grad_(True)
        loss = reconstruction + latent * grown * fooling
        seen = {"reconstruction": reconstruction, "critic": critic_loss, "fooling": fooling}

        # The edit on the photo itself: the reader should see it, elsewhere nothing, and it should look like a photo.
        if guide is not None:
            some = slice(max(1, round(guided * batch)))
            photos = x[some]
            reach = 0.3 + 0.7 * torch.rand(len(photos), 1, generator=generator).to(device)
            wanted = torch.cat([-a[some, :1].sign() * reach, a[some, 1:]], 1)
            edit = region * (network.decode(z[some], wanted) - rebuilt[some])
            composite = (photos + edit).contiguous(memory_format=torch.channels_last)
            alike = places(len(photos), generator, zoom=0.06, turn=0.08, shift=0.03)
            wish, stay = guide(
                coloured(moved(composite, alike), generator, strength=0.15), moved(photos, alike), wanted[:, 0], margin
            )
            size, colour = edit.abs().mean(), edit.mean((2, 3)).abs().mean()
            price = keep * stay + difference * size + smooth * roughness(edit) + tint * colour
            if transport is not None:
                price = price + tone * transport(photos, composite, a[some, 0], wanted[:, 0])
            loss = loss + late * (guidance * wish + price)
            seen |= {"wish": wish, "stay": stay, "edit": size, "colour": colour}
            if patch:
                realism.requires_grad_(False)
                loss = loss - patch * late * realism(composite).mean()
                realism.requires_grad_(True)
                critic_loss = critic_loss + hinge(realism, photos, composite.detach())

        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        critic_optimiser.zero_grad(set_to_none=True)
        critic_loss.backward()
        critic_optimiser.step()
        average.update(network, step)

        log.step()
        if (step + 1) % report_every == 0:
            log.report(step + 1, **{name: value.item() for name, value in seen.items()})
        if (step + 1) % save_every == 0 or step + 1 == steps:
            save_state(folder / "state.pt", step + 1, parts, generator)
            sheet(spec, average.average, pixels[:8], labels[:8], folder / f"sheet-{step + 1:06}.png", device)
    log.close()
    return average.state_dict()


def roughness(edit: Tensor) -> Tensor:
    """Mean absolute step between neighbouring pixels of (B, 3, H, W)."""
    return (edit[..., 1:, :] - edit[..., :-1, :]).abs().mean() + (edit[..., 1:] - edit[..., :-1]).abs().mean()


def hinge(critic: PatchCritic, photos: Tensor, composites: Tensor) -> Tensor:
    """The hinge loss of a critic that should say +1 of photos and -1 of composites."""
    return F.relu(1 - critic(photos)).mean() + F.relu(1 + critic(composites)).mean()
