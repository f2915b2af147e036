"""How the parts of a stage are carried out: in this process, or on a Ray cluster.

An executor is called with the work, a function of (part, tick) that leaves the part's files and tables on the disk and
ticks for each photo done, and with the parts that are missing. Parts do not depend on one another, nor on the order in
which they are done: the tables are always the same.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from gslopes.core import Executor, Notes, Work, frozen, pick_device
from gslopes.frame.executors.one_process import OneProcess
from gslopes.frame.executors.ray import RayCluster

__all__ = ["OneProcess", "RayCluster", "engine"]


def engine(executor: Executor, name: str, workers: int | None, device: str) -> Executor:
    """The executor of a configuration in the place of one process; any other that the caller gave stays.

    name: ``one``, ``ray`` or ``auto``, see ``Auto``.  workers: threads of one process, or workers of the cluster.
    """
    if not isinstance(executor, OneProcess):
        return executor
    cluster = RayCluster(workers, device, executor.progress)
    if name == "ray":
        return cluster
    process = executor if workers is None else replace(executor, threads=workers)
    if name == "auto" and device != "cpu":
        return Auto(process, cluster, executor.progress)
    return process


@frozen
class Auto(Notes):
    """Ray if a GPU is there, which one process leaves idle most of the time, and Ray is installed; else one process.

    Work that cannot be sent elsewhere stays here.
    """

    one: OneProcess
    cluster: RayCluster
    progress: bool = False

    def note(self, text: str) -> None:
        """As of the one process."""
        self.one.note(text)

    def __call__(self, work: Work, parts: Mapping[int, int], **line: Any) -> None:
        """As ``Executor``."""
        chosen: Executor = self.one
        sent = hasattr(work, "remote_task") and getattr(work, "in_threads", False)
        if len(parts) > 1 and sent and pick_device(self.cluster.device).startswith("cuda"):
            if find_spec("ray"):
                chosen = self.cluster
            else:
                self.note(
                    "Note: with gslopes[ray] several processes share the GPU, which one leaves idle."
                )
        chosen(work, parts, **line)
