"""How the parts of a stage are carried out: in this process, or on a Ray cluster.

An executor is called with the work, a function of (part, tick) that leaves the part's files and tables on the disk and
ticks for each photo done, and with the parts that are missing. Parts do not depend on one another, nor on the order in
which they are done: the tables are always the same.
"""

from __future__ import annotations

from dataclasses import replace

from gslopes.core.errors import ConfigError
from gslopes.core.executor import Executor
from gslopes.frame.executors.one_process import OneProcess
from gslopes.frame.executors.ray import RayCluster

__all__ = ["OneProcess", "RayCluster", "engine"]


def engine(given: Executor, name: str, workers: int | None, device: str) -> Executor:
    """The executor of a configuration in the place of one process; any other that the caller gave stays.

    name: ``one`` or ``ray``.  workers: threads of one process, or workers of the cluster.

    Raises: ConfigError for a number of workers below 1.
    """
    if workers is not None and workers < 1:
        raise ConfigError(f"workers is {workers}; it must be at least 1.")
    if not isinstance(given, OneProcess):
        return given
    if name == "ray":
        return RayCluster(workers, device, given.progress)
    return given if workers is None else replace(given, threads=workers)
