"""The limits and the price of a classifier: what asking will cost, what it has cost, and the hard stops."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gslopes.ask.names import OPERATIONAL
from gslopes.core.errors import BudgetReached, ConfigError
from gslopes.core.records import Classifier
from gslopes.core.text import many

# -- limits and prices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits and the price of a classifier; the defaults are those of a local one: none.

    requests_per_second, pictures_per_second: of one account; 0 is no limit.  concurrency: requests in flight at once.
    picture_bytes: of one encoded picture; 0 is no limit.  Larger ones are encoded again, with a note.
    request_bytes: of all encoded pictures of one request together, before any base64; 0 is no limit.
    max_pixels: of one picture; 0 is no limit. Larger ones are scaled down.
    min_side, max_side: pixels; smaller pictures are refused without asking, larger ones are scaled down.
    formats: what it takes, as Pillow names it; others are encoded as JPEG.  Empty: everything.
    price: USD per 1,000 pictures; 0 for a local classifier, None where it depends on the user's plan.
    requests_per_picture: at most, where one does not do: language models are asked several times.
    tokens: of a language model, in and out, of all requests about one picture, at most; for the estimate.
    network: whether it is asked over a network, whatever the other limits say.
    note: what a user should know about rate and price, one sentence; empty if nothing.
    """

    requests_per_second: float = 0.0
    pictures_per_second: float = 0.0
    concurrency: int = 1
    picture_bytes: int = 0
    request_bytes: int = 0
    min_side: int = 1
    max_side: int = 0
    max_pixels: int = 0
    formats: tuple[str, ...] = ()
    price: float | None = 0.0
    requests_per_picture: int = 1
    network: bool = False
    tokens: tuple[int, int] = (0, 0)
    note: str = ""

    @property
    def free(self) -> bool:
        """Whether asking costs nothing."""
        return self.price == 0

    @property
    def remote(self) -> bool:
        """Whether it is asked over a network: paced, billed, or several at once."""
        paced = bool(self.requests_per_second or self.pictures_per_second)
        return self.network or paced or self.price != 0 or self.concurrency > 1

    def adjusted(self, options: ServiceOptions) -> Limits:
        """With what the user gave as ``rate``, ``concurrency`` and ``price``."""
        return replace(
            self,
            requests_per_second=options.rate or self.requests_per_second,
            concurrency=options.concurrency or self.concurrency,
            price=options.price or self.price,
        )

    def seconds(self, pictures: int, requests: int) -> float:
        """Seconds that pictures and requests take at the quota; 0 where there is none."""
        by_requests = requests / self.requests_per_second if self.requests_per_second else 0.0
        by_pictures = pictures / self.pictures_per_second if self.pictures_per_second else 0.0
        return max(by_requests, by_pictures)

    def cost(self, pictures: int) -> float | None:
        """USD, None if the price is not known."""
        return None if self.price is None else self.price * pictures / 1000

    def cost_of_request(self, pictures: int) -> float | None:
        """USD for one request, None if the price is not known."""
        usd = self.cost(pictures)
        return None if usd is None else usd / self.requests_per_picture


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Options of every service about its rate, price and address; the first two are not part of the classifier's name.

    rate: requests a second; 0: as listed.  concurrency: requests in flight at once; 0: as listed.
    price: USD per 1,000 pictures on the user's plan; 0: as listed.
    public: whether nothing in its address is a key: then it may have parameters, and parts that look random.
    """

    rate: float = field(default=0.0, metadata=OPERATIONAL)
    concurrency: int = field(default=0, metadata=OPERATIONAL)
    price: float = field(default=0.0, metadata=OPERATIONAL)
    public: bool = False

    def __post_init__(self) -> None:
        if min(self.rate, self.concurrency, self.price) < 0:
            raise ConfigError("A service's rate, concurrency and price must not be negative.")


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """What one request actually took: tokens in and out, and USD, None where the price of a token is not known."""

    tokens_in: int
    tokens_out: int
    usd: float | None = None


LOCAL = Limits()


def limits_of(classifier: Classifier) -> Limits:
    """The classifier's own limits, or none."""
    found = getattr(classifier, "limits", LOCAL)
    return found if isinstance(found, Limits) else LOCAL


