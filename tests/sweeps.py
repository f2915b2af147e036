"""The sweeps of the siblings as their verbs carry them out, with objects that no command line takes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gslopes.crops import sweep as crops
from gslopes.crops.asking import Given
from gslopes.frame.executors import OneProcess
from gslopes.frame.plan import plan
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out


def sweep_crops(run: Path, out: Path, *, croppers: Sequence[Any] = (), executor: Any = None, **options: Any) -> Result:
    """Whom croppers favour along a run of ``gslopes synthesise``."""
    return carry_out(plan(crops.SWEEP, run, out, options, given=Given(croppers)), executor or OneProcess())
