"""Dictionaries of tags: which words mean masculine or feminine, which describe concretely or abstractly.

A typology is data, and may be replaced: clusters of tags, each under at most one of four super-clusters, and the tags
that name a context.  Matching is of whole tags, exact, after normalising both sides; nothing is stemmed.

Source: Barlas et al. 2020, section 5 and table 5.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from pathlib import Path
from typing import Literal

from gslopes.contexts import HOME
from gslopes.core import (
    ConfigError,
    Names,
    Texts,
    UnknownName,
    UsageError,
    config,
    csv_table,
    files,
    frozen,
    text,
)

Tags = frozenset[str]
DATA = HOME / "data"
SHIPPED = config.read_beside(__file__, "typology.toml")
SUPERS = ("demographics", "concrete", "abstract", "other")


@frozen
class Typology:
    """One typology, every tag normalised.

    name, version: of the file.  partial: it is known to lack words.
    clusters: cluster to its tags; ``masculine`` and ``feminine`` are always there.
    supers: cluster to its super-cluster, empty for none.
    contexts: context to the tags that name it.
    complements: for classifiers that judge every label of a fixed list: if the first is not returned, the second
        is added.
    """

    name: str
    version: str
    clusters: Mapping[str, Tags]
    supers: Texts
    contexts: Mapping[str, Tags] = field(default_factory=dict)
    complements: Texts = field(default_factory=dict)
    partial: bool = False

    def super_tags(self, name: str) -> Tags:
        """Tags of all clusters of a super-cluster; a tag in two of them is there once."""
        return frozenset().union(
            *(tags for cluster, tags in self.clusters.items() if self.supers[cluster] == name)
        )

    @property
    def known(self) -> Tags:
        """Every tag that is in some cluster or context."""
        return frozenset().union(*self.clusters.values(), *self.contexts.values())

    def known_share(self, answers: Iterable[Tags]) -> float:
        """The share of the different tags of all answers that the typology knows; NaN without tags."""
        tags = frozenset().union(*answers)
        if tags:
            return len(tags & self.known) / len(tags)
        return math.nan

    def complete(self, tags: Iterable[str]) -> Tags:
        """The normalised tags of one answer with their complements."""
        normalised = frozenset(map(normalise, tags))
        return normalised | {
            second for first, second in self.complements.items() if first not in normalised
        }

    def with_contexts(self, contexts: Mapping[str, Iterable[str]]) -> "Typology":
        """The same with more context tags, joined with those it has."""
        more = {key: frozenset(map(normalise, tags)) for key, tags in contexts.items()}
        return replace(self, contexts=_joined(self.contexts, more))


def normalise(tag: str) -> str:
    """A tag in the form that is compared: NFKC, straight apostrophes, casefolded, white space to one underscore.

    >>> normalise(" Mantelet (Women\u2019s  cape)")
    "mantelet_(women's_cape)"
    """
    return "_".join(text.plain(tag).casefold().split())


@frozen
class _Entry:
    super: Literal["", "demographics", "concrete", "abstract", "other"] = ""
    tags: Names = ()


@frozen
class _File:
    name: str = ""
    version: str = ""
    source: str = ""
    partial: bool = False
    clusters: dict[str, _Entry] = field(default_factory=dict)
    contexts: dict[str, _Entry] = field(default_factory=dict)
    complements: dict[str, str] = field(default_factory=dict)


def read_typology(which: str | Path | Sequence[str | Path]) -> Typology:
    """A typology by its name, or from TOML, a CSV with the columns tag and cluster, or a folder; several are merged.

    which: one of ``SHIPPED``, or a path; of a list, later ones add to earlier ones.  A folder holds the published
        dictionaries (doi 10.7910/DVN/APZKSS and 10.7910/DVN/4W5GOW), in any layout that ``_read_dictionary`` knows.

    Raises: UnknownName for a name that is neither; ConfigError for an unknown key or super-cluster, an empty tag, a
        cluster under two super-clusters, or if nothing is masculine or feminine at the end; UsageError for a CSV that
        cannot be read.

    >>> sorted(read_typology("celeba").clusters["masculine"])
    ['male']
    """
    names = [which] if isinstance(which, (str, Path)) else which
    merged = reduce(
        merge, (_read_one(part) for name in names for part in SHIPPED.get(str(name), (name,)))
    )
    for cluster in ("masculine", "feminine"):
        if not merged.clusters.get(cluster):
            raise ConfigError(
                f"The typology {merged.name} has no tags in the cluster {cluster}.",
                "It needs both.",
            )
    return merged


def merge(first: Typology, second: Typology) -> Typology:
    """Both, joined cluster by cluster.  Raises: ConfigError if a cluster would get two super-clusters."""
    for cluster in first.supers.keys() & second.supers.keys():
        if first.supers[cluster] != second.supers[cluster]:
            places = [
                f"under {part.supers[cluster] or 'nothing'!r} in {part.name}"
                for part in (first, second)
            ]
            raise ConfigError(
                f"The cluster {cluster} is {' and '.join(places)}.",
                "A cluster has at most one super-cluster.",
            )
    return Typology(
        name=f"{first.name} + {second.name}",
        version=" + ".join(filter(None, (first.version, second.version))),
        clusters=_joined(first.clusters, second.clusters),
        supers={**first.supers, **second.supers},
        contexts=_joined(first.contexts, second.contexts),
        complements={**first.complements, **second.complements},
        partial=first.partial or second.partial,
    )


def _joined(first: Mapping[str, Tags], second: Mapping[str, Tags]) -> dict[str, Tags]:
    none: Tags = frozenset()
    return {key: first.get(key, none) | second.get(key, none) for key in {**first, **second}}


def _read_one(which: str | Path) -> Typology:
    path = DATA / f"{which}.toml" if str(which) in SHIPPED else Path(which)
    if path.is_dir() or (path.suffix == ".csv" and files.is_file(path)):
        return _read_words(path)
    if not files.is_file(path):
        if path.suffix in (".toml", ".csv"):
            raise ConfigError(f"There is no typology {path}.", f"Shipped: {', '.join(SHIPPED)}.")
        raise UnknownName("typology", str(which), SHIPPED)
    file = config.load_toml(_File, path)
    clusters, contexts = (
        {key: frozenset(map(normalise, entry.tags)) for key, entry in entries.items()}
        for entries in (file.clusters, file.contexts)
    )
    if empty := [key for key, tags in {**clusters, **contexts}.items() if "" in tags]:
        raise ConfigError(
            f"{path.name}: a tag in {empty[0]} is empty.", "Take it out, or write the tag."
        )
    supers = {key: entry.super for key, entry in file.clusters.items()}
    complements = {normalise(key): normalise(value) for key, value in file.complements.items()}
    return Typology(
        file.name or path.stem, file.version, clusters, supers, contexts, complements, file.partial
    )


def _read_words(path: Path) -> Typology:
    """A dictionary, or a folder of them; their clusters are under what ``starter`` has them under.

    Raises: UsageError without any; UnknownName for a cluster of a single file that ``starter`` does not have.
    """
    tags: dict[str, set[str]] = {}
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        for cluster, word in _read_dictionary(file):
            tags.setdefault(normalise(cluster), set()).add(normalise(files.without_guard(word)))
    clusters = {cluster: frozenset(words - {""}) for cluster, words in tags.items() if cluster}
    if not clusters:
        raise UsageError(f"There are no dictionaries in {path.name}.", "CSV and TXT are read.")
    supers = _read_one("starter").supers
    if path.is_file() and (unknown := clusters.keys() - supers.keys()):
        raise UnknownName("cluster", min(unknown), supers)
    return Typology(path.stem, "", clusters, {key: supers.get(key, "") for key in clusters})


def _read_dictionary(path: Path) -> Iterable[tuple[str, str]]:
    """(cluster, tag) of a long CSV (a column tag, term or word; one cluster, category or theme), of a wide CSV (a
    cluster a column), of a .txt (a cluster); nothing of other files.
    """
    if path.suffix.lower() == ".txt":
        return [(path.stem, word) for word in files.read_text(path).splitlines()]
    if path.suffix.lower() != ".csv":
        return []
    columns = csv_table.read_csv(
        path, strip=True, hint="Give each tag and its cluster, such as bride,feminine."
    ).columns
    head = {name.casefold(): name for name in columns}
    tag, cluster = (
        next((head[name] for name in names.split() if name in head), "")
        for names in ("tag term word", "cluster category theme")
    )
    if tag and cluster:
        return zip(columns[cluster], columns[tag], strict=True)
    return [(name, word) for name, words in columns.items() for word in words]
