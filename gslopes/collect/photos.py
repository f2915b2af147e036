"""A collection of photos: its plan, the searches one after the other, its manifest as Parquet and CSV."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.ask.secrets import secret_in_address
from gslopes.collect.collector import OVERSAMPLE, STAGE, CollectionLimits, Collector
from gslopes.collect.config import CollectConfig
from gslopes.collect.lists import Query, make_queries, read_keywords, read_occupations
from gslopes.collect.source import Folder, Google, Openverse, Source, Urls, Wikimedia
from gslopes.collect.wikidata import Wikidata, people_of
from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import to_dict
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.files import csv_bytes
from gslopes.core.tables import MANIFEST
from gslopes.frame.executors import OneProcess

IDENTITY = ("kind", "source", "queries", "limits")


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
        return len(self.queries) * min(self.config.per_query, self.source.terms.max_results or self.config.per_query)

    @property
    def requests(self) -> int:
        """To the source's interface, for the searches that are left, at most."""
        terms = self.source.terms
        if not terms.page:
            return 0
        results = min(int(self.config.per_query * OVERSAMPLE), terms.max_results)
        return (len(self.queries) - self.done) * math.ceil(results / terms.page)

    @property
    def hours(self) -> float:
        """Asking the interface alone, at its pace and its requests a day; of the last day only what it takes."""
        terms = self.source.terms
        paced = self.requests * max(terms.gap, self.config.gap) / 3600
        if not terms.per_day or self.requests <= terms.per_day:
            return paced
        full, rest = divmod(self.requests - 1, terms.per_day)
        return full * 24 + (rest + 1) * max(terms.gap, self.config.gap) / 3600

    @property
    def download_hours(self) -> float:
        """Of the photos that are left, if all lie at one host; with several hosts it is less."""
        left = len(self.queries) - self.done
        return self.photos * left / max(len(self.queries), 1) * self.config.gap / 3600

    @property
    def downloads(self) -> str:
        """``download_hours`` in words; empty where nothing is downloaded."""
        if not self.source.terms.page or not self.download_hours:
            return ""
        hours = self.download_hours
        long = f"{hours / 24:,.1f} days" if hours >= 48 else f"{hours:,.1f} hours"
        return f"up to {long}, {self.config.gap:g} s apart, if all photos lie at one host"

    @property
    def duration(self) -> str:
        """``hours`` in words, with the limit that decides."""
        per_day = self.source.terms.per_day
        if per_day and self.requests > per_day:
            return f"{self.hours / 24:,.1f} days at its {per_day:,} requests a day"
        long = f"{self.hours:,.1f} hours" if self.hours >= 1 else f"{self.hours * 60:,.0f} minutes"
        return f"{long} at its pace"


@dataclass(frozen=True, slots=True)
class Collection:
    """What was collected.

    out: the folder.  searches: that are finished.  photos: kept.  statuses: of all results.
    reasons: why results were not kept, with their counts.  licences: of the photos kept, with their counts.
    people: of ``wikidata``, whose table of people is written next to the manifest: how many were left after each step.
    """

    out: Path
    searches: int
    photos: int
    statuses: dict[str, int]
    reasons: dict[str, int]
    licences: dict[str, int]
    table: pd.DataFrame = field(repr=False)
    people: tuple[tuple[str, int], ...] = ()


def plan_collection(config: CollectConfig, out: Path) -> CollectPlan:
    """Check everything that can be checked without the network, and count.

    Raises: UsageError, UnknownName, ConfigError, RunFolderMismatch; CredentialsError if a key is missing.
    """
    source = load_source(config.source)
    source.check()
    if getattr(source, "needs_contact", False) and not config.contact:
        hint = "Give a mail address or a page with --contact."
        raise UsageError(f"{source.name} asks for a way to reach you in the user agent.", hint)
    queries = source.queries()
    if queries is None:
        queries = make_queries(read_occupations(config.occupations), read_keywords(config.keywords))
    runfolder.compare(out, _manifest(config, queries), IDENTITY)
    missing = runfolder.missing_parts(out, STAGE, MANIFEST, len(queries))
    return CollectPlan(config, out, source, tuple(queries), missing[0] if missing else len(queries))


