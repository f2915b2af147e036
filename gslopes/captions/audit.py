"""The audit of captions: what is read, parsed, measured, reviewed and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from gslopes.captions import page
from gslopes.captions.config import STAGES, TECHNIQUES, AuditOptions, CaptionsConfig
from gslopes.captions.material import Box, Coverage, Material, pairs_of
from gslopes.captions.measures.rows import RESULTS, Recorder
from gslopes.captions.review import read_answers, render_review, review_items, sampled
from gslopes.captions.stimuli import (
    coverage_of,
    find_stages,
    groups_of,
    groups_of_table,
    images_table,
    notes_on_groups,
    people_table,
    read_stages,
    sentences_table,
)
from gslopes.captions.tables import TABLES
from gslopes.captions.tuples import (
    boxes_of,
    captions_of,
    parse,
    parsed_images,
    parser_name,
    with_labels,
)
from gslopes.core import runfolder
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import read_json
from gslopes.core.tables import Row, lookup
from gslopes.core.text import many
from gslopes.frame.brought import planned
from gslopes.frame.executors import OneProcess
from gslopes.frame.result import Result
from gslopes.frame.run import carry_out
from gslopes.frame.spec import Audit, Inputs, Made, Plan, Run, Stage, Tables
from gslopes.words.graph import Mentions, Senses
from gslopes.words.wordlists import Lists, read_list, shipped
from gslopes.words.wordnet import wordnet


def audit_captions(
    stages: str | Path,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    executor: Executor | None = None,
    **options: Any,
) -> Result:
    """Find and count the ways in which captions could harm the people depicted.

    stages: a folder whose files or sub-folders are called after the stages, or a run of this audit: then what depends
        on the options given, such as the answers of its review, is done again.
    out: as of ``gslopes.audit``.
    options: as of ``gslopes captions --help-all``, with underscores: groups, column, technique, list, ...

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.

        audit = gslopes.audit_captions("STAGES", "RUN", groups="groups.csv", technique=("S1", "D2"))
        audit.tables["measures"], audit.tables["cases"], audit.page
    """
    return carry_out(
        planned(CAPTIONS, stages, out, options), executor or OneProcess(progress=progress)
    )


# -- before any work --------------------------------------------------------------------------------------------------


def look(stages: Path, config: CaptionsConfig) -> Inputs:
    """The stages as rows, checked against one another and the groups.

    Raises: as ``find_stages``, ``read_stages`` and ``notes_on_groups``.
    """
    mentions = mentions_of(config)
    wordnet = mentions.wordnet
    read = read_stages(find_stages(stages, config.files), wordnet)
    facts = {
        "inputs": dict(read.digests),
        "parser": parser_name(config),
        "wordnet": {"name": wordnet.name, "sha256": wordnet.digest},
        "senses": config.senses,
        "limit": config.limit,
    }
    lists = {
        listed.name: {"version": listed.version, "sha256": listed.digest}
        for listed in mentions.lists.values()
    }
    return Inputs(read, facts, {"lists": lists}, tuple(notes_on_groups(read, config)))


def of_photos(config: CaptionsConfig) -> bool:
    """A folder of stages holds tables."""
    return False


def outline(planned: Plan) -> tuple[list[str], dict[str, Any]]:
    """What an audit would do: what is there, and which techniques can run."""
    config = planned.config
    read = planned.inputs.content
    images = {stage: read.images(stage) for stage in read.stages}
    truth, targets = chosen_stages(config, list(images))
    groups, _ = groups_of(config)
    named = {stage: dict.fromkeys(some, ()) for stage, some in images.items()}
    boxes: Mapping[str, Sequence[Box]] = named["human-labels"] if read.has_boxes else {}
    material = Material(named, mentions_of(config), groups, pairs_of(groups), boxes=boxes)
    names = config.techniques or TECHNIQUES
    rows = [_described(name, material, target, truth) for name in names for target in targets]
    captions = {stage: len(rows.captions) for stage, rows in read.stages.items()}
    shared = len(set.intersection(*images.values()))
    dropped = {
        f"{stage}: {why}": n
        for stage, rows in read.stages.items()
        for why, n in rows.dropped.items()
    }
    facts: dict[str, Any] = {
        "images": {stage: len(some) for stage, some in images.items()},
        "captions": captions,
    }
    facts |= {
        "shared": shared,
        "truth": truth,
        "targets": targets,
        "techniques": rows,
        "dropped": dropped,
    }
    lines = [
        f"{stage:<16} {len(some):,} images, {captions[stage]:,} captions"
        for stage, some in images.items()
    ]
    lines += [f"in all of them   {shared:,} images", f"truth            {truth or 'none'}"]
    lines += [f"targets          {', '.join(targets)}"]
    lines += [f"left out         {count:,} {why}" for why, count in dropped.items()]
    for row in {row["technique"]: row for row in reversed(rows)}.values():
        state = f"cannot run: {row['why']}" if row["ran"] == "no" else "can run"
        state += f"; not judged: {row['why']}" * (row["ran"] == "yes" and row["why"] != "")
        lines.append(f"{row['technique']} {row['title']:<32} {state}")
    return lines, facts


# -- stages -----------------------------------------------------------------------------------------------------------


def read(run: Run) -> Made:
    """What was read as tables, with notes on what is incomplete."""
    stages = run.inputs
    config = run.config
    images = images_table(stages, mentions_of(config), config.limit)
    sentences, repeated = sentences_table(stages.stages, images["image"])
    for stage, rows in stages.stages.items():
        for why, count in sorted(rows.dropped.items()):
            run.note(f"{stage}: {many(count, 'row')} left out: {why}.")
        lost = rows.dropped.get("synset that this WordNet does not have", 0)
        if lost > 0.05 * max(1, sum(label.kind == "object" for label in rows.labels)):
            run.note(f"{stage}: many synsets are unknown; another version of WordNet may be meant.")
    partial = int((images["stages"].str.count(",") + 1 < len(stages.stages)).sum())
    if partial:
        run.note(f"{partial:,} of {many(len(images), 'image')} are not in every stage.")
    if repeated:
        run.note(f"{many(repeated, 'caption')} stood twice for an image and were kept once.")
    bad = sentences.loc[sentences["status"] != "parsed", "status"].value_counts().sort_index()
    for status, count in bad.items():
        run.note(f"{many(count, 'caption')} {status}.")
    plain = {
        name: coverage._asdict() | {"types": sorted(coverage.types)}
        for name, coverage in coverage_of(stages).items()
    }
    runfolder.write_json(run.folder / "coverage.json", plain)
    return {"images": images, "sentences": sentences, "people": people_table(config)}


def measure(run: Run) -> Made:
    """What the techniques find.  Raises: UsageError if one that was asked for cannot run."""
    config: CaptionsConfig = run.config
    mentions = mentions_of(config)
    material = material_of(run, mentions)
    truth, targets = chosen_stages(config, list(material.stages))
    names = list(config.techniques or TECHNIQUES)
    found, described = run_techniques(material, truth, targets, names, config.options)
    for name in config.techniques:
        rows = [row for row in described if row["technique"] == name]
        if rows and all(row["ran"] == "no" for row in rows):
            raise UsageError(
                f"{name} cannot run. {rows[0]['why']}", "Leave --technique out to run what can."
            )
    for name, why in dict.fromkeys(
        (row["technique"], row["why"]) for row in described if row["ran"] == "yes"
    ):
        if why:
            run.note(f"{name}, not judged: {why}")
    parameters = ", ".join(f"{name}={value}" for name, value in asdict(config.options).items())
    return {
        **found,
        "cases": list({row["case"]: row for row in found["cases"]}.values()),
        "techniques": [{**row, "parameters": parameters} for row in described],
    }


def review(run: Run) -> Made:
    """The page on which people read cases, and what they answered before."""
    config = run.config
    cases = run.table("cases")
    techniques = run.table("techniques")
    answers = read_answers(
        config.review or run.folder / "review.csv", required=config.review is not None
    )
    case_ids = set(cases["case"])
    if unknown := sum(row["case"] not in case_ids for row in answers):
        of_all = f"{unknown:,} of the review's {many(len(answers), 'answer')}"
        run.note(f"{of_all} are about cases that are not in this run.")
    titles = lookup(techniques, "technique", "title")
    items = review_items(sampled(cases), config.images, run.folder, titles)
    runfolder.write_bytes(run.folder / "review.html", render_review(items, answers).encode())
    return {"reviews": answers}


# -- techniques -------------------------------------------------------------------------------------------------------


def mentions_of(config: CaptionsConfig) -> Mentions:
    """What finds mentions of people under the configured sense rule and lists.

    Raises: ConfigError, also if a list is empty: what it would find is none, and nothing was judged. ModelError.
    """
    own = {name: read_list(Path(file), name, wordnet()) for name, file in config.lists.items()}
    if empty := [name for name, listed in own.items() if not listed.entries | listed.below]:
        raise ConfigError(
            f"The word list {empty[0]} is empty: {config.lists[empty[0]]}.",
            "Write one entry a line.",
        )
    return Mentions(Senses(wordnet(), config.senses), Lists(shipped() | own))


def chosen_stages(config: CaptionsConfig, stages: Sequence[str]) -> tuple[str, list[str]]:
    """The truth (human labels, else human captions; empty if there is neither) and the targets, all above it.

    Raises: UsageError if the truth that was chosen is not there.
    """
    automatic = next((stage for stage in ("human-labels", "human-captions") if stage in stages), "")
    truth = automatic if config.truth == "auto" else config.truth
    if truth and truth not in stages:
        raise UsageError(
            f"There is no stage {truth} in the input.", f"It holds {', '.join(stages)}."
        )
    present = [stage for stage in STAGES if stage in stages]
    targets = [
        stage for stage in present if not truth or STAGES.index(stage) > STAGES.index(truth)
    ] or present[-1:]
    return ("" if targets == [truth] else truth), targets


def material_of(run: Run, mentions: Mentions) -> Material:
    """A run's tables as the material of the techniques.  Raises: TableError if one is damaged."""
    images, sentences, tuples, people_rows = map(
        run.table, ("images", "sentences", "tuples", "people")
    )
    groups = groups_of_table(people_rows)
    stages = [stage for stage in STAGES if images["stages"].str.contains(stage, regex=False).any()]
    areas = images.dropna(subset=["person_area"])
    kept = read_json(run.folder / "coverage.json")
    coverage = {
        name: Coverage(**{**fields, "types": frozenset(fields["types"])})
        for name, fields in kept.items()
    }
    return Material(
        captions_of(tuples, sentences, images["image"], stages),
        mentions,
        groups,
        pairs_of(groups),
        lookup(areas.astype({"person_area": float}), "image", "person_area"),
        boxes_of(tuples),
        coverage,
    )


