"""Train an edit field: a network that predicts how a face changes, against a critic that knows photos of both ends.

A photo of one end is edited to the other and pasted as the walk pastes it (``train.composites``); the critic sees its
inner face without tone and cast, next to photos of that end. What changes with it, such as age, smile or race, is
penalised three times: the critic knows these labels and is shown photos under false ones, and two models that labelled
the training photos, and judge nothing, must read the same before and after.

Source: Goodfellow et al. 2014, Generative adversarial nets, the non-saturating loss; R1, Mescheder, Geiger, Nowozin
2018, Which training methods for GANs do actually converge?, §4.1; false labels, Reed et al. 2016, Generative
adversarial text to image synthesis, §4.2; moved and partly hidden pictures, Zhao et al. 2020, Differentiable
augmentation, §3.
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
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.faces.compose.composite import FADE, INSIDE
from gslopes.faces.networks.feature_pyramid import LEVELS, STAGES, FeaturePyramid
from gslopes.faces.zoo import ModelSpec, build, load
from gslopes.faces.zoo.reader import FaceReader, cropped, normalised
from training.augment import (
    Augmentation,
    color_jitter,
    disturbed,
    random_rectangle,
    seen_through,
    warp,
)
from training.chips import face_window
from training.critics import FeatureCritic, PictureCritic, false_label, squared_gradient
from training.field_editor import FieldEditor, as_template
from training.field_network import EditField, trunk_of
from training.field_template import TemplateEdits, TemplateUse, blurred
from training.loop import Ema, Steps, descend, seed_step, set_rate
from training.masks import brow_masks, face_masks, kept_masks
from training.parallel import after_first, averaged, mine, share
from training.shards import Renewed
from training.watch import Watch

# -- edits applied and pasted on the device as the walk does it --------------------------------------------------------


INNER = (
    0.6,
    0.9,
)  # share of the training faces that have face there: below the first a critic sees nothing


def well_inside(masks: Tensor) -> Tensor:
    """How far parts may move, as ``faces.compose.paste.within``: masks (B, 1, S, S) in [0, 1] without their rim."""
    radius = round(INSIDE * masks.shape[-1])
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
    around = F.pad(1 - masks, [0, 0, radius, radius], value=1.0)  # beyond the chip there is no face
    deep = torch.zeros_like(masks)
    for down, row in enumerate(kernel):
        half = int(row.sum()) // 2
        line = around[:, :, down : down + masks.shape[2]]
        deep = torch.maximum(
            deep, F.max_pool2d(F.pad(line, [half, half], value=1.0), (1, 2 * half + 1), 1)
        )
    return blurred(1 - deep, FADE)


def composite(
    chips: Tensor,
    masks: Tensor,
    form: Tensor,
    motion: Tensor,
    units: Tensor,
    face: Tensor,
    lightness: float,
) -> Tensor:
    """Chips (B, 3, S, S) in [0, 1] after ``units`` (B, 1) of an edit field, pasted by ratio and moved.

    masks: (B, 1, S, S) in [0, 1].  form, motion: as of ``training.field_network``.  face, lightness: as of
        ``train.field_template``.
    """
    edits = TemplateEdits(chips, as_template(form), face, TemplateUse(lightness))(units)[:, 0]
    mixed = ((255 * chips + OFFSET) * (masks * edits).exp() - OFFSET) / 255
    return carried(mixed, masks, motion * units[:, :, None, None])


def carried(mixed: Tensor, masks: Tensor, motion: Tensor) -> Tensor:
    """Pictures (B, 3, S, S) whose parts move by ``motion`` (B, 2, S, S), pixels, well inside masks (B, 1, S, S)."""
    size = mixed.shape[-1]
    line = torch.arange(size, device=mixed.device, dtype=mixed.dtype)
    y, x = torch.meshgrid(line, line, indexing="ij")
    field = motion * well_inside(masks)
    places = (2 * (torch.stack([x, y], -1) - field.permute(0, 2, 3, 1)) + 1) / size - 1
    return F.grid_sample(mixed, places, mode="bilinear", padding_mode="border", align_corners=False)


def inner_face(masks: Tensor) -> Tensor:
    """Where most of the training faces have face, (1, S, S) in [0, 1].  masks: (n, 1, S, S) uint8."""
    share = torch.stack([part.float().sum(0) for part in masks.split(2048)]).sum(0) / (
        255 * len(masks)
    )
    return ((share - INNER[0]) / (INNER[1] - INNER[0])).clamp(0, 1)


def as_critic_sees(chips: Tensor, masks: Tensor, inner: Tensor, gray: bool) -> Tensor:
    """What a critic may go by: the inner face of chips (B, 3, S, S) in [0, 1] without its tone and cast.

    Returns (B, 3, S, S), or (B, 1, S, S) if gray. What an editor must not change, hair, light and exposure, must not
    decide. gray: only luminance, its spread made equal as well: an edit of lightness cannot change colours, and
    tone of skin is set apart from form.
    """
    window = inner * masks
    area = window.sum((2, 3), keepdim=True).clamp(min=100)
    if gray:
        chips = (chips * chips.new_tensor(LUMA)[:, None, None]).sum(1, keepdim=True)
    logs = (255 * chips.clamp(0, 1) + OFFSET).log()
    logs = logs - (logs * window).sum((2, 3), keepdim=True) / area
    if gray:
        variance = (logs.square() * window).sum((2, 3), keepdim=True) / area
        logs = (
            0.35 * logs / variance.clamp(min=0.05**2).sqrt()
        )  # the root of 0, of a chip without a face, has no slope
    return (1.5 * logs).clamp(-2.5, 1.5) * window


# -- the training ------------------------------------------------------------------------------------------------------


FOLD = 0.35  # pixels by which a motion changes from one pixel to the next: beyond that it costs
FLIP = 2.0  # units from one end to the other
BROAD = 6 / 128  # of the Gaussian beyond which a field varies slowly, in units of the side
BEARD = ("No_Beard", "5_o_Clock_Shadow", "Goatee")
AUGMENTATION = Augmentation(mirrored=0.35)
EVERY = 16  # steps between two measurements of the critic's gradient


@dataclass(frozen=True, slots=True)
class Optimisation:
    """How the weights move.

    steps: of the field.  batch: photos a step, half of them of each end.
    lr, critic_lr: Adam, beta1 0; ``rise`` steps of warming up, constant, linear to a twentieth over the last 40 %.
    ema: share of the averaged weights that each step keeps.  warm: steps in which only the critic learns at first.
    clip: longest gradient of the field, L2, so that one odd batch of a few faces does not throw it; 0 for any.
    """

    steps: int = 9000
    batch: int = 64
    lr: float = 2e-4
    critic_lr: float = 4e-4
    ema: float = 0.998
    warm: int = 400
    rise: int = 200
    clip: float = 0.0


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Weights of the terms of the loss of an edit from one end to the other, so that nothing changes that need not.

    size: of the squared field.  rough: of its differences between neighbours.  rim: of the squared field at the mask's
    rim and beyond the inner face.  colour: how much more colour weighs than lightness.
    broad: of the squared field of lightness that varies slowly, beyond ``BROAD``: dark chins and foreheads.
    brows: of the squared field at brows, lashes and eyes, so that an edit that is none of hair leaves theirs as it is.
    moved: of squared pixels.  fold: of a motion steeper than ``FOLD``, squared.
    others: of what labeller and tagger see change in age, smile, and race or gender.
    beard: what beard, stubble and goatee count among these; 0 if they belong to the attribute.
    r1: of the critic's squared gradient at photos.  wrong: of photos under a false label that it accepts.
    """

    size: float = 1.5
    rough: float = 2.0
    rim: float = 3.0
    colour: float = 30.0
    broad: float = 0.0
    brows: float = 0.0
    moved: float = 0.01
    fold: float = 10.0
    others: float = 0.5
    beard: float = 0.0
    r1: float = 1.0
    wrong: float = 0.5


