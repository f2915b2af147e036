"""``torchscript:FILE``: a model of the user's own that torch.jit saved, with a labels file and a preprocessing spec.

For example ``torchscript:model.pt,labels=labels.txt,size=224,activation=softmax,top_k=5,std=0.229/0.224/0.225``. The
program in the file takes a batch of pictures and returns one row of outputs each.

Such a file is a program, not only weights: it runs with your rights. So it is asked for first (``core.trust``), and it
runs in a process of its own (``zoo.program``). The same model as an ONNX file needs neither.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.reasons import Reason
from gslopes.core.records import Answer, ByteArray
from gslopes.core.trust import Trust
from gslopes.score.classifiers.model_file import (
    ACTIVATIONS,
    TorchScriptOptions,
    check_outputs,
    choose,
    digest_of,
    existing,
    read_labels,
)
from gslopes.score.pictures import batch_of, normalise
from gslopes.zoo.program import Program, ProgramError


class TorchScriptClassifier:
    """A ``records.Classifier`` over a TorchScript program, batched on the device.

    Raises: UsageError if it is not trusted; ModelError if a file is missing or does not fit the other; ConfigError if
        the preprocessing does not fit.
    """

    Options = TorchScriptOptions
    runs_code = True
    cached = True
    batch = 32

    def __init__(self, name: str, options: TorchScriptOptions, device: str = "cpu", trust: Trust | None = None) -> None:
        self.name = name
        self._options = options
        if not options.size:
            raise ConfigError("A TorchScript file does not declare its picture size.", "Give size=PIXELS.")
        file, labels = existing(options.file, "model"), existing(options.labels, "labels file")
        self.labels = read_labels(labels)
        self.version = digest_of([file, labels])
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        (trust or Trust()).require(file, digest)
        self._program = Program(file, digest, device, options.time_limit)
        self._try_out()

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to one list of outputs each, before the activation.

        Raises: PhotoError if a picture cannot be decoded.
        """
        return list(self._run(batch_of(pictures, self._options.size)).tolist())

    def parse(self, raw: object) -> Answer:
        """Outputs to labels; an output that is not a finite number fails the picture."""
        outputs = np.asarray(raw, np.float64)
        if not np.isfinite(outputs).all():
            return Answer("failed", (), Reason.NOT_FINITE)
        scores = ACTIVATIONS[self._options.activation](outputs)
        return Answer("answered", choose(self.labels, scores, self._options.threshold, self._options.top_k))

    def _run(self, batch: ByteArray) -> NDArray[np.float32]:
        options = self._options
        ordered = batch[..., ::-1] if options.channels == "bgr" else batch
        values = normalise(ordered, options.mean, options.std, white=options.white, layout=options.layout)
        outputs = self._program(values)
        if not outputs.ndim or outputs.size % len(batch):
            raise ProgramError(f"The model {options.file} answers {len(batch)} pictures with shape {outputs.shape}.")
        return outputs.reshape(len(batch), -1)

    def _try_out(self) -> None:
        """Ask about a gray picture, so that a misfit is found before any work."""
        size, file = self._options.size, self._options.file
        try:
            outputs = self._run(np.full((1, size, size, 3), 128, np.uint8))[0]
        except ProgramError as error:
            message = f"The model {file} does not take a picture of {size} pixels. {error.message}"
            raise ModelError(message, "Check its size and layout.") from None
        check_outputs(outputs, self.labels, self._options)
