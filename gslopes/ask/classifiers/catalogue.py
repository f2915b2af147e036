"""The classifiers of gslopes, from catalogue.toml: where each is, what it needs, its limits and price; imports none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from gslopes.ask.cost import LOCAL, Limits
from gslopes.core.config import from_dict, read_toml


@dataclass(frozen=True, slots=True)
class Credential:
    """One credential of a service.

    variable: the environment variable.  files: the vendor's own files that may hold it instead, ``~`` allowed.
    instead: other variables, one of which is enough.
    """

    variable: str
    files: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()

    @property
    def present(self) -> bool:
        """Whether it is there; its value is not looked at."""
        variables = any(map(os.environ.get, (self.variable, *self.instead)))
        return variables or any(Path(file).expanduser().is_file() for file in self.files)


@dataclass(frozen=True, slots=True)
class Listed:
    """A classifier of gslopes.

    place: ``module:Class`` in this package.  summary: one sentence.
    extra: what to give to ``pip install``.  needs: the modules that the extra brings, dotted names allowed.
    limits: see ``ask.cost``.
    presence: what the vendor itself returns unless asked for more: the least score, and the number of labels a picture,
        0 for no limit.
    credentials: all that are needed; none for a local classifier.
    """

    place: str
    summary: str
    extra: str = ""
    needs: tuple[str, ...] = ()
    limits: Limits = LOCAL
    presence: tuple[float, int] = (0.0, 0)
    credentials: tuple[Credential, ...] = ()

    @property
    def path(self) -> str:
        """``package.module:Class``."""
        return f"gslopes.ask.classifiers.{self.place}"

    @property
    def missing_modules(self) -> list[str]:
        """Modules that are not installed; at most the parent packages of dotted names are imported to find out."""
        missing = []
        for module in self.needs:
            try:
                spec = find_spec(module)
            except ModuleNotFoundError:
                spec = None
            missing += [] if spec else [module]
        return missing

    @property
    def missing_credentials(self) -> list[str]:
        """The variables that are not set, each with its alternatives."""
        missing = [credential for credential in self.credentials if not credential.present]
        return [" or ".join((credential.variable, *credential.instead)) for credential in missing]


def _listed(kind: str) -> dict[str, Listed]:
    entries = read_toml(Path(str(files("gslopes.ask") / "classifiers" / "catalogue.toml")))[kind]
    for entry in entries.values():
        if entry.get("limits", {}).get("price") == "plan":
            entry["limits"]["price"] = None
    return {name: from_dict(Listed, entry, where=name) for name, entry in entries.items()}


LOCALS, SERVICES = _listed("local"), _listed("service")
CATALOGUE = {**LOCALS, **SERVICES}
