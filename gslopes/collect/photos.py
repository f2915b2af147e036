"""A collection of photos: its plan, the searches one after the other, its manifest as Parquet and CSV."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pandas import DataFrame

from gslopes.collect.collector import OVERSAMPLE, STAGE, Collector
from gslopes.collect.config import CollectConfig
from gslopes.collect.search import (
    Openverse,
    Provider,
    Query,
    Urls,
    make_queries,
    read_keywords,
    read_occupations,
)
from gslopes.collect.wikidata import Steps, Wikidata, people_of
from gslopes.core import (
    ConfigError,
    JsonObject,
    UnknownName,
    UsageError,
    build,
    csv_bytes,
    frozen,
    hexdigest,
    runfolder,
    runtime,
    tables,
    with_options,
)
from gslopes.core.config import check
from gslopes.core.tables import MANIFEST
from gslopes.frame.executors import OneProcess

Counts = dict[str, int]
IDENTITY = ("kind", "source", "queries", "limits")
NAMES = ("openverse", "wikidata", "urls")


@frozen
class CollectPlan:
    """What a collection will do: the provider, its searches in their order, how many are done already."""

    config: CollectConfig
    out: Path
    provider: Provider
    queries: tuple[Query, ...]
    done: int

    @property
    def photos(self) -> int:
        """At most, duplicates not yet removed."""
        return len(self.queries) * self._results(self.config.per_query)

    @property
    def requests(self) -> int:
        """To the provider's interface, for the searches that are left; ``provider.bound`` qualifies it."""
        results = self._results(int(self.config.per_query * OVERSAMPLE))
        return (len(self.queries) - self.done) * self.provider.requests(results)

    def _results(self, wanted: int) -> int:
        """Of one search, as many as the provider gives."""
        return min(wanted, self.provider.terms.max_results or wanted)


@frozen
class Collection:
    """What was collected.

    searches: that are finished.  photos: kept.  statuses: of all results.
    reasons: why results were not kept, with their counts.  licences: of the photos kept, with their counts.
    table: core.tables.MANIFEST.
    people: of ``wikidata``, whose table of people is written next to the manifest: how many were left after each step.
    """

    searches: int
    photos: int
    statuses: Counts
    reasons: Counts
    licences: Counts
    table: DataFrame = field(repr=False)
    people: Steps = ()


@with_options(CollectConfig)
def collect_photos(out: str | Path, *, progress: bool = False, **options: Any) -> DataFrame:
    """Photos of people at work from a provider, with licence, creator and page of each.

    out: the folder, made if missing.  progress: show lines of progress on stderr.
    options: as of ``gslopes collect --help``, with underscores; ``source`` is openverse by default.

    Returns the manifest, one row a result.

    Raises: UsageError, StorageError, ServiceError.
    """
    plan = plan_collection(build(CollectConfig, options), Path(out))
    return collect(plan, OneProcess(progress=progress)).table


def plan_collection(config: CollectConfig, out: Path) -> CollectPlan:
    """Check everything that can be checked without the network, and count.

    Raises: UsageError, UnknownName, ConfigError, RunFolderMismatch.
    """
    check(config)
    provider = load_provider(config.source, config.per_person)
    if provider.needs_contact and not config.contact:
        raise UsageError(
            f"{provider.name} asks for a way to reach you in the user agent.",
            "Give a mail address or a page with --contact.",
        )
    queries = provider.queries()
    if queries is None:
        queries = make_queries(read_occupations(config.occupations), read_keywords(config.keywords))
    runfolder.compare(out, _manifest(config, queries), IDENTITY)
    return CollectPlan(config, out, provider, tuple(queries), _done(out, len(queries)))


def collect(plan: CollectPlan, executor: OneProcess = OneProcess()) -> Collection:
    """Carry a plan out; called again, it goes on from the last photo.

    executor: must carry out the parts in their order, in one process: a photo repeats an earlier one.

    Raises: ServiceError, StorageError, KeyboardInterrupt; the manifest of all finished searches is written first.
    """
    out = plan.out
    searches = len(plan.queries)
    each = plan.config.per_query
    with runfolder.locked(out):
        manifest = _manifest(plan.config, plan.queries)
        runfolder.compare(out, manifest, IDENTITY)
        if not (out / runfolder.MANIFEST).exists():
            manifest |= {
                "gslopes": runtime.gslopes_version(),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "terms": plan.provider.terms.note,
            }
            runfolder.write_json(out / runfolder.MANIFEST, manifest)
        try:
            with Collector(out, plan.provider, plan.queries, plan.config) as collector:
                parts = dict.fromkeys(range(plan.done, searches), each)
                executor(collector, parts, label="collect", unit="photos", done=plan.done * each)
        finally:
            finished = _done(out, searches)
            runfolder.merge(out, MANIFEST, [STAGE], finished)
            table = tables.read(MANIFEST, out / "manifest.parquet")
            write_csv(table, out / "manifest.csv")
    people: Steps = ()
    if plan.provider.of_people:
        of_people, people = people_of(table)
        write_csv(of_people, out / "people.csv")
    kept = table["status"] == "kept"
    statuses = _counts(table["status"])
    reasons = _counts(table["reason"][~kept])
    licences = _counts(table["licence"][kept].replace("", "none stated"))
    return Collection(finished, int(kept.sum()), statuses, reasons, licences, table, people)


def _counts(values: Iterable[str]) -> Counts:
    return dict(Counter(values).most_common())


def write_csv(table: DataFrame, path: Path) -> None:
    """A table as a CSV that no spreadsheet takes for formulas, durable."""
    runfolder.write_bytes(path, csv_bytes(table))
    runfolder.settle([path])


def load_provider(spec: str, per_person: int | None = None) -> Provider:
    """A provider from its name, with what follows it.

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
    if name == "urls":
        if not rest:
            raise ConfigError("The source 'urls' needs a file.", "Write it as urls:FILE.")
        return Urls(Path(rest))
    if rest:
        raise ConfigError("The source 'openverse' has no parameter.", "Write it as openverse.")
    return Openverse()


def _done(out: Path, searches: int) -> int:
    return min(runfolder.missing_parts(out, STAGE, MANIFEST, searches), default=searches)


def _manifest(config: CollectConfig, queries: Sequence[Query]) -> JsonObject:
    lines = "\n".join(f"{query.occupation}\0{query.keyword}\0{query.soc}" for query in queries)
    limits = ("per_query", "per_person", "min_side")
    return {
        "kind": "collection",
        "source": config.source,
        "queries": {"searches": len(queries), "digest": hexdigest(lines)},
        "limits": {name: getattr(config, name) for name in limits},
    }
