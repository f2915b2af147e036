"""What all commands that share a cache have spent: the ledger of ``--budget-total``, beside the answers.

A request's price is written before it is sent, under its own name, and replaced by what it took: one transaction each,
so that no two commands spend the same money. A request whose command was killed keeps its price: perhaps it was billed.
One that is posted has one name for all commands that look for its reply, and counts once.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gslopes.ask.cache import cache_folder, sqlite_errors, writable_cache
from gslopes.ask.config import CostLimits
from gslopes.core import frozen

FILE = "ledger.sqlite"
# A row a request in flight, and one, 'spent', of all that are settled.
_TABLE = "CREATE TABLE IF NOT EXISTS money (request TEXT PRIMARY KEY, usd REAL NOT NULL)"
HELD = ("SELECT coalesce(sum(usd), 0.0) FROM money",)
# The price of as many pictures as ``most`` pays for; gives how many. What is posted already keeps its price.
RESERVE = (
    """
    INSERT OR REPLACE INTO money SELECT :request, :price * n FROM (
        SELECT min(:pictures, CASE WHEN :most IS NULL THEN :pictures
            ELSE CAST((:most - coalesce(sum(usd), 0.0) + 1e-9) / :price AS INTEGER) END) AS n
        FROM money WHERE request != :request
    ) WHERE n > 0
    """,
    "SELECT coalesce(round(sum(usd) / :price), 0.0) FROM money WHERE request = :request",
)
SETTLE = (
    "DELETE FROM money WHERE request = :request",
    "INSERT INTO money VALUES ('spent', :usd) ON CONFLICT (request) DO UPDATE SET usd = usd + excluded.usd",
    "SELECT 0.0",
)


@frozen
class Ledger:
    """The ledger in a cache's folder.  chosen: the folder, as ``cache.cache_folder`` takes it."""

    chosen: Path | None

    @property
    def path(self) -> Path:
        """Its file."""
        return cache_folder(self.chosen) / FILE

    def change(self, statements: Sequence[str], **values: Any) -> float:
        """Run ``RESERVE`` or ``SETTLE`` in one transaction, durable at its end; the number that it gives.

        values: request, its name; pictures, how many it has; price of one, most for all commands, usd it took.

        Raises: StorageError.
        """
        writable_cache(self.chosen)
        with (
            sqlite_errors(self.path),
            closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as opened,
            opened,
        ):
            found = opened.execute("BEGIN IMMEDIATE")
            for statement in (_TABLE, *statements):
                found = opened.execute(statement, values)
            return float(found.fetchone()[0])

    def held(self) -> float:
        """USD that are spent, or may be.  Raises: StorageError."""
        return self.change(HELD) if self.path.exists() else 0.0


def spendable(limits: CostLimits) -> float | None:
    """USD that a command may still spend by its budget and by that of all commands; None without either."""
    if limits.budget_total is None:
        return limits.budget
    left = max(0.0, limits.budget_total - Ledger(limits.cache).held())
    return left if limits.budget is None else min(left, limits.budget)
