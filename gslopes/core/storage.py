"""What the operating system refuses, as sentences: the codes are in ``storage.toml``."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gslopes.core.config import read_beside
from gslopes.core.errors import StorageError
from gslopes.core.files import Facts, show, why_unreadable

_REFUSALS = read_beside(__file__, "storage.toml")
_OF_CODE = {
    getattr(errno, code): refusal for refusal in _REFUSALS.values() for code in refusal["codes"]
}
_OTHER: Facts = _REFUSALS["other"]


def raise_if_refused(error: Exception, path: object, kind: str = "own") -> None:
    """Raise again what says nothing about a file's content.  kind: of file, as ``stops`` has it.

    Raises: StorageError for refusals that stop at such a file; MemoryError.
    """
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, OSError) and kind in _OF_CODE.get(error.errno, _OTHER)["stops"]:
        raise refusal(error, path, "read") from error


def refusal(error: OSError, path: object = "A file", done: str = "read or written") -> StorageError:
    """A refusal in words.  path: if the error names none.  done: what could not be done with it."""
    about = _OF_CODE.get(error.errno, _OTHER)
    why = about["why"].format(error=why_unreadable(error))
    return StorageError(f"{show(error.filename or path)} cannot be {done}: {why}.", about["hint"])


@contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals to write below ``path`` into StorageError sentences."""
    try:
        yield
    except OSError as error:
        raise refusal(error, path, "written") from error
