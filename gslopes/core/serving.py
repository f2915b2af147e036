"""Networks in another process: a thread without a device asks the process that owns it, and waits for the answers.

A thread that has a ``Channel`` is served. Arrays go through memory that both ends see; it has no name, so that nothing
is left of it when both are gone, however they end.
"""

import mmap
import os
import pickle
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from threading import local
from typing import Any
from weakref import finalize

# What makes a function in the owner, and its arguments before the device; the function takes items, and what is the
# same for all of them, and gives an answer for each.
Recipe = tuple[Any, ...]
Answering = Callable[..., list[Any]]

ALIGNED = 64  # bytes, of every array
_here = local()


class Channel:
    """One end of the line between a thread and the owner: one of them has the word, and with it the memory.

    memory: descriptor of a file, which grows as it must.
    """

    def __init__(self, connection: Connection, memory: int) -> None:
        self.connection = connection
        self.memory = memory
        self._view = memoryview(b"")
        finalize(self, os.close, memory)  # not before an answer is written for one that is gone

    def send(self, *message: Any) -> None:
        """Raises: OSError if nobody listens."""
        arrays: list[pickle.PickleBuffer] = []
        data = pickle.dumps(message, 5, buffer_callback=arrays.append)
        raw = [array.raw() for array in arrays]
        sizes = [len(part) for part in raw]
        for part, place in zip(raw, self._places(sizes), strict=True):
            place[:] = part
        self.connection.send((data, sizes))

    def receive(self, copied: bool = True) -> Any:
        """What was sent; arrays that are not copied last until this end sends.  Raises: EOFError, OSError."""
        data, sizes = self.connection.recv()
        places = self._places(sizes)
        return pickle.loads(data, buffers=map(bytearray, places) if copied else places)

    def _places(self, sizes: list[int]) -> list[memoryview]:
        """Where arrays of so many bytes lie."""
        ends = [0]
        for size in sizes:
            ends.append(ends[-1] + -(-size // ALIGNED) * ALIGNED)
        if ends[-1] > len(self._view):
            if ends[-1] > os.fstat(self.memory).st_size:
                os.ftruncate(self.memory, ends[-1])
            self._view = memoryview(mmap.mmap(self.memory, ends[-1]))
        return [self._view[at : at + size] for at, size in zip(ends, sizes, strict=False)]


def serve(channel: Channel) -> None:
    """From now on this thread is served."""
    _here.channel = channel


def is_served() -> bool:
    """Whether another process answers for the networks of this thread."""
    return hasattr(_here, "channel")


def ask(recipe: Recipe, items: Sequence[Any], *same: Any) -> list[Any]:
    """An answer for each item, by the owner.

    recipe, same: hashable; what is asked with equal ones by several workers is answered together.

    Raises: what the owner met.
    """
    if not len(items):
        return []
    channel = _here.channel
    channel.send("ask", recipe, list(items), same)
    (answers,) = channel.receive()
    if isinstance(answers, BaseException):
        raise answers
    return answers
