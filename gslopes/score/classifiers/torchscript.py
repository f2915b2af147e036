"""``torchscript:FILE``: a model of the user's own that torch.jit saved, with a labels file and a preprocessing spec.

For example ``torchscript:model.pt,labels=labels.txt,size=224,activation=softmax,top_k=5,std=0.229/0.224/0.225``. The
program in the file takes a batch of pictures and returns one row of outputs each.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.reasons import Reason
from gslopes.core.records import Answer, ByteArray
from gslopes.score.classifiers.model_file import (
    ACTIVATIONS,
    ModelFileOptions,
    choose,
    digest_of,
    existing,
    read_labels,
)
from gslopes.score.pictures import batch_of, normalise


class TorchScriptClassifier:
    """A ``records.Classifier`` over a TorchScript program, batched on the device.

    Raises: ModelError if a file is missing or does not fit the other; ConfigError if the preprocessing does not fit.
    """

    Options = ModelFileOptions
    cached = True
    batch = 32

    def __init__(self, name: str, options: ModelFileOptions, device: str = "cpu") -> None:
        self.name = name
        self._options = options
        self._device = device
        if not options.size:
            raise ConfigError("A TorchScript file does not declare its picture size.", "Give size=PIXELS.")
        file, labels = existing(options.file, "model"), existing(options.labels, "labels file")
        self.labels = read_labels(labels)
        self.version = digest_of([file, labels])
        self._module = self._load(str(file))
        self._try_out()

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to one list of outputs each, before the activation.

        Raises: PhotoError if a picture cannot be decoded.
        """
        return list(self._run(batch_of(pictures, self._options.size)).tolist())

    def parse(self, raw: object) -> Answer:
        """Outputs to labels; an output that is no finite number fails the picture."""
        outputs = np.asarray(raw, np.float64)
        if not np.isfinite(outputs).all():
            return Answer("failed", (), Reason.NOT_FINITE)
        scores = ACTIVATIONS[self._options.activation](outputs)
        return Answer("answered", choose(self.labels, scores, self._options.threshold, self._options.top_k))

    def _load(self, file: str) -> Any:
        import torch

        with warnings.catch_warnings():  # torch.jit is deprecated; the files that people have remain
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            try:
                return torch.jit.load(file, map_location=self._device).eval()
            except (RuntimeError, ValueError, OSError) as error:
                first = str(error).strip().splitlines()[0].rstrip(".")
                raise ModelError(
                    f"torch cannot load {file}: {first}.", "It is what torch.jit.save has written."
                ) from None

    def _run(self, batch: ByteArray) -> NDArray[np.float32]:
        import torch

        options = self._options
        ordered = batch[..., ::-1] if options.channels == "bgr" else batch
        values = normalise(ordered, options.mean, options.std, white=options.white, layout=options.layout)
        with torch.inference_mode():
            outputs = self._module(torch.from_numpy(values).to(self._device))
        return np.asarray(outputs.float().cpu().numpy()).reshape(len(batch), -1)

    def _try_out(self) -> None:
        """Ask about a gray picture, so that a misfit is found before any work."""
        size, file = self._options.size, self._options.file
        try:
            outputs = self._run(np.full((1, size, size, 3), 128, np.uint8))[0]
        except Exception as error:  # the program may do anything
            first = (str(error).strip().splitlines() or [type(error).__name__])[-1].rstrip(".")
            message = f"The model {file} does not take a picture of {size} pixels: {first}."
            raise ModelError(message, "Check its size and layout.") from None
        if len(outputs) != len(self.labels):
            raise ModelError(
                f"The model {file} has {len(outputs)} outputs, {self._options.labels} has {len(self.labels)} labels.",
                "The labels file holds one label a line, in the order of the outputs.",
            )
        if self._options.activation == "none" and not ((outputs >= -1e-6) & (outputs <= 1 + 1e-6)).all():
            message = f"The model {file} answers {outputs.min():.3g} to {outputs.max():.3g}, not in [0, 1]."
            raise ConfigError(message, "Give activation=sigmoid (independent labels) or softmax (one of many).")