def train_edit_field(
    spec: ModelSpec,
    pixels: ByteArray,  # (n, S, S, 3) uint8 RGB, aligned chips
    labels: NDArray[np.float32],  # (n, A) -1 to 1, the edited attribute first
    weights: NDArray[np.float64],  # (n,) how often each photo is drawn among photos of its end
    folder: Path,  # checkpoint and log
    *,
    optimisation: Optimisation = Optimisation(),
    loss_weights: LossWeights = LossWeights(),
    augmentation: Augmentation = AUGMENTATION,
    trunk: str = "",  # an edit field of the zoo, whose trunk training begins with
    begin_with: str = "",  # or one of the same shape that it goes on from, with a new critic
    features: bool = False,  # a critic by what the face parser's encoder sees, which learns from fewer photos
    bfloat16: bool = False,  # on a CPU too
    seed: int = 0,
    device: str = "cpu",
    report_every: int = 50,
    save_every: int = 500,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train, resuming from ``folder`` if it holds a checkpoint; returns the averaged weights. On CUDA in bfloat16.

    Raises: UnknownName, ModelError for a trunk that is no edit field.
    """
    # What is trained, and the step reached.
    torch.manual_seed(seed)
    cuda = torch.device(device).type == "cuda"
    network = cast(EditField, build(spec)).to(device).to(memory_format=torch.channels_last).train()
    if trunk:
        network.load_state_dict(trunk_of(FieldEditor(trunk, device).network), strict=False)
    if begin_with:
        network.load_state_dict(FieldEditor(begin_with, device).network.state_dict())
    config = network.config
    count = labels.shape[1]
    steps = optimisation.steps
    critic = (
        _feature_critic(count, device)
        if features
        else PictureCritic(3 if config.colours else 1, count)
    )
    critic = critic.to(device).to(memory_format=torch.channels_last).train()
    half = partial(
        torch.autocast, torch.device(device).type, torch.bfloat16, enabled=cuda or bfloat16
    )
    average = Ema(network, cast(EditField, build(spec)).to(device), optimisation.ema)
    trained = {"network": network, "critic": critic, "average": average}
    optimiser, critic_optimiser = optimisers(network, critic, optimisation, cuda)
    parts = {**trained, "optimiser": optimiser, "critic_optimiser": critic_optimiser}
    generator = torch.Generator(device).manual_seed(seed)
    loop = Steps(
        folder, steps, parts, report_every=report_every, save_every=save_every, watch=watch
    )

    # The whole set stays on the device.
    share(optimisation.batch, 2)
    masks = after_first(lambda: kept_masks(pixels, device))
    inner = inner_face(masks)
    if loss_weights.brows:
        brows = after_first(lambda: kept_masks(pixels, device, brow_masks))
        masks = torch.cat([masks, brows], 1)
    photos = _Photos(pixels, masks, labels, weights, augmentation, generator, device)
    face = face_window(spec.size).to(device)
    preserved = Preserved(config.attributes[0], device, loss_weights.beard)

    for step in loop:
        seed_step(seed, step, generator)
        scale = min(1.0, (step + 1) / optimisation.rise, 0.05 + 2.5 * (1 - step / steps))
        set_rate(optimiser, optimisation.lr * scale)
        set_rate(critic_optimiser, optimisation.critic_lr * scale)

        for new in loop.renewed(step):
            photos.renew(new, bool(loss_weights.brows))

        # Photos of both ends, each edited to the other one; and photos of that one.
        x, regions, a = photos.batch(optimisation.batch)
        m, at_brows = regions[:, :1], regions[:, 1:]
        real, real_regions, real_a = photos.batch(optimisation.batch)
        units = -FLIP * a[:, :1]
        target = torch.cat([-a[:, :1], a[:, 1:]], 1)
        with half():
            form, motion = network(2 * x - 1)
        composites = composite(x, m, form, motion, units, face, config.lightness)
        views = as_critic_sees(composites, m, inner, not config.colours)

        # The critic: photos, composites, photos under one false label; now and then its gradient at photos.
        real = disturbed(
            as_critic_sees(real, real_regions[:, :1], inner, not config.colours), generator
        )
        false_labels, certainty = false_label(real_a, generator)
        with half():
            seen_in_photos = critic.features(real)
            on_photos, on_lies = (
                critic.answer(seen_in_photos, each).float() for each in (real_a, false_labels)
            )
            on_made = critic(disturbed(views.detach(), generator), target).float()
        critic_loss = F.softplus(-on_photos).mean() + F.softplus(on_made).mean()
        critic_loss = critic_loss + loss_weights.wrong * (certainty * F.softplus(on_lies)).mean()
        if loss_weights.r1 and step % EVERY == 0:
            critic_loss = critic_loss + loss_weights.r1 / 2 * EVERY * squared_gradient(
                critic, real, real_a
            )
        descend(critic_optimiser, critic_loss)

        # The field fools it, and changes as little else as it can.
        if step >= optimisation.warm:
            critic.requires_grad_(False)
            with half():
                judged = critic(disturbed(views, generator), target).float()
            critic.requires_grad_(True)
            costs = costs_of(form, motion, m, at_brows, inner, face, loss_weights.colour)
            leak = preserved.change(x, composites, a)
            loss = F.softplus(-judged).mean() + loss_weights.others * leak
            loss = loss + sum(getattr(loss_weights, name) * cost for name, cost in costs.items())
            descend(optimiser, loss, clip=optimisation.clip)
            average.update(network, step)
            metrics = {"loss": loss, "fooled": judged.mean(), "leak": leak, **costs}
        else:
            metrics = {"loss": critic_loss}
        metrics |= {
            "photos": on_photos.mean(),
            "composites": on_made.mean(),
            "lies": on_lies.mean(),
        }
        loop.end(**metrics)
    return average.state_dict()


def optimisers(
    network: nn.Module, critic: nn.Module, optimisation: Optimisation, fused: bool
) -> tuple[torch.optim.Adam, torch.optim.Adam]:
    """Of an editor's network and of its critic, without momentum.  fused: as torch has it on CUDA."""
    rates = (network, optimisation.lr), (critic, optimisation.critic_lr)
    first, second = (
        torch.optim.Adam(trained.parameters(), rate, betas=(0.0, 0.99), fused=fused)
        for trained, rate in rates
    )
    return first, second


def _feature_critic(attributes: int, device: str) -> FeatureCritic:
    """A critic by the levels of the face parser's encoder that its pyramid has."""
    parser = load("face-parser", device)
    encoder = cast(FeaturePyramid, parser.module).encoder

    def see(pictures: Tensor) -> list[Tensor]:
        stages = encoder(pictures.expand(-1, 3, -1, -1))
        return [stages[stage] for stage in LEVELS]

    levels = [
        (STAGES[stage][3], parser.spec.size // 2 ** (level + 1))
        for level, stage in enumerate(LEVELS)
    ]
    return FeatureCritic(see, levels, attributes)


class _Photos:
    """The training photos with their masks on the device, drawn half of each end and varied."""

    def __init__(
        self,
        pixels: ByteArray,
        masks: Tensor,
        labels: NDArray[np.float32],
        weights: NDArray[np.float64],
        augmentation: Augmentation,
        generator: torch.Generator,
        device: str,
    ) -> None:
        self.pixels, self.labels = (
            torch.from_numpy(pixels).to(device),
            torch.from_numpy(labels).to(device),
        )
        self.masks = masks
        self.mean = weights.mean()
        odds = torch.from_numpy(np.minimum(weights / self.mean, 8)).float().to(device)
        self.odds = [odds * (self.labels[:, 0] < 0), odds * (self.labels[:, 0] > 0)]
        self.augmentation = augmentation
        self.generator = generator

    def renew(self, new: Renewed, brows: bool) -> None:
        """Take new photos; their masks are made now."""
        chips, device = new.pixels.cpu().numpy(), str(self.pixels.device)
        masks = [face_masks(chips, device)] + ([brow_masks(chips, device)] if brows else [])
        self.pixels[new.rows], self.labels[new.rows] = new.pixels, new.labels
        self.masks[new.rows] = torch.cat(masks, 1)
        for odds, here in zip(self.odds, (new.labels[:, 0] < 0, new.labels[:, 0] > 0), strict=True):
            odds[new.rows] = (new.weights / self.mean).clamp(max=8).float() * here

    def batch(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Chips (count, 3, S, S) and masks (count, M, S, S) in [0, 1], labels (count, A); the first half is of -1."""
        generator = self.generator
        index = torch.cat(
            [
                torch.multinomial(odds, count // 2, replacement=True, generator=generator)
                for odds in self.odds
            ]
        )
        index = mine(index)
        chips, masks = varied_photos(
            self.pixels[index], self.masks[index], self.augmentation, generator
        )
        return chips, masks, self.labels[index]


def varied_photos(
    pixels: Tensor, masks: Tensor, augmentation: Augmentation, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Chips (B, 3, S, S) and their masks (B, M, S, S), both in [0, 1], cut, moved and recoloured.

    pixels: (B, S, S, 3) uint8 RGB.  masks: (B, M, S, S) uint8.
    """
    count = len(pixels)
    both = torch.cat([pixels.permute(0, 3, 1, 2), masks], 1).float() / 255
    both = seen_through(both, random_rectangle(count, generator, share=augmentation.mirrored))
    both = warp(both, augmentation.affine(count, generator))
    recoloured = color_jitter(2 * both[:, :3] - 1, generator, strength=augmentation.color)
    chips = ((recoloured + 1) / 2).clamp(0, 1)
    return chips.contiguous(memory_format=torch.channels_last), both[:, 3:]


# What must stay as it is next to the smile, by what is edited.
HELD = {
    "gender": ("young", "race"),
    "race": ("young", "gender"),
    "age": ("gender", "race"),
    "groups": ("young", "gender"),
}
# What the tagger must read the same besides: a second reading of gender, and what others take for it.
HELD_TAGS = {
    "age": ("Male", "Heavy_Makeup", "Bushy_Eyebrows", "Arched_Eyebrows"),
    "groups": ("Male", "Heavy_Makeup"),
}


class Preserved:
    """What must stay as it is, read by those that labelled the training photos: the annotator and the tagger."""

    def __init__(self, edited: str, device: str, beard: float = 0.0) -> None:
        self.labeller, self.tagger = (
            FaceReader(load("labeller", device)),
            load("celeba-tagger", device),
        )
        self.column = {name: index for index, name in enumerate(self.labeller.labels)}
        self.smile = self.tagger.spec.labels.index("Smiling")
        self.beard = [self.tagger.spec.labels.index(name) for name in BEARD]
        self.tags = [self.tagger.spec.labels.index(name) for name in HELD_TAGS.get(edited, ())]
        self.held = HELD.get(edited, HELD["race"])
        self.share = beard

    def logits(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S) to (B, 6) logits, or more.

        The two of ``HELD``, race as White less Black, with smiling between; then no beard, stubble and goatee, times
        what these count; then what ``HELD_TAGS`` has.
        """
        chips = chips.clamp(0, 1)
        answers = self.labeller.model.module(normalised(self.labeller.model, chips)).float()
        spec = self.tagger.spec
        mean, std = (chips.new_tensor(v)[:, None, None] for v in (spec.mean, spec.std))
        tags = self.tagger.module((cropped(chips, spec.crop, spec.size) - mean) / std).float()
        read = {
            "young": answers[:, self.column["young"]],
            "gender": answers[:, self.column["masculine"]],
            "race": answers[:, self.column["white"]] - answers[:, self.column["black"]],
        }
        first = torch.stack([read[self.held[0]], tags[:, self.smile], read[self.held[1]]], 1)
        return torch.cat([first, self.share * tags[:, self.beard], tags[:, self.tags]], 1)

    def change(self, before: Tensor, after: Tensor, labels: Tensor) -> Tensor:
        """What changes with the attribute: of each face a little, of all faces of an end on average the more."""
        with torch.no_grad():
            logits = self.logits(before)
        along = (self.logits(after) - logits) * -labels[:, :1]
        means = averaged(torch.stack([half.mean(0) for half in along.chunk(2)]))
        drift = F.smooth_l1_loss(along, torch.zeros_like(along), reduction="none").mean(0).sum() / 3
        return 0.2 * drift + means.square().sum()


def costs_of(
    form: Tensor,
    motion: Tensor,
    masks: Tensor,
    brows: Tensor,
    inner: Tensor,
    face: Tensor,
    colour: float,
) -> dict[str, Tensor]:
    """The terms of the loss of an edit from one end to the other, see ``LossWeights``.

    masks: (B, 1, S, S).  brows: the same, or (B, 0, S, S) if they do not count.
    """
    field = FLIP * form
    moves = FLIP * motion
    weight = field.new_tensor([1.0] + [colour] * (form.shape[1] - 1))[:, None, None]
    centred = field - (field * face).sum((2, 3), keepdim=True) / face.sum()
    squares = (centred.square() * weight).sum(1, keepdim=True) * masks
    within = masks.sum((1, 2, 3)).clamp(min=100)
    face_mask = masks * face
    slow = blurred(field[:, :1], BROAD)
    slow = slow - (slow * face_mask).sum((2, 3), keepdim=True) / face_mask.sum(
        (2, 3), keepdim=True
    ).clamp(min=100)
    at_brows = (field.square() * weight).sum(1, keepdim=True) * brows
    rim = 1 - well_inside(masks) * inner
    rough = [(field.diff(dim=axis).abs() * weight.sqrt()).mean() for axis in (2, 3)]
    steep = [F.relu(moves.diff(dim=axis).abs() - FOLD).square().mean() for axis in (2, 3)]
    return {
        "size": (squares.sum((1, 2, 3)) / within).mean(),
        "rim": ((squares * rim).sum((1, 2, 3)) / (masks * rim).sum((1, 2, 3)).clamp(min=30)).mean(),
        "rough": rough[0] + rough[1],
        "broad": (
            (slow.square() * face_mask).sum((1, 2, 3)) / face_mask.sum((1, 2, 3)).clamp(min=100)
        ).mean(),
        "brows": (at_brows.sum((1, 2, 3)) / brows.sum((1, 2, 3)).clamp(min=30)).mean(),
        "moved": ((moves.square().sum(1, keepdim=True) * masks).sum((1, 2, 3)) / within).mean(),
        "fold": steep[0] + steep[1],
    }
