"""What every audit returns: its folder, its page, its tables, and its finding in a sentence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslopes.core.errors import TableError

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mapping[str, "pd.DataFrame"]):
    """The tables of a run folder by name, each read when it is first asked for.

    made: those that are in memory already.

    Raises: KeyError for a table that the folder does not have; TableError for one that cannot be read.
    """

    def __init__(self, folder: Path, made: Mapping[str, "pd.DataFrame"]) -> None:
        self.folder = folder
        self._read = dict(made)

    def __getitem__(self, name: str) -> "pd.DataFrame":
        import pandas as pd

        path = self.folder / f"{name}.parquet"
        if name not in self._read:
            if not path.is_file():
                raise KeyError(f"{name!r}: {self.folder} has the tables {', '.join(self) or 'none'}")
            try:
                self._read[name] = pd.read_parquet(path)
            except (OSError, ValueError) as error:
                raise TableError(f"{path} cannot be read: {error}.") from error
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._read, *(path.stem for path in self.folder.glob("*.parquet"))}))

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass(frozen=True, eq=False)
class AuditResult:
    """What an audit found.

    folder: the run folder.  page: the report, None before it.  summary: the finding in a sentence, empty before it.
    made: name to table, those that need not be read from the folder.
    """

    folder: Path
    page: Path | None
    summary: str
    made: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)

    @cached_property
    def tables(self) -> Mapping[str, "pd.DataFrame"]:
        """The tables of the run folder by name, read lazily."""
        return Tables(self.folder, self.made)

    def _repr_html_(self) -> str:
        """The finding and a link to the page, for a notebook."""
        finding = f"<p><b>{escape(self.summary)}</b></p>" if self.summary else ""
        return finding + page_link(self.page) or f"<p>Run folder {escape(str(self.folder))}.</p>"


def page_link(page: Path | None) -> str:
    """HTML that leads to a page; empty if there is none."""
    return f'<p>Report: <a href="{escape(page.resolve().as_uri())}">{escape(str(page))}</a></p>' if page else ""


def found_page(page: Path) -> Path | None:
    """The page, if it is there."""
    return page if page.is_file() else None
