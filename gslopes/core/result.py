"""The tables of a run folder, as every result has them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core.errors import TableError

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mapping[str, "pd.DataFrame"]):
    """The tables of a run folder by name, each read when it is first asked for.

    made: those that are in memory already.

    Raises: KeyError for a table that the folder does not have; TableError for one that cannot be read.
    """

    def __init__(self, folder: Path, made: Mapping[str, "pd.DataFrame"] | None = None) -> None:
        self.folder = folder
        self._read = dict(made or {})

    def __getitem__(self, name: str) -> "pd.DataFrame":
        import pandas as pd

        path = self.folder / f"{name}.parquet"
        if name not in self._read:
            if not path.is_file():
                raise KeyError(
                    f"{name!r}: {self.folder} has the tables {', '.join(self) or 'none'}"
                )
            try:
                self._read[name] = pd.read_parquet(path)
            except (OSError, ValueError) as error:
                raise TableError(f"{path} cannot be read: {error}.") from error
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._read, *(path.stem for path in self.folder.glob("*.parquet"))}))

    def __len__(self) -> int:
        return len(list(iter(self)))
