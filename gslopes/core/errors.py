"""Every error that gslopes raises on purpose.

    GslopesError                 exit code 1
    ├── UsageError               exit code 2: the command or configuration is off
    │   ├── ConfigError          an unknown key, a value out of its range
    │   ├── RunFolderMismatch    the run folder was made by another configuration
    │   └── UnknownName          no such classifier, model, attribute or recipe
    ├── PhotoError               one photo cannot be read (the walk goes on without it)
    ├── TableError               a table does not have the columns or types that it claims
    ├── ModelError               a model's files are missing, damaged or of another kind; a function fails
    ├── DataMissing              a data set is not in the place that was named
    ├── ClassifierError          a classifier failed on some pictures
    │   ├── AnswerError          a classifier's answer does not make sense
    │   ├── Refused              it will never judge this picture: policy, format, size
    │   ├── Throttled            too many requests: the same one may be sent again later
    │   ├── Unfinished           an answer needs another request, which may be sent at once
    │   └── Unavailable          the server or the connection failed: the same one may be sent again
    ├── ServiceError             a service will answer no picture: wrong use, quota used up, withdrawn, down
    │   └── CredentialsError     its credentials are missing or rejected
    ├── BudgetReached            a hard stop of --budget
    ├── WorkerLost               workers of another process or machine ended again and again
    └── StorageError             disk full, read-only or in use by another process

Each error is one clear sentence (``message``) and, if there is one, the next step (``hint``); the command line
prints both without a traceback unless ``--debug`` is given.
"""

import copyreg
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class GslopesError(Exception):
    """Base of all errors raised on purpose.

    message: what is wrong, in one sentence.  hint: what to do next, in one sentence; empty if there is nothing to do.
    """

    exit_code = 1
    billed = False  # whether a service may have judged, and billed, what it was sent before this happened

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled by its facts: the arguments of __init__ differ from class to class, and workers send errors home.
        return copyreg.__newobj__, (type(self), self.message), dict(vars(self))  # type: ignore[attr-defined]


class UsageError(GslopesError):
    """The command or the configuration is off; nothing was done."""

    exit_code = 2


class ConfigError(UsageError):
    """An unknown key, or a value out of its range."""


class RunFolderMismatch(UsageError):
    """The run folder was made by another configuration."""


class UnknownName(UsageError):
    """No such classifier, model, attribute, recipe or column; names the nearest.  home: what should have it.

    near: whether a known name is near.
    """

    def __init__(self, kind: str, name: str, names: Iterable[str], home: str = "") -> None:
        names = list(names) if home else sorted(names)
        listing = f"{'It has' if home else 'Known:'} {', '.join(names) or 'none'}."
        hint = nearest(name, names, listing)
        self.near = hint != listing
        super().__init__(
            f"{home} has no {kind} {name!r}." if home else f"There is no {kind} named {name!r}.",
            hint,
        )


class PhotoError(GslopesError):
    """One photo cannot be read; ``reason`` goes into the photos table."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"{path}: {reason}.")
        self.path = path
        self.reason = reason


class TableError(GslopesError):
    """A table does not have the columns or types that it claims."""


class ModelError(GslopesError):
    """A model's files are missing, damaged or of another kind, or a function of the user's own fails at once."""


class DataMissing(GslopesError):
    """A data set is not in the place that was named."""


class ClassifierError(GslopesError):
    """A classifier failed."""


class AnswerError(ClassifierError):
    """A classifier's answer does not make sense; it is paid for all the same."""

    billed = True


class Refused(ClassifierError):
    """It will never judge this picture (content policy, format, size); ``reason`` goes into the asked table."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The picture was refused: {reason.rstrip('.')}.")
        self.reason = reason


class Throttled(ClassifierError):
    """Too many requests: the same one is sent again after ``retry_after`` seconds, None if unknown."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(ClassifierError):
    """The server or the connection failed; the same request may succeed later, and is sent again.

    billed: whether the service may have judged, and billed, the pictures before it failed.  retry_after: as Throttled.
    """

    def __init__(
        self, message: str, *, billed: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.billed = billed
        self.retry_after = retry_after


class Unfinished(ClassifierError):
    """The answer needs another request, sent at once and counted; ``usage``: tokens in and out of the one before."""

    def __init__(self, message: str, usage: tuple[int, ...] = (0, 0)) -> None:
        super().__init__(message)
        self.usage = usage


class ServiceError(GslopesError):
    """A service will answer no picture: wrong use, quota used up, withdrawn, down. The walk stops, resumable."""


class CredentialsError(ServiceError):
    """Credentials are missing or rejected; names the environment variables, never their values."""

    def __init__(
        self, service: str, variables: Iterable[str], *, rejected: bool = False, detail: str = ""
    ) -> None:
        names = " and ".join(variables)
        what = f"{service} {'rejects the' if rejected else 'needs'} credentials in {names}"
        super().__init__(
            f"{what} ({detail})." if detail else f"{what}.",
            f"Set {names} in the environment; answers so far are kept.",
        )
        self.service = service


class BudgetReached(GslopesError):
    """A hard stop of --budget; what was answered is kept."""


class WorkerLost(GslopesError):
    """Workers in other processes, or on other machines, ended again and again; what was done is kept."""


class StorageError(GslopesError):
    """Disk full, read-only, or in use by another process."""


def nearest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """A hint that names the known name that is nearest to another one, or another hint if none is near."""
    close = get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return otherwise