def collect(plan: CollectPlan, executor: OneProcess | None = None) -> Collection:
    """Carry a plan out; called again, it goes on where it was stopped.

    executor: must carry out the parts in their order, in one process: a photo repeats an earlier one.

    Raises: ServiceError, CredentialsError, StorageError, KeyboardInterrupt; the manifest of all finished searches is
        written first.
    """
    executor = executor or OneProcess()
    out, config = plan.out, plan.config
    limits = CollectionLimits(config.per_query, config.near, config.min_side)
    with runfolder.locked(out):
        new = _manifest(config, plan.queries)
        runfolder.compare(out, new, IDENTITY)
        if not (out / runfolder.MANIFEST).exists():
            head = {"gslopes": runtime.gslopes_version(), "created": datetime.now(UTC).isoformat(timespec="seconds")}
            runfolder.write_json(out / runfolder.MANIFEST, {**new, **head, "terms": plan.source.terms.note})
        runfolder.make_folder(out / "parts" / STAGE)
        try:
            with Collector(out, plan.source, plan.queries, limits, config.policy()) as collector:
                parts = dict.fromkeys(range(plan.done, len(plan.queries)), config.per_query)
                executor(collector, parts, label="collect", unit="photos", done=plan.done * config.per_query)
        finally:
            missing = runfolder.missing_parts(out, STAGE, MANIFEST, len(plan.queries))
            finished = missing[0] if missing else len(plan.queries)
            runfolder.merge(out, MANIFEST, [STAGE], finished)
            table = tables.read(MANIFEST, out / "manifest.parquet")
            _write_csv(table, out / "manifest.csv")
    people: tuple[tuple[str, int], ...] = ()
    if plan.source.name == Wikidata.name:
        known, people = people_of(table, config.min_ethnic, config.min_group)
        _write_csv(known, out / "people.csv")
    return _summary(out, finished, table, people)


def _summary(out: Path, searches: int, table: pd.DataFrame, people: tuple[tuple[str, int], ...]) -> Collection:
    kept = table[table["status"] == "kept"]
    columns = table["status"], table[table["status"] != "kept"]["reason"], kept["licence"].replace("", "none stated")
    statuses, reasons, licences = (dict(Counter(column).most_common()) for column in columns)
    return Collection(out, searches, len(kept), statuses, reasons, licences, table, people)


def _manifest(config: CollectConfig, queries: Sequence[Query]) -> dict[str, Any]:
    lines = "\n".join(f"{query.occupation}\0{query.keyword}\0{query.soc}" for query in queries)
    return {
        "kind": "collection",
        "source": config.source,
        "queries": {"searches": len(queries), "digest": hashlib.sha256(lines.encode()).hexdigest()},
        "limits": to_dict(CollectionLimits(config.per_query, config.near, config.min_side)),
    }


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    runfolder.write_bytes(path, csv_bytes(table))
    runfolder.settle([path])


# --- The sources by name: ``openverse``, ``google:base=URL``, ``urls:FILE``, ``folder:DIR`` ---------------------------


_WEB: dict[str, type[Openverse] | type[Wikimedia] | type[Google]] = {
    "openverse": Openverse,
    "wikimedia": Wikimedia,
    "google": Google,
}
_USER: dict[str, type[Urls] | type[Folder]] = {"urls": Urls, "folder": Folder}
NAMES = (*_WEB, Wikidata.name, *_USER)


def load_source(spec: str) -> Source:
    """A source from its name, with what follows it.

    spec: ``openverse``, ``wikimedia`` or ``google``, each optionally with ``:base=URL`` for an interface of
        the same form elsewhere (``,public=yes`` after it if it has parameters or a part that looks random);
        ``wikidata``, see ``collect.wikidata``; ``urls:FILE``; ``folder:DIR``.

    Raises: UnknownName with the nearest name; ConfigError for a missing or unknown parameter.
    """
    name, _, rest = spec.partition(":")
    if name in _USER:
        if not rest:
            raise ConfigError(f"The source {name!r} needs a place.", f"Write it as {name}:PATH.")
        return _USER[name](Path(rest))
    if name not in NAMES:
        raise UnknownName("source", name, NAMES)
    base, public, _ = rest.partition("base=")[2].partition(",public=yes")
    if found := secret_in_address(base, public=bool(public)):
        hint = "Keys belong into the environment variables that gslopes collect --help names."
        raise ConfigError(f"The address of {name} holds {found}, which would be stored with the photos.", hint)
    if name == Wikidata.name:
        return Wikidata(rest)
    if not rest:
        return _WEB[name]()
    if rest.partition("=")[0] != "base" or not base.startswith(("http://", "https://")):
        raise ConfigError(f"The source {name!r} has an unknown parameter.", f"Its only one is {name}:base=URL.")
    return _WEB[name](base)
