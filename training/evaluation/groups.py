"""An editor of named ends on held-out faces: are they read as the end, what else moves, and who is it then?

Whether a face is read as an end is asked of a reader made for it: logistic regression on what the judge's network sees,
which shares no photo and no weight with the editor, fitted to the labels of the photos that the editor learned from.
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
from gslopes.faces.gate import manipulation
from gslopes.faces.networks.edit_field import EditGroups
from gslopes.faces.networks.tagger import Tagger
from gslopes.faces.zoo import LoadedModel, load
from gslopes.faces.zoo.reader import FaceReader, normalised
from training.data import made
from training.group_field import pasted, retoned
from training.group_sets import OTHERS
from training.masks import group_masks
from training.measure import cell
from training.recipe import plan_of
from training.sets import TrainingSet

Table = dict[str, dict[str, Any]]
BATCH = 16
READER_STEPS = 300  # of the regression, on all photos at once
DECAY = 1e-3  # of its weights: few photos, 192 features


def evaluate_groups(
    model: LoadedModel, data: Path, most: int | None, device: str
) -> tuple[str, dict[str, Table]]:
    """The tables of an editor's card, on chips.  most: held-out photos, all by default.  Raises: DataMissing."""
    spec = model.spec
    everything = made(plan_of(spec).set, spec, data, device)
    learned = everything.part(~everything.held_out)
    aside = np.flatnonzero(everything.held_out)
    held = everything.part(np.random.default_rng(0).permutation(aside)[:most])
    reader = EndReader(learned, len(spec.ends), device)
    edited = edited_chips(model, held, device)
    tables = {
        "what it edits": edits_table(spec.ends, held, edited, reader),
        "what else moves": others_table(spec.ends, held, edited, device),
    }
    note = (
        f"Measured on {len(held.pixels)} held-out photos, composited into aligned chips. Ends are read by a regression "
        "on what the judge's network sees; the judge shares no photo or weight with the editor. In brackets 95 % "
        "bootstrap intervals over photos."
    )
    return note, {"reached": reached(tables), **tables}


class EndReader:
    """Reads which of E ends a face is of.  learned: the photos that it is fitted to.  device: where it runs."""

    def __init__(self, learned: TrainingSet, ends: int, device: str) -> None:
        self.judge = load("judge", device)
        self.network = cast(Tagger, self.judge.module)
        self.device = device
        seen = self._features(learned.pixels)
        self.mean, self.std = seen.mean(0), seen.std(0).clamp(min=1e-6)
        x = (seen - self.mean) / self.std
        truth = torch.from_numpy(learned.labels[:, :ends].argmax(1)).to(device)
        odds = torch.from_numpy(learned.weights).to(x)
        weight = odds / odds.sum()
        self.matrix = torch.zeros(x.shape[1] + 1, ends, device=x.device, requires_grad=True)
        optimiser = torch.optim.Adam([self.matrix], 0.05)
        for _ in range(READER_STEPS):
            losses = F.cross_entropy(self._logits(x), truth, reduction="none")
            loss = (weight * losses).sum() + DECAY * self.matrix[:-1].square().sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    @torch.inference_mode()
    def __call__(self, pixels: ByteArray) -> NDArray[np.float32]:
        """Chips (n, S, S, 3) uint8 RGB to probabilities (n, E)."""
        x = (self._features(pixels) - self.mean) / self.std
        return self._logits(x).softmax(1).cpu().numpy()

    def _logits(self, x: Tensor) -> Tensor:
        return x @ self.matrix[:-1] + self.matrix[-1]

    @torch.no_grad()
    def _features(self, pixels: ByteArray) -> Tensor:
        parts = []
        for start in range(0, len(pixels), 64):
            chips = torch.from_numpy(np.array(pixels[start : start + 64])).to(self.device)
            faces = normalised(self.judge, chips.permute(0, 3, 1, 2).float() / 255)
            network = self.network
            parts.append(network.blocks(network.stem(faces)).mean((2, 3)))
        return torch.cat(parts)


@torch.inference_mode()
def edited_chips(model: LoadedModel, held: TrainingSet, device: str) -> ByteArray:
    """Chips (n, S, S, 3) of known ends to composites at each, (n, E, S, S, 3) uint8 RGB."""
    network = cast(EditGroups, model.module)
    ends = len(model.spec.ends)
    masks = group_masks(held.pixels, device)
    own = torch.from_numpy(held.labels[:, :ends].argmax(1)).to(device)
    out = np.empty((len(held.pixels), ends, *held.pixels.shape[1:]), np.uint8)
    for start in range(0, len(own), BATCH):
        rows = slice(start, start + BATCH)
        pixels = torch.from_numpy(np.array(held.pixels[rows])).to(device)
        x = pixels.permute(0, 3, 1, 2).float() / 255
        mask, _, skin = (masks[rows].to(device).float() / 255).split(1, 1)
        ratios, motions = network(2 * x - 1)
        for end in range(ends):
            goal = torch.full_like(own[rows], end)
            tones = network.config.tones
            _, edits = retoned(ratios[:, end], x, skin, own[rows], goal, tones)
            picture = pasted(x, mask, edits, motions[:, end])
            levels = (255 * picture.clamp(0, 1)).round().byte()
            out[rows, end] = levels.permute(0, 2, 3, 1).cpu().numpy()
    return out


def edits_table(
    names: tuple[str, ...], held: TrainingSet, edited: ByteArray, reader: EndReader
) -> Table:
    """How photos of the other ends are read before and at each end, and how often its own photos are read so."""
    before = reader(held.pixels)
    after = np.stack([reader(edited[:, end]) for end in range(len(names))], 1)  # (n, at, read as)
    own = held.labels[:, : len(names)].argmax(1)
    table: Table = {}
    for end, name in enumerate(names):
        others = own != end
        largest = (after[others, end].argmax(1) == end).astype(float)
        right = (before[~others].argmax(1) == end).astype(float)
        table[name] = {
            "faces of others": int(others.sum()),
            "read so before": cell(manipulation.mean(before[others, end])),
            "read so after": cell(manipulation.mean(after[others, end, end])),
            "rise": cell(manipulation.mean(after[others, end, end] - before[others, end])),
            "largest after": cell(manipulation.mean(largest)),
            "its own photos read so": cell(manipulation.mean(right)),
        }
    return table


def others_table(
    names: tuple[str, ...], held: TrainingSet, edited: ByteArray, device: str
) -> Table:
    """How the judge's readings of gender, age and smile change on the way to each end."""
    judge = FaceReader.load(device)
    own = held.labels[:, : len(names)].argmax(1)
    labels = dict(zip(OTHERS, ("masculine", "young", "smiling"), strict=True))
    before = judge(held.pixels)
    table: Table = {}
    for end, name in enumerate(names):
        others = own != end
        read = judge(edited[others, end])
        table[name] = {
            what: cell(manipulation.mean(read[label] - before[label][others]))
            for what, label in labels.items()
        }
    return table


def reached(tables: dict[str, Table]) -> Table:
    """The rows of the card."""
    rows: dict[str, Any] = {}
    for name, row in tables["what it edits"].items():
        rows[f"read as {name}, faces of the others, before"] = row["read so before"]
        rows[f"read as {name}, faces of the others, after"] = row["read so after"]
    return {what: {"number": number} for what, number in rows.items()}
