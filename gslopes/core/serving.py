"""Networks in another process: one without a device asks the process that owns it, and waits for the answers."""

import pickle
from typing import Any

line: Any = None  # to the owner, in a process that is served


def send(line: Any, *message: Any) -> None:
    """Along a ``multiprocessing.Connection``, arrays as they are.  Raises: OSError if nobody listens."""
    arrays: list[pickle.PickleBuffer] = []
    data = pickle.dumps(message, 5, buffer_callback=arrays.append)
    line.send((data, len(arrays)))
    for array in arrays:
        line.send_bytes(array.raw())


def receive(line: Any) -> Any:
    """What was sent.  Raises: EOFError, OSError."""
    data, count = line.recv()
    return pickle.loads(data, buffers=[bytearray(line.recv_bytes()) for _ in range(count)])


def ask(items: Any, recipe: tuple[Any, ...], *same: Any) -> list[Any]:
    """An answer for each item, by the owner.

    recipe: what makes a function there, and its arguments after the device; the function takes a list of items and what
        is the ``same`` for all of them, and gives an answer for each.
    same: hashable, as the recipe is: what several processes ask with equal ones is answered together.

    Raises: what the owner met.
    """
    send(line, None, list(items), recipe, *same)
    (answers,) = receive(line)
    if isinstance(answers, BaseException):
        raise answers
    return answers
