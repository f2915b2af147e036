"""Sources of openly licensed photos, without a key: Openverse and Wikimedia Commons."""

from __future__ import annotations

import html
import os
import re

from gslopes.collect.lists import Query
from gslopes.collect.source import Candidate, FetchJson, Source, Terms, text

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
    info = infos[0] if isinstance(infos, list) else {}
    fields = {key: plain(value.get("value")) for key, value in (info.get("extmetadata") or {}).items()}
    return Candidate(
        url=text(info.get("thumburl") or info.get("url")),
        page=text(info.get("descriptionurl")),
        title=fields.get("ObjectName") or text(page.get("title")).removeprefix("File:"),
        creator=fields.get("Artist", ""),
        licence=fields.get("LicenseShortName", ""),
        licence_url=fields.get("LicenseUrl", ""),
    )


def plain(value: object) -> str:
    """Commons writes names as HTML."""
    return text(html.unescape(re.sub(r"<[^>]*>", " ", str(value or ""))))
