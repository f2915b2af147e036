"""What asking will cost, what it has cost, and the hard stops."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from gslopes.core.errors import BudgetReached, ConfigError
from gslopes.score.limits import Limits


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one classifier still has to be asked.

    name: the classifier.  pictures: still to be asked, at most (identical ones are asked once).
    cached: answered already, by an earlier command.  calls: requests.  usd: price, None if it depends on the plan.
    seconds: at the quota; 0 where there is none.  note: of the limits.
    """

    name: str
    pictures: int
    cached: int
    calls: int
    usd: float | None
    seconds: float
    note: str = ""

    def __str__(self) -> str:
        parts = [f"{self.pictures:,} pictures"]
        parts += [f"{self.calls:,} calls"] if self.usd != 0 or self.seconds else []
        parts += [] if self.usd == 0 else ["price unknown" if self.usd is None else f"{self.usd:,.2f} USD"]
        parts += [f"{self.seconds / 60:,.1f} minutes at the quota"] if self.seconds else []
        before = f"; {self.cached:,} answered before" if self.cached else ""
        return f"{self.name}: {', '.join(parts)}{before}"


def estimate(name: str, limits: Limits, batch: int, parts: list[int], cached: int) -> Estimate:
    """Count what asking will take.

    parts: pictures of each part that have no answer yet; a request never holds pictures of two parts.
    cached: pictures that have one.
    """
    pictures, calls = sum(parts), sum(-(-part // max(1, batch)) for part in parts) * limits.requests_per_picture
    return Estimate(name, pictures, cached, calls, limits.cost(pictures), limits.seconds(pictures, calls), limits.note)


@dataclass(slots=True)
class Budget:
    """The money of one command, shared by all classifiers and threads.

    usd: the most that may be spent, None for no limit.  max_calls: the most requests, retries included, None for no
        limit.  spent: USD so far.  calls: requests so far.

    Money is set aside before a request and spent when the service may have billed it, so that even with many requests
    in flight the budget is never passed.
    """

    usd: float | None = None
    max_calls: int | None = None
    spent: float = 0.0
    calls: int = 0
    _reserved: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        if (self.usd is not None and self.usd < 0) or (self.max_calls is not None and self.max_calls < 0):
            raise ConfigError("A budget and a number of calls are not negative.")

    def reserve(self, limits: Limits, pictures: int) -> float:
        """Set the price of one request aside; returns it.

        Raises: BudgetReached if the request would pass a stop; ConfigError if a budget is given and no price known.
        """
        price = limits.cost_of_request(pictures)
        if price is None and self.usd is not None:
            raise ConfigError("A budget needs a price.", "Give the price of your plan, such as imagga:price=1.2.")
        price = price or 0.0
        with self._lock:
            if self.usd is not None and price and self.spent + self._reserved + price > self.usd + 1e-9:
                raise BudgetReached(
                    f"The budget of {self.usd:,.2f} USD is used up: {self.spent + self._reserved:,.2f} USD are spent.",
                    "Answers so far are kept: the same command with a greater --budget goes on from there.",
                )
            if self.max_calls is not None and limits.remote and self.calls >= self.max_calls:
                raise BudgetReached(
                    f"The {self.max_calls:,} calls of --max-calls are made.",
                    "Answers so far are kept: the same command goes on from there.",
                )
            self._reserved += price
            self.calls += limits.remote
        return price

    def settle(self, price: float, billed: float) -> None:
        """After a request: of the price that was set aside, so much is spent."""
        with self._lock:
            self._reserved -= price
            self.spent += billed


@dataclass(slots=True)
class UsageStats:
    """What has happened so far to one classifier's pictures; counts only grow, any thread may read them.

    pictures: with an outcome.  asked: of them, sent in a request that was answered.  requests, retries: sent.
    refused, failed: outcomes.  refitted: encoded anew, too large for the service.  spent: USD.
    tokens_in, tokens_out: of a language model.
    models: version that the service returned, to pictures.  mixed: photos with answers of more than one version.
    """

    pictures: int = 0
    asked: int = 0
    requests: int = 0
    retries: int = 0
    refused: int = 0
    failed: int = 0
    refitted: int = 0
    spent: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    models: Counter[str] = field(default_factory=Counter)
    mixed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __str__(self) -> str:
        parts = [f"{self.spent:,.2f} USD spent"] if self.spent else []
        parts += [f"{self.tokens_in:,} + {self.tokens_out:,} tokens"] if self.tokens_in or self.tokens_out else []
        parts += [f"{self.refused:,} refused"] if self.refused else []
        parts += [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"{self.retries:,} retries"] if self.retries else []
        return ", ".join(parts)
