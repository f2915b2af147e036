"""The published dictionaries of the Social B(eye)as Dataset, in any of the layouts that they may have.

Source: doi 10.7910/DVN/APZKSS (2019) and doi 10.7910/DVN/4W5GOW (the eight contexts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gslopes.contexts.typology import SUPERS, Typology, normalise, read_typology
from gslopes.core.config import from_dict, read_toml
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.files import parse_json, read_text, show

_TAGS = ("tag", "term", "word")
_CLUSTERS = ("cluster", "category", "theme")


@dataclass(frozen=True, slots=True)
class _Map:
    """rename: a cluster's published name to ours.  supers: ours to its super-cluster."""

    rename: dict[str, str] = field(default_factory=dict)
    supers: dict[str, str] = field(default_factory=dict)


def read_published(folder: Path, mapping: Path | None = None) -> tuple[Typology, list[str]]:
    """(typology, clusters without a super-cluster) from a folder of published files.

    Read are long CSVs (a column tag, term or word; one cluster, category or theme), wide CSVs (a cluster a column), a
    .txt or a CSV of one column a cluster, and JSON objects of lists.

    Raises: UsageError if the folder holds none of them; ConfigError for a map with an unknown super-cluster.
    """
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.", "Name the folder of the published files.")
    config = from_dict(_Map, read_toml(mapping)) if mapping is not None else _Map()
    wrong = [name for name in config.supers.values() if name not in SUPERS]
    if wrong:
        raise ConfigError(f"There is no super-cluster {wrong[0]!r}.", f"Known: {', '.join(SUPERS)}.")
    clusters: dict[str, frozenset[str]] = {}
    for path in sorted(folder.rglob("*")):
        for cluster, tags in _read(path).items():
            name = config.rename.get(cluster, normalise(cluster))
            clusters[name] = clusters.get(name, frozenset()) | frozenset(filter(None, map(normalise, tags)))
    if not clusters:
        raise UsageError(f"There are no dictionaries in {folder}.", "CSV, TXT or JSON are read.")
    supers = {**read_typology("starter").supers, **config.supers}
    typology = Typology(folder.name, "", folder.name, clusters, {name: supers.get(name, "") for name in clusters})
    return typology, sorted(set(clusters) - set(supers))


def to_toml(typology: Typology) -> str:
    """The typology as a file that ``read_typology`` reads."""

    def text(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [f"{name} = {text(getattr(typology, name))}" for name in ("name", "version", "source")]
    for name, tags in typology.clusters.items():
        listed = ", ".join(text(tag) for tag in sorted(tags))
        lines += ["", f"[clusters.{text(name)}]", f"super = {text(typology.supers[name])}", f"tags = [{listed}]"]
    return "\n".join(lines) + "\n"


def _read(path: Path) -> Mapping[str, list[str]]:
    if path.suffix.lower() == ".json":
        try:
            content = parse_json(read_text(path))
        except ValueError as error:
            raise UsageError(f"{show(path)} is no JSON: {error}.", "Save it again.") from error
        if not isinstance(content, Mapping):
            raise UsageError(f"{show(path)} is no JSON object of lists.", "Take it out of the folder.")
        return {key: list(map(str, tags)) for key, tags in content.items() if isinstance(tags, list)}
    if path.suffix.lower() == ".txt":
        return {path.stem: read_text(path).splitlines()}
    if path.suffix.lower() != ".csv":
        return {}
    columns = read_csv(path).columns
    head = {name.casefold(): name for name in columns}
    tag = next((head[name] for name in _TAGS if name in head), "")
    cluster = next((head[name] for name in _CLUSTERS if name in head), "")
    if tag and cluster:
        clusters: dict[str, list[str]] = {}
        for name, word in zip(columns[cluster], columns[tag], strict=True):
            clusters.setdefault(name.strip(), []).append(word)
        return clusters
    if len(columns) == 1:
        (first, words), *_ = columns.items()
        return {path.stem: words if tag else [first, *words]}
    return columns
