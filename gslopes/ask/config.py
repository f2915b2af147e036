"""Who is asked, about what, and what it may cost."""

from pathlib import Path

from gslopes.ask.names import with_tasks
from gslopes.core import frozen
from gslopes.core.options import option


@frozen
class CostLimits:
    """What asking may cost, and the folder of the cache."""

    cache: Path | None = option(
        None,
        help="Where answers are cached.",
        metavar="DIR",
        shown="$GSLOPES_CACHE or your cache folder",
        advanced=True,
    )
    budget: float | None = option(
        None, help="Stop before more than this is spent.", metavar="USD", least=0
    )
    confirm_above: float = option(
        10.0, help="Ask for confirmation above this cost.", metavar="USD", seldom=True, least=0
    )
    yes: bool = option(False, help="Do not ask for confirmation of the cost.", advanced=True)
    retry_failed: bool = option(False, help="Retry pictures that failed.", advanced=True)


@frozen
class ScoreConfig(CostLimits):
    """Which classifiers are asked, about what, and what that may cost."""

    classifiers: tuple[str, ...] = option(
        (),
        help="The classifier to audit; may be repeated.",
        name="classifier",
        short="c",
        shown="celeba-tagger",
    )
    tasks: tuple[str, ...] = option(
        (),
        help="What every llm: classifier without a prompt is asked, by name or file; may be repeated.",
        name="task",
        metavar="NAME|TOML",
        advanced=True,
    )
    placebo_sample: int = option(
        200,
        help="Photos whose placebo sweeps are asked about if asking costs money.",
        seldom=True,
        least=0,
    )
    dropped_sample: int = option(
        50,
        help="Sweeps that the gate dropped, asked about for comparison; not in the tables.",
        seldom=True,
        least=0,
    )
    unedited: bool = option(
        False, help="Ask about each photo as it was, too.", shown="with groups", seldom=True
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "classifiers", with_tasks(self.classifiers, self.tasks))
