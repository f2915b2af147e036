"""Train one editor of several named ends: what a face becomes at each, against a critic that knows photos of each.

A photo of one end is edited to another, its skin's tone carried there as the walk does it, and pasted; the critic sees
its inner face without tone and cast, next to photos of that end, by what the encoders of the face parser and of the
labeller see. At the photo's own end nothing may change. The rest, and the prices, are ``training.edit_field``'s; there
is no teacher.

Source: Sauer et al. 2021, Projected GANs converge faster, arXiv 2111.01007; one answer for each end, Choi et al. 2020,
StarGAN v2, §2; as ``training.edit_field``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.errors import ConfigError
from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray, Tone
from gslopes.faces.compose.tone import toned
from gslopes.faces.networks.edit_field import EditGroups
from gslopes.faces.networks.feature_pyramid import LEVELS, STAGES, FeaturePyramid
from gslopes.faces.networks.tagger import Tagger, folded
from gslopes.faces.zoo import ModelSpec, build, load
from gslopes.faces.zoo.reader import cropped, normalised
from training.augment import Augmentation, color_jitter, disturbed, random_affine, warp
from training.chips import face_window
from training.critics import GroupCritic, false_group, squared_gradient
from training.edit_field import (
    AUGMENTATION,
    EVERY,
    FLIP,
    LossWeights,
    Optimisation,
    Preserved,
    as_critic_sees,
    carried,
    costs_of,
    inner_face,
    optimisers,
    varied_photos,
)
from training.group_sets import CALLED
from training.loop import Ema, Steps, descend, seed_step, set_rate
from training.masks import group_masks, kept_masks
from training.parallel import after_first, gathered, mean_of_rows, mine, share
from training.shards import Renewed
from training.watch import Watch

PEAK = (
    0.2  # logarithms of lightness from a face to an end, the tone not counted: beyond that it costs
)
STAGES_READ = (
    1,
    2,
)  # blocks of the labeller's encoder that a critic sees: at a quarter and an eighth of its side


@dataclass(frozen=True, slots=True)
class GroupLossWeights(LossWeights):
    """As ``LossWeights``.

    own: of any change that a face has at its own end, squared.
    peak: of lightness beyond ``PEAK``, squared: bright spots between the eyes and on lips.
    fool: of what the critic takes for edited; 0 for no critic, at half of the time a step.
    guide: of the end that the labeller reads, as cross-entropy; it must know all of them. 0 for no guide.
    """

    own: float = 2.0
    peak: float = 300.0
    fool: float = 1.0
    guide: float = 0.0


def train_edit_groups(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, E + A): which of E ends, 1 or 0; others from -1 to 1
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn among photos of its end
    folder: Path,  # checkpoint and log
    *,
    optimisation: Optimisation = Optimisation(),
    loss_weights: GroupLossWeights = GroupLossWeights(),
    augmentation: Augmentation = AUGMENTATION,
    trunk: str = "",  # an editor or teacher of the zoo of the same widths, whose trunk training begins with
    heads: tuple[
        str, ...
    ] = (),  # the ends that -2 and +2 of that editor are, whose heads these begin with as well
    goals: tuple[
        float, ...
    ] = (),  # how often photos are edited to each end; all as often by default
    held: str = "groups",  # what must stay, a name of ``edit_field.HELD``
    bfloat16: bool = False,  # on a CPU too
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 200,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights. On CUDA in bfloat16.

    Raises: UnknownName for a trunk that is not there.
    """
    # What is trained, and the step reached.
    torch.manual_seed(seed)
    cuda = torch.device(device).type == "cuda"
    network = cast(EditGroups, build(spec)).to(device)
    network = network.to(memory_format=torch.channels_last).train()
    if trunk:
        begin(network, trunk, [spec.ends.index(name) for name in heads])
    ends = network.config.ends
    steps = optimisation.steps
    critic = group_critic(ends, labels.shape[1] - ends, device).train()
    half = partial(
        torch.autocast, torch.device(device).type, torch.bfloat16, enabled=cuda or bfloat16
    )
    average = Ema(network, cast(EditGroups, build(spec)).to(device), optimisation.ema)
    trained = {"network": network, "critic": critic, "average": average}
    optimiser, critic_optimiser = optimisers(network, critic, optimisation, cuda)
    parts = {**trained, "optimiser": optimiser, "critic_optimiser": critic_optimiser}
    generator = torch.Generator(device).manual_seed(seed)
    loop = Steps(
        folder, steps, parts, report_every=report_every, save_every=save_every, watch=watch
    )

    # The whole set stays on the device.
    share(optimisation.batch)
    masks = after_first(lambda: kept_masks(pixels, device, group_masks))
    inner = inner_face(masks[:, :1])
    photos = _Groups(pixels, masks, labels, weights, augmentation, generator, ends, device)
    face = face_window(spec.size).to(device)
    preserved = Preserved(held, device, loss_weights.beard)
    columns = guide_columns(spec, preserved) if loss_weights.guide else []

    for step in loop:
        seed_step(seed, step, generator)
        scale = min(1.0, (step + 1) / optimisation.rise, 0.05 + 2.5 * (1 - step / steps))
        set_rate(optimiser, optimisation.lr * scale)
        set_rate(critic_optimiser, optimisation.critic_lr * scale)

        for new in loop.renewed(step):
            photos.renew(new)

        # Photos of all ends, each edited to another one; and photos of that one.
        owns, wanted = photos.ways(optimisation.batch, goals)
        own, goal = mine(owns), mine(wanted)
        x, regions, a = photos.batch(owns)
        m, at_brows, skin = regions.split(1, 1)
        target = torch.cat([F.one_hot(goal, ends).to(a), a[:, ends:]], 1)
        row = torch.arange(len(x), device=device)
        with half():
            ratios, motions = network(2 * x - 1)
        moves = motions[row, goal]
        field, edits = retoned(ratios[row, goal], x, skin, own, goal, network.config.tones)
        composites = pasted(x, m, edits, moves)
        views = as_critic_sees(composites, m, inner, gray=False)

        # The critic: photos, composites, photos under one false label; now and then its gradient at photos.
        metrics = {}
        if loss_weights.fool:
            real, real_regions, real_a = photos.batch(wanted)
            real = as_critic_sees(real, real_regions[:, :1], inner, gray=False)
            real = disturbed(real, generator)
            false_labels, certainty = false_group(real_a, ends, generator)
            with half():
                seen_in_photos = critic.features(real)
                on_photos, on_lies = (
                    critic.answer(seen_in_photos, each).float() for each in (real_a, false_labels)
                )
                on_made = critic(disturbed(views.detach(), generator), target).float()
            lies = (certainty * F.softplus(on_lies)).mean()
            critic_loss = F.softplus(-on_photos).mean() + F.softplus(on_made).mean()
            critic_loss = critic_loss + loss_weights.wrong * lies
            if loss_weights.r1 and step % EVERY == 0:
                gradient = squared_gradient(critic, real, real_a)
                critic_loss = critic_loss + loss_weights.r1 / 2 * EVERY * gradient
            descend(critic_optimiser, critic_loss)
            metrics = {"photos": on_photos.mean(), "composites": on_made.mean()}
            metrics["lies"] = on_lies.mean()

        # The field fools it, and changes as little else as it can.
        if step >= optimisation.warm:
            costs = costs_of(
                as_form(field) / FLIP, moves / FLIP, m, at_brows, inner, face, loss_weights.colour
            )
            costs["own"] = at_own_end(ratios[row, own], motions[row, own], m)
            costs["peak"] = beyond_peak(as_form(field)[:, :1], m)
            costs["others"] = change(preserved, x, composites, goal)
            if loss_weights.fool:
                critic.requires_grad_(False)
                with half():
                    judged = critic(disturbed(views, generator), target).float()
                critic.requires_grad_(True)
                costs["fool"] = F.softplus(-judged).mean()
            if columns:
                costs["guide"] = guided(preserved, columns, composites, goal, generator)
            loss = torch.stack([getattr(loss_weights, name) * cost for name, cost in costs.items()])
            descend(optimiser, loss.sum(), clip=optimisation.clip)
            average.update(network, step)
            metrics |= {"loss": loss.sum(), **costs}
        loop.end(**metrics)
    return average.state_dict()


