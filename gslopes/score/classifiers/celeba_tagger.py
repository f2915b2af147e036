"""``celeba-tagger``: the 40 attributes of CelebA, by a small network of ours.

It sees what a commercial service sees, a whole photo, and is no better than its training: aligned CelebA faces.  Its
labels are other people's judgements of a face ("Attractive", "Male"), never facts about the person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.records import Answer
from gslopes.score.pictures import batch_of, normalise


@dataclass(frozen=True, slots=True)
class TaggerOptions:
    """threshold: a label is returned where its sigmoid is at least this, in [0, 1]."""

    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"celeba-tagger's threshold is in [0, 1], not {self.threshold}.")


class CelebaTagger:
    """A ``records.Classifier`` over the zoo's tagger.

    Raises: ModelError if the weights are missing, damaged or of another kind.
    """

    Options = TaggerOptions
    batch = 32

    def __init__(self, name: str, options: TaggerOptions, device: str = "cpu") -> None:
        from gslopes import zoo  # torch is imported here, not when classifiers are listed

        loaded = zoo.load("celeba-tagger", device)
        if loaded.spec.network != "tagger" or not loaded.spec.labels:
            raise ModelError(f"The model celeba-tagger is a {loaded.spec.network}, not a tagger with labels.")
        self.name = name
        self.version = loaded.sha256
        self.labels = tuple(loaded.spec.labels)
        self._options = options
        self._device = device
        self._spec = loaded.spec
        self._module = loaded.module.eval()

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to one list of 40 logits each.

        Raises: PhotoError if a picture cannot be decoded.
        """
        import torch

        batch = normalise(batch_of(pictures, self._spec.size), self._spec.mean, self._spec.std)
        with torch.inference_mode():
            logits = self._module(torch.from_numpy(batch).to(self._device))
        return list(logits.float().cpu().numpy().tolist())

    def parse(self, raw: object) -> Answer:
        """40 logits to the labels whose sigmoid reaches the threshold."""
        logits = np.asarray(cast("list[float]", raw), np.float64)
        shares = 0.5 * (1 + np.tanh(logits / 2))  # the sigmoid, without overflow at either end
        pairs = zip(self.labels, shares.tolist(), strict=True)
        return Answer("answered", tuple((label, share) for label, share in pairs if share >= self._options.threshold))
