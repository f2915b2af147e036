"""The shim between this process and the C library, and which errors a call may end in."""

from __future__ import annotations

import ctypes
import errno
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
MARK = "torture-shim-"  # in the name of the folder of a built shim
LARGE = 32 << 10  # bytes: smaller allocations never fail here
HALF = 0  # in place of an error: half of the bytes pass
KINDS = (
    "open", "read", "write", "rename", "sync", "lock", "truncate", "remove", "mkdir", "stat", "list", "map", "close",
    "socket", "connect", "send", "recv", "memory",
)  # fmt: skip
"""Of calls, in the order of ``shim.c``; ``lock`` is of flock and of fcntl, ``list`` of opendir and readdir."""
OBJECTS = "objects"
"""The kind of point that is not in ``shim.c``: one allocation of Python's own, of any size, by ``_testcapi``."""
FEWEST_OBJECTS, MOST_OBJECTS = 3_000, 3_000_000  # those before are of the test itself
ALL = (*KINDS, OBJECTS)
ERRORS: Mapping[str, tuple[int, ...]] = {
    "open": (errno.EMFILE, errno.EACCES, errno.ENOSPC, errno.EIO, errno.ESTALE, errno.EINTR),
    "read": (errno.EIO, errno.ESTALE, errno.EINTR, HALF),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR, HALF),
    "rename": (errno.EIO, errno.ENOSPC, errno.EACCES, errno.ESTALE),
    "sync": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "lock": (errno.ENOLCK, errno.EIO, errno.EINTR, errno.EAGAIN),
    "truncate": (errno.EIO, errno.ENOSPC),
    "remove": (errno.EACCES, errno.EIO, errno.ESTALE),
    "mkdir": (errno.ENOSPC, errno.EACCES, errno.EMLINK),
    "stat": (errno.EIO, errno.ESTALE, errno.EACCES),
    "list": (errno.EIO, errno.EMFILE, errno.ESTALE),
    "map": (errno.ENOMEM, errno.EIO),
    "close": (errno.EIO, errno.EDQUOT),
    "socket": (errno.EMFILE, errno.ENOBUFS),
    "connect": (errno.ECONNREFUSED, errno.ETIMEDOUT, errno.ENETUNREACH, errno.EADDRNOTAVAIL),
    "send": (errno.ECONNRESET, errno.EPIPE, errno.EINTR, HALF),
    "recv": (errno.ECONNRESET, errno.ETIMEDOUT, errno.EINTR, HALF),
    "memory": (errno.ENOMEM,),
    OBJECTS: (errno.ENOMEM,),
}
"""What may be tried of each kind, the likeliest first."""


@dataclass(frozen=True)
class Point:
    """One error: the call that fails, counted from 1, with its errno, and whether all later ones of its kind do."""

    kind: str
    number: int
    error: int
    forever: bool = False

    def __str__(self) -> str:
        name = errno.errorcode.get(self.error, "half")
        return f"{self.kind} {self.number} {name}{' from then on' if self.forever else ''}"


def named(text: str) -> Point:
    """The point of that name."""
    kind, number, name, *forever = text.split()
    return Point(kind, int(number), getattr(errno, name, HALF), bool(forever))


def points(
    counts: Mapping[str, int], kinds: Sequence[str], every: int, seed: int = 0
) -> list[Point]:
    """Every call once with an error of its kind in turn, and with it all later ones; the kinds in turn, each by lot."""
    lot = random.Random(seed)
    chosen: list[list[Point]] = []
    for kind in kinds:
        if kind == OBJECTS:
            draws = [
                int(math.exp(lot.uniform(math.log(FEWEST_OBJECTS), math.log(MOST_OBJECTS))))
                for _ in range(2000 // every)
            ]
            chosen.append([Point(kind, number, errno.ENOMEM) for number in draws])
            continue
        errors = ERRORS[kind]
        lasting = [error for error in errors if error not in (HALF, errno.EINTR)]
        of_kind = []
        for turn, number in enumerate(range(1 + lot.randrange(every), counts[kind] + 1, every)):
            of_kind.append(Point(kind, number, errors[turn % len(errors)]))
            of_kind.append(Point(kind, number, lasting[turn % len(lasting)], forever=True))
        lot.shuffle(of_kind)
        chosen.append(of_kind)
    return [point for turn in zip_longest(*chosen) for point in turn if point]


def why_not() -> str:
    """Why calls cannot be made to fail here; empty if they can."""
    if os.uname().sysname != "Linux":
        return "the shim is for Linux"
    if not shutil.which("gcc"):
        return "gcc is missing: apt-get install gcc libc6-dev"
    return ""


def fast() -> str | None:
    """A folder where a sync takes no time, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def build(folder: Path) -> Path:
    """The shim, compiled; what LD_PRELOAD names."""
    made = folder / "shim.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-w", "-o", str(made), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return made


class Shim:
    """The shim that this process was started with.  Raises: AttributeError if there is none."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        self._arm, self._disarm = library.torture_arm, library.torture_disarm
        numbers = (ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int)
        self._arm.argtypes = (ctypes.c_char_p, *numbers, ctypes.c_size_t)
        self._count, self._hits = library.torture_count, library.torture_hits
        self._count.restype = self._hits.restype = ctypes.c_long
        self._place = library.torture_place
        self._place.restype = ctypes.c_char_p

    def arm(self, folder: Path, point: Point | None, *, trace: bool = False) -> None:
        """Count from now on, and fail at a point.  folder: whose files are meant.  trace: raise SIGUSR1 there."""
        where = (0, 0, 0, 0)
        if point is not None and point.kind != OBJECTS:
            where = (KINDS.index(point.kind), point.number, point.error, point.forever)
        self._arm(os.fsencode(folder) + b"/", *where, trace, LARGE)
        if point is not None and point.kind == OBJECTS:
            import _testcapi

            _testcapi.set_nomemory(point.number, point.number + 1)

    def disarm(self) -> None:
        """Let everything pass."""
        self._disarm()
        with suppress(ImportError):
            import _testcapi

            _testcapi.remove_mem_hooks()

    def counts(self) -> dict[str, int]:
        """Calls of each kind since ``arm``."""
        return {kind: self._count(number) for number, kind in enumerate(KINDS)}

    def hit(self) -> str:
        """The file whose call failed first, or what it was; empty if none did."""
        return os.fsdecode(self._place()) if self._hits() else ""


def preloaded(module: str) -> None:
    """Begin again, by the same arguments, with the shim in this process; ends here with a reason if that cannot be."""
    if MARK in os.environ.get("LD_PRELOAD", ""):
        return
    if reason := why_not():
        sys.exit(f"{module}: {reason}")
    made = build(Path(tempfile.mkdtemp(prefix=MARK)))
    environment = {
        "LD_PRELOAD": str(made),
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
    command = [sys.executable, "-m", module, *sys.argv[1:]]
    os.execve(sys.executable, command, os.environ | environment)
