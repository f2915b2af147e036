"""A user's function that ends the process by ``os._exit``, which by itself ends it without a word, even with 0."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from gslopes.core.text import printable

_asking = threading.local()  # .name: of the classifier whose function runs in this thread; .process: of which process
_really_exit = os._exit


@contextmanager
def exit_said(name: str) -> Iterator[None]:
    """While a classifier's function runs in this thread, ``os._exit`` says whose it was, and the exit code is 1.

    Nothing can be said of a crash (a segmentation fault) from within; the command line shows where it was.
    """
    os._exit = _exit
    _asking.name, _asking.process = name, os.getpid()
    try:
        yield
    finally:
        _asking.name = ""


def _exit(status: int) -> NoReturn:
    name = getattr(_asking, "name", "")
    if name and _asking.process == os.getpid():  # a fork of the function's own ends as it likes
        said = f"gslopes: {printable(name)} ended the process: it called os._exit({status}) while it was to answer."
        hint = "  Answers so far are kept: have it raise an error, and run the same command again."
        os.write(2, f"\n{said}\n{hint}\n".encode())
        status = 1
    _really_exit(status)
