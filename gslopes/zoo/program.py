"""A TorchScript program in a process of its own: what it does to that process, it does not do to ours.

The process gets no environment variable but those that the libraries need, no open file, no terminal; every question
has a time limit. Pictures and outputs travel as bare float32 numbers: nothing that comes back is unpickled. The process
still runs with the user's rights, which is why ``core.trust`` is asked before.
"""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.core.errors import ClassifierError, ModelError
from gslopes.core.records import FloatArray
from gslopes.core.runfolder import show
from gslopes.zoo.program_child import receive, send

LOAD_LIMIT = 600.0  # seconds to import torch and to load the file, on a busy machine
TIME_LIMIT = 120.0  # seconds for one batch
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_FAMILIES = ("CUDA_", "NVIDIA_", "OMP_", "MKL_", "OPENBLAS_", "PYTORCH_")
_CHILD = "from gslopes.zoo.program_child import main; main()"


class ProgramError(ClassifierError):
    """The program raised an error on some input; it goes on with others."""


class Program:
    """A loaded program, called as a function from (N, ...) float32 to its output as float32.

    file: what torch.jit.save wrote.  sha256: of its bytes, as they were trusted; other bytes are not run.
    device: ``cpu`` or ``cuda[:N]``.  time_limit: seconds for one call.

    Raises: ModelError if it cannot be loaded; in a call ProgramError if the program fails on this input, ModelError if
        it does not answer in time or its process ended.
    """

    def __init__(self, file: Path, sha256: str, device: str = "cpu", time_limit: float = TIME_LIMIT) -> None:
        self._file, self._limit = file, time_limit
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        handle = theirs.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD, str(handle)],
            pass_fds=[handle],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )
        theirs.close()
        self.close = weakref.finalize(self, _end, self._process, self._socket)
        request = {"file": str(file.resolve()), "sha256": sha256, "device": device, "seconds": time_limit}
        reply, _ = self._exchange(request, b"", LOAD_LIMIT, "load")
        if "error" in reply:
            self.close()
            raise ModelError(
                f"{show(file)} cannot be loaded: {reply['error']}.", "It is what torch.jit.save has written."
            )

    def __call__(self, batch: FloatArray) -> FloatArray:
        """(N, ...) float32 to the output, float32 of any shape."""
        values = np.ascontiguousarray(batch, dtype=np.float32)
        reply, data = self._exchange({"shape": values.shape}, values.tobytes(), self._limit, "answer")
        if "error" in reply:
            raise ProgramError(f"The program in {show(self._file)} failed: {reply['error']}.")
        shape = tuple(int(side) for side in reply["shape"])
        if len(data) != 4 * math.prod(shape):
            raise self._ended("sent what is no answer")
        return np.frombuffer(data, dtype=np.float32).reshape(shape)

    def _exchange(self, request: dict[str, Any], data: bytes, limit: float, what: str) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            if not self.close.alive:
                raise self._ended("has ended")
            ends = time.monotonic() + limit
            try:
                send(self._socket, request, data, ends)
                return receive(self._socket, ends)
            except TimeoutError:
                raise self._ended(
                    f"did not {what} within {limit:g} seconds",
                    "Give it more with time_limit=SECONDS, or check the file.",
                ) from None
            except (OSError, ValueError, TypeError, KeyError, RecursionError):  # whatever a broken process sends
                self._process.poll()
                raise self._ended(f"ended its process while it was to {what}{self._why()}") from None

    def _why(self) -> str:
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return ""
        if code >= 0:
            return f" (exit code {code})"
        names = {one.value: one.name for one in signal.Signals}
        return f" ({names.get(-code, f'signal {-code}')})"

    def _ended(self, what: str, hint: str = "Check the file, or use the same model as onnx:FILE.") -> ModelError:
        self.close()
        return ModelError(f"The program in {show(self._file)} {what}.", hint)


# -- the process ---------------------------------------------------------------------------------------------------


def _environment() -> dict[str, str]:
    """Without credentials; the module path is ours, without the working folder."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_FAMILIES)}
    return {**kept, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path)}


def _end(process: subprocess.Popen[bytes], channel: socket.socket) -> None:
    channel.close()
    process.kill()
    process.wait()
