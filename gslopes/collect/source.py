"""What a source of photos is: it turns a search into candidates; it downloads nothing and decides nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gslopes.collect.lists import Query


@dataclass(frozen=True, slots=True)
class Candidate:
    """One search result, as the source gives it; whatever it does not say is empty.

    url: of the file.  page: where the source shows it to people.  title, creator, creator_url, licence, licence_url.
    """

    url: str
    page: str = ""
    title: str = ""
    creator: str = ""
    creator_url: str = ""
    licence: str = ""
    licence_url: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be asked of a source, and what its photos may be used for.

    gap: seconds between two requests to its interface.  page: results of one request.
    max_results: results of one search; 0 for no limit.  per_day: requests in 24 hours; 0 for no limit.
    note: one sentence about terms, licences and quotas.
    """

    gap: float
    page: int
    max_results: int
    note: str
    per_day: int = 0


class FetchJson(Protocol):
    """Asks an interface over HTTP and returns the JSON of its answer.  Raises: ServiceError, CredentialsError."""

    def __call__(self, url: str, params: Mapping[str, str], headers: Mapping[str, str]) -> Any:
        """See above."""
        ...


class Source(ABC):
    """One source of photos; what is said here is that of sources on the web.

    name: as the command line and the manifest have it.  terms: see there.
    """

    name: str
    terms: Terms

    def check(self) -> None:  # noqa: B027 - most need nothing
        """Before any work: keys, files.  Raises: CredentialsError, UsageError."""

    def queries(self) -> list[Query] | None:
        """The searches that it has by itself (a list, a folder); None if it takes any."""
        return None

    @abstractmethod
    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """At most ``max_results`` of one search, best first.  Raises: as ``ask``."""

    def read(self, candidate: Candidate) -> bytes | None:
        """The bytes of a candidate that needs no download; None if it does.  Raises: OSError."""
        return None


def text(value: object) -> str:
    """A field of an answer as one line of text; empty for null and for what is no text or number."""
    plain = " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""
    return plain.encode("utf-8", "replace").decode()  # JSON can hold halves of characters, tables cannot
