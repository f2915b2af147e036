"""The tables of a run folder, as every result has them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core import tables
from gslopes.core.errors import TableError

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mapping[str, "pd.DataFrame"]):
    """The tables of a run folder by name, each read when it is first asked for.

    forms: the tables that count, by name, each of which is checked when it is read; all files, unchecked, if None.

    Raises: KeyError for a table that the folder does not have; TableError for one that cannot be read.
    """

    def __init__(self, folder: Path, forms: Mapping[str, tables.Table] | None = None) -> None:
        self.folder = folder
        self.forms = forms
        self._read: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> "pd.DataFrame":
        if name not in self._read:
            if name not in self:
                raise KeyError(
                    f"{name!r}: {self.folder} has the tables {', '.join(self) or 'none'}"
                )
            self._read[name] = self._opened(name, self.folder / f"{name}.parquet")
        return self._read[name]

    def _opened(self, name: str, path: Path) -> "pd.DataFrame":
        import pandas as pd

        if self.forms is not None:
            return tables.read(self.forms[name], path)
        try:
            return pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise TableError(f"{path} cannot be read: {error}.") from error

    def __contains__(self, name: object) -> bool:
        is_counted = self.forms is None or name in self.forms
        return is_counted and (self.folder / f"{name}.parquet").is_file()

    def __iter__(self) -> Iterator[str]:
        names = sorted(path.stem for path in self.folder.glob("*.parquet"))
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return len(list(iter(self)))
