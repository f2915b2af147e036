"""The limits and the price of a classifier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gslopes.core.errors import ConfigError
from gslopes.core.records import Classifier
from gslopes.score.names import OPERATIONAL


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
