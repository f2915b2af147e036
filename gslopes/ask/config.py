"""Who is asked, about what, and what it may cost."""

from pathlib import Path

from gslopes.ask.names import with_tasks
from gslopes.core import Names, frozen

RUBRIC = ("warmth", "competence")  # what a judge is asked unless its name tells


@frozen
class CostLimits:
    """What asking may cost, and the folder of the cache."""

    cache: Path | None = None
    budget: float | None = None
    budget_total: float | None = None
    confirm_above: float = 10.0
    yes: bool = False
    retry_failed: bool = False


@frozen
class AskingConfig(CostLimits):
    """What asking classifiers may cost, and how they are asked."""

    batch: bool = False


@frozen
class ScoreConfig(AskingConfig):
    """Which classifiers are asked, about what, and what that may cost."""

    classifiers: Names = ()
    tasks: Names = ()
    placebo_sample: int = 200
    dropped_sample: int = 50
    unedited: bool = False
    judges: Names = ()

    def __post_init__(self) -> None:
        marked = with_tasks(self.judges, RUBRIC) if self.judges else ()
        object.__setattr__(self, "judges", marked)
        object.__setattr__(self, "classifiers", with_tasks(self.classifiers, self.tasks))