# -- what is trained with ----------------------------------------------------------------------------------------------


UNITS = 2.5  # from a photo's own value to an end of an editor of two, about: its motion is that of a unit


@torch.no_grad()
def begin(network: EditGroups, name: str, heads: Sequence[int] = ()) -> None:
    """Give a network the trunk of an editor or a teacher of the zoo; and two of its ends that editor's.

    heads: none, or the two that its -2 and +2 are.
    """
    loaded = load(name).module.state_dict()
    trunk = {key: value for key, value in loaded.items() if not key.startswith("to_")}
    network.load_state_dict(trunk, strict=False)
    for theirs, end in enumerate(heads):
        ratios, motion = slice(3 * end, 3 * end + 3), slice(2 * end, 2 * end + 2)
        for part in ("weight", "bias"):
            ways = loaded[f"to_ends.{part}"][3 * theirs : 3 * theirs + 3]
            moves = (2 * theirs - 1) * UNITS * loaded[f"to_motion.{part}"]
            getattr(network.to_ends, part)[ratios] = ways.to(network.to_ends.weight)
            getattr(network.to_motion, part)[motion] = moves.to(network.to_motion.weight)


def group_critic(ends: int, others: int, device: str) -> GroupCritic:
    """A critic by the levels of the face parser's encoder that its pyramid has, and by two of the labeller's."""
    parser = load("face-parser", device)
    encoder = cast(FeaturePyramid, parser.module).encoder
    labeller = load("labeller", device)
    reader = folded(cast(Tagger, labeller.module)).to(device)

    def see(pictures: Tensor) -> list[Tensor]:
        stages = encoder(pictures)
        features = reader.stem(cropped(pictures.float(), labeller.spec.crop, labeller.spec.size))
        read = []
        for block in reader.blocks[: max(STAGES_READ)]:
            features = block(features)
            read.append(features)
        return [stages[stage] for stage in LEVELS] + [read[stage - 1] for stage in STAGES_READ]

    levels = [
        (STAGES[stage][3], parser.spec.size // 2 ** (level + 1))
        for level, stage in enumerate(LEVELS)
    ]
    side = labeller.spec.size // 2
    levels += [(reader.config.widths[stage], side // 2**stage) for stage in STAGES_READ]
    return GroupCritic(see, levels, ends, others).to(device)


class _Groups:
    """The training photos with their masks on the device, drawn by end and varied."""

    def __init__(
        self,
        pixels: ByteArray,
        masks: Tensor,
        labels: NDArray[np.float32],
        weights: NDArray[np.float64],
        augmentation: Augmentation,
        generator: torch.Generator,
        ends: int,
        device: str,
    ) -> None:
        self.pixels = torch.from_numpy(pixels).to(device)
        self.labels = torch.from_numpy(labels).to(device)
        self.masks = masks
        odds = torch.from_numpy(weights).float().to(device)
        self.odds = [odds * self.labels[:, end] for end in range(ends)]
        self.augmentation = augmentation
        self.generator = generator

    def renew(self, new: Renewed) -> None:
        """Take new photos; their masks are made now."""
        self.pixels[new.rows], self.labels[new.rows] = new.pixels, new.labels
        self.masks[new.rows] = group_masks(new.pixels.cpu().numpy(), str(self.pixels.device))
        for end, odds in enumerate(self.odds):
            odds[new.rows] = new.weights.float() * new.labels[:, end]

    def ways(self, count: int, goals: Sequence[float] = ()) -> tuple[Tensor, Tensor]:
        """Ends that ``count`` photos are of, and others that they are edited to, (count,) each.

        goals: how often each is edited to, all alike by default; photos of the others as often.
        """
        ends = len(self.odds)
        device = self.pixels.device
        odds = torch.tensor(goals or (1.0,) * ends, device=device)
        goal = torch.multinomial(odds, count, replacement=True, generator=self.generator)
        further = torch.randint(1, ends, (count,), generator=self.generator, device=device)
        return (goal + further) % ends, goal

    def batch(self, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Chips (b, 3, S, S) and masks (b, M, S, S) in [0, 1], labels (b, E + A): this process's, of ends (B,)."""
        index = torch.empty_like(ends)
        for end, odds in enumerate(self.odds):
            here = ends == end
            count = int(here.sum())
            if count:
                index[here] = torch.multinomial(
                    odds, count, replacement=True, generator=self.generator
                )
        index = mine(index)
        chips, masks = varied_photos(
            self.pixels[index], self.masks[index], self.augmentation, self.generator
        )
        return chips, masks, self.labels[index]


# -- the edit ----------------------------------------------------------------------------------------------------------


def retoned(
    ratios: Tensor,
    chips: Tensor,
    skin: Tensor,
    own: Tensor,
    goal: Tensor,
    tones: tuple[tuple[float, ...], ...],
) -> tuple[Tensor, Tensor]:
    """Logarithms of ratios (B, 3, S, S) without their mean over the skin; and with the tone that comes in its place.

    chips: (B, 3, S, S) in [0, 1].  skin: (B, 1, S, S), how much of the tone a pixel has.  own, goal: (B,) ends.
    tones: of each end, see ``faces.networks.edit_field``; empty if the network tells all: both are the ratios then.
    """
    if not tones:
        return ratios, ratios
    offsets = tone_layers(chips, skin, own.tolist(), goal.tolist(), tones)
    seen = (skin > 0.5).to(ratios)
    mean = (ratios * seen).sum((2, 3), keepdim=True) / seen.sum((2, 3), keepdim=True).clamp(min=1)
    has_tone = offsets.abs().amax((1, 2, 3), keepdim=True) > 0
    field = ratios - torch.where(has_tone, skin * mean, 0)
    return field, field + offsets


@torch.no_grad()
def tone_layers(
    chips: Tensor,
    skin: Tensor,
    own: list[int],
    goal: list[int],
    tones: tuple[tuple[float, ...], ...],
) -> Tensor:
    """What ``faces.compose.tone`` adds to faces, (B, 3, S, S), at half their side; 0 where too little skin is seen."""
    small = F.avg_pool2d(torch.cat([255 * chips, skin], 1), 2).permute(0, 2, 3, 1).cpu().numpy()
    pictures, weights = np.ascontiguousarray(small[..., :3]), np.ascontiguousarray(small[..., 3])
    layers = np.zeros((len(pictures), 1, *pictures.shape[1:]), np.float32)
    whole = np.ones(1, np.float32)
    for layer, picture, weight, a, b in zip(layers, pictures, weights, own, goal, strict=True):
        toned(layer, picture, weight, Tone(whole, (tones[a], tones[b])))
    whole_size = torch.from_numpy(layers[:, 0]).permute(0, 3, 1, 2).to(chips)
    return F.interpolate(whole_size, scale_factor=2, mode="bilinear", align_corners=False)


def pasted(chips: Tensor, masks: Tensor, edits: Tensor, motion: Tensor) -> Tensor:
    """Chips (B, 3, S, S) in [0, 1] times the ratios whose logarithms are ``edits``, under masks, and moved."""
    mixed = ((255 * chips + OFFSET) * (masks * edits).exp() - OFFSET) / 255
    return carried(mixed, masks, motion)


def as_form(ratios: Tensor) -> Tensor:
    """Logarithms of ratios (B, 3, S, S) as light, red and blue, the form of ``training.field_network``."""
    light = (ratios * ratios.new_tensor(LUMA)[:, None, None]).sum(1, keepdim=True)
    return torch.cat([light, ratios[:, :1] - light, ratios[:, 2:] - light], 1)


def at_own_end(ratios: Tensor, motion: Tensor, masks: Tensor) -> Tensor:
    """What an edit to the end that photos have already changes, squared: nothing, if all is well."""
    within = masks.sum((1, 2, 3)).clamp(min=100)
    changed = ratios.square().sum(1, keepdim=True) + 0.02 * motion.square().sum(1, keepdim=True)
    return ((changed * masks).sum((1, 2, 3)) / within).mean()


def beyond_peak(light: Tensor, masks: Tensor) -> Tensor:
    """How far lightness (B, 1, S, S), logarithms, goes beyond ``PEAK``, squared, on average over the face."""
    beyond = F.relu(light.abs() - PEAK).square() * masks
    return (beyond.sum((1, 2, 3)) / masks.sum((1, 2, 3)).clamp(min=100)).mean()


def guide_columns(spec: ModelSpec, preserved: Preserved) -> list[int]:
    """The labeller's outputs that are the ends.  Raises: ConfigError if it does not read all of them."""
    labels = [CALLED.get(name, name) for name in spec.ends]
    for name, label in zip(spec.ends, labels, strict=True):
        if label not in preserved.column:
            problem = f"The labeller cannot guide towards {name}, which it does not read."
            raise ConfigError(problem, "Leave guide out of [train.loss_weights].")
    return [preserved.column[label] for label in labels]


def guided(
    preserved: Preserved,
    columns: list[int],
    pictures: Tensor,
    goal: Tensor,
    generator: torch.Generator,
) -> Tensor:
    """How far the labeller is from reading pictures (B, 3, S, S), moved a little, as their ends (B,)."""
    moves = random_affine(len(pictures), generator, zoom=0.06, turn=0.08, shift=0.04)
    labeller = preserved.labeller.model
    seen = color_jitter(2 * warp(pictures.clamp(0, 1), moves) - 1, generator, strength=0.1)
    answers = labeller.module(normalised(labeller, (seen + 1) / 2))
    return F.cross_entropy(answers.float()[:, columns], goal)


def change(preserved: Preserved, before: Tensor, after: Tensor, goal: Tensor) -> Tensor:
    """What else changes on the way to ends (B,): of each face a little, of all that go to one on average the more."""
    with torch.no_grad():
        logits = preserved.logits(before)
    moved = preserved.logits(after) - logits
    drift = F.smooth_l1_loss(moved, torch.zeros_like(moved), reduction="none").mean(0).sum() / 3
    ends = gathered(goal).unique().tolist()
    means = [mean_of_rows(moved[goal == end]).square().sum() for end in ends]
    return 0.2 * drift + sum(means) / len(means)
