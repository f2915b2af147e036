"""The limits and the price of a classifier, the money of a command, and what asking has cost so far."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gslopes.ask.names import OPERATIONAL
from gslopes.core.errors import BudgetReached, ConfigError
from gslopes.core.records import Classifier

# -- limits and prices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits and the price of a classifier; by default a local one's, without limits.

    requests_per_second, pictures_per_second: of one account; 0: unlimited.  concurrency: requests in flight at once.
    picture_bytes: of one encoded picture; 0: unlimited.  Larger ones are encoded again, with a note.
    request_bytes: of all encoded pictures of one request together, before any base64; 0: unlimited.
    max_pixels: of one picture; 0: unlimited. Larger ones are scaled down.
    min_side, max_side: pixels; smaller pictures are refused without asking, larger ones are scaled down.
    formats: what it takes, as Pillow names it; others are encoded as JPEG.  Empty: everything.
    price: USD per 1,000 pictures; 0 for a local classifier, None if it depends on the user's plan.
    requests_per_picture: at most; language models are asked several times.
    tokens: of a language model, in and out, of all requests about one picture, estimated.
    estimated: whether the price is an estimate, because a request's own is known afterwards, by its tokens.
    network: whether it is asked over a network, whatever the other limits are.
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
    estimated: bool = False
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

    def adjusted(self, options: "ServiceOptions") -> "Limits":
        """With what the user gave as ``rate``, ``concurrency`` and ``price``."""
        rate = options.rate or self.requests_per_second
        price = options.price or self.price
        concurrency = options.concurrency or self.concurrency
        return replace(self, requests_per_second=rate, concurrency=concurrency, price=price)

    def seconds(self, pictures: int, requests: int) -> float:
        """Seconds that pictures and requests take at the quota; 0 without a quota."""
        by_requests = requests / self.requests_per_second if self.requests_per_second else 0.0
        by_pictures = pictures / self.pictures_per_second if self.pictures_per_second else 0.0
        return max(by_requests, by_pictures)

    def cost(self, pictures: int) -> float | None:
        """USD, None if the price is not known."""
        if self.price is None:
            return None
        return self.price * pictures / 1000


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
    """What one request took: tokens in and out, and USD, None if the price of a token is not known.

    More than the price of a picture known beforehand is not believed.
    """

    tokens_in: int
    tokens_out: int
    usd: float | None = None


LOCAL = Limits()


def limits_of(classifier: Classifier) -> Limits:
    """The classifier's own limits, or none."""
    limits = getattr(classifier, "limits", LOCAL)
    if isinstance(limits, Limits):
        return limits
    return LOCAL


# -- budget and counts -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Budget:
    """The money of one command, shared by all classifiers and threads.

    usd: the most that may be spent, None for no limit.  spent: USD so far.
    agreed: without ``usd``, the most that may be spent if prices are estimates; None for no limit.
    confirmed: whether the user has agreed to the price of the whole command.

    The cost of a request is reserved before it is sent and spent when the service may have billed it, so that even with
    many requests in flight the budget is never passed. A request that the rest does not pay for is made smaller.
    """

    usd: float | None = None
    spent: float = 0.0
    agreed: float | None = None
    confirmed: bool = False
    _reserved: float = 0.0
    _waiting: int = 0  # requests whose cost is reserved: not sent yet, or not answered
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def __post_init__(self) -> None:
        if self.usd is not None and self.usd < 0:
            raise ConfigError("A budget must not be negative.")

    def agree(self, usd: float) -> None:
        """Take note that the user has agreed to spend so much from now on."""
        self.agreed = max(self.agreed or 0.0, self.spent + usd)

    def shown(self, usd: float) -> str:
        """An amount in cents, or in hundredths of one under a budget below a dollar.

        >>> Budget(usd=5).shown(1234.5), Budget(usd=0.0061).shown(0.006)
        ('1,234.50', '0.0060')
        """
        digits = 4 if self.usd is not None and self.usd < 1 else 2
        return f"{round(usd, 9) + 0.0:,.{digits}f}"  # no -0.00

    def reserve(
        self, limits: Limits, pictures: int, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[int, float]:
        """Reserve the cost of one request.

        While requests in flight hold the money that this one needs, it waits for what they leave.

        stopped: whether to give up waiting.
        Returns: how many of the pictures the request may hold, and its cost in USD; (0, 0.0) if it was stopped.
        Raises: BudgetReached if not even one picture can be paid for; ConfigError if a budget is given and no price
            known.
        """
        price = limits.cost(1)
        if price is None and self.usd is not None:
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
                    count = max(0, min(pictures, int((money + 1e-9) / unit_price)))
                if count:
                    self._reserved += unit_price * count
                    self._waiting += 1
                    return count, unit_price * count
                if not self._waiting:
                    raise self._used_up(most or 0.0)
                if stopped():
                    return 0, 0.0
                self._changed.wait(0.2)

    def _used_up(self, most: float) -> BudgetReached:
        what = f"What was agreed to, {self.shown(most)} USD,"
        if self.usd is not None:
            what = f"The budget of {self.shown(most)} USD"
        left = self.shown(self.left(most))
        why = f"and the rest, {left} USD, does not cover another picture."
        hint = (
            "Answers so far are kept: the same command with a larger --budget goes on from there."
        )
        return BudgetReached(
            f"{what} is used up: {self.shown(self.spent)} USD were spent, {why}", hint
        )

    def left(self, most: float) -> float:
        """USD of ``most`` that are not spent, 0 or more."""
        return max(0.0, most - self.spent)

    def settle(self, reserved: float, billed: float) -> None:
        """Settle a request.  reserved, billed: USD, before and after it."""
        with self._changed:
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
        parts = [f"{self.spent:,.2f} USD spent"] if self.spent else []
        if self.tokens_in or self.tokens_out:
            parts.append(f"{self.tokens_in:,} + {self.tokens_out:,} tokens")
        counts = ("refused", "failed", "retries", "throttled")
        parts += [f"{getattr(self, name):,} {name}" for name in counts if getattr(self, name)]
        if self.miscounted:
            parts.append(
                f"more or fewer answers than pictures to {self.miscounted:,}, which count as paid"
            )
        return ", ".join(parts)
