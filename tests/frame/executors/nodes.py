"""A Ray cluster of several nodes on this machine, each the processes of ``ray start``; some may not see a folder."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MEMORY = 100_000_000  # bytes of each node's object store


def below(pid: int) -> Iterator[tuple[int, str]]:
    """Number and command of every process that one has started."""
    of: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            of.setdefault(parent, []).append(int(path.parent.name))
    waiting = [pid]
    while waiting:
        for child in of.get(waiting.pop(), ()):
            waiting.append(child)
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                yield child, words[0].decode(errors="replace")


def kill(node: subprocess.Popen[bytes]) -> None:
    """All processes of a node, at once, as if its machine went."""
    for pid in [*(pid for pid, _ in below(node.pid)), node.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    node.wait()


def may_hide() -> bool:
    """Whether a process may be shown another file system here."""
    return bool(shutil.which("unshare")) and not subprocess.call(["unshare", "-m", "true"])


def free_ports() -> list[int]:
    """Two below those that the system, and so another cluster, takes by itself."""
    found: list[int] = []
    while len(found) < 2:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("", port)):
            found.append(port)
    return found


class Nodes:
    """The head and further nodes, a core each; stopped at the end of a with statement.

    head_cores: 0 for a head that does no work.
    hidden: a folder in whose place the further nodes see an empty one; None if they share the disk.
    """

    def __init__(self, further: int, hidden: Path | None = None, head_cores: int = 1) -> None:
        port, self.client = free_ports()
        self.address = f"127.0.0.1:{port}"
        self.temp = tempfile.mkdtemp(prefix="r", dir="/tmp")  # names of sockets are short
        self.hidden = hidden
        ports = ["--port", str(port), "--ray-client-server-port", str(self.client)]
        ports += ["--temp-dir", self.temp, "--include-dashboard", "false"]
        self.head = self._start(head_cores, "--head", *ports)
        self.others = [self.join() for _ in range(further)]

    def join(self) -> subprocess.Popen[bytes]:
        """One node more."""
        return self._start(1, "--address", self.address, hidden=self.hidden)

    def behead(self) -> None:
        """End the head's service alone: a command here holds on to the object store of the head's node, which stays."""
        os.kill(self.head.pid, signal.SIGSTOP)  # it would end the others
        for pid, command in below(self.head.pid):
            if command.endswith("gcs_server"):
                os.kill(pid, signal.SIGKILL)

    def _start(
        self, cores: int, *options: str, hidden: Path | None = None
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *options]
        command += ["--num-cpus", str(cores), "--object-store-memory", str(MEMORY)]
        if hidden is not None:
            empty = 'mount -t tmpfs none "$0" && exec "$@"'
            command = ["unshare", "-m", "sh", "-c", empty, str(hidden), *command]
        env = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
        said = Path(self.temp, f"said-{time.monotonic_ns()}.txt")
        with said.open("wb") as log:
            node = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd="/")
        while b"--block" not in said.read_bytes():
            assert node.poll() is None, said.read_text()
            time.sleep(0.1)
        return node

    def __enter__(self) -> "Nodes":
        return self

    def __exit__(self, *_: object) -> None:
        for node in (*self.others, self.head):
            kill(node)
        shutil.rmtree(self.temp, ignore_errors=True)
