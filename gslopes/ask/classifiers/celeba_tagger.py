"""``celeba-tagger``: the 40 attributes of CelebA, by a small network of ours.

It is sent what a commercial service is sent, a whole photo. It looks for the face nearest the centre by itself, frames
it as CelebA frames its faces, hair and shoulders in view, and refuses a photo in which it finds none. Its labels are
other people's judgements of a face ("Attractive", "Male"), never facts about the person.
"""

from functools import cached_property
from typing import Any

import numpy as np

from gslopes.ask.boxes import fitted
from gslopes.ask.classifiers.model_file import ACTIVATIONS
from gslopes.ask.names import Bounded
from gslopes.ask.pictures import decoded, normalise
from gslopes.core import ModelError, Reason, Traits, frozen, pick_device
from gslopes.core.records import Answer, ByteArray, Files, Raws

# Pixels: side of the picture in which faces are detected, at most, and of the smallest face.
LOOK = 640
MIN_FACE = 20


@frozen
class TaggerOptions(Bounded):
    """threshold: a label is returned if its sigmoid is at least this, in [0, 1]."""

    threshold: float = 0.5


class CelebaTagger:
    """A ``records.Classifier`` over the zoo's tagger; torch is imported when it is first asked, not before.

    Raises: ModelError if the weights are missing, damaged or of another kind.
    """

    Options = TaggerOptions
    batch = 32

    def __init__(self, name: str, options: TaggerOptions, device: str = "cpu") -> None:
        from gslopes.faces.zoo import identify
        from gslopes.faces.zoo.framing import FRAMES

        spec, self.version = identify("celeba-tagger")
        self._spec = spec
        if spec.network != "tagger" or not spec.labels:
            raise ModelError(
                f"The model celeba-tagger is a {spec.network}, not a tagger with labels."
            )
        self.name = name
        self.traits = Traits(cached=True, labels=spec.labels, prepares=True)
        self._template = FRAMES[spec.crop] * spec.size - 0.5
        self._options = options
        self._device = device

    def prepare(self) -> None:
        """Build the networks.  Raises: UsageError if the device is not there; ModelError."""
        _ = self._networks

    @cached_property
    def _networks(self) -> tuple[Any, Any]:
        """The tagger and the detector."""
        from gslopes.faces import zoo
        from gslopes.faces.networks.mtcnn import Mtcnn

        self._device = pick_device(self._device)
        module = zoo.load("celeba-tagger", self._device).module
        return module.eval(), Mtcnn(MIN_FACE).to(self._device)

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to one list of 40 logits each, None without a face.

        Raises: PhotoError if a picture cannot be decoded.
        """
        import torch

        faces = self._faces(decoded(pictures))
        framed = [face for face in faces if face is not None]
        if not framed:
            return [None] * len(pictures)
        batch = torch.from_numpy(normalise(np.stack(framed), self._spec.mean, self._spec.std)).to(
            self._device
        )
        with torch.inference_mode():
            logits = iter(self._networks[0](batch).float().cpu().numpy().tolist())
        return [None if face is None else next(logits) for face in faces]

    def _faces(self, pictures: list[ByteArray]) -> list[ByteArray | None]:
        from gslopes.core.geometry import similarity, warp

        small = [fitted(one, min(LOOK, max(one.shape[:2])), "area") for one in pictures]
        framed: list[ByteArray | None] = []
        faces = self._networks[1](small)
        for picture, look, detected in zip(pictures, small, faces, strict=True):
            scale = max(look.shape[:2]) / max(picture.shape[:2])
            matrix = None
            if len(detected.scores):
                centres = (detected.boxes[:, :2] + detected.boxes[:, 2:]) / 2
                middle = np.array([look.shape[1] - 1, look.shape[0] - 1]) / 2
                nearest = int(np.argmin(((centres - middle) ** 2).sum(1)))
                matrix = similarity((detected.points[nearest] + 0.5) / scale - 0.5, self._template)
            framed.append(None if matrix is None else warp(picture, matrix, self._spec.size))
        return framed

    def parse(self, raw: object) -> Answer:
        """40 logits to the labels whose sigmoid reaches the threshold; without a face none."""
        if raw is None:
            return Answer("refused", (), Reason.NO_FACE)
        shares = ACTIVATIONS["sigmoid"](np.asarray(raw, np.float64))
        pairs = zip(self.traits.labels, shares.tolist(), strict=True)
        labels = tuple((label, share) for label, share in pairs if share >= self._options.threshold)
        return Answer("answered", labels)
