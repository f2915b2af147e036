"""One audit of captions: read, parse, measure, report; every stage can be stopped and started again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.captions import tables as schemas
from gslopes.captions import tabulate, techniques
from gslopes.captions.config import CaptionsConfig
from gslopes.captions.load import chosen_stages, material_of
from gslopes.captions.material import Material, pairs_of
from gslopes.captions.measures import cases as review_cases
from gslopes.captions.measures.rows import TechniqueResult
from gslopes.captions.parse import STAGE, Parse, fallen_back, parse_all, tuples_of_file
from gslopes.captions.read import Read, find_stages, read_stages
from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import to_dict
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.core.tables import Table
from gslopes.datasets.demographics import read_groups
from gslopes.executors import Executor, OneProcess
from gslopes.executors.engines import engine
from gslopes.language.mentions import Mentions
from gslopes.language.senses import RELAX, Senses
from gslopes.language.wordlists import Lists, read_list, shipped
from gslopes.language.wordnet import WordNet, wordnet

IDENTITY = ("kind", "inputs", "parser", "wordnet", "senses", "limit")
READINGS = (schemas.MEASURES, schemas.INCLUSIONS, schemas.SALIENCE, schemas.CASES, schemas.TECHNIQUES)


@dataclass(frozen=True, slots=True, eq=False)
class CaptionsAudit:
    """What an audit gives: its folder, its tables, its page and the page of the review.

    failed: captions that were no text.  notes: sentences that a user should know.
    """

    run: Path
    measures: pd.DataFrame
    inclusions: pd.DataFrame
    salience: pd.DataFrame
    cases: pd.DataFrame
    techniques: pd.DataFrame
    page: Path
    review: Path
    failed: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an audit would do: images by stage and those shared, what can run, and what the others lack."""

    images: dict[str, int]
    captions: dict[str, int]
    shared: int
    truth: str
    targets: tuple[str, ...]
    techniques: list[dict[str, str]]
    dropped: dict[str, int]


def audit_captions(
    stages: Path, out: Path, config: CaptionsConfig | None = None, *, executor: Executor | None = None
) -> CaptionsAudit:
    """Audit captions.

    stages: a folder whose files or sub-folders are called after the stages, a TOML file, or a run of this kind, which
    is measured again with the answers of its review; nothing is parsed again.  out: the run folder, made if missing.

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.
    """
    config = config or CaptionsConfig()
    executor = executor or OneProcess()
    if (stages / runfolder.MANIFEST).exists():
        return measure_again(stages, config)
    words = wordnet(config.wordnet)
    lists = lists_of(config, words)
    mentions = Mentions(Senses(words, config.senses, config.relax), lists)
    read = read_stages(find_stages(stages), words)
    check_overlap(read)
    check_groups(read, config)
    manifest = _manifest(stages, read, config, words)
    with runfolder.locked(out):
        runfolder.compare(out, manifest, IDENTITY)
        runfolder.write_json(out / runfolder.MANIFEST, {**manifest, "gslopes": runtime.gslopes_version()})
        notes = _write_read(out, read, config, mentions)
        work = Parse(out, config.parser, config.wordnet, config.senses, config.relax)
        sentences = tables.read(schemas.SENTENCES, out / "sentences.parquet")
        images = len(tables.read(schemas.IMAGES, out / "images.parquet"))
        if config.parser.startswith("tuples:"):
            parsed = tuples_of_file(Path(config.parser.partition(":")[2]))
        else:
            workers = engine(executor, "auto", config.workers, "cpu") if config.workers else executor
            count = parse_all(out, images, sentences, work, workers)
            if lost := fallen_back(out):
                notes = (*notes, f"{lost:,} distinct captions were parsed by chunks: {config.parser} was unreadable.")
            parts = (runfolder.part_path(out, STAGE, schemas.TUPLES, part) for part in range(count))
            parsed = pd.concat([tables.read(schemas.TUPLES, part) for part in parts], ignore_index=True)
        labels = tabulate.label_facts(read.stages, mentions.senses)
        both = [frame for frame in (labels, parsed) if len(frame)]
        whole = pd.concat(both, ignore_index=True) if both else parsed
        runfolder.write_table(schemas.TUPLES, whole, out / "tuples.parquet")
        coverage = tabulate.coverage_of(read.stages, {**read.coverage, **config.coverage})
        runfolder.write_json(out / "coverage.json", {name: _plain(one) for name, one in coverage.items()})
        return _measure(out, config, mentions, notes)


