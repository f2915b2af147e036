"""Before the first question: what asking will take and cost, and whether the user confirms it."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from gslopes.ask.answers import ClassifierCache
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import said
from gslopes.ask.ledger import Ledger, spendable
from gslopes.ask.questions import about_edits, digest
from gslopes.ask.retry import RetryPolicy
from gslopes.core import (
    ConfigError,
    Executor,
    JsonObject,
    PhotoError,
    UsageError,
    frozen,
    traits_of,
)
from gslopes.core.records import Classifier


@frozen
class Price:
    """What one classifier still has to be asked, and what that costs, at most; in words of price.txt.j2.

    name: the classifier.  pictures: still to be asked, at most (identical ones are asked once).
    cached: answered already, by an earlier command.  calls: requests that are billed, if none is lost.
    usd: price, None if it depends on the plan.  seconds: at the quota; 0 without one.
    note: of the limits.  tokens: in and out.  estimated: whether the price is an estimate.
    stage: that asks.  placebos: of the pictures, those of placebo sweeps.  remote: whether a network is between.
    usd_if_lost: price if each call is lost, and may be billed, as often as it is sent again.
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
    placebos: int = 0
    remote: bool = True
    usd_if_lost: float | None = None

    def __str__(self) -> str:
        return said("price.txt.j2", price=self)

    @property
    def facts(self) -> JsonObject:
        """All of it as JSON has it."""
        return asdict(self) | {"text": str(self)}


def estimate(
    classifier: Classifier,
    parts: Sequence[int],
    placebos: int = 0,
    *,
    stage: str = "score",
    cached: int = 0,
) -> Price:
    """Count what asking will take: the one place in which calls are counted.

    parts: pictures of each part that have no answer yet; a request never holds pictures of two parts.
    cached: pictures that have one.  placebos: as of ``Price``.
    """
    limits = traits_of(classifier).limits
    pictures = sum(parts)
    batch = max(1, classifier.batch)
    if limits.request_bytes:  # large pictures travel alone
        batch = 1
    each = limits.requests_per_picture
    calls = sum(-(-part // batch) for part in parts) * each
    usd = limits.cost(pictures)
    lost = None
    if usd is not None:
        again = RetryPolicy().most_sent(classifier.batch) - 1
        lost = usd * (each + again) / each
    return Price(
        classifier.name,
        pictures,
        cached,
        calls,
        usd,
        limits.seconds(pictures, calls),
        limits.note,
        (limits.tokens[0] * pictures, limits.tokens[1] * pictures),
        limits.estimated,
        stage,
        placebos,
        limits.remote,
        lost,
    )


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
        left.append(len(frame))
        if traits_of(classifier).limits.remote and not cache.empty:
            distinct: set[bytes] = set()
            for question in about_edits(frame, run, 0, classifier):
                with suppress(PhotoError):
                    distinct.add(digest(question.read()))
            left[-1] = len(distinct) - cache.count(distinct)
            cached += len(frame) - left[-1]
    return estimate(classifier, left, cached=cached + before)


def worst_parts(pictures: int, parts: int) -> list[int]:
    """The pictures of each part that take the most requests, whatever a request holds.

    >>> worst_parts(20, 3), worst_parts(2, 3)
    ([18, 1, 1], [1, 1])
    """
    alone = max(0, min(parts, pictures) - 1)
    return [pictures - alone, *[1] * alone]


def total_of(prices: Sequence[Price]) -> tuple[float, float]:
    """USD of all whose price is known, and what they are if each call is lost as often as it is sent."""
    usd = sum(price.usd or 0.0 for price in prices)
    return usd, sum(price.usd_if_lost or 0.0 for price in prices)


def confirm_cost(estimates: Sequence[Price], config: CostLimits, executor: Executor) -> float:
    """Tell what will be asked; above ``confirm_above`` ask the user, or require ``--yes`` without a terminal.

    Returns: USD that are agreed to: what it will cost, or ``confirm_above`` if that is more.
    Raises: ConfigError if there is a budget but no price; UsageError if it is not wanted or no one can be asked.
    """
    due = [item for item in estimates if item.pictures]
    for item in due:
        executor.note(f"{item.stage:<10} {item}")
    unknown = [item.name for item in due if item.usd is None]
    if config.budget_total is not None:
        executor.note(said("total.txt.j2", ledger=Ledger(config.cache), total=config.budget_total))
    limit = spendable(config)
    if unknown and limit is not None:
        name = unknown[0].partition(":")[0]
        raise ConfigError(
            f"A budget needs a price, and the price of {unknown[0]} depends on your plan.",
            f"Give it in USD per 1,000 pictures, such as {name}:price=1.2.",
        )
    total, lost = total_of(due)
    facts = {"prices": due, "usd": total, "lost": lost, "budget": limit}
    price = said("question.txt.j2", **facts)
    if limit is not None:
        total = min(total, limit)
    agreed = max(total, config.confirm_above)
    if config.yes or (total <= config.confirm_above and not unknown):
        return agreed
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
