"""What a classifier declares beyond ``ask`` and ``parse``: one frozen record, with its limits and its price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from gslopes.core.config import read_beside
from gslopes.core.errors import UsageError
from gslopes.core.freeze import frozen

if TYPE_CHECKING:
    from gslopes.core.records import Classifier


@frozen
class Limits:
    """The limits and the price of a classifier; the defaults are a local one's: no limits, no price.

    requests_per_second, pictures_per_second: of one account; 0: unlimited.  concurrency: requests in flight at once.
    picture_bytes: of one encoded picture; 0: unlimited.  Larger ones are encoded again, with a note.
    request_bytes: of all encoded pictures of one request together, before any base64; 0: unlimited.
    max_pixels: of one picture; 0: unlimited. Larger ones are scaled down.
    min_side, max_side: pixels; smaller pictures are refused without asking, larger ones are scaled down.
    formats: what it takes, as Pillow names it; others are encoded as JPEG.  Empty: everything.
    price: USD per 1,000 pictures; 0 for a local classifier, None if it depends on the user's plan.
    requests_per_picture: at most, if one does not do: language models are asked several times.
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

    def seconds(self, pictures: int, requests: int) -> float:
        """Seconds that pictures and requests take at the quota; 0 without one."""
        by_requests = requests / self.requests_per_second if self.requests_per_second else 0.0
        by_pictures = pictures / self.pictures_per_second if self.pictures_per_second else 0.0
        return max(by_requests, by_pictures)

    def cost(self, pictures: int) -> float | None:
        """USD, None if the price is not known."""
        if self.price is None:
            return None
        return self.price * pictures / 1000


LOCAL = Limits()


@frozen
class RequestUsage:
    """What one request took: tokens in and out, and USD, None if the price of a token is not known.

    More than the price of a picture known beforehand is not believed.
    """

    tokens_in: int
    tokens_out: int
    usd: float | None = None


@frozen
class Traits:
    """What a classifier declares about itself, as its attribute ``traits``; without it, these defaults hold.

    limits: rate, sizes and price.  numbers: whether its scores may be numbers in a unit, beyond [0, 1].
    cached: whether its version identifies its answers, so that they are kept for all runs; a service's always are.
    kept_under: the version under which raw answers are kept, if its version also depends on how they are read.
    unknown: why its version does not identify it, so that earlier answers are not reused; empty if it does.
    facts: texts about what is asked, for run.json.  labels: all that it may return, if it knows.
    pictures: whether it is an editor: it answers with pictures, and its raw answers are JSON.
    pairs: whether each question shows two pictures of one photo side by side, see ``ask.questions.about_edits``.
    posts: whether it is asked by batch, see ``ask.classifiers.batching``.

    prepares, groups, resumes, counts, shows, warns: whether it has the member of ``Able`` of that purpose.
    """

    limits: Limits = LOCAL
    numbers: bool = False
    cached: bool = False
    kept_under: str | None = None
    unknown: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[str] = ()
    pictures: bool = False
    pairs: bool = False
    posts: bool = False
    prepares: bool = False
    groups: bool = False
    resumes: bool = False
    counts: bool = False
    shows: bool = False
    warns: bool = False

    @property
    def kept(self) -> bool:
        """Whether raw answers are kept for all runs."""
        return self.cached or self.limits.remote


# Attributes that mean nothing outside of traits, and the traits in their place.
_OUTSIDE = read_beside(__file__, "traits.toml")


def traits_of(classifier: Classifier) -> Traits:
    """The traits of a classifier; of an object without any, the defaults."""
    return getattr(classifier, "traits", Traits())


def check_traits(classifier: Classifier) -> None:
    """Raises: UsageError for traits of another kind, or without any, for attributes which only traits can declare."""
    name = type(classifier).__name__
    if not isinstance(traits_of(classifier), Traits):
        raise UsageError(
            f"The traits of {name} are not gslopes.core.traits.Traits.", "Give them another name."
        )
    meant = [attribute for attribute in _OUTSIDE if hasattr(classifier, attribute)]
    if meant and not hasattr(classifier, "traits"):
        declared = ", ".join(f"{_OUTSIDE[attribute]}=..." for attribute in meant)
        raise UsageError(
            f"{name} has {', '.join(meant)}, which gslopes reads from its traits.",
            f"Give it traits = gslopes.core.traits.Traits({declared}), or Traits() if they are for your own use.",
        )
