"""One audit of captions: read, parse, measure, report; every stage can be stopped and started again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from gslopes.captions import tables as schemas
from gslopes.captions import tabulate
from gslopes.captions.analysis import run_techniques
from gslopes.captions.config import CaptionsConfig, CaptionsOptions
from gslopes.captions.groups import left_out, people_table, read_checked, unmatched_groups
from gslopes.captions.lists import mentions_of
from gslopes.captions.load import chosen_stages, material_of
from gslopes.captions.measures.rows import TechniqueResult
from gslopes.captions.parse import parse_all
from gslopes.captions.read import Read
from gslopes.captions.review import confirmed, read_answers
from gslopes.captions.techniques import TECHNIQUES
from gslopes.core import runfolder, runtime, summary, tables
from gslopes.core.config import from_dict, to_dict
from gslopes.core.errors import UsageError
from gslopes.core.options import build
from gslopes.core.result import AuditResult, found_page
from gslopes.core.runfolder import show
from gslopes.core.text import many
from gslopes.executors import Executor, OneProcess
from gslopes.executors.engines import engine
from gslopes.language.graph import RELAX
from gslopes.language.mentions import Mentions
from gslopes.language.parsers import parser_identity

IDENTITY = ("kind", "inputs", "parser", "wordnet", "senses", "limit")


@dataclass(frozen=True, eq=False)
class Captions(AuditResult):
    """What a captions audit found; tables as in ``captions.tables``. No number is a total or ranks captioners.

    review: the page of the review.  failed: captions that were no text.  notes: sentences that a user should know.
    """

    review: Path
    failed: int
    notes: tuple[str, ...]

    @property
    def findings(self) -> pd.DataFrame:
        """What is judged, one row each, findings first; see ``captions.findings``."""
        from gslopes.captions.findings import findings_table

        return findings_table(self.tables["measures"], self.tables["salience"])


def audit_captions(
    stages: str | Path,
    out: str | Path,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    **options: Unpack[CaptionsOptions],
) -> Captions:
    """Find and count the ways in which captions could harm the people depicted.

    stages: a folder whose files or sub-folders are called after the stages, a TOML file that names them, or a run of
        this audit, which is measured again with the answers of its review; nothing is parsed again.
    out: the run folder, made if missing.
    options: as of ``gslopes captions --help-all``, with underscores: groups, column, pair, technique, list, parser, ...

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.

        audit = gslopes.audit_captions("STAGES", "RUN", groups="groups.csv", technique=("S1", "D2"))
        audit.tables["measures"], audit.tables["cases"], audit.page
    """
    stages, out, config = Path(stages), Path(out), build(CaptionsConfig, options)
    if (stages / runfolder.MANIFEST).exists():
        return reanalyse(stages, config)
    mentions = mentions_of(config)
    read = read_checked(stages, config, mentions)
    manifest = _manifest(stages, read, config, mentions)
    with runfolder.locked(out):
        runfolder.compare(out, manifest, IDENTITY)
        runfolder.write_json(out / runfolder.MANIFEST, {**manifest, "gslopes": runtime.gslopes_version()})
        notes = _write_read(out, read, config, mentions)
        executor = executor or OneProcess(progress=progress)
        executor = engine(executor, "auto", config.workers, "cpu") if config.workers else executor
        parsed = parse_all(out, config, executor)
        given = [frame for frame in (tabulate.label_facts(read.stages, mentions.senses), parsed) if len(frame)]
        tuples = pd.concat(given, ignore_index=True) if given else parsed
        runfolder.write_table(schemas.TUPLES, tuples, out / "tuples.parquet")
        coverage = tabulate.coverage_of(read.stages, {**read.coverage, **config.coverage})
        plain = {name: asdict(one) | {"types": sorted(one.types)} for name, one in coverage.items()}
        runfolder.write_json(out / "coverage.json", plain)
        return _measure(out, config, mentions, notes)


def reanalyse(run: Path, config: CaptionsConfig) -> Captions:
    """Measure a run's tuples again, such as after a review.

    config: its review and display options count; the others are those of the run.

    Raises: UsageError if the folder is a run of another kind.
    """
    manifest = runfolder.read_manifest(run)
    if manifest.get("kind") != "captions":
        raise UsageError(f"{show(run)} is no run of gslopes captions.", "Give a folder of stages.")
    old = from_dict(CaptionsConfig, manifest["config"])
    shown: dict[str, Any] = {
        "review": config.review,
        "show_words": config.show_words,
        "images": config.images or old.images,
    }
    config = replace(old, **shown)
    with runfolder.locked(run):
        return _measure(run, config, mentions_of(config), [])


# -- reading ----------------------------------------------------------------------------------------------------------


def _write_read(out: Path, read: Read, config: CaptionsConfig, mentions: Mentions) -> list[str]:
    """Write images, sentences and people; notes on what is incomplete."""
    images = tabulate.images_table(read.stages, mentions, config.limit)
    sentences, repeated = tabulate.sentences_table(read.stages, images["image"])
    written = {schemas.IMAGES: images, schemas.SENTENCES: sentences, schemas.PEOPLE: people_table(config)}
    for table, frame in written.items():
        runfolder.write_table(table, frame, out / f"{table.name}.parquet")
    notes = [*left_out(config), *unmatched_groups(read, config)]
    for stage, rows in read.stages.items():
        notes += [f"{stage}: {many(count, 'row')} left out: {why}." for why, count in sorted(rows.dropped.items())]
        lost = rows.dropped.get("synset that this WordNet does not have", 0)
        if lost > 0.05 * max(1, len(rows.objects)):
            notes.append(f"{stage}: many synsets are unknown; another version of WordNet may be meant.")
    partial = int((images["stages"].str.count(",") + 1 < len(read.stages)).sum())
    notes += [f"{partial:,} of {many(len(images), 'image')} are not in every stage."] if partial else []
    notes += [f"{many(repeated, 'caption')} stood twice for an image and were kept once."] if repeated else []
    bad = sentences.loc[sentences["status"] != "parsed", "status"].value_counts().sort_index()
    return [*notes, *(f"{many(count, 'caption')} {status}." for status, count in bad.items())]


def _manifest(stages: Path, read: Read, config: CaptionsConfig, mentions: Mentions) -> dict[str, Any]:
    words = mentions.wordnet
    return {
        "kind": "captions",
        "stages": show(stages.resolve()),
        "inputs": dict(read.digests),
        "parser": parser_identity(config.parser),
        "wordnet": {"name": words.name, "sha256": words.digest},
        "senses": config.senses if config.relax == RELAX else f"{config.senses}, {config.relax}",
        "limit": config.limit,
        "lists": {one.name: {"version": one.version, "sha256": one.digest} for one in mentions.lists},
        "config": to_dict(config),
    }


# -- measuring --------------------------------------------------------------------------------------------------------


def _measure(out: Path, config: CaptionsConfig, mentions: Mentions, notes: list[str]) -> Captions:
    from gslopes.captions.report import lead
    from gslopes.captions.report.page import write_pages

    material = material_of(out, config, mentions)
    truth, targets = chosen_stages(config, list(material.stages))
    names = list(config.techniques or TECHNIQUES)
    found, described = run_techniques(material, truth, targets, names, config.options)
    _refuse_impossible(config, described)
    if not mentions.lists.has("demeaning-synsets") and "D1" in names:
        notes = [*notes, "D1, objects: not run, no list. Give one: --list demeaning-synsets=FILE."]
    frames = _write_tables(out, found, described, config)
    answers = read_answers(config.review or out / "review.csv", required=config.review is not None)
    known = set(frames["cases"]["case"])
    if unknown := sum(row["case"] not in known for row in answers):
        of_all = f"{unknown:,} of the review's {many(len(answers), 'answer')}"
        notes = [*notes, f"{of_all} are about cases that are not in this run."]
    reviews = pd.DataFrame(answers, columns=schemas.REVIEWS.columns)
    runfolder.write_table(schemas.REVIEWS, reviews, out / "reviews.parquet")
    shares = confirmed(frames["cases"], reviews)
    page, review = write_pages(out, frames, shares, answers, notes=notes, config=config)
    sentences = tables.read(schemas.SENTENCES, out / "sentences.parquet")
    failed = int((sentences["status"] == "failed").sum())
    leading = lead.findings(frames["measures"], frames["salience"])
    sentence = lead.headline(leading, frames["measures"], len(frames["cases"]))
    audit = Captions(out, page, sentence, review, failed, tuple(notes), made=frames)
    images = tables.read_columns(schemas.IMAGES, out / "images.parquet", ["status"])["status"]
    counts = len(images), int((images == "used").sum())
    summary.write(out, "captions", audit.findings, counts, headline=sentence, page=page)
    return audit


def load_captions(run: Path) -> Captions:
    """The result of a run folder of ``audit_captions``; its notes stand on its page alone.

    Raises: KeyError if a table is missing; TableError if one is damaged.
    """
    from gslopes.captions.report import lead

    found = Captions(run, found_page(run / "report" / "index.html"), "", run / "review.html", 0, ())
    measures = found.tables["measures"]
    leading = lead.findings(measures, found.tables["salience"])
    summary = lead.headline(leading, measures, len(found.tables["cases"]))
    return replace(found, summary=summary, failed=int((found.tables["sentences"]["status"] == "failed").sum()))


def _refuse_impossible(config: CaptionsConfig, described: list[dict[str, Any]]) -> None:
    for name in config.techniques:
        rows = [row for row in described if row["technique"] == name]
        if rows and all(row["ran"] == "no" for row in rows):
            raise UsageError(f"{name} cannot run. {rows[0]['why']}", "Leave --technique out to run what can.")


def _write_tables(
    out: Path, found: TechniqueResult, described: list[dict[str, Any]], config: CaptionsConfig
) -> dict[str, pd.DataFrame]:
    parameters = ", ".join(f"{name}={value}" for name, value in asdict(config.options).items())
    rows: Mapping[tables.Table, list[dict[str, Any]]] = {
        schemas.MEASURES: found.measures,
        schemas.INCLUSIONS: found.inclusions,
        schemas.SALIENCE: found.salience,
        schemas.CASES: list({row["case"]: row for row in found.cases}.values()),
        schemas.TECHNIQUES: [{**row, "parameters": parameters} for row in described],
    }
    frames = {}
    for table, records in rows.items():
        frame = tables.frame_of(table, records)
        frame = frame.astype({"rank": "Int32"}) if "rank" in frame else frame
        runfolder.write_table(table, frame, out / f"{table.name}.parquet")
        frames[table.name] = tables.read(table, out / f"{table.name}.parquet")
    return frames
