"""Networks in another process: one without a device asks the process that owns it, and waits for the answers.

A process that has a ``line`` to the owner is served.
"""

import pickle
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

# What makes a function in the owner, and its arguments before the device; the function takes a list of items, and what
# is the same for all of them, and gives an answer for each.
Recipe = tuple[Any, ...]
Answering = Callable[..., list[Any]]

_line: list["Connection[Any, Any]"] = []


def send(line: "Connection[Any, Any]", *message: Any) -> None:
    """Arrays are not copied into a pickle.  Raises: OSError if nobody listens."""
    arrays: list[pickle.PickleBuffer] = []
    data = pickle.dumps(message, 5, buffer_callback=arrays.append)
    line.send((data, len(arrays)))
    for array in arrays:
        line.send_bytes(array.raw())


def receive(line: "Connection[Any, Any]") -> Any:
    """What was sent.  Raises: EOFError, OSError."""
    data, count = line.recv()
    return pickle.loads(data, buffers=[bytearray(line.recv_bytes()) for _ in range(count)])


def serve(line: "Connection[Any, Any]") -> None:
    """From now on this process is served."""
    _line.append(line)


def is_served() -> bool:
    """Whether another process answers for the networks of this one."""
    return bool(_line)


def ask(recipe: Recipe, items: Iterable[Any], *same: Any) -> list[Any]:
    """An answer for each item, by the owner.

    recipe, same: hashable; what several processes ask with equal ones is answered together.

    Raises: what the owner met.
    """
    send(_line[0], "ask", recipe, list(items), same)
    (answers,) = receive(_line[0])
    if isinstance(answers, BaseException):
        raise answers
    return answers
