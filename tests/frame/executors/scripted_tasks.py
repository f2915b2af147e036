"""A work for executors: it writes down who did what, and may come to grief. Workers import it."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gslopes.core.errors import StorageError
from gslopes.core.executor import RemoteTask


class Stubborn(Exception):
    """An error that cannot be unpickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("no arguments here")


ERRORS: dict[str, Callable[[], BaseException]] = {
    "storage": lambda: StorageError("The disk is full.", "Make room."),
    "ctrl-c": KeyboardInterrupt,
    "stubborn": lambda: Stubborn(1, 2),
}


@dataclass(frozen=True)
class ScriptedTasks:
    """Each part leaves FOLDER/part with the device, the threads and the process that did it, after two ticks.

    mishaps: part to what happens after the first tick: "killed", "killed once", "waits", "meets" the others that
        do, or a key of ERRORS.
    """

    folder: Path
    mishaps: dict[int, str] = field(default_factory=dict)
    device: str = ""
    needs: tuple[Path, ...] = ()
    in_threads: bool = False
    networks: bool = True

    def __call__(self, part: int, tick: Callable[[int], None]) -> None:
        tick(1)
        mishap = self.mishaps.get(part, "")
        if mishap in ERRORS:
            raise ERRORS[mishap]()
        seen = self.folder / f"seen-{part}"
        if mishap == "killed" or (mishap == "killed once" and not seen.exists()):
            seen.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (self.folder / f"pid-{os.getpid()}").touch()
        (self.folder / f"sees-{os.environ.get('CUDA_VISIBLE_DEVICES', '')}").touch()
        if mishap == "waits":
            time.sleep(600)
        if mishap == "meets":
            (self.folder / f"meets-{part}").touch()
            while len(list(self.folder.glob("meets-*"))) < len(self.mishaps):
                time.sleep(0.01)
        os.write(1, b"out loud\n")
        tick(1)
        (self.folder / str(part)).write_text(
            f"{self.device} {os.environ.get('OMP_NUM_THREADS')} {os.getpid()}"
        )

    def remote_task(self) -> RemoteTask:
        return RemoteTask(
            partial(again, self.folder, self.mishaps),
            self.needs,
            lambda part: f"the tasks of part {part}",
        )

    def done(self) -> dict[int, list[str]]:
        return {
            int(p.name): p.read_text().split() for p in self.folder.iterdir() if p.name.isdigit()
        }

    def cards(self) -> set[str]:
        """The GPUs that the processes were shown."""
        return {path.name[5:] for path in self.folder.glob("sees-*")}

    def pids(self) -> list[int]:
        return [int(path.name[4:]) for path in self.folder.glob("pid-*")]


def again(folder: Path, mishaps: dict[int, str], device: str) -> Any:
    return ScriptedTasks(folder, mishaps, device)


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
