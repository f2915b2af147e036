"""What a source of photos is, and those that there are: the user's own, free ones on the web, ones with a key.

A source turns a search into candidates; it downloads nothing and decides nothing.
"""

from __future__ import annotations

import html
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from gslopes.collect.lists import Query
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import CredentialsError, UsageError
from gslopes.core.files import read_regular, read_text, show
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import list_photos


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


# --- Sources that the user brings: a list of addresses, and a folder of photos ----------------------------------------


_COLUMNS = ("page", "title", "creator", "creator_url", "licence", "licence_url")


class Urls(Source):
    """Photos at addresses in a file: a line each, or a CSV with a column url.

    path: the file.  Its columns occupation, keyword, page, title, creator, creator_url, licence and licence_url are
    read where they are there; without an occupation all belong to one search, ``photos``.
    """

    name = "urls"
    terms = Terms(0.0, 0, 0, "The list's own; licences as its columns give them.")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[Query, list[Candidate]] | None = None

    def check(self) -> None:
        """Raises: UsageError if there is no such file, or no address in it."""
        if not self._read():
            raise UsageError(f"There is no address in {show(self.path)}.", "Put one on each line, or in a column url.")

    def queries(self) -> list[Query] | None:
        """Its occupations and keywords, in their order."""
        return list(self._read())

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Its addresses, in their order."""
        return self._read().get(query, [])[:max_results]

    def _read(self) -> dict[Query, list[Candidate]]:
        if self._found is None:
            self._found = {}
            for row in self._rows():
                query = Query(text(row.get("occupation")) or "photos", text(row.get("keyword")), text(row.get("soc")))
                fields = {name: text(row.get(name)) for name in _COLUMNS}
                self._found.setdefault(query, []).append(Candidate(row["url"].strip(), **fields))
        return self._found

    def _rows(self) -> list[dict[str, str]]:
        lines = read_text(self.path, hint="Name a text or CSV file in UTF-8.").splitlines()
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        if lines and "url" in [cell.strip() for cell in lines[0].split(",")]:
            return [row for _, row in read_csv(self.path, comments=True).rows() if row["url"]]
        return [{"url": line.strip()} for line in lines]


class Folder(Source):
    """Photos that are there already: each sub-folder is an occupation, as IdenProf has them.  root: the folder."""

    name = "folder"
    terms = Terms(0.0, 0, 0, "Your own files: whether you may use them is for you to know.")

    def __init__(self, root: Path) -> None:
        self.root = root

    def check(self) -> None:
        """Raises: UsageError if there is no such folder, or no photo in it."""
        if not list_photos(self.root, 1):
            raise UsageError(f"There are no photos in {show(self.root)}.", "Name a folder with photos in sub-folders.")

    def queries(self) -> list[Query] | None:
        """Its sub-folders; ``photos`` for what lies in none."""
        return [Query(name) for name in self._names()]

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """The photos of a sub-folder, by name."""
        return [Candidate(name) for name in self._names().get(query.occupation, [])[:max_results]]

    def read(self, candidate: Candidate) -> bytes | None:
        """The file's bytes."""
        return read_regular(self.root / candidate.url, LARGEST_FILE)

    def _names(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for file in list_photos(self.root):
            first, _, rest = file.relative.partition("/")
            found.setdefault(first if rest else "photos", []).append(file.relative)
        return found


# --- Sources on the web: Openverse and Wikimedia Commons without a key; Google with one ----


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


class Google(Source):
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

    def check(self) -> None:
        """Raises: CredentialsError naming the variables."""
        if not all(os.environ.get(name) for name in self.variables):
            raise CredentialsError(self.name, self.variables)

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
