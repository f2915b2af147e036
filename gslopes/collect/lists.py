"""What is searched for: job titles with their SOC codes, demographic keywords, and the BLS shares of women.

All of it is data: CSV files in ``data/``, each with its source in its head, each replaceable by a file of the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import is_file, show

DATA = Path(__file__).parent / "data"
OCCUPATIONS = {"bls-129": DATA / "occupations-bls-129.csv"}
KEYWORDS = {"paper": DATA / "keywords-paper.csv"}
WOMEN = DATA / "women-bls-2022.csv"  # Bureau of Labor Statistics, Current Population Survey 2022, table 11


@dataclass(frozen=True, slots=True)
class Occupation:
    """One job.

    name: as searched for.  soc: its code in the 2018 SOC, empty if unknown.
    cps: the occupation of table 11 of the Current Population Survey that counts it, empty if none does.
    """

    name: str
    soc: str = ""
    cps: str = ""


@dataclass(frozen=True, slots=True)
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
    rows = _rows_of(which, OCCUPATIONS, "occupation")
    if rows is not None:
        jobs = [Occupation(row["occupation"], row.get("soc", ""), row.get("cps", "")) for row in rows]
    else:
        listed = {job.name: job for job in read_occupations("bls-129")}
        jobs = [listed.get(name, Occupation(name)) for name in dict.fromkeys(map(str.strip, which.split(",")))]
    jobs = [job for job in jobs if job.name]
    if not jobs:
        raise UsageError(f"{which!r} names no occupation.", "Name bls-129, a CSV file, or jobs: chef,nurse.")
    return jobs


def read_keywords(which: str) -> list[str]:
    """Demographic keywords, the empty one (a search without) among them.

    which: ``paper``, ``none``, the path of a CSV with a column keyword, or keywords with commas between them, which are
        searched for after the search without one.

    Raises: UsageError if the file is missing.
    """
    rows = _rows_of(which, KEYWORDS, "keyword")
    if rows is not None:
        return list(dict.fromkeys(row["keyword"] for row in rows))
    return list(dict.fromkeys(["", *(word.strip() for word in which.split(",") if word.strip() not in ("", "none"))]))


def make_queries(occupations: Sequence[Occupation], keywords: Sequence[str]) -> list[Query]:
    """Every occupation with every keyword, all searches of one occupation together."""
    return [Query(job.name, word, job.soc) for job in occupations for word in keywords]


def women_of(names: Sequence[str]) -> dict[str, float]:
    """Occupation to the share of women among the people who have it, in [0, 1], where the Bureau publishes one.

    names: as searched for, or as folders are named: ``police`` means ``police officer`` as long as no other title
        begins with that word; ``hair-stylist`` and ``hair_stylist`` for ``hair stylist``.
    """
    shares = {row["cps"]: float(row["women"]) / 100 for row in read_rows(WOMEN, "cps") if row["women"]}
    jobs = {job.name: job.cps for job in read_occupations("bls-129")}
    women = {}
    for name in names:
        plain = name.replace("_", " ").replace("-", " ").strip().lower()
        starts = [title for title in jobs if title.startswith(plain + " ")]
        title = plain if plain in jobs else starts[0] if len(starts) == 1 else ""
        if jobs.get(title) in shares:
            women[name] = shares[jobs[title]]
    return women


def read_rows(path: Path, column: str) -> list[dict[str, str]]:
    """Rows of a CSV whose lines that begin with # are comments.  Raises: UsageError."""
    hint = f"Its first line should name it: {column}."
    return [row for _, row in read_csv(path, (column,), comments=True, strip=True, hint=hint).rows()]


def _rows_of(which: str, lists: dict[str, Path], column: str) -> list[dict[str, str]] | None:
    """Of a list of ours or a file; None if it is neither.  Raises: UsageError if a file is named that is not there."""
    if which in lists or is_file(Path(which)):
        return read_rows(lists.get(which, Path(which)), column)
    if which.lower().endswith((".csv", ".txt")):
        raise UsageError(f"There is no file {show(which)}.", "Name a CSV file, or the words with commas between them.")
    return None