def plan(stages: Path, config: CaptionsConfig) -> Plan:
    """What would be done; writes nothing."""
    words = wordnet(config.wordnet)
    mentions = Mentions(Senses(words, config.senses, config.relax), lists_of(config, words))
    read = read_stages(find_stages(stages), words)
    check_overlap(read)
    check_groups(read, config)
    have = {stage: _images(read, stage) for stage in read.stages}
    truth, targets = chosen_stages(config, list(have))
    groups = _groups(config)
    any_material = Material(
        {s: dict.fromkeys(images, ()) for s, images in have.items()}, mentions, groups, pairs_of(groups)
    )
    has_boxes = any(not math.isnan(row.x0) for row in read.stages.get("human-labels", _Nothing).objects)
    described = []
    for name in config.techniques or techniques.TECHNIQUES:
        technique = techniques.TECHNIQUES[name]
        for target in targets:
            needs = [n for n in technique.needs if not (n == "boxes" and has_boxes) and n != "tagger"]
            why = techniques.lacking(_with(technique, tuple(needs)), any_material, target, truth)
            described.append(techniques.describe(technique, target, truth, why))
    dropped = {f"{s}: {why}": n for s, rows in read.stages.items() for why, n in rows.dropped.items()}
    counts = {stage: len(rows.captions) for stage, rows in read.stages.items()}
    shared = len(set.intersection(*have.values()))
    return Plan({s: len(i) for s, i in have.items()}, counts, shared, truth, tuple(targets), described, dropped)


def measure_again(run: Path, config: CaptionsConfig) -> CaptionsAudit:
    """Measure a run's tuples anew, such as after a review.

    Raises: UsageError if the folder is a run of another kind.
    """
    manifest = runfolder.read_manifest(run)
    if manifest.get("kind") != "captions":
        raise UsageError(f"{show(run)} is no run of gslopes captions.", "Give a folder of stages.")
    words = wordnet(config.wordnet)
    saved = CaptionsConfig(**_saved(manifest, config))
    with runfolder.locked(run):
        return _measure(run, saved, Mentions(Senses(words, saved.senses, saved.relax), lists_of(saved, words)), ())


def lists_of(config: CaptionsConfig, words: WordNet) -> Lists:
    """The shipped lists with the user's in their place.  Raises: ConfigError."""
    lists = shipped()
    for name, file in config.lists.items():
        lists = lists.with_list(read_list(Path(file), name, words))
    return lists


def check_overlap(read: Read) -> None:
    """Stages share images.  Raises: UsageError with three ids of each side if two do not."""
    have = {stage: _images(read, stage) for stage in read.stages}
    for stage, images in have.items():
        if not images:
            raise UsageError(f"The stage {stage} has no image.", "Check its files.")
    names = list(have)
    for one, other in pairwise(names):
        if not have[one] & have[other]:
            examples = [", ".join(map(repr, sorted(have[name])[:3])) for name in (one, other)]
            raise UsageError(
                f"{one} and {other} share no image: {show(examples[0])} there, {show(examples[1])} here.",
                "Use the same ids in both.",
            )


def check_groups(read: Read, config: CaptionsConfig) -> None:
    """The groups are of these images.  Raises: UsageError with three ids of each side if none of them is."""
    grouped = {image for values in _groups(config).values() for image in values}
    images = set.union(*(_images(read, stage) for stage in read.stages))
    if grouped and not grouped & images:
        there, here = (", ".join(map(repr, sorted(ids)[:3])) for ids in (grouped, images))
        raise UsageError(
            f"{config.groups} names none of the images: it has {show(there)}, the captions have {show(here)}.",
            "Use the same ids in both.",
        )


