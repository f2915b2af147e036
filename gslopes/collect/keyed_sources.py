"""Sources that ask for the user's key: Google's Programmable Search, and interfaces in the form of Bing's."""

from __future__ import annotations

import os

from gslopes.collect.lists import Query
from gslopes.collect.source import Candidate, FetchJson, Source, Terms, text
from gslopes.core.errors import CredentialsError


class _Keyed(Source):
    name: str
    variables: tuple[str, ...]

    def check(self) -> None:
        """Raises: CredentialsError naming the variables."""
        if not all(os.environ.get(name) for name in self.variables):
            raise CredentialsError(self.name, self.variables)


class Google(_Keyed):
    """Image search of Google's Programmable Search Engine.

    base: of the interface; another one for tests.  The key is in GOOGLE_SEARCH_KEY, the engine in GOOGLE_SEARCH_ENGINE.

    Source: Custom Search JSON API, GET /customsearch/v1 with searchType=image; at most 100 results of a search.
    """

    name = "google"
    variables = ("GOOGLE_SEARCH_KEY", "GOOGLE_SEARCH_ENGINE")
    terms = Terms(
        gap=0.6,
        page=10,
        max_results=100,
        per_day=10_000,
        note="Results carry no licence: finding a photo is no permission to use it. At most 100 results of a search; "
        "beyond 100 requests a day they are billed. Google has closed this search to new customers and ends it on "
        "2027-01-01: openverse and wikimedia stay.",
    )

    def __init__(self, base: str = "https://customsearch.googleapis.com") -> None:
        self.base = base.rstrip("/")

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Pages of 10 until there are enough or no more."""
        headers = {"X-goog-api-key": os.environ.get(self.variables[0], "")}  # a header: addresses end up in logs
        fixed = {"cx": os.environ.get(self.variables[1], ""), "q": query.text, "searchType": "image", "safe": "active"}
        found: list[Candidate] = []
        start = 1
        while start and len(found) < min(max_results, self.terms.max_results) and start <= self.terms.max_results:
            page = {"num": str(self.terms.page), "start": str(start)}
            answer = ask(f"{self.base}/customsearch/v1", fixed | page, headers)
            for item in answer.get("items", []):
                shown = item.get("image", {})
                found.append(Candidate(text(item.get("link")), text(shown.get("contextLink")), text(item.get("title"))))
            following = answer.get("queries", {}).get("nextPage") or [{}]
            start = int(following[0].get("startIndex", 0))
        return found[:max_results]


class Bing(_Keyed):
    """An image search that answers in the form of Bing's version 7, which Microsoft has closed but others speak.

    base: the address up to /v7.0, else that in BING_SEARCH_ENDPOINT.  The key is in BING_SEARCH_KEY.

    Source: Bing Image Search API v7, GET /v7.0/images/search.
    """

    name = "bing"
    terms = Terms(
        gap=0.4,
        page=150,
        max_results=1000,
        note="Results carry no licence: finding a photo is no permission to use it. Microsoft closed its own service "
        "in August 2025; name one that speaks its form.",
    )

    def __init__(self, base: str = "") -> None:
        self.base = (base or os.environ.get("BING_SEARCH_ENDPOINT", "")).rstrip("/")
        self.variables = ("BING_SEARCH_KEY",) if self.base else ("BING_SEARCH_KEY", "BING_SEARCH_ENDPOINT")

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Pages of 150 until there are enough or no more."""
        headers = {"Ocp-Apim-Subscription-Key": os.environ.get("BING_SEARCH_KEY", "")}
        found: list[Candidate] = []
        offset, before = 0, -1
        while len(found) < min(max_results, self.terms.max_results) and offset > before:
            params = {"q": query.text, "count": str(self.terms.page), "offset": str(offset), "safeSearch": "Strict"}
            answer = ask(f"{self.base}/v7.0/images/search", params, headers)
            rows = answer.get("value", [])
            found += [
                Candidate(text(row.get("contentUrl")), text(row.get("hostPageUrl")), text(row.get("name")))
                for row in rows
            ]
            before, offset = offset, int(answer.get("nextOffset", 0)) if rows else 0
        return found[:max_results]
