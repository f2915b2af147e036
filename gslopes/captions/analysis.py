"""A run's tables as the material of the techniques, and what each of them finds at every target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from gslopes.captions.config import STAGES, TECHNIQUES, AuditOptions, CaptionsConfig
from gslopes.captions.material import Coverage, Material, pairs_of
from gslopes.captions.measures.rows import RESULTS, Recorder, Row
from gslopes.captions.stimuli import groups_of_table
from gslopes.captions.tuples import boxes_of, captions_of
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.files import read_json
from gslopes.frame.run import Run
from gslopes.words.graph import Senses
from gslopes.words.mentions import Mentions
from gslopes.words.wordlists import Lists, read_list, shipped
from gslopes.words.wordnet import wordnet


def mentions_of(config: CaptionsConfig) -> Mentions:
    """What finds mentions of people under the configured sense rule and lists.

    Raises: ConfigError, also if a list is empty: what it would find is none, and nothing was judged. ModelError.
    """
    own = {name: read_list(Path(file), name, wordnet()) for name, file in config.lists.items()}
    if empty := [name for name, listed in own.items() if not listed.entries | listed.below]:
        raise ConfigError(f"The word list {empty[0]} is empty: {config.lists[empty[0]]}.", "Write one entry a line.")
    return Mentions(Senses(wordnet(), config.senses), Lists(shipped() | own))


def chosen_stages(config: CaptionsConfig, stages: Sequence[str]) -> tuple[str, list[str]]:
    """The truth (human labels, else human captions; empty if there is neither) and the targets, all above it.

    Raises: UsageError if the truth that was chosen is not there.
    """
    automatic = next((stage for stage in ("human-labels", "human-captions") if stage in stages), "")
    truth = automatic if config.truth == "auto" else config.truth
    if truth and truth not in stages:
        raise UsageError(f"There is no stage {truth} in the input.", f"It holds {', '.join(stages)}.")
    present = [stage for stage in STAGES if stage in stages]
    targets = [stage for stage in present if not truth or STAGES.index(stage) > STAGES.index(truth)] or present[-1:]
    return ("" if targets == [truth] else truth), targets


def material_of(run: Run, mentions: Mentions) -> Material:
    """A run's tables as the material of the techniques.  Raises: TableError if one is damaged."""
    images, sentences, tuples, people_rows = map(run.table, ("images", "sentences", "tuples", "people"))
    groups = groups_of_table(people_rows)
    stages = [stage for stage in STAGES if images["stages"].str.contains(stage, regex=False).any()]
    areas, kept = images.dropna(subset=["person_area"]), read_json(run.folder / "coverage.json")
    coverage = {name: Coverage(**{**fields, "types": frozenset(fields["types"])}) for name, fields in kept.items()}
    return Material(
        captions_of(tuples, sentences, images["image"], stages),
        mentions,
        groups,
        pairs_of(groups),
        dict(zip(areas["image"], areas["person_area"].astype(float), strict=True)),
        boxes_of(tuples),
        coverage,
    )


def missing_need(needs: Sequence[str], material: Material, target: str, truth: str) -> str:
    """The first need of a technique that is not met, as a sentence; empty if it can run."""
    genders = {value for values in material.groups.values() for value in values.values()}
    met = {
        "truth": (bool(truth and material.images(target, truth)), "a stage that is taken as truth"),
        "groups": (bool(material.pairs), "groups: --groups FILE"),
        "boxes": (bool(material.boxes), "boxes: human labels with COCO instances or Visual Genome objects"),
        "gender": (bool(genders & {"female", "male"}), "groups with the values female and male"),
    }
    return next((f"It needs {what}." for need, (has, what) in met.items() if need in needs and not has), "")


def run_technique(name: str, material: Material, target: str, truth: str, options: AuditOptions) -> Recorder:
    """What one technique finds at one target."""
    technique = TECHNIQUES[name]
    header = {"harm": technique.harm, "technique": name, "reading": technique.reading, "origin": technique.origin}
    header |= {"truth": truth if "truth" in technique.needs else "", "note": ""}
    header |= {"lists": material.mentions.lists.versions(*technique.lists)}
    recorder = Recorder(material, options, target, truth, header)
    resolve_name(f"gslopes.captions.measures.{technique.measure}")(recorder)
    return recorder


def run_techniques(
    material: Material, truth: str, targets: Sequence[str], names: Sequence[str], options: AuditOptions
) -> tuple[dict[str, list[Row]], list[dict[str, Any]]]:
    """What the techniques find at all targets, by table, and the rows of the techniques table."""
    found: dict[str, list[Row]] = {table: [] for table in RESULTS}
    described = []
    for name in names:
        for target in targets:
            why = missing_need(TECHNIQUES[name].needs, material, target, truth)
            if not why:
                recorder = run_technique(name, material, target, truth, options)
                for table, rows in found.items():
                    rows += getattr(recorder, table)
            described.append(TECHNIQUES[name].describe(target, truth, why, material.mentions.lists))
    return found, described
