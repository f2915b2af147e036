"""The adversaries of an editor's training: of a Fader's latent, and of pictures, each with what it learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.parallel import drawn, gathered, mine

# -- of the latent -----------------------------------------------------------------------------------------------------


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
            layers += [
                nn.Linear(inputs, width),
                nn.LeakyReLU(0.2, inplace=True),
                nn.Dropout(dropout),
            ]
            inputs = width
        self.body = nn.Sequential(*layers, nn.Linear(inputs, attributes))

    def forward(self, latents: Tensor) -> Tensor:
        """The logits of latents."""
        return self.body(latents)


class Recent(nn.Module):
    """The last few batches of latents with their attributes, so that an adversary learns on more than the last one.

    batches: how many it keeps, of ``batch`` latents (channels, side, side) with their attributes.
    """

    latents: Tensor
    attributes: Tensor
    added: Tensor

    def __init__(
        self, batches: int, batch: int, latent: tuple[int, int, int], attributes: int
    ) -> None:
        super().__init__()
        self.batches = max(1, batches)
        self.batch = batch
        self.register_buffer("latents", torch.zeros(self.batches * batch, *latent))
        self.register_buffer("attributes", torch.zeros(self.batches * batch, attributes))
        self.register_buffer("added", torch.zeros((), dtype=torch.int64))
        self.filled: int | None = None

    def add(self, latents: Tensor, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Keep a batch (no gradient flows into it), of all processes; returns this one's of all that are kept."""
        if self.filled is None:  # at first, or after a checkpoint
            self.filled = min(int(self.added), self.batches)
        added = gathered(latents.detach().float()), gathered(attributes)
        self.latents.copy_(torch.cat([self.latents[self.batch :], added[0]]))
        self.attributes.copy_(torch.cat([self.attributes[self.batch :], added[1]]))
        self.added += 1
        self.filled = min(self.filled + 1, self.batches)
        rows = self.filled * self.batch
        return mine(self.latents[-rows:]), mine(self.attributes[-rows:])


def attribute_loss(logits: Tensor, attributes: Tensor, importance: Tensor) -> Tensor:
    """Mean binary cross-entropy of logits (B, A) against attributes (B, A) in [-1, 1], weighted by attribute (A,)."""
    losses = F.binary_cross_entropy_with_logits(logits, (attributes + 1) / 2, reduction="none")
    return (losses.mean(0) * importance).sum() / importance.sum()


# -- of pictures -------------------------------------------------------------------------------------------------------


class PictureCritic(nn.Module):
    """Tells photos of one end of the attribute from composites.

    pictures (B, channels, 128, 128) and attributes (B, A) in [-1, 1], the edited one first, to logits (B,), positive
    for photos.

    widths: channels after each halving of the side; the last has 4 x 4 pixels.  strided: the first layer halves it too,
        so that one width less is needed, in a third of the time.

    Source: one answer for each end, Choi et al. 2020, StarGAN v2, §2 and appendix E; a projection on the other
    attributes, Miyato & Koyama 2018, cGANs with projection discriminator, §3.
    """

    def __init__(
        self,
        channels: int,
        attributes: int,
        widths: tuple[int, ...] = (32, 64, 128, 192, 256, 256),
        strided: bool = False,
    ) -> None:
        super().__init__()
        features = widths[-1]
        self.stem = nn.Conv2d(
            channels, widths[0], 4 if strided else 3, stride=2 if strided else 1, padding=1
        )
        self.blocks = nn.Sequential(*(_Halved(a, b) for a, b in pairwise(widths)))
        self.last = nn.Conv2d(features, features, 4)
        self.ends = nn.Linear(features, 2)
        self.others = nn.Linear(attributes - 1, features, bias=False) if attributes > 1 else None

    def forward(self, pictures: Tensor, attributes: Tensor) -> Tensor:
        """The logits of pictures."""
        return self.answer(self.features(pictures), attributes)

    def features(self, pictures: Tensor) -> Tensor:
        """What it sees in pictures, (B, features)."""
        x = self.blocks(self.stem(pictures))  # (B, features, 4, 4)
        return F.leaky_relu(self.last(F.leaky_relu(x, 0.2)).flatten(1), 0.2)

    def answer(self, features: Tensor, attributes: Tensor) -> Tensor:
        """The logits of what it saw."""
        share = (attributes[:, :1] + 1) / 2
        logits = (self.ends(features) * torch.cat([1 - share, share], 1)).sum(1)
        if self.others is not None:
            logits = logits + (self.others(attributes[:, 1:]) * features).sum(1) / 4
        return logits