def unlisted(run: Path) -> list[dict[str, Any]]:
    """The commonest words for people and adjectives of people that stand in no list, to be sorted by hand."""
    tuples = tables.read(schemas.TUPLES, run / "tuples.parquet")
    mentions = Mentions(Senses(wordnet()), shipped())
    listed = {entry for one in shipped() for entry in one.entries}
    person = {word: mentions.is_person(word) for word in {*tuples["word"], *tuples["subject"]}}
    objects = tuples[(tuples["kind"] == "object") & tuples["word"].map(person)]
    attributes = tuples[(tuples["kind"] == "attribute") & tuples["subject"].map(person)]
    rows: list[dict[str, Any]] = []
    for kind, frame in (("object", objects), ("attribute", attributes)):
        counts = frame[~frame["word"].isin(listed)].groupby("word")["image"].nunique()
        rows += [{"kind": kind, "word": str(word), "images": int(n)} for word, n in counts.items()]
    return sorted(rows, key=lambda row: (-row["images"], row["word"]))[:200]


# -- reading ----------------------------------------------------------------------------------------------------------


class _Nothing:
    objects: tuple[Any, ...] = ()


def _with(technique: techniques.Technique, needs: tuple[str, ...]) -> techniques.Technique:
    return replace(technique, needs=needs)


def _images(read: Read, stage: str) -> set[str]:
    rows = read.stages[stage]
    return {row.image for row in rows.captions} | set(rows.images)


def _groups(config: CaptionsConfig) -> dict[str, dict[str, str]]:
    """The columns that are compared, without that of the clusters."""
    if not config.groups:
        return {}
    found = read_groups(config.groups, config.columns)[0]
    return {name: values for name, values in found.items() if name != config.cluster}


def _clusters(config: CaptionsConfig) -> dict[str, str]:
    return read_groups(config.groups, (config.cluster,))[0][config.cluster] if config.groups and config.cluster else {}


def _write_read(out: Path, read: Read, config: CaptionsConfig, mentions: Mentions) -> tuple[str, ...]:
    images = tabulate.images_table(read.stages, mentions, config.limit)
    sentences, twice = tabulate.sentences_table(read.stages, images["image"])
    runfolder.write_table(schemas.IMAGES, images, out / "images.parquet")
    runfolder.write_table(schemas.SENTENCES, sentences, out / "sentences.parquet")
    groups = _groups(config)
    people = [(i, c, v, "annotation") for c, values in groups.items() for i, v in values.items()]
    people += [(i, config.cluster, v, "cluster") for i, v in _clusters(config).items()]
    frame = pd.DataFrame(people, columns=schemas.PEOPLE.columns)
    runfolder.write_table(schemas.PEOPLE, frame, out / "people.parquet")
    notes = []
    for stage, rows in read.stages.items():
        notes += [f"{stage}: {count:,} rows left out: {why}." for why, count in sorted(rows.dropped.items())]
        lost = rows.dropped.get("synset that this WordNet does not have", 0)
        if lost > 0.05 * max(1, len(rows.objects)):
            notes.append(f"{stage}: many synsets are unknown; another version of WordNet may be meant (--wordnet).")
    have = images["stages"].str.split(",")
    partial = int((have.map(len) < len(read.stages)).sum())
    notes += [f"{partial:,} of {len(images):,} images are not in every stage."] if partial else []
    notes += [f"{twice:,} captions stood twice for an image and were kept once."] if twice else []
    bad = sentences[sentences["status"] != "parsed"]
    notes += [f"{count:,} captions {status}." for status, count in bad["status"].value_counts().sort_index().items()]
    return tuple(notes)