def missing_need(needs: Sequence[str], material: Material, target: str, truth: str) -> str:
    """The first need of a technique that is not met, as a sentence; empty if it can run."""
    genders = {value for values in material.groups.values() for value in values.values()}
    met = {
        "truth": (bool(truth and material.images(target, truth)), "a stage that is taken as truth"),
        "groups": (bool(material.pairs), "groups: --groups FILE"),
        "boxes": (
            bool(material.boxes),
            "boxes: human labels with COCO instances or Visual Genome objects",
        ),
        "gender": (bool(genders & {"female", "male"}), "groups with the values female and male"),
    }
    return next(
        (f"It needs {what}." for need, (has, what) in met.items() if need in needs and not has), ""
    )


def _described(name: str, material: Material, target: str, truth: str) -> Row:
    """The row of a technique at one target."""
    technique = TECHNIQUES[name]
    why = missing_need(technique.needs, material, target, truth)
    return technique.describe(target, truth, why, material.mentions.lists)


def run_technique(
    name: str, material: Material, target: str, truth: str, options: AuditOptions
) -> Recorder:
    """What one technique finds at one target."""
    technique = TECHNIQUES[name]
    header = {
        "harm": technique.harm,
        "technique": name,
        "reading": technique.reading,
        "origin": technique.origin,
    }
    header |= {"truth": truth if "truth" in technique.needs else "", "note": ""}
    header |= {"lists": material.mentions.lists.versions(*technique.lists)}
    recorder = Recorder(material, options, target, truth, header)
    resolve_name(f"gslopes.captions.measures.{technique.measure}")(recorder)
    return recorder


