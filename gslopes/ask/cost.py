"""The limits and the price of a classifier, the money of a command, and what asking has cost so far."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from gslopes.ask.config import CostLimits
from gslopes.ask.ledger import RESERVE, SETTLE, Ledger
from gslopes.ask.names import Bounded
from gslopes.core import ConfigError, Limits, RequestUsage, frozen
from gslopes.core.errors import BudgetReached, StorageError

_TEMPLATES = Environment(loader=FileSystemLoader(Path(__file__).parent))


def said(template: str, **facts: Any) -> str:
    """What a template beside this file says of facts, in a line."""
    return _TEMPLATES.get_template(template).render(facts)


# -- limits and prices -------------------------------------------------------------------------------------------------


@frozen
class ServiceOptions(Bounded):
    """Options of every service about its rate, price and address; the first two are not part of the classifier's name.

    rate: requests a second; 0: as listed.  concurrency: requests in flight at once; 0: as listed.
    price: USD per 1,000 pictures on the user's plan; 0: as listed.
    public: whether nothing in its address is a key: then it may have parameters, and parts that look random.
    """

    rate: float = 0.0
    concurrency: int = 0
    price: float = 0.0
    public: bool = False

    def applied_to(self, limits: Limits) -> Limits:
        """Limits with the rate, concurrency and price that the user gives."""
        return replace(
            limits,
            requests_per_second=self.rate or limits.requests_per_second,
            concurrency=self.concurrency or limits.concurrency,
            price=self.price or limits.price,
        )


@frozen
class TokenOptions(ServiceOptions):
    """Fields of ``ServiceOptions``, and prices by tokens.

    price_in, price_out: USD per million tokens.
    """

    price_in: float = 0.0
    price_out: float = 0.0

    def price_of(self, tokens_in: int, tokens_out: int) -> float | None:
        """Millionths of a USD; None if a picture has a fixed price, or the price is not known."""
        if self.price or not (self.price_in or self.price_out):
            return None
        return tokens_in * self.price_in + tokens_out * self.price_out

    def billed(self, used: Sequence[int] | None) -> RequestUsage:
        """What a request took.

        used: tokens in and out, none of one that was turned down, which is free; None or empty if they are not
            reported, or not to be believed: the reserved price counts.
        """
        if not used:
            return RequestUsage(0, 0)
        tokens_in, tokens_out = used
        price = self.price_of(tokens_in, tokens_out) if any(used) else 0.0
        return RequestUsage(tokens_in, tokens_out, None if price is None else price / 1e6)


# -- budget and counts -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Budget:
    """The money of one command, shared by all classifiers and threads.

    usd: the most that may be spent, None for no limit.  spent: USD so far.
    agreed: without ``usd``, the most that may be spent if prices are estimates; None for no limit.
    confirmed: whether the user has agreed to the price of the whole command.
    total: the most that all commands together may spend, None for no limit.  ledger: in which they write.

    The cost of a request is reserved before it is sent and spent when the service may have billed it, so that even with
    many requests in flight the budget is never passed. A request that the rest does not pay for is made smaller.
    """

    usd: float | None = None
    spent: float = 0.0
    agreed: float | None = None
    confirmed: bool = False
    total: float | None = None
    ledger: Ledger | None = None
    _reserved: float = 0.0
    _waiting: int = 0  # requests whose cost is reserved: not sent yet, or not answered
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @classmethod
    def of(cls, limits: CostLimits) -> "Budget":
        """The money of a command with these limits."""
        return cls(limits.budget, total=limits.budget_total, ledger=Ledger(limits.cache))

    def agree(self, usd: float) -> None:
        """Take note that the user has agreed to spend so much from now on."""
        self.agreed = max(self.agreed or 0.0, self.spent + usd)

    def reserve(
        self,
        limits: Limits,
        pictures: int,
        stopped: Callable[[], bool] = lambda: False,
        request: str = "",
    ) -> tuple[int, float]:
        """Reserve the cost of one request.

        While requests in flight hold the money that this one needs, it waits for what they leave.

        stopped: whether to give up waiting.  request: its name in the ledger.
        Returns: how many of the pictures the request may hold, and its cost in USD; (0, 0.0) if it was stopped.
        Raises: BudgetReached if not even one picture can be paid for; ConfigError if a budget is given and no price
            known; StorageError.
        """
        price = limits.cost(1)
        if price is None and (self.usd, self.total) != (None, None):
            raise ConfigError(
                "A budget needs a price.", "Give the price of your plan, such as imagga:price=1.2."
            )
        most = self.agreed if self.usd is None and limits.estimated else self.usd
        unit_price = (price or 0.0) / limits.requests_per_picture
        with self._changed:
            while True:
                count = pictures
                if most is not None and unit_price:
                    money = most - self.spent - self._reserved
                    count = max(0, int(min(pictures, (money + 1e-9) / unit_price)))
                if count and unit_price and self.ledger:
                    paid = self.ledger.change(
                        RESERVE,
                        request=request,
                        pictures=count,
                        price=unit_price,
                        most=self.total,
                    )
                    count = int(paid)
                if count:
                    self._reserved += unit_price * count
                    self._waiting += 1
                    return count, unit_price * count
                if not self._waiting:
                    break
                if stopped():
                    return 0, 0.0
                self._changed.wait(0.2)
        why = said("used_up.txt.j2", budget=self, most=most, price=unit_price)
        raise BudgetReached(*why.splitlines())

    def settle(self, reserved: float, billed: float, request: str = "") -> None:
        """Settle a request.  reserved, billed: USD, before and after it.  request: its name in the ledger."""
        with self._changed:
            if reserved and self.ledger:
                with suppress(StorageError):  # the price stays reserved, and the answer is kept
                    self.ledger.change(SETTLE, request=request, usd=billed)
            self._reserved -= reserved
            self.spent += billed
            self._waiting -= 1
            self._changed.notify_all()


@dataclass(slots=True)
class UsageStats:
    """What has happened so far to one classifier's pictures; counts only grow, any thread may read them.

    pictures: with an outcome.  asked: of them, sent in a request that was answered.  requests, retries: sent.
    throttled: requests that were too many.
    refused, failed: outcomes.  refitted: encoded again, too large for the service.  spent: USD.
    tokens_in, tokens_out: of a language model.
    miscounted: pictures of requests that came back with more or fewer answers.
    models: version that the service returned, to pictures.
    """

    pictures: int = 0
    asked: int = 0
    requests: int = 0
    retries: int = 0
    throttled: int = 0
    refused: int = 0
    failed: int = 0
    refitted: int = 0
    spent: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    miscounted: int = 0
    models: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, **counts: Any) -> None:
        """Add to the counts of these names."""
        with self.lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def __str__(self) -> str:
        return said("usage.txt.j2", usage=self)
