"""What is searched for, and by whom: jobs with their SOC codes, demographic keywords, BLS shares of women; providers.

What is searched for is data: CSV files in ``data/``, each with its source in its head, each replaceable by a file of
the user. A provider turns a search into candidates; it downloads nothing and decides nothing.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gslopes.core import Texts, UsageError, frozen, is_file, read_text, read_toml, show
from gslopes.core.csv_table import read_csv
from gslopes.core.options import names

DATA = Path(__file__).parent / "data"
WOMEN = (
    DATA / "women-bls-2022.csv"
)  # Bureau of Labor Statistics, Current Population Survey 2022, table 11


@frozen
class Occupation:
    """One job.

    name: as searched for.  soc: its code in the 2018 SOC, empty if unknown.
    cps: the occupation of table 11 of the Current Population Survey that counts it, empty if none does.
    """

    name: str
    soc: str = ""
    cps: str = ""


@frozen
class Query:
    """One search: an occupation with a demographic keyword, or with none (empty)."""

    occupation: str
    keyword: str = ""
    soc: str = ""

    @property
    def text(self) -> str:
        """What is typed: ``female chef``."""
        return f"{self.keyword} {self.occupation}".strip()


def read_occupations(which: str) -> list[Occupation]:
    """A list of jobs.

    which: ``bls-129``, the path of a CSV with a column occupation (and soc, cps), or names with commas between them.
        Names that bls-129 has keep their codes.

    Raises: UsageError if the list is unknown or empty.
    """
    rows = _rows_of(which, "occupation")
    if rows is not None:
        jobs = [
            Occupation(row["occupation"], row.get("soc", ""), row.get("cps", "")) for row in rows
        ]
    else:
        listed = {job.name: job for job in read_occupations("bls-129")}
        jobs = [listed.get(name, Occupation(name)) for name in dict.fromkeys(names(which))]
    jobs = [job for job in jobs if job.name]
    if not jobs:
        raise UsageError(
            f"{which!r} names no occupation.", "Name bls-129, a CSV file, or jobs: chef,nurse."
        )
    return jobs


def read_keywords(which: str) -> list[str]:
    """Demographic keywords, the empty one (a search without) among them.

    which: ``paper``, ``none``, the path of a CSV with a column keyword, or keywords with commas between them, which are
        searched for after the search without one.

    Raises: UsageError if the file is missing.
    """
    rows = _rows_of(which, "keyword")
    if rows is not None:
        return list(dict.fromkeys(row["keyword"] for row in rows))
    return [word for word in dict.fromkeys(["", *names(which)]) if word != "none"]


def make_queries(occupations: Sequence[Occupation], keywords: Sequence[str]) -> list[Query]:
    """Every occupation with every keyword, all searches of one occupation together."""
    return [Query(job.name, word, job.soc) for job in occupations for word in keywords]


def women_by_title() -> dict[str, float]:
    """Title of bls-129 to the share of women among the people who have it, in [0, 1], if the Bureau publishes one."""
    shares = {
        row["cps"]: float(row["women"]) / 100 for row in read_rows(WOMEN, "cps") if row["women"]
    }
    return {job.name: shares[job.cps] for job in read_occupations("bls-129") if job.cps in shares}


def women_of(names: Iterable[str]) -> dict[str, float]:
    """Occupation to the share of women among the people who have it, in [0, 1], if the Bureau publishes one.

    names: as searched for, or as folders are named: ``police`` means ``police officer`` as long as no other title
        begins with that word; ``hair-stylist`` and ``hair_stylist`` for ``hair stylist``.
    """
    shares = women_by_title()
    women = {}
    titles = [job.name for job in read_occupations("bls-129")]
    for name in names:
        plain = as_title(name)
        starts = [title for title in titles if title.startswith(plain + " ")]
        title = plain if plain in titles else starts[0] if len(starts) == 1 else ""
        if title in shares:
            women[name] = shares[title]
    return women


def as_title(name: str) -> str:
    """A name as titles are written.

    >>> as_title("Hair_Stylist")
    'hair stylist'
    """
    return name.replace("_", " ").replace("-", " ").strip().lower()


def read_rows(path: Path, column: str) -> list[dict[str, str]]:
    """Rows of a CSV whose lines that begin with # are comments.  Raises: UsageError."""
    hint = f"Its first line should name it: {column}."
    return [
        row for _, row in read_csv(path, (column,), comments=True, strip=True, hint=hint).rows()
    ]


def _rows_of(which: str, column: str) -> list[dict[str, str]] | None:
    """Of a list of ours or a file; None if it is neither.  Raises: UsageError if a file is named that is not there."""
    for file in (DATA / f"{column}s-{which}.csv", Path(which)):
        if is_file(file):
            return read_rows(file, column)
    if which.lower().endswith((".csv", ".txt")):
        raise UsageError(
            f"There is no file {show(which)}.",
            "Name a CSV file, or the words with commas between them.",
        )
    return None


# -- sources -----------------------------------------------------------------------------------------------------------