def run_techniques(
    material: Material,
    truth: str,
    targets: Sequence[str],
    names: Sequence[str],
    options: AuditOptions,
) -> tuple[dict[str, list[Row]], list[Row]]:
    """What the techniques find at all targets, by table, and the rows of the techniques table."""
    found: dict[str, list[Row]] = {table: [] for table in RESULTS}
    described = []
    for name in names:
        for target in targets:
            described.append(_described(name, material, target, truth))
            if described[-1]["ran"] == "yes":
                recorder = run_technique(name, material, target, truth, options)
                for table, rows in found.items():
                    rows += getattr(recorder, table)
    return found, described


def counts(tables: Tables) -> tuple[int, int, int]:
    """Images read, images used, captions that were no text."""
    images = len(tables["images"])
    return images, images, int((tables["sentences"]["status"] == "failed").sum())


CAPTIONS = Audit(
    name="captions",
    home=Path(__file__).parent,
    config=CaptionsConfig,
    tables=TABLES,
    inputs=look,
    photos=of_photos,
    outline=outline,
    stages=(
        Stage(
            "read", ("inputs",), ("images", "sentences", "people", "coverage.json"), read,
            options=("senses", "lists", "groups", "columns", "limit"),
        ),
        Stage(
            "parse", ("inputs", "images", "sentences"), ("tuples",), parse,
            items=parsed_images, part=2000, unit="images", join=with_labels,
            options=("tuples", "senses"),
        ),
        Stage(
            "measure", ("images", "sentences", "people", "tuples", "coverage.json"),
            ("measures", "inclusions", "salience", "examples", "cases", "techniques"), measure,
            options=("senses", "lists", "truth", "techniques", "options"),
        ),
        Stage(
            "review", ("cases", "techniques", "review.csv"), ("reviews", "review.html"), review,
            options=("review", "images"),
        ),
    ),
    judged=page.judged,
    headline=page.headline_of,
    counts=counts,
    shown=("measures",),
    page=page.SECTIONS,
)  # fmt: skip
