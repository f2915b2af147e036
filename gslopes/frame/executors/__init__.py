"""How the parts of a stage are carried out: in this process, in others that it serves with networks, or by Ray.

An executor is called with the work, a function of (part, tick) that leaves the part's files and tables on the disk and
ticks for each photo done, and with the parts that are missing. Parts do not depend on one another, nor on the order in
which they are done: the tables are always the same.
"""

from dataclasses import replace

from gslopes.core import Executor
from gslopes.frame.executors.one_process import OneProcess
from gslopes.frame.executors.ray import RayCluster
from gslopes.frame.executors.served import Served

__all__ = ["OneProcess", "RayCluster", "Served", "engine"]


def engine(executor: Executor, name: str, workers: int | None, device: str) -> Executor:
    """The executor of a configuration in the place of one process; any other that the caller gave stays.

    name: ``ray`` for a cluster; ``one`` and ``auto`` for this machine, where processes share a device if there is one.
    workers: threads of one process, processes that share a device, or workers of the cluster.
    """
    if not isinstance(executor, OneProcess):
        return executor
    if name == "ray":
        return RayCluster(workers, device, executor.progress)
    process = executor if workers is None else replace(executor, threads=workers)
    if device == "cpu":
        return process
    return Served(process, device)
