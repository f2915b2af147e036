"""Sources that the user brings: a list of addresses, and a folder of photos."""

from __future__ import annotations

from pathlib import Path

from gslopes.collect.lists import Query
from gslopes.collect.source import Candidate, FetchJson, Source, Terms, text
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import read_regular, read_text, show
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import list_photos

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
    """Photos that are there already: each sub-folder is an occupation, as IdenProf has them.

    root: the folder.
    """

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
