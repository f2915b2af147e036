"""Contexts and their backgrounds: contexts.toml to records, names of folders to keys."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gslopes.core.config import from_dict, read_toml
from gslopes.core.errors import ConfigError, UsageError


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a context.

    title: for people; the key if empty.  label: the literature's stereotype, never used in a test.
    rating: 0 feminine, 5 neutral, 10 masculine; None if it is not known.  tags: that name it, normalised on use.
    licence, creator, source: of the pictures, shown wherever they are.
    """

    title: str = ""
    label: Literal["feminine", "masculine", "none"] = "none"
    rating: float | None = None
    tags: tuple[str, ...] = ()
    licence: str = ""
    creator: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if self.rating is not None and not (math.isfinite(self.rating) and 0 <= self.rating <= 10):
            raise ConfigError(f"The rating is {self.rating:g}; it must be between 0 (feminine) and 10 (masculine).")


@dataclass(frozen=True, slots=True)
class Background:
    """One background picture: ``key`` is ``<context>.<n>``, n from 1 in the order of the names."""

    key: str
    context: str
    path: Path


def context_key(name: str) -> str:
    """A context's name as it goes into tables: lower case, all but letters and digits a hyphen.

    >>> context_key("Baby Nursery (2)")
    'baby-nursery-2'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")


def read_contexts(path: Path) -> dict[str, Context]:
    """The records of a contexts.toml, by key.

    Raises: ConfigError for an unknown key or label, or a rating out of range; UsageError if two names become one.
    """
    contexts: dict[str, Context] = {}
    names: dict[str, str] = {}
    for name, entry in read_toml(path).items():
        key = _key(name, str(path))
        if key in contexts:
            raise UsageError(f"{path} names {names[key]!r} and {name!r}, which both become {key!r}.", "Rename one.")
        try:
            contexts[key] = from_dict(Context, entry, where=name)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error.message}", error.hint) from error
        names[key] = name
    return contexts


def name_backgrounds(files: Iterable[tuple[str, Path]], known: dict[str, Context]) -> list[Background]:
    """Keys for the pictures below a folder.

    files: (name below the folder, path), in order: ``<context>/<picture>`` or ``<context>.<ending>``.
    known: as from ``read_contexts``.

    Raises: UsageError if two contexts' names become one, or a known context has no picture.
    """
    counts: dict[str, int] = {}
    names: dict[str, str] = {}
    backgrounds = []
    for relative, path in files:
        folder, _, rest = relative.partition("/")
        name = folder if rest else folder.rpartition(".")[0]
        key = _key(name, relative)
        if names.setdefault(key, name) != name:
            raise UsageError(f"The contexts {names[key]!r} and {name!r} both become {key!r}.", "Rename one of them.")
        counts[key] = counts.get(key, 0) + 1
        backgrounds.append(Background(f"{key}.{counts[key]}", key, path))
    missing = sorted(set(known) - set(counts))
    if missing:
        raise UsageError(f"contexts.toml names {missing[0]!r}, which has no picture.", "Add one, or take it out.")
    return backgrounds


def _key(name: str, where: str) -> str:
    key = context_key(name)
    if not key:
        raise UsageError(f"The context name {name!r} in {where} has no letter and no digit.", "Rename it.")
    return key