def _manifest(stages: Path, read: Read, config: CaptionsConfig, words: WordNet) -> dict[str, Any]:
    from gslopes.language.parsers import parser_identity

    plain = to_dict(config)
    return {
        "kind": "captions",
        "stages": show(stages.resolve()),
        "inputs": dict(read.digests),
        "parser": parser_identity(config.parser),
        "wordnet": {"name": words.name, "sha256": words.digest},
        "senses": config.senses if config.relax == RELAX else f"{config.senses}, {config.relax}",
        "limit": config.limit,
        "lists": {one.name: {"version": one.version, "sha256": one.digest} for one in lists_of(config, words)},
        "config": plain,
    }


def _saved(manifest: Mapping[str, Any], config: CaptionsConfig) -> dict[str, Any]:
    """The saved configuration, with the new review and display options."""
    from gslopes.core.config import from_dict

    old = from_dict(CaptionsConfig, manifest["config"])
    kept = {name: getattr(old, name) for name in CaptionsConfig.__dataclass_fields__}
    kept |= {"review": config.review, "show_words": config.show_words, "images": config.images or old.images}
    return kept


def _plain(one: Any) -> dict[str, Any]:
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in asdict(one).items()}


# -- measuring --------------------------------------------------------------------------------------------------------


def _measure(out: Path, config: CaptionsConfig, mentions: Mentions, notes: tuple[str, ...]) -> CaptionsAudit:
    from gslopes.captions.report.page import write_pages

    material = material_of(out, config, mentions)
    truth, targets = chosen_stages(config, list(material.stages))
    names = list(config.techniques or techniques.TECHNIQUES)
    found, described = techniques.run(material, truth, targets, names, config.options)
    _refuse_what_was_asked(config, described)
    if not mentions.lists.has("demeaning-synsets") and "D1" in names:
        notes = (*notes, "D1, objects: not run, no list. Give one: --list demeaning-synsets=FILE.")
    frames = _write_tables(out, found, described, config)
    answers = review_cases.read_answers(config.review or out / "review.csv", required=config.review is not None)
    reviews = pd.DataFrame(answers, columns=schemas.REVIEWS.columns)
    runfolder.write_table(schemas.REVIEWS, reviews, out / "reviews.parquet")
    confirmed = review_cases.confirmed(frames["cases"], reviews)
    page, review = write_pages(
        out,
        frames,
        confirmed,
        answers,
        notes=notes,
        sample=config.review_sample,
        images=config.images,
        show_words=config.show_words,
        seed=config.options.seed,
    )
    sentences = tables.read(schemas.SENTENCES, out / "sentences.parquet")
    failed = int((sentences["status"] == "failed").sum())
    return CaptionsAudit(out, **frames, page=page, review=review, failed=failed, notes=notes)


def _refuse_what_was_asked(config: CaptionsConfig, described: list[dict[str, str]]) -> None:
    for name in config.techniques:
        rows = [row for row in described if row["technique"] == name]
        if rows and all(row["ran"] == "no" for row in rows):
            raise UsageError(f"{name} cannot run. {rows[0]['why']}", "Leave --technique out to run what can.")


def _write_tables(
    out: Path, found: TechniqueResult, described: list[dict[str, str]], config: CaptionsConfig
) -> dict[str, pd.DataFrame]:
    parameters = ", ".join(f"{name}={value}" for name, value in asdict(config.options).items())
    rows: dict[Table, list[dict[str, Any]]] = {
        schemas.MEASURES: found.measures,
        schemas.INCLUSIONS: found.inclusions,
        schemas.SALIENCE: found.salience,
        schemas.CASES: list({row["case"]: row for row in found.cases}.values()),
        schemas.TECHNIQUES: [{**row, "parameters": parameters} for row in described],
    }
    frames = {}
    for table in READINGS:
        frame = pd.DataFrame(rows[table], columns=table.columns)
        frame = frame.astype({name: "Int32" for name in frame.columns if name == "rank"})
        if not len(frame):
            frame = table.empty()
        runfolder.write_table(table, frame, out / f"{table.name}.parquet")
        frames[table.name] = tables.read(table, out / f"{table.name}.parquet")
    return frames
