"""Who is asked, about what, and what it may cost."""

from pathlib import Path

from gslopes.ask.names import with_tasks
from gslopes.core import frozen
from gslopes.core.options import option


@frozen
class CostLimits:
    """What asking may cost, and the folder of the cache."""

    cache: Path | None = option(None)
    budget: float | None = option(None, least=0)
    confirm_above: float = option(10.0, least=0)
    yes: bool = option(False)
    retry_failed: bool = option(False)


@frozen
class ScoreConfig(CostLimits):
    """Which classifiers are asked, about what, and what that may cost."""

    classifiers: tuple[str, ...] = option(())
    tasks: tuple[str, ...] = option(())
    placebo_sample: int = option(200, least=0)
    dropped_sample: int = option(50, least=0)
    unedited: bool = option(False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classifiers", with_tasks(self.classifiers, self.tasks))
