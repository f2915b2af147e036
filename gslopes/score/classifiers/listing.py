"""What is told about a classifier without importing it: where it is, what it needs, bears and costs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from gslopes.score.limits import LOCAL, Limits


@dataclass(frozen=True, slots=True)
class Credential:
    """One thing that a service needs to know who asks.

    variable: the environment variable.  files: the vendor's own files that may hold it instead, ``~`` allowed.
    instead: other variables, of which one is as good.
    """

    variable: str
    files: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()

    @property
    def present(self) -> bool:
        """Whether it is there; its value is not looked at."""
        return any(map(os.environ.get, (self.variable, *self.instead))) or any(
            Path(file).expanduser().is_file() for file in self.files
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A classifier of gslopes.

    path: ``module:Class``.  summary: one sentence.
    parameters: as ``names.usage`` of its options (a test compares them).
    extra: what to give to ``pip install``.  needs: the modules that the extra brings, dotted names allowed.
    limits: see ``score.limits``.
    presence: feature (empty: any other) to what the vendor itself returns unless asked for more: the least score, and
        the number of labels a picture, 0 for no limit.
    credentials: all that are needed; none for a local classifier.
    """

    path: str
    summary: str
    parameters: tuple[str, ...]
    extra: str = ""
    needs: tuple[str, ...] = ()
    limits: Limits = LOCAL
    presence: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    credentials: tuple[Credential, ...] = ()

    @property
    def missing_modules(self) -> list[str]:
        """Modules that are not installed; at most the parent packages of dotted names are imported to find out."""
        return [module for module in self.needs if not _installed(module)]

    @property
    def missing_credentials(self) -> list[str]:
        """The variables that are not set, each with those that are as good."""
        return [" or ".join((one.variable, *one.instead)) for one in self.credentials if not one.present]


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
