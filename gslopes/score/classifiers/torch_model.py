"""What the classifiers over a torch library share: a module, its own preprocessing, its labels, a rule of presence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.records import Answer, ByteArray
from gslopes.score.classifiers.model_file import (
    ACTIVATIONS,
    check_presence,
    choose,
    existing,
    never_varies,
    presence,
    read_labels,
    unlike_pictures,
)
from gslopes.score.names import ARGUMENT
from gslopes.score.pictures import decoded

BATCH = 32
_TRIED = 256  # pixels, side of the pictures that a model is tried out with
SMALL, FEW = 1e-4, 100  # labels below this score are kept only if they are among this many, the highest


@dataclass(frozen=True, slots=True)
class LibraryOptions:
    """A model of a library, by its name there.

    model: the name.
    weights: a file with a state dict (.safetensors, or .pth that holds tensors alone); empty: the library's own, from
        its hub.
    labels: a text file, one label a line, in the order of the outputs; empty: the model's own.
    top_k, threshold: which labels count as returned, see ``model_file.presence``.
    activation: what makes scores of the outputs: ``softmax`` (one of many) or ``sigmoid`` (independent labels).
    """

    model: str = field(metadata=ARGUMENT)
    weights: str = ""
    labels: str = ""
    top_k: int | None = None
    threshold: float | None = None
    activation: Literal["softmax", "sigmoid"] = "softmax"

    def __post_init__(self) -> None:
        check_presence(self.top_k, self.threshold)


class TorchModel:
    """A ``records.Classifier`` over a torch module, batched on the device.

    module: (B, 3, H, W) to (B, L).  transform: a PIL picture to (3, H, W).  labels: L of them.
    options: with ``top_k`` and ``threshold``.  activation: what makes scores of the outputs.
    """

    cached = True
    batch = BATCH

    def __init__(
        self,
        name: str,
        version: str,
        module: Any,
        transform: Callable[[Any], Any],
        labels: Sequence[str],
        options: Any,
        activation: str,
        device: str,
    ) -> None:
        self.name = name
        self.version = version
        self.labels = unique(labels)
        self._module = module.eval().to(device)
        self._transform = transform
        self._threshold, self._top_k = presence(options.top_k, options.threshold, activation)
        self._activation = ACTIVATIONS[activation]
        self._device = device
        self.notes: list[str] = []  # what a user should know, one sentence each

    def prepare(self) -> None:
        """Ask about three pictures that look nothing alike; a note if the answers are the same.

        Raises: ModelError if the outputs do not fit the labels.
        """
        from PIL import Image

        rows = self._logits([Image.fromarray(pixels) for pixels in unlike_pictures(_TRIED)])
        scores = np.stack([self._activation(row) for row in rows])
        note = never_varies(self.name, scores, "what its own preprocessing makes of a picture")
        self.notes = [note] if note else []

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to [number of the label, score] pairs each, highest first.

        Raises: PhotoError if a picture cannot be decoded; ModelError if the outputs do not fit the labels.
        """
        from PIL import Image

        return [self._pairs(row) for row in self._logits([Image.fromarray(pixels) for pixels in decoded(pictures)])]

    def sent(self, picture: bytes) -> tuple[str, ByteArray]:
        """What the module is sent for an encoded picture: in words, and (H, W, 3) uint8, its range stretched."""
        from PIL import Image

        values = np.asarray(self._transform(Image.fromarray(decoded([picture])[0])), np.float32)
        low, high = float(values.min()), float(values.max())
        channels_first = values.shape[0] == 3
        pixels = values.transpose(1, 2, 0) if channels_first else values
        height, width = pixels.shape[:2]
        place = "first" if channels_first else "last"
        words = f"{width} x {height} float32, RGB before its preprocessing, channels {place}, {low:.3g} to {high:.3g}"
        return words, ((pixels - low) * (255 / max(high - low, 1e-9))).astype(np.uint8)

    def _logits(self, images: Sequence[Any]) -> Any:
        """PIL pictures to (B, L) outputs.  Raises: ModelError if they do not fit the labels."""
        import torch

        with torch.inference_mode():
            outputs = self._forward(torch.stack([self._transform(image) for image in images]).to(self._device))
            logits = outputs.double().cpu().numpy()
        if logits.shape != (len(images), len(self.labels)):
            raise ModelError(
                f"{self.name} has {logits.shape[-1]} outputs and {len(self.labels)} labels.",
                "Give labels=FILE, one label per line, in the order of the outputs.",
            )
        return logits

    def parse(self, raw: object) -> Answer:
        """Pairs to the labels that count as returned."""
        pairs = cast("list[tuple[int, float]]", raw)
        labels = [self.labels[number] for number, _ in pairs]
        scores = np.array([score for _, score in pairs], np.float64)
        return Answer("answered", choose(labels, scores, self._threshold, self._top_k))

    def _forward(self, batch: Any) -> Any:
        return self._module(batch)

    def _pairs(self, logits: Any) -> list[list[float]]:
        scores = np.round(self._activation(logits), 7)
        order = np.argsort(-scores, kind="stable")
        few = max(FEW, self._top_k)
        least = min(SMALL, self._threshold or SMALL)
        return [[int(i), float(scores[i])] for rank, i in enumerate(order) if rank < few or scores[i] >= least]


def labels_of(options: LibraryOptions, of_model: Sequence[str]) -> tuple[str, ...]:
    """Those of the user's file, else the model's own.

    Raises: ConfigError if there are none.
    """
    if options.labels:
        return read_labels(existing(options.labels, "labels file"))
    if not of_model:
        raise ConfigError(f"The labels of {options.model} are not known.", "Give labels=FILE with one label per line.")
    return tuple(of_model)


def unique(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels that occur twice get their number: ImageNet has two cranes.

    >>> unique(["crane", "owl", "crane"])
    ('crane', 'owl', 'crane (2)')
    """
    seen: Counter[str] = Counter()
    named = []
    for label in labels:
        seen[label] += 1
        named.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(named)