FetchJson = Callable[[str, Texts, Texts], Any]
"""Asks an address with parameters and headers; the JSON of its answer.  Raises: ServiceError."""


@frozen
class Candidate:
    """One search result, as the provider gives it; whatever it lacks is empty.

    url: of the file.  page: on which people see it.  title, creator, creator_url, licence, licence_url.
    """

    url: str
    page: str = ""
    title: str = ""
    creator: str = ""
    creator_url: str = ""
    licence: str = ""
    licence_url: str = ""


@frozen
class Terms:
    """What may be asked of a provider, and what its photos may be used for.

    note: one sentence about terms, licences and quotas.  gap: seconds between two requests to its interface.
    page: results of one request, 0 if none is sent.  max_results: of one search; 0 for no limit.
    """

    note: str
    gap: float = 0.0
    page: int = 0
    max_results: int = 0


TERMS = {name: Terms(**facts) for name, facts in read_toml(DATA / "sources.toml").items()}


class Provider(ABC):
    """One provider of photos, as Openverse names it.

    name: as the command line and the manifest have it.  terms: see there.
    needs_contact: it asks for a way to reach the user.  of_people: a result is a person, of whom several may be on one
    file.  bound: what the number of requests is followed by.
    """

    name: str
    bound = "at most to the source"
    terms: Terms
    needs_contact = False
    of_people = False

    def queries(self) -> list[Query] | None:
        """The searches that it has by itself (a list); None if it takes any."""
        return None

    def requests(self, results: int) -> int:
        """To its interface, for one search with this many results."""
        if self.terms.page:
            return math.ceil(results / self.terms.page)
        return 0

    @abstractmethod
    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """At most ``max_results`` of one search, best first.  Raises: as ``ask``."""


def text(value: object) -> str:
    """A field of an answer as one line of text; empty for null and for what is neither text nor number."""
    plain = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return plain.encode(
        "utf-8", "replace"
    ).decode()  # JSON can hold halves of characters, tables cannot


class Urls(Provider):
    """Photos at addresses in a file: a line each, or a CSV with a column url.

    path: the file.  Its columns occupation, keyword, page, title, creator, creator_url, licence and licence_url are
    read if they are there; without an occupation all belong to one search, ``photos``.

    Raises: UsageError if the file is missing, or has no address.
    """

    name = "urls"
    terms = TERMS["urls"]

    def __init__(self, path: Path) -> None:
        lines = read_text(path, hint="Name a text or CSV file in UTF-8.").splitlines()
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        rows = [{"url": line.strip()} for line in lines]
        if lines and "url" in [cell.strip() for cell in lines[0].split(",")]:
            rows = [row for _, row in read_csv(path, comments=True).rows() if row["url"]]
        self._searches: dict[Query, list[Candidate]] = {}
        for row in rows:
            cells = {name: text(cell) for name, cell in row.items()}
            query = Query(
                cells.get("occupation") or "photos", cells.get("keyword", ""), cells.get("soc", "")
            )
            about = {name: cells.get(name, "") for name in Candidate.__dataclass_fields__}
            candidate = Candidate(**about | {"url": row["url"].strip()})
            self._searches.setdefault(query, []).append(candidate)
        if not rows:
            raise UsageError(
                f"{show(path)} has no address.", "Put one on each line, or in a column url."
            )

    def queries(self) -> list[Query] | None:
        """Its occupations and keywords, in their order."""
        return list(self._searches)

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Its addresses, in their order."""
        return self._searches.get(query, [])[:max_results]


class Openverse(Provider):
    """The search of openverse.org over openly licensed works.

    A token in OPENVERSE_TOKEN raises its rate and its pages.

    Source: API v1, https://api.openverse.org/v1/, GET /v1/images/.
    """

    name = "openverse"
    base = "https://api.openverse.org"
    terms = TERMS["openverse"]

    def __init__(self) -> None:
        self._headers = {}
        if token := os.environ.get("OPENVERSE_TOKEN"):
            self.terms = TERMS["openverse-registered"]
            self._headers["Authorization"] = f"Bearer {token}"

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """Pages until there are enough or no more."""
        results: list[Candidate] = []
        page = pages = 1
        while len(results) < min(max_results, self.terms.max_results) and page <= pages:
            params = {
                "q": query.text,
                "page": str(page),
                "page_size": str(min(self.terms.page, max_results)),
            }
            answer = ask(f"{self.base}/v1/images/", params, self._headers)
            found = [_openverse(row) for row in answer["results"] if row.get("url")]
            results += found
            pages = int(answer["page_count"]) if found else 0
            page += 1
        return results[:max_results]


_OPENVERSE = read_toml(DATA / "openverse.toml")


def _openverse(row: Mapping[str, object]) -> Candidate:
    facts = {name: text(row.get(field)) for name, field in _OPENVERSE["fields"].items()}
    code = facts["licence"]
    name = _OPENVERSE["licences"].get(code, f"CC {code.upper()}")
    facts["licence"] = f"{name} {text(row.get('license_version'))}".strip()
    return Candidate(**facts)
