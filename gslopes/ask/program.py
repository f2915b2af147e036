"""TorchScript programs. They run with the user's rights, which is why ``ask.trust`` is asked before one is loaded."""

from __future__ import annotations

import hashlib
import io
import warnings
from pathlib import Path

import numpy as np

from gslopes.core.errors import ClassifierError, ModelError
from gslopes.core.files import read_named
from gslopes.core.records import FloatArray
from gslopes.core.runfolder import show

_LARGEST = 16 << 30  # bytes of a file


class ProgramError(ClassifierError):
    """The program raised an error on some input; it goes on with others."""


class Program:
    """A loaded program, called as a function from (N, ...) float32 to its output as float32.

    file: what torch.jit.save wrote.  sha256: of its bytes, as they were trusted; other bytes are not run.
    device: ``cpu`` or ``cuda[:N]``.

    Raises: ModelError if it cannot be loaded; in a call ProgramError if the program fails on this input.
    """

    def __init__(self, file: Path, sha256: str, device: str = "cpu") -> None:
        import torch

        self._file, self._device = file, device
        data = read_named(file, _LARGEST, raises=ModelError)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ModelError(f"{show(file)} has changed since it was looked at.", "Run the same command again.")
        try:
            with warnings.catch_warnings():  # torch.jit is deprecated; the files that people have remain
                warnings.simplefilter("ignore")
                self._program = torch.jit.load(io.BytesIO(data), map_location=device).eval()
        except Exception as error:  # a damaged or foreign file may fail in any way
            message = f"{show(file)} cannot be loaded: {_one_line(error)}."
            raise ModelError(message, "It is what torch.jit.save has written.") from None

    def __call__(self, batch: FloatArray) -> FloatArray:
        """(N, ...) float32 to the output, float32 of any shape."""
        import torch

        values = torch.from_numpy(np.array(batch, np.float32))  # a copy: a program may write into it
        try:
            with torch.inference_mode():
                outputs = self._program(values.to(self._device))
                if not isinstance(outputs, torch.Tensor):
                    raise TypeError(f"it returns {type(outputs).__name__}, not one tensor")
                return np.asarray(outputs.float().cpu().numpy())
        except Exception as error:  # the program may do anything
            raise ProgramError(f"The program in {show(self._file)} failed: {_one_line(error)}.") from None


def _one_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # torch puts the program's traceback first and what went wrong last
    text = (lines[-1] if "Traceback of TorchScript" in str(error) else lines[0]) if lines else type(error).__name__
    return text.rstrip(".")[:300]
