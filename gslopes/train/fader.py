"""Train an editor: a Fader Network, optionally guided by a hardened reader and kept honest by a patch critic.

Source: Lample et al. 2017, Fader Networks, §3.3, equations 2 to 4 (reconstruction and the latent adversary), with the
encoder driven to where the adversary cannot tell (Tzeng et al. 2015, §4) instead of to where it is wrong. The guided
part, on composites x + m (D(z, a') - D(z, a)) as an audit makes them, is ours and off by default.
"""

from __future__ import annotations

from collections.abc import Callable
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
from gslopes.train import parallel
from gslopes.train.augment import coloured, moved, places, to_float
from gslopes.train.checkpoint import Ema, Recent, load_state, save_state
from gslopes.train.guide import Guide, Tone
from gslopes.train.log import Log
from gslopes.train.regions import softened
from gslopes.train.sheet import sheet
from gslopes.zoo import ModelSpec, build


def train_fader(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A) -1 to 1, the edited attribute first
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn
    folder: Path,  # checkpoint and log
    *,
    regions: ByteArray | None = None,  # (n, S, S) uint8: 0 elsewhere, 1 face, 2 skin; guidance needs them
    steps: int = 4000,
    batch: int = 32,  # over all processes
    lr: float = 4e-4,  # of encoder and decoder, Adam, beta1 0.5; falls linearly to a tenth over the last third
    critic_lr: float = 4e-4,  # of both critics
    focus: float = 0.0,  # so many times more does the reconstruction count within the face
    latent: float = 0.03,  # weight of the latent adversary at its height
    memory: int = 1,  # how many of the last batches' latents the latent critic learns on at every step
    ramp: float = 0.4,  # share of the steps over which the adversarial and guiding weights grow from 0
    wait: float = 0.1,  # share of the steps before guidance begins to grow: first it must draw faces
    guidance: float = 0.0,  # weight of the guide's wish to see the edit; 0 leaves the plain Fader
    guide: str = "guide",  # the model that guides
    guided: float = 0.5,  # share of each batch on which guidance and patch critic work
    reach: float = 2.0,  # guidance asks for values from -reach to reach
    strength: float = 0.75,  # what it asks for at 1, in units of what the guide says of that end's photos
    keep: float = 0.1,  # weight of the guide's other answers staying as they are
    difference: float = 0.1,  # weight of the size of the edit (mean absolute, in [-1, 1] units)
    smooth: float = 0.3,  # weight of the edit's total variation
    tint: float = 0.0,  # weight of the edit's mean colour: a reader can be swayed by a cast over the whole face
    chroma: float = 0.0,  # weight of what is colour in the edit, not lightness: patches of colour please a reader
    tone: float = 0.0,  # weight of the face's mean colour going to where the other end's colours lie (see guide.Tone)
    patch: float = 0.0,  # weight of the patch critic on composites
    skin: float = 0.35,  # share of the edits that may change skin and nose only, as the region ``skin`` does
    ema: float = 0.998,
    compiled: bool = False,  # torch.compile of network, critics and guide
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights.

    Under torchrun every process takes its share of the batch and gradients are averaged. On CUDA in bfloat16 autocast.
    """
    # What is trained, and where it stands.
    torch.manual_seed(seed)
    rank, world = parallel.join(device)
    cuda = torch.device(device).type == "cuda"
    network = cast(Fader, build(spec).to(device).to(memory_format=torch.channels_last).train())
    widths = network.config.widths
    critic = LatentCritic(widths[-1], spec.size >> len(widths), labels.shape[1], 96).to(device).train()
    realism = PatchCritic().to(device).to(memory_format=torch.channels_last).train()
    average = Ema(network, build(spec).to(device), ema)
    optimiser = torch.optim.Adam(network.parameters(), lr=lr, betas=(0.5, 0.999), fused=cuda)
    critics = [*critic.parameters(), *realism.parameters()]
    critic_optimiser = torch.optim.Adam(critics, lr=critic_lr, betas=(0.5, 0.999), fused=cuda)
    recent = Recent(memory)
    parts = {
        "network": network, "critic": critic, "realism": realism, "average": average,
        "optimiser": optimiser, "critic_optimiser": critic_optimiser, "recent": recent,
    }  # fmt: skip
    generator = torch.Generator(device).manual_seed(seed)
    start = load_state(folder / "state.pt", parts, torch.Generator())
    leader = Guide(guide, spec.labels[0], pixels, labels[:, 0], device) if guidance else None
    transport = Tone(pixels, labels[:, 0], spec, device) if tone else None
    run, judge = (torch.compile(network), torch.compile(realism)) if compiled else (network, realism)

    # The whole set stays on the device.
    x_all, a_all = torch.from_numpy(pixels).to(device), torch.from_numpy(labels).to(device)
    m_all = None if regions is None else torch.from_numpy(regions).to(device)
    shown_in = None if regions is None else regions[:8]
    odds = torch.from_numpy(weights / weights.sum()).to(device)
    mine = batch // world
    some = slice(max(1, round(guided * mine)))
    log = Log(folder, steps, start, quiet=rank > 0)

    for step in range(start, steps):
        # All that is random in a step comes from its number: a resumed run goes on as if never stopped.
        generator.manual_seed(seed + 1000003 * step + 7919 * rank)
        torch.manual_seed(seed + 1000003 * step + 7919 * rank)
        grown = min(1.0, step / (ramp * steps))
        late = min(1.0, max(0.0, step / steps - wait) / ramp)
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, 0.1 + 2.7 * (1 - step / steps))

        # A batch: mirrored and slightly moved and recoloured.
        index = torch.multinomial(odds, mine, replacement=True, generator=generator)
        x = to_float(x_all[index], spec.mean, spec.std)
        where = places(mine, generator, zoom=0.04, turn=0.05, shift=0.015)
        x = coloured(moved(x, where), generator, strength=0.08).clamp(-1, 1)
        a = a_all[index]

        # Encoded once, decoded at the photos' own values and, some of them, at others.
        wanted = a
        if leader is not None:
            value = reach * (2 * torch.rand(len(a[some]), 1, generator=generator, device=device) - 1)
            wanted = torch.cat([a, torch.cat([value, a[some, 1:]], 1)])
        with torch.autocast("cuda", torch.bfloat16, enabled=cuda):
            z, drawn = run(x, wanted)
            rebuilt = drawn[:mine].float()

            # The latent critic learns to read the attributes from the latents of late (equation 2) ...
            latents, truth = recent.add(z, a)
            critic_loss = F.binary_cross_entropy_with_logits(critic(latents).float(), (truth + 1) / 2)

            # ... while encoder and decoder reconstruct and leave it without a clue (equations 3 and 4).
            error = (rebuilt - x).abs()
            reconstruction = error.mean()
            if focus and m_all is not None:
                inside = moved((m_all[index][:, None] > 0).float(), where)
                reconstruction = reconstruction + focus * (error * inside).sum() / (3 * inside.sum()).clamp(min=1)
            critic.requires_grad_(False)
            guess = critic(z).float()
            fooling = F.binary_cross_entropy_with_logits(guess, torch.full_like(guess, 0.5))
            critic.requires_grad_(True)
            loss = reconstruction + latent * grown * fooling
            seen = {"reconstruction": reconstruction, "critic": critic_loss, "fooling": fooling}

            # The edit on the photo itself: the guide should see it, elsewhere nothing, and it should look like a photo.
            if leader is not None and m_all is not None:
                photos, values = x[some], wanted[mine:, 0]
                within = softened(moved((m_all[index[some]][:, None]).float(), where[some]), skin, generator)
                edit = within * (drawn[mine:].float() - rebuilt[some])
                composite = (photos + edit).contiguous(memory_format=torch.channels_last)
                alike = places(len(photos), generator, zoom=0.06, turn=0.08, shift=0.03)
                shown = coloured(moved(composite, alike), generator, strength=0.15)
                wish, stay = leader(shown, moved(photos, alike), a[some, 0], values, strength)
                size, colour = edit.abs().mean(), edit.mean((2, 3)).abs().mean()
                price = keep * stay + difference * size + smooth * roughness(edit) + tint * colour
                if chroma:
                    price = price + chroma * colourfulness(edit)
                if transport is not None:
                    price = price + tone * transport(photos, composite, a[some, 0], values, within)
                loss = loss + late * (guidance * wish + price)
                seen |= {"wish": wish, "stay": stay, "edit": size, "colour": colour}
                if patch:
                    # The critic is told the end that a picture should show, if it is near one, half of the time.
                    coin = torch.rand(len(photos), generator=generator, device=device) < 0.5
                    end, own = values.sign() * (values.abs() > 0.6) * coin, a[some, 0].sign() * coin
                    realism.requires_grad_(False)
                    loss = loss - patch * late * judge(composite, end).mean()
                    realism.requires_grad_(True)
                    critic_loss = critic_loss + hinge(judge, photos, own, composite.detach(), end)

        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        parallel.average_gradients(network.parameters())
        optimiser.step()
        critic_optimiser.zero_grad(set_to_none=True)
        critic_loss.backward()
        parallel.average_gradients(critics)
        critic_optimiser.step()
        average.update(network, step)

        log.step()
        if (step + 1) % report_every == 0:
            log.report(step + 1, **{name: value.item() for name, value in seen.items()})
        if rank == 0 and ((step + 1) % save_every == 0 or step + 1 == steps):
            save_state(folder / "state.pt", step + 1, parts, torch.Generator())
            sheet(spec, average.average, pixels[:8], labels[:8], folder / f"sheet-{step + 1:06}.png", device, shown_in)
    log.close()
    return average.state_dict()


def roughness(edit: Tensor) -> Tensor:
    """Mean absolute step between neighbouring pixels of (B, 3, H, W)."""
    return (edit[..., 1:, :] - edit[..., :-1, :]).abs().mean() + (edit[..., 1:] - edit[..., :-1]).abs().mean()


def colourfulness(edit: Tensor) -> Tensor:
    """Mean absolute distance of (B, 3, H, W), RGB, from the gray of equal luminance (ITU-R BT.601)."""
    luminance = (edit * edit.new_tensor([0.299, 0.587, 0.114])[:, None, None]).sum(1, keepdim=True)
    return (edit - luminance).abs().mean()


def hinge(
    critic: Callable[[Tensor, Tensor], Tensor], photos: Tensor, own: Tensor, composites: Tensor, wanted: Tensor
) -> Tensor:
    """The hinge loss of a critic that should say +1 of photos and -1 of composites, told what each should show."""
    return F.relu(1 - critic(photos, own)).mean() + F.relu(1 + critic(composites, wanted)).mean()