class _Halved(nn.Module):
    """A residual block of half the side."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, inputs, 3, padding=1)
        self.second = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.short = nn.Conv2d(inputs, outputs, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(F.leaky_relu(x, 0.2))
        y = self.second(F.leaky_relu(F.avg_pool2d(y, 2), 0.2))
        z: Tensor = (y + self.short(F.avg_pool2d(x, 2))) / 2**0.5
        return z


class _LevelsCritic(nn.Module):
    """A critic by what a frozen network sees, one answer a level of it: it knows what pictures are from the start.

    see: pictures to features (B, channels, side, side) of each level, sides of 8 or more that are powers of 2; none of
    the weights that are trained or kept.  levels: channels and side of each.
    ends: answers of a level.  known: numbers that tell about a picture besides.

    Source: Sauer et al. 2021, Projected GANs converge faster, arXiv 2111.01007, §3.1, without mixing across levels.
    """

    def __init__(
        self,
        see: Callable[[Tensor], list[Tensor]],
        levels: Sequence[tuple[int, int]],
        ends: int,
        known: int,
    ) -> None:
        super().__init__()
        self.see = see
        self.heads = nn.ModuleList(_narrowed(*level) for level in levels)
        self.ends = nn.ModuleList(nn.Linear(WIDEST, ends) for _ in levels)
        self.others = nn.ModuleList(nn.Linear(known, WIDEST, bias=False) for _ in levels)

    def forward(self, pictures: Tensor, attributes: Tensor) -> Tensor:
        """The logits of pictures, (levels, B)."""
        return self.answer(self.features(pictures), attributes)

    def features(self, pictures: Tensor) -> Tensor:
        """What it sees in pictures, (levels, B, features)."""
        return torch.stack(
            [head(seen) for head, seen in zip(self.heads, self.see(pictures), strict=True)]
        )

    def answer(self, features: Tensor, attributes: Tensor) -> Tensor:
        """The logits of what it saw, (levels, B)."""
        which, known = self.split(attributes)
        logits = []
        for seen, ends, others in zip(features, self.ends, self.others, strict=True):
            agreement = (others(known) * seen).sum(1) / 4
            logits.append((ends(seen) * which).sum(1) + agreement)
        return torch.stack(logits)

    def split(self, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Attributes (B, A) to the share of each end, (B, ends), and what is known besides, (B, known)."""
        raise NotImplementedError


class FeatureCritic(_LevelsCritic):
    """The same as ``PictureCritic`` by what a frozen network sees: pictures and attributes to logits (levels, B).

    What another attribute says may differ from end to end: men do not grow old as women do.
    """

    def __init__(
        self,
        see: Callable[[Tensor], list[Tensor]],
        levels: Sequence[tuple[int, int]],
        attributes: int,
    ) -> None:
        super().__init__(see, levels, 2, 2 * (attributes - 1))

    def split(self, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Shares of both ends; each of the others by itself, and times the edited one."""
        share = (attributes[:, :1] + 1) / 2
        both = torch.cat([1 - share, share], 1)
        return both, torch.cat([attributes[:, 1:], attributes[:, :1] * attributes[:, 1:]], 1)


class GroupCritic(_LevelsCritic):
    """The same of several named ends: pictures and labels (B, E + A) to logits (levels, B).

    Labels: which end, 1 or 0 for each of E, then A other attributes in [-1, 1], each by itself and times every end.
    """

    def __init__(
        self,
        see: Callable[[Tensor], list[Tensor]],
        levels: Sequence[tuple[int, int]],
        ends: int,
        others: int,
    ) -> None:
        super().__init__(see, levels, ends, (1 + ends) * others)
        self.count = ends

    def split(self, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Which end; each of the others by itself, and times every end."""
        which, others = attributes[:, : self.count], attributes[:, self.count :]
        at_ends = (which[:, :, None] * others[:, None]).flatten(1)
        return which, torch.cat([others, at_ends], 1)


WIDEST = 128  # channels of a ``FeatureCritic`` at 4 x 4 pixels, half as many at twice the side, 32 at least


def _narrowed(channels: int, side: int) -> nn.Sequential:
    """Features (B, channels, side, side) to (B, WIDEST): half the side again and again, down to 4 x 4 and to 1."""
    layers: list[nn.Module] = []
    while side > 4:
        side //= 2
        width = max(32, WIDEST * 4 // side)
        layers += [nn.Conv2d(channels, width, 4, stride=2, padding=1), nn.LeakyReLU(0.2)]
        channels = width
    return nn.Sequential(*layers, nn.Conv2d(channels, WIDEST, 4), nn.LeakyReLU(0.2), nn.Flatten())


def false_label(labels: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Labels (B, A) of which one is reversed, the edited one twice as often; its absolute value, (B,)."""
    draw = drawn(partial(torch.randint, 0, labels.shape[1] + 1), (len(labels), 1), generator)
    which = (draw - 1).clamp(min=0)
    was = labels.gather(1, which)
    return labels.scatter(1, which, -was), was[:, 0].abs()


def false_group(labels: Tensor, ends: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Labels (B, E + A) of which one is false: the end of half of them, else one of A; how sure that is, (B,).

    ends: E, of which each has one. What is reversed is as false as its absolute value says, another end wholly.
    """
    count = len(labels)

    def draw(low: int, high: int) -> Tensor:
        return drawn(partial(torch.randint, low, high), (count,), generator)

    others = labels.shape[1] - ends
    which = labels[:, :ends]
    index = (which.argmax(1) + 1 + draw(0, ends - 1)) % ends
    another = torch.cat([F.one_hot(index, ends).to(labels), labels[:, ends:]], 1)
    if not others:
        return another, labels.new_ones(count)
    turned = ends + draw(0, others)[:, None]
    was = labels.gather(1, turned)
    reversed_ = labels.scatter(1, turned, -was)
    of_end = draw(0, 2)[:, None] > 0
    false = torch.where(of_end, another, reversed_)
    return false, torch.where(of_end, torch.ones_like(was), was.abs())[:, 0]


def squared_gradient(
    critic: PictureCritic | FeatureCritic | GroupCritic, pictures: Tensor, labels: Tensor
) -> Tensor:
    """The critic's mean squared gradient at pictures (B, C, S, S) under their labels (B, A), R1."""
    pictures = pictures.detach().requires_grad_(True)
    (gradient,) = torch.autograd.grad(critic(pictures, labels).sum(), pictures, create_graph=True)
    return gradient.square().sum((1, 2, 3)).mean()
