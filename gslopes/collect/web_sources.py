"""Sources on the web: Openverse and Wikimedia Commons without a key; Google and interfaces like Bing's with one."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gslopes.collect.lists import Query
from gslopes.collect.source import Candidate, FetchJson, Source, Terms, text
from gslopes.core.errors import CredentialsError

_PUBLIC = {"cc0": "CC0", "pdm": "Public Domain Mark"}


class Openverse(Source):
    """The search of openverse.org over openly licensed works.

    base: of the interface; another one for tests.  A token in OPENVERSE_TOKEN raises its rate and its pages.

    Source: API v1, https://api.openverse.org/v1/, GET /v1/images/.
    """

    name = "openverse"
    anonymous = Terms(
        gap=3.0,
        page=20,
        max_results=240,
        per_day=200,
        note="Openly licensed works; each manifest row names licence and creator. Without a token 20 requests a "
        "minute, 200 a day and 20 results a request: register an application with Openverse and put its token into "
        "OPENVERSE_TOKEN.",
    )
    registered = Terms(
        gap=0.6,
        page=500,
        max_results=10_000,
        per_day=10_000,
        note="Openly licensed works; each manifest row names licence and creator. With your token 100 requests a "
        "minute, 10,000 a day and 500 results a request.",
    )

    def __init__(self, base: str = "https://api.openverse.org") -> None:
        self.base = base.rstrip("/")
        self.terms = self.registered if os.environ.get("OPENVERSE_TOKEN") else self.anonymous

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Pages until there are enough or no more."""
        token = os.environ.get("OPENVERSE_TOKEN", "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        found: list[Candidate] = []
        page = pages = 1
        while len(found) < min(max_results, self.terms.max_results) and page <= pages:
            params = {"q": query.text, "page": str(page), "page_size": str(min(self.terms.page, max_results))}
            answer = ask(f"{self.base}/v1/images/", params, headers)
            found += [_openverse(row) for row in answer["results"] if row.get("url")]
            pages, page = int(answer["page_count"]), page + 1
        return found[:max_results]


def _openverse(row: dict[str, object]) -> Candidate:
    code, version = text(row.get("license")), text(row.get("license_version"))
    name = _PUBLIC.get(code, f"CC {code.upper()}" if code else "")
    return Candidate(
        url=text(row["url"]),
        page=text(row.get("foreign_landing_url")),
        title=text(row.get("title")),
        creator=text(row.get("creator")),
        creator_url=text(row.get("creator_url")),
        licence=f"{name} {version}".strip(),
        licence_url=text(row.get("license_url")),
    )


class Wikimedia(Source):
    """The search of Wikimedia Commons, files of 960 pixels.

    base: of the wiki; another one for tests.

    Source: MediaWiki action API, generator=search in the namespace of files, prop=imageinfo with extmetadata.
    """

    name = "wikimedia"
    terms = Terms(
        gap=1.0,
        page=50,
        max_results=1000,
        note="Free licences and public domain; each manifest row names licence and creator. Wikimedia asks for a "
        "way to reach you in the user agent: give it with --contact.",
    )

    def __init__(self, base: str = "https://commons.wikimedia.org") -> None:
        self.base = base.rstrip("/")

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Pages of 50 until there are enough or no more; bitmaps only."""
        fixed = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrnamespace": "6",
            "gsrsearch": f"filetype:bitmap {query.text}",
            "gsrlimit": str(self.terms.page),
            "prop": "imageinfo",
            "iiprop": "url|size|mime|extmetadata",
            "iiurlwidth": "960",
            "iiextmetadatafilter": "LicenseShortName|LicenseUrl|Artist|ObjectName",
        }
        found: list[Candidate] = []
        more: dict[str, str] | None = {}
        while len(found) < min(max_results, self.terms.max_results) and more is not None:
            answer = ask(f"{self.base}/w/api.php", fixed | more, {})
            pages = sorted(answer.get("query", {}).get("pages", []), key=lambda page: page.get("index", 0))
            found += [_wikimedia(page) for page in pages if page.get("imageinfo")]
            more = {key: str(value) for key, value in answer["continue"].items()} if "continue" in answer else None
        return found[:max_results]


def _wikimedia(page: dict[str, object]) -> Candidate:
    infos = page["imageinfo"]
    candidate, fields = commons_file(infos[0] if isinstance(infos, list) else {})
    return replace(candidate, title=fields.get("ObjectName") or text(page.get("title")).removeprefix("File:"))


def commons_file(info: Mapping[str, Any]) -> tuple[Candidate, dict[str, str]]:
    """A file of Wikimedia Commons, without a title, and its extended metadata.  info: of ``imageinfo``."""
    fields = {key: _plain(value.get("value")) for key, value in (info.get("extmetadata") or {}).items()}
    candidate = Candidate(
        url=text(info.get("thumburl") or info.get("url")),
        page=text(info.get("descriptionurl")),
        creator=fields.get("Artist", ""),
        licence=fields.get("LicenseShortName", ""),
        licence_url=fields.get("LicenseUrl", ""),
    )
    return candidate, fields


def _plain(value: object) -> str:
    """Commons writes names as HTML."""
    return text(html.unescape(re.sub(r"<[^>]*>", " ", str(value or ""))))


# -- with a key of the user's ------------------------------------------------------------------------------------------


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
