"""The other end of ``zoo.program``: the process in which a TorchScript program runs, and what both ends speak."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import signal
import socket
import struct
import sys
import time
import warnings
from typing import Any

from gslopes.core.files import read_regular

_MOST = 1 << 30  # bytes of one message
_HEAD = struct.Struct("<I")
_MARGIN = 30  # seconds after which the kernel ends a program that is still running though no process waits for it


def main() -> None:
    """Load one program, then answer until the parent hangs up.  argv: the socket's file handle."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with contextlib.suppress(ConnectionError):
        request, _ = receive(channel)
        try:
            program = _loaded(request)
        except Exception as error:  # a damaged or foreign file may fail in any way
            send(channel, {"error": _first_line(error)}, b"")
            return
        send(channel, {}, b"")
        while True:
            header, data = receive(channel)
            signal.alarm(math.ceil(request["seconds"]) + _MARGIN)
            reply, outputs = _called(program, header["shape"], data, request["device"])
            signal.alarm(0)
            send(channel, reply, outputs)


def _loaded(request: dict[str, Any]) -> Any:
    data = read_regular(request["file"], 16 << 30)
    if hashlib.sha256(data).hexdigest() != request["sha256"]:  # before seconds go into importing torch
        raise ValueError("it has changed since it was looked at")
    import torch

    with warnings.catch_warnings():  # torch.jit is deprecated; the files that people have remain
        warnings.simplefilter("ignore")
        signal.alarm(math.ceil(request["seconds"]) + 20 * _MARGIN)
        program = torch.jit.load(io.BytesIO(data), map_location=request["device"]).eval()
        signal.alarm(0)
    return program


def _called(program: Any, shape: list[int], data: bytes, device: str) -> tuple[dict[str, Any], bytes]:
    import numpy as np
    import torch

    batch = np.frombuffer(data, np.float32).reshape(shape).copy()
    try:
        with torch.inference_mode():
            outputs = program(torch.from_numpy(batch).to(device))
            if not isinstance(outputs, torch.Tensor):
                return {"error": f"it returns {type(outputs).__name__}, not one tensor"}, b""
            found = np.ascontiguousarray(outputs.float().cpu().numpy())
    except Exception as error:  # the program may do anything
        return {"error": _first_line(error)}, b""
    return {"shape": found.shape}, found.tobytes()


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # torch puts the program's traceback first and what went wrong last
    text = (lines[-1] if "Traceback of TorchScript" in str(error) else lines[0]) if lines else type(error).__name__
    return text.rstrip(".")[:300]


# -- what both processes speak ----------------------------------------------------------------------------------------


def send(channel: socket.socket, header: dict[str, Any], data: bytes, ends: float | None = None) -> None:
    """A JSON object and bytes.  ends: monotonic time.  Raises: TimeoutError, OSError."""
    head = json.dumps({**header, "bytes": len(data)}).encode()
    for piece in (_HEAD.pack(len(head)), head, data):
        channel.settimeout(_left(ends))
        channel.sendall(piece)


def receive(channel: socket.socket, ends: float | None = None) -> tuple[dict[str, Any], bytes]:
    """What ``send`` sent.  Raises: TimeoutError, OSError, ValueError, TypeError, KeyError."""
    (size,) = _HEAD.unpack(_exactly(channel, _HEAD.size, ends))
    if size > 1 << 20:
        raise ValueError("a header of over a mebibyte")
    header = json.loads(_exactly(channel, size, ends))
    count = header["bytes"]
    if not isinstance(header, dict) or not isinstance(count, int) or not 0 <= count <= _MOST:
        raise ValueError("no header")
    return header, _exactly(channel, count, ends)


def _exactly(channel: socket.socket, size: int, ends: float | None) -> bytes:
    data = bytearray(size)
    view, place = memoryview(data), 0
    while place < size:
        channel.settimeout(_left(ends))
        count = channel.recv_into(view[place:])
        if not count:
            raise ConnectionError("the other process has ended")
        place += count
    return bytes(data)


def _left(ends: float | None) -> float | None:
    if ends is None:
        return None
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
