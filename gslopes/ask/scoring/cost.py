"""Before the first question: what asking will take and cost, and whether the user confirms it."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.config import CostLimits
from gslopes.ask.questions import digest, read_picture
from gslopes.core import frozen
from gslopes.core.errors import ConfigError, PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.records import Classifier
from gslopes.core.text import many
from gslopes.core.traits import traits_of


@frozen
class Price:
    """What one classifier still has to be asked, and what that costs.

    name: the classifier.  pictures: still to be asked, at most (identical ones are asked once).
    cached: answered already, by an earlier command.  calls: requests.  usd: price, None if it depends on the plan.
    seconds: at the quota; 0 without one.  note: of the limits.  tokens: in and out.
    estimated: whether the price is an estimate.  stage: that asks.
    """

    name: str
    pictures: int
    cached: int
    calls: int
    usd: float | None
    seconds: float
    note: str = ""
    tokens: tuple[int, int] = (0, 0)
    estimated: bool = False
    stage: str = "score"

    def __str__(self) -> str:
        price = f"{'estimated ' * self.estimated}{self.usd or 0:,.2f} USD"
        parts = [
            many(self.pictures, "picture"),
            many(self.calls, "call") * bool(self.usd != 0 or self.seconds),
            f"estimated {self.tokens[0]:,} + {self.tokens[1]:,} tokens" * any(self.tokens),
            {None: "price unknown", 0.0: ""}.get(self.usd, price),
            f"{self.seconds / 60:,.1f} minutes at the quota" * bool(self.seconds),
        ]
        before = f"; {self.cached:,} answered before" * bool(self.cached)
        return f"{self.name}: {', '.join(filter(None, parts))}{before}"


def estimate(classifier: Classifier, parts: list[int], cached: int = 0) -> Price:
    """Count what asking will take.

    parts: pictures of each part that have no answer yet; a request never holds pictures of two parts.
    cached: pictures that have one.
    """
    limits = traits_of(classifier).limits
    pictures = sum(parts)
    calls = (
        sum(-(-part // max(1, classifier.batch)) for part in parts) * limits.requests_per_picture
    )
    tokens = (limits.tokens[0] * pictures, limits.tokens[1] * pictures)
    costs = (limits.cost(pictures), limits.seconds(pictures, calls), limits.note, tokens)
    return Price(classifier.name, pictures, cached, calls, *costs, limits.estimated)


def estimate_parts(
    run: Path,
    classifier: Classifier,
    edits: Iterable[pd.DataFrame],
    cache: ClassifierCache,
    before: int,
) -> Price:
    """What one classifier still has to be asked, and what that costs.

    edits: the rows of the edits table that are due, part by part.
    cache: its answers; read only if asking costs anything.  before: pictures in finished parts.
    """
    left = []
    cached = 0
    for frame in edits:
        files = frame["file"].tolist()
        left.append(len(files))
        if traits_of(classifier).limits.remote and not cache.empty:
            distinct = set[bytes]()
            for file in files:
                with suppress(PhotoError):
                    distinct.add(digest(read_picture(run, file)))
            left[-1] = len(distinct) - cache.count(distinct)
            cached += len(files) - left[-1]
    return estimate(classifier, left, cached + before)


def estimate_walk(classifier: Classifier, images: int, part: int) -> Price:
    """What it takes at most to ask about the pictures that are still to be made.

    images: at most.  part: pictures of one part, at most.
    """
    return estimate(
        classifier, [min(part, images - start) for start in range(0, images, part)] if part else []
    )


def confirm_cost(estimates: Sequence[Price], config: CostLimits, executor: Executor) -> float:
    """Tell what will be asked; above ``confirm_above`` ask the user, or require ``--yes`` without a terminal.

    Returns: USD that are agreed to: what it will cost, or ``confirm_above`` if that is more.
    Raises: ConfigError if there is a budget but no price; UsageError if it is not wanted or no one can be asked.
    """
    due = [item for item in estimates if item.pictures]
    for item in due:
        executor.note(f"{item.stage:<10} {item}" + (f" ({item.note})" if item.note else ""))
    unknown = [item.name for item in due if item.usd is None]
    if unknown and config.budget is not None:
        name = unknown[0].partition(":")[0]
        raise ConfigError(
            f"A budget needs a price, and the price of {unknown[0]} depends on your plan.",
            f"Give it in USD per 1,000 pictures, such as {name}:price=1.2.",
        )
    total = sum(item.usd or 0.0 for item in due)
    word = "an estimated" if any(item.estimated for item in due) else "up to"
    if config.budget is not None and config.budget <= total:
        word = "up to"
        total = config.budget
    agreed = max(total, config.confirm_above)
    if config.yes or (total <= config.confirm_above and not unknown):
        return agreed
    price = f"{word} {total:,.2f} USD"
    if unknown:
        price += f" and what your plan says for {', '.join(unknown)}"
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"This will cost {price}, and no terminal is there to confirm it.",
            "Add --yes (yes=True in Python), or set a --budget; --set confirm_above=USD raises the limit.",
        )
    print(f"This will cost {price}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201 - a question
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError(
            "Not confirmed, so nothing was asked.", "Add --limit or --budget for a smaller audit."
        )
    return agreed
