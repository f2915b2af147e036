"""``torchscript:FILE``: a model of the user's own that torch.jit saved, with a labels file and a preprocessing spec.

For example ``torchscript:model.pt,labels=labels.txt,size=224,activation=softmax,top_k=5,std=0.229/0.224/0.225``. The
program in the file takes a batch of pictures and returns one row of outputs each.

Such a file is a program, not only weights: it runs with your rights. So you are asked first (``core.trust``). The same
model as an ONNX file needs no trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError
from gslopes.core.files import sha256_of
from gslopes.score.classifiers.model_file import ModelFile, ModelFileOptions

if TYPE_CHECKING:
    from gslopes.core.trust import Trust


class TorchScriptClassifier(ModelFile):
    """A ``records.Classifier`` over a TorchScript program, batched on the device.

    Raises: UsageError if it is not trusted; as ``ModelFile``.
    """

    runs_code = True

    def __init__(self, name: str, options: ModelFileOptions, device: str = "cpu", trust: Trust | None = None) -> None:
        from gslopes.core.trust import Trust
        from gslopes.zoo.program import Program

        if not options.size:
            raise ConfigError("A TorchScript file does not declare its picture size.", "Give size=PIXELS.")
        super().__init__(name, options)
        digest = sha256_of(self._file)
        (trust or Trust()).require(self._file, digest)
        self._program = Program(self._file, digest, device)
        self._try_out()

    def _run(self, values: NDArray[np.float32]) -> NDArray[Any]:
        from gslopes.zoo.program import ProgramError

        outputs = self._program(values)
        if not outputs.ndim or outputs.size % len(values):
            shape = outputs.shape
            raise ProgramError(f"The model {self._options.file} answers {len(values)} pictures with shape {shape}.")
        return outputs
