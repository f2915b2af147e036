"""What a result depends on in addition to the configuration: seeds, versions, the device.

This package is below those that must never need torch, so torch is imported by name, and only when asked for.
"""

import ctypes
import gc
import os
import platform
import re
import sys
from functools import cache
from importlib import import_module, metadata
from typing import Any

from gslopes.core.errors import UsageError

PACKAGES = (
    "torch",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "pillow",
    "opencv-contrib-python-headless",
    "facenet-pytorch",
    "onnxruntime",
)


@cache
def gslopes_version() -> str:
    """The installed version, or the checkout's with ``+checkout`` if the package is not installed."""
    try:
        return metadata.version("gslopes")
    except metadata.PackageNotFoundError:
        return "0.1.0+checkout"


@cache
def versions() -> dict[str, str]:
    """Versions of everything that can move a number; packages that are not installed are left out. Imports nothing."""
    versions_by_name = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in PACKAGES:
        try:
            versions_by_name[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions_by_name


def limit_threads(threads: int) -> None:
    """As many threads for torch and OpenCV in this process, if they are in use."""
    for module, function in (("torch", "set_num_threads"), ("cv2", "setNumThreads")):
        if module in sys.modules:
            getattr(sys.modules[module], function)(threads)


_opencv_threads: list[int] = []  # of the process that forks, meanwhile


def _before_fork() -> None:
    """End OpenCV's threads: a child that changes their number waits forever for those that it does not have."""
    if "cv2" in sys.modules:
        _opencv_threads.append(sys.modules["cv2"].getNumThreads())
        sys.modules["cv2"].setNumThreads(1)


def _after_fork() -> None:
    if _opencv_threads:
        sys.modules["cv2"].setNumThreads(_opencv_threads.pop())


# torch in a fork waits for threads that only its parent has
os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork, after_in_child=lambda: limit_threads(1)
)


def check_device(device: str) -> str:
    """Whether this is the word for a device, without looking for it; returns its number, empty without one.

    Raises: UsageError for another word.
    """
    match = re.fullmatch(r"auto|cpu|cuda(?::(\d+))?", device)
    if match is None:
        raise UsageError(f"There is no device named {device!r}.", "Use auto, cpu, cuda or cuda:N.")
    return match[1] or ""


def pick_device(device: str = "auto") -> str:
    """The torch device to use: ``cpu``, ``cuda`` or ``cuda:N``; ``auto`` is the first CUDA device if there is one.

    Raises: UsageError for another word, or for a CUDA device that is not there.
    """
    index = check_device(device)
    if device == "cpu":
        return device
    cuda: Any = import_module("torch").cuda
    count = cuda.device_count() if cuda.is_available() else 0
    if device == "auto":
        if count:
            return "cuda"
        return "cpu"
    if int(index or 0) >= count:
        has = (
            f"{count} CUDA device{'s' * (count != 1)}"
            if count
            else "no CUDA device that torch can use"
        )
        raise UsageError(
            f"{device!r} was asked for, but this machine has {has}.", "Use --device cpu, or auto."
        )
    return device


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that the memory of the device or of the machine was full, in whatever words."""
    text = f"{type(error).__name__}: {error}".lower()
    return isinstance(error, MemoryError) or any(word in text for word in _NO_MEMORY)


# The words of torch on the CPU, OpenCV, CUDA, the loader of shared objects, the C library, Python's threads and C++.
_NO_MEMORY = (
    "outofmemoryerror",  # torch's, on CUDA
    "can't allocate memory",
    "insufficient memory",
    "out of memory",
    "failed to map segment",
    "cannot allocate memory",
    "can't start new thread",
    "bad_alloc",
)


def trim_heap() -> None:
    """Give freed memory back to the system, if the C library can: glibc keeps a heap for every thread."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


# Of a device's free memory, for one call of a network: other threads are at work on it, and libraries take some, too.
SHARE = 1 / 32


def batch_size(device: str, bytes_each: float, on_cpu: int) -> int:
    """How many things a network is given at once: on a CUDA device as its free memory allows.

    bytes_each: that one of them takes on its way.  on_cpu: how many on the CPU, so that they fit its caches.
    """
    if not device.startswith("cuda"):
        return on_cpu
    cuda: Any = import_module("torch").cuda
    cached = cuda.memory_reserved(device) - cuda.memory_allocated(device)  # by torch, and in no use
    return max(1, int((cuda.mem_get_info(device)[0] + cached) * SHARE / bytes_each))


def release_memory(device: str) -> None:
    """Hand back what is cached on a device but in no use."""
    gc.collect()
    if device.startswith("cuda"):
        import_module("torch").cuda.empty_cache()
