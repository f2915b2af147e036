"""How the parts of a stage are carried out: in this process, in several of this machine, on a Ray cluster.

An executor is called with the work, a function of (part, tick) that leaves the part's files and tables on the disk and
ticks for each photo done, and with the parts that are missing. Parts do not depend on one another, nor on the order in
which they are done: the tables are always the same.
"""

from gslopes.frame.executors.one_process import OneProcess
from gslopes.frame.executors.processes import Processes
from gslopes.frame.executors.ray import RayCluster

__all__ = ["OneProcess", "Processes", "RayCluster"]
