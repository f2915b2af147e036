"""What an executor is, and what a work must offer to be sent elsewhere."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from gslopes.core.errors import UsageError
from gslopes.core.freeze import frozen
from gslopes.core.progress import Tick

Work = Callable[[int, Tick], None]


class Executor(Protocol):
    """Carries out parts, in any order; returns when all are done, raises the first error."""

    def __call__(
        self,
        work: Work,
        parts: Mapping[int, int],
        *,
        label: str,
        unit: str,
        done: int = 0,
    ) -> None:
        """Carry out the parts.

        parts: index of each missing part to how many units (photos, pictures) it has.
        label, unit: of the progress line.  done: units that earlier runs finished.
        """
        ...

    def note(self, text: str) -> None:
        """A line for the user, on stderr."""
        ...


@frozen
class RemoteTask:
    """What another process needs to do a work: without networks, which are built in that process.

    make: makes the work on a device; can be pickled.
    needs: files and folders that a machine sees under the same name.
    name: a part in words, for errors; stays here.
    sends: the files that a part reads, by absolute name, for machines that do not see them; the work that is made there
        has ``files``, what a part made, of which the last one commits it. None if it is only done where they are seen.
    """

    make: Callable[[str], Work]
    needs: tuple[Path, ...]
    name: Callable[[int], str]
    sends: Callable[[int], Mapping[str, bytes]] | None = None


def pack(work: Work) -> RemoteTask:
    """What another process needs to do a work: the work's ``remote_task``.  Raises: UsageError if it cannot be sent."""
    if not hasattr(work, "remote_task"):
        raise UsageError("This stage cannot be sent to other processes.", "Use the engine one.")
    return work.remote_task()