# -- budget and counts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one classifier still has to be asked.

    name: the classifier.  pictures: still to be asked, at most (identical ones are asked once).
    cached: answered already, by an earlier command.  calls: requests.  usd: price, None if it depends on the plan.
    seconds: at the quota; 0 where there is none.  note: of the limits.  tokens: in and out, at most.
    """

    name: str
    pictures: int
    cached: int
    calls: int
    usd: float | None
    seconds: float
    note: str = ""
    tokens: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        parts = [many(self.pictures, "picture")]
        parts += [many(self.calls, "call")] if self.usd != 0 or self.seconds else []
        parts += [f"at most {self.tokens[0]:,} + {self.tokens[1]:,} tokens"] if any(self.tokens) else []
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
    tokens = limits.tokens[0] * pictures, limits.tokens[1] * pictures
    seconds = limits.seconds(pictures, calls)
    return Estimate(name, pictures, cached, calls, limits.cost(pictures), seconds, limits.note, tokens)


@dataclass(slots=True)
class Budget:
    """The money of one command, shared by all classifiers and threads.

    usd: the most that may be spent, None for no limit.  max_calls: the most requests, retries included, None for no
        limit.  spent: USD so far.  calls: requests sent so far.

    The cost of a request is reserved before it is sent and spent when the service may have billed it, so that even with
    many requests in flight the budget is never passed. A request that the rest does not pay for is made smaller.
    """

    usd: float | None = None
    max_calls: int | None = None
    spent: float = 0.0
    calls: int = 0
    _reserved: float = 0.0
    _waiting: int = 0  # requests whose cost is reserved: not sent yet, or not answered
    _unsent: int = 0  # of them, those that are not sent yet
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def __post_init__(self) -> None:
        if (self.usd is not None and self.usd < 0) or (self.max_calls is not None and self.max_calls < 0):
            raise ConfigError("A budget and a number of calls must not be negative.")

    @property
    def unspent(self) -> float | None:
        """USD; None without a limit."""
        return None if self.usd is None else round(self.usd - self.spent, 9) + 0.0  # no -0.00

    def shown(self, usd: float) -> str:
        """An amount in cents, or in hundredths of one under a budget below a dollar.

        >>> Budget(usd=5).shown(1234.5), Budget(usd=0.0061).shown(0.006)
        ('1,234.50', '0.0060')
        """
        return f"{usd:,.{4 if self.usd is not None and self.usd < 1 else 2}f}"

    def reserve(self, limits: Limits, pictures: int, stopped: Callable[[], bool] = lambda: False) -> tuple[int, float]:
        """Reserve the cost of one request.

        While requests in flight hold the money that this one needs, it waits for what they leave.

        stopped: whether to give up waiting.
        Returns: how many of the pictures the request may hold, and its cost in USD; (0, 0.0) if it was stopped.
        Raises: BudgetReached if not even one picture can be paid for; ConfigError if a budget is given and no price
            known.
        """
        if limits.cost_of_request(1) is None and self.usd is not None:
            raise ConfigError("A budget needs a price.", "Give the price of your plan, such as imagga:price=1.2.")
        with self._changed:
            while True:
                count = self._affordable(limits, pictures)
                if count:
                    cost = limits.cost_of_request(count) or 0.0
                    self._reserved += cost
                    self._waiting += 1
                    self._unsent += limits.remote
                    return count, cost
                if not self._waiting:
                    raise self._reached(limits)
                if stopped():
                    return 0, 0.0
                self._changed.wait(0.2)

    def sent(self, limits: Limits) -> None:
        """A request whose cost was reserved is being sent."""
        with self._changed:
            self._unsent -= limits.remote
            self.calls += limits.remote

    def settle(self, limits: Limits, reserved: float, billed: float, *, was_sent: bool = True) -> None:
        """Settle a request.  reserved, billed: USD, before and after it.  was_sent: whether it left."""
        with self._changed:
            self._reserved -= reserved
            self.spent += billed
            self._waiting -= 1
            self._unsent -= 0 if was_sent else limits.remote
            self._changed.notify_all()

    def _affordable(self, limits: Limits, pictures: int) -> int:
        if self.max_calls is not None and limits.remote and self.calls + self._unsent >= self.max_calls:
            return 0
        each = limits.cost_of_request(1) or 0.0
        if self.usd is None or not each:
            return pictures
        left = self.usd - self.spent - self._reserved
        return max(0, min(pictures, int((left + 1e-9) / each)))

    def _reached(self, limits: Limits) -> BudgetReached:
        goes_on = "Answers so far are kept: the same command"
        if self.max_calls is not None and limits.remote and self.calls >= self.max_calls:
            return BudgetReached(
                f"The limit of {self.max_calls:,} calls (--max-calls) is reached.", f"{goes_on} goes on from there."
            )
        return BudgetReached(
            f"The budget of {self.shown(self.usd or 0)} USD is used up: {self.shown(self.spent)} USD were spent, "
            f"and the rest, {self.shown(self.unspent or 0)} USD, does not cover another picture.",
            f"{goes_on} with a larger --budget goes on from there.",
        )


_SHOWN = ("refused", "failed", "retries", "throttled")  # counts in the one line about a classifier


@dataclass(slots=True)
class UsageStats:
    """What has happened so far to one classifier's pictures; counts only grow, any thread may read them.

    pictures: with an outcome.  asked: of them, sent in a request that was answered.  requests, retries: sent.
    throttled: requests that were too many.  longest_wait: seconds that the service asked us to wait, at most.
    refused, failed: outcomes.  refitted: encoded again, too large for the service.  spent: USD.
    tokens_in, tokens_out: of a language model.
    miscounted: pictures of requests that came back with more or fewer answers.
    models: version that the service returned, to pictures.  mixed: photos with answers of more than one version.
    """

    pictures: int = 0
    asked: int = 0
    requests: int = 0
    retries: int = 0
    throttled: int = 0
    longest_wait: float = 0.0
    refused: int = 0
    failed: int = 0
    refitted: int = 0
    spent: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    miscounted: int = 0
    models: Counter[str] = field(default_factory=Counter)
    mixed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, **counts: Any) -> None:
        """Add to the counts of these names."""
        with self.lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def __str__(self) -> str:
        counts = [f"{getattr(self, name):,} {name}" for name in _SHOWN if getattr(self, name)]
        tokens = [f"{self.tokens_in:,} + {self.tokens_out:,} tokens"] if self.tokens_in or self.tokens_out else []
        if self.miscounted:
            counts.append(f"more or fewer answers than pictures to {self.miscounted:,}, which count as paid")
        return ", ".join([*([f"{self.spent:,.2f} USD spent"] if self.spent else []), *tokens, *counts])
