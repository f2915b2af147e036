"""Parts of a stage in a run folder: which are missing, how they are worked on, written and read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.core.executor import Executor
from gslopes.core.progress import Tick
from gslopes.core.tables import Table


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its folder below RUN/parts, its commit marker, and its ``items``, ``length`` of them a part.

    cost: units of progress of one item.
    """

    out: Path
    name: str
    marker: Table
    items: int
    length: int
    cost: int = 1

    @property
    def count(self) -> int:
        """Parts, at least one."""
        return max(1, -(-self.items // self.length))

    def missing(self, *, retry_failed: bool = False) -> dict[int, int]:
        """Part to its units, of those to be done; ``retry_failed``: parts with failed rows as well."""
        missing = set(runfolder.missing_parts(self.out, self.name, self.marker, self.count))
        if retry_failed and "status" in self.marker.columns:
            for part in set(range(self.count)) - missing:
                path = runfolder.part_path(self.out, self.name, self.marker, part)
                if "failed" in set(tables.read(self.marker, path)["status"]):
                    path.unlink()
                    missing.add(part)
        sizes = {part: min(self.length, self.items - part * self.length) for part in sorted(missing)}
        return {part: self.cost * size for part, size in sizes.items()}

    def carry_out(
        self,
        make: Callable[[], Callable[[int, Tick], None]],
        executor: Executor,
        label: str,
        *,
        unit: str = "pictures",
        todo: dict[int, int] | None = None,
    ) -> None:
        """Do what is missing.  make: gives the work, asked for only if there is some.  todo: of ``missing``."""
        todo = self.missing() if todo is None else todo
        if todo:
            done = self.cost * self.items - sum(todo.values())
            executor(make(), todo, label=label[:10], unit=unit, done=done)

    def write(self, part: int, *rows: tuple[Table, Sequence[dict[str, Any]]]) -> None:
        """Write the tables of a part, the commit marker last; of rows with one key the first counts."""
        for table, content in rows:
            frame = pd.DataFrame(content, columns=table.columns).drop_duplicates([*table.key])
            runfolder.write_table(table, frame, runfolder.part_path(self.out, self.name, table, part))

    def merge(self, *kinds: Table) -> None:
        """Join the parts of these tables into RUN."""
        merge([self], *kinds)


def merge(stages: Sequence[Stage], *kinds: Table) -> None:
    """Join the parts of stages, which have equally many, into one table each."""
    for table in kinds:
        runfolder.merge(stages[0].out, table, [stage.name for stage in stages], stages[0].count)


def read_table(table: Table, run: Path, *, optional: bool = False) -> pd.DataFrame:
    """RUN/<table>.parquet; without that file an empty one if ``optional``.  Raises: TableError."""
    path = run / f"{table.name}.parquet"
    return tables.read(table, path) if path.is_file() or not optional else table.empty()
