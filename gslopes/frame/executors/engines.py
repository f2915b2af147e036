"""Which executor a configuration means.

``one`` is this process, ``processes`` several of this machine, ``ray`` a Ray cluster. ``auto`` is ``one``, unless more
workers are wanted or this machine has several CUDA devices and none of them was named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.executor import Executor, Work, pack
from gslopes.frame.executors.one_process import OneProcess
from gslopes.frame.executors.processes import Processes, cuda_devices
from gslopes.frame.executors.ray import RayCluster


@dataclass(frozen=True, slots=True)
class Engine:
    """The executor of a configuration, found when there is something to do: looking for GPUs takes seconds.

    given: does the work if the engine is ``one``, or ``auto`` finds no reason for more; says all notes.
    name, workers, device: as in ``slopes.config.RunConfig``.

    Raises: ConfigError for an engine or a number of workers that do not make sense.
    """

    given: OneProcess
    name: str = "auto"
    workers: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.name not in ("auto", "one", "processes", "ray"):
            raise ConfigError(f"There is no engine {self.name!r}.", "Use auto, one, processes or ray.")
        if self.workers is not None and self.workers < 1:
            raise ConfigError(f"workers is {self.workers}; it must be at least 1.")
        if self.name == "one" and self.workers not in (None, 1):
            hint = "Use --engine processes, or ray."
            raise ConfigError(f"The engine one has one worker, not {self.workers}.", hint)

    def __call__(self, work: Work, parts: Mapping[int, int], *, label: str, unit: str, done: int = 0) -> None:
        """As ``Executor``."""
        if parts:
            self._chosen(work)(work, parts, label=label, unit=unit, done=done)

    def note(self, text: str) -> None:
        """As ``Executor``."""
        self.given.note(text)

    @property
    def progress(self) -> bool:
        """Whether progress is shown."""
        return self.given.progress

    @property
    def resolved(self) -> str:
        """The engine that ``auto`` stands for."""
        if self.name != "auto":
            return self.name
        more = len(cuda_devices()) if self.workers is None and self.device == "auto" else self.workers or 1
        return "processes" if more > 1 else "one"

    def __str__(self) -> str:
        name = self.resolved
        if name == "one":
            return "one process"
        if name == "ray":
            return f"ray, {self.workers or 'as many'} workers" + (" as the cluster has room for" * (not self.workers))
        executor = Processes(self.workers, self.device)
        return f"{executor.count} processes on {', '.join(dict.fromkeys(executor.devices))}"

    def _chosen(self, work: Work) -> Executor:
        name = self.resolved
        if name == "ray":
            return RayCluster(self.workers, self.device, self.given.progress)
        if name == "processes" and (self.name != "auto" or _can_be_sent(work)):
            return Processes(self.workers, self.device, self.given.progress)
        return self.given if self.workers is None else replace(self.given, threads=self.workers)


def engine(given: Executor, name: str, workers: int | None, device: str) -> Executor:
    """The executor of a configuration in the place of one process; any other that the caller gave stays.

    Raises: ConfigError as ``Engine``.
    """
    return Engine(given, name, workers, device) if isinstance(given, OneProcess) else given


def _can_be_sent(work: Work) -> bool:
    try:
        pack(work)
    except UsageError:
        return False
    return True
