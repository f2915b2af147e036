"""Names to classes, lazily: a literal table first, then the entry points of installed packages.

Listing imports nothing, so that one broken or heavy plug-in neither slows down nor breaks the others.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import metadata
from pkgutil import resolve_name
from typing import Any

from gslopes.core import ConfigError, UnknownName, UsageError, frozen


@cache
def _points(find: Callable[..., Iterable[Any]], group: str, *changes: float) -> tuple[Any, ...]:
    """The entry points of a group, which reads a file of each package.  changes: times of the folders of packages."""
    return tuple(find(group=group))


@frozen
class Target:
    """Where a registered name leads: ``path`` is ``module:Class``.

    package: the distribution that brought it, empty for gslopes' own.  summary: that distribution's own sentence.
    """

    name: str
    path: str
    package: str = ""
    summary: str = ""

    def load(self) -> object:
        """Import the module and return the object.

        Raises: UsageError if the module cannot be imported or lacks the object.
        """
        try:
            return resolve_name(self.path)
        except Exception as error:  # a plug-in may fail in any way while it is imported
            owner = f" of the package {self.package}" if self.package else ""
            raise UsageError(
                f"{self.name!r}{owner} cannot be imported from {self.path}: {type(error).__name__}: {error}.",
                f"Repair or remove {self.package or 'this installation'}.",
            ) from error


@frozen
class Registry:
    """One kind of named thing.

    kind: the word for it in messages, such as ``classifier``.  table: name to ``module:Class``, of gslopes itself.
    group: the entry-point group by which other packages add names.
    """

    kind: str
    table: Mapping[str, str]
    group: str

    def targets(self) -> list[Target]:
        """Every target, sorted by name; imports none of them.  Raises: ConfigError if two packages claim one name."""
        return [self._only(name, claims) for name, claims in sorted(self._claims().items())]

    def find(self, name: str) -> Target:
        """The target of one name; imports nothing.

        Raises: UnknownName, with the nearest name; ConfigError if two packages claim this name (others do not matter).
        """
        claims = self._claims()
        if name not in claims:
            raise UnknownName(self.kind, name, claims)
        return self._only(name, claims[name])

    def _claims(self) -> dict[str, list[Target]]:
        claims = {name: [Target(name, path)] for name, path in self.table.items()}
        changes = map(os.path.getmtime, filter(os.path.exists, sys.path))
        for point in _points(metadata.entry_points, self.group, *changes):
            package = point.dist.name if point.dist else ""
            summary = (point.dist.metadata["Summary"] or "") if point.dist else ""
            target = Target(point.name, point.value.split("[")[0].strip(), package, summary)
            others = claims.setdefault(point.name, [])
            # An editable installation next to a stale one lists the same entry point twice: that is one claim.
            if all(target.path != other.path for other in others):
                others.append(target)
        return claims

    def _only(self, name: str, claims: list[Target]) -> Target:
        if len(claims) > 1:
            owners = " and ".join(target.package or "gslopes" for target in claims)
            raise ConfigError(
                f"The {self.kind} name {name!r} is claimed by {owners}.", "Uninstall one of them."
            )
        return claims[0]
