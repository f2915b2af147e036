"""A collection of photos: its plan, the searches one after the other, its manifest as Parquet and CSV."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.collect.collector import OVERSAMPLE, STAGE, Collector
from gslopes.collect.config import CollectConfig
from gslopes.collect.source import (
    Openverse,
    Query,
    Source,
    Urls,
    make_queries,
    read_keywords,
    read_occupations,
)
from gslopes.collect.wikidata import Steps, Wikidata, people_of
from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import check
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.files import csv_bytes
from gslopes.core.tables import MANIFEST
from gslopes.frame.executors import OneProcess

IDENTITY = ("kind", "source", "queries", "limits")
NAMES = ("openverse", "wikidata", "urls")


@dataclass(frozen=True, slots=True)
class CollectPlan:
    """What a collection will do: the source, its searches in their order, how many are done already."""

    config: CollectConfig
    out: Path
    source: Source
    queries: tuple[Query, ...]
    done: int

    @property
    def photos(self) -> int:
        """At most, duplicates not yet removed."""
        return len(self.queries) * min(
            self.config.per_query, self.source.terms.max_results or self.config.per_query
        )

    @property
    def requests(self) -> int:
        """To the source's interface, for the searches that are left; ``source.bound`` says how far they may be more."""
        wanted = int(self.config.per_query * OVERSAMPLE)
        results = min(wanted, self.source.terms.max_results or wanted)
        return (len(self.queries) - self.done) * self.source.requests(results)


@dataclass(frozen=True, slots=True)
class Collection:
    """What was collected.

    searches: that are finished.  photos: kept.  statuses: of all results.
    reasons: why results were not kept, with their counts.  licences: of the photos kept, with their counts.
    table: core.tables.MANIFEST.
    people: of ``wikidata``, whose table of people is written next to the manifest: how many were left after each step.
    """

    searches: int
    photos: int
    statuses: dict[str, int]
    reasons: dict[str, int]
    licences: dict[str, int]
    table: pd.DataFrame = field(repr=False)
    people: Steps = ()


def plan_collection(config: CollectConfig, out: Path) -> CollectPlan:
    """Check everything that can be checked without the network, and count.

    Raises: UsageError, UnknownName, ConfigError, RunFolderMismatch.
    """
    check(config)
    source = load_source(config.source, config.per_person)
    if source.needs_contact and not config.contact:
        raise UsageError(
            f"{source.name} asks for a way to reach you in the user agent.",
            "Give a mail address or a page with --contact.",
        )
    queries = source.queries()
    if queries is None:
        queries = make_queries(read_occupations(config.occupations), read_keywords(config.keywords))
    runfolder.compare(out, _manifest(config, queries), IDENTITY)
    return CollectPlan(config, out, source, tuple(queries), _done(out, len(queries)))


def collect(plan: CollectPlan, executor: OneProcess | None = None) -> Collection:
    """Carry a plan out; called again, it goes on where it was stopped.

    executor: must carry out the parts in their order, in one process: a photo repeats an earlier one.

    Raises: ServiceError, StorageError, KeyboardInterrupt; the manifest of all finished searches is written first.
    """
    executor = executor or OneProcess()
    out = plan.out
    config = plan.config
    with runfolder.locked(out):
        new = _manifest(config, plan.queries)
        runfolder.compare(out, new, IDENTITY)
        if not (out / runfolder.MANIFEST).exists():
            head = {
                "gslopes": runtime.gslopes_version(),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            runfolder.write_json(
                out / runfolder.MANIFEST, {**new, **head, "terms": plan.source.terms.note}
            )
        runfolder.make_folder(out / "parts" / STAGE)
        try:
            with Collector(out, plan.source, plan.queries, config) as collector:
                parts = dict.fromkeys(range(plan.done, len(plan.queries)), config.per_query)
                executor(
                    collector,
                    parts,
                    label="collect",
                    unit="photos",
                    done=plan.done * config.per_query,
                )
        finally:
            finished = _done(out, len(plan.queries))
            runfolder.merge(out, MANIFEST, [STAGE], finished)
            table = tables.read(MANIFEST, out / "manifest.parquet")
            write_csv(table, out / "manifest.csv")
    people: Steps = ()
    if plan.source.of_people:
        of_people, people = people_of(table)
        write_csv(of_people, out / "people.csv")
    photos = table[table["status"] == "kept"]
    columns = (
        table["status"],
        table[table["status"] != "kept"]["reason"],
        photos["licence"].replace("", "none stated"),
    )
    statuses, reasons, licences = (dict(Counter(column).most_common()) for column in columns)
    return Collection(finished, len(photos), statuses, reasons, licences, table, people)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """A table as a CSV that no spreadsheet takes for formulas, durable."""
    runfolder.write_bytes(path, csv_bytes(table))
    runfolder.settle([path])


def load_source(spec: str, per_person: int | None = None) -> Source:
    """A source from its name, with what follows it.

    spec: ``openverse``, ``wikidata`` (see ``collect.wikidata``) or ``urls:FILE``.
    per_person: photos of each person, of ``wikidata``.

    Raises: UnknownName with the nearest name; ConfigError for a missing or unknown parameter; UsageError as ``Urls``.
    """
    name, _, rest = spec.partition(":")
    if name not in NAMES:
        raise UnknownName("source", name, NAMES)
    if name == "wikidata":
        return Wikidata(rest, per_person)
    if per_person is not None:
        raise ConfigError(
            f"The source {name!r} knows no people, of whom it could have {per_person} photos each.",
            "Leave per_person out, or take the source wikidata.",
        )
    if name == "urls" and not rest:
        raise ConfigError("The source 'urls' needs a file.", "Write it as urls:FILE.")
    if name == "openverse" and rest:
        raise ConfigError("The source 'openverse' has no parameter.", "Write it as openverse.")
    if rest:
        return Urls(Path(rest))
    return Openverse()


def _done(out: Path, searches: int) -> int:
    missing = runfolder.missing_parts(out, STAGE, MANIFEST, searches)
    if missing:
        return missing[0]
    return searches


def _manifest(config: CollectConfig, queries: Sequence[Query]) -> dict[str, Any]:
    lines = "\n".join(f"{query.occupation}\0{query.keyword}\0{query.soc}" for query in queries)
    return {
        "kind": "collection",
        "source": config.source,
        "queries": {"searches": len(queries), "digest": hashlib.sha256(lines.encode()).hexdigest()},
        "limits": {
            "per_query": config.per_query,
            "per_person": config.per_person,
            "min_side": config.min_side,
        },
    }
