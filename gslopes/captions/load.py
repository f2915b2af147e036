"""A run's tables as the material of the techniques."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gslopes.captions import tables as schemas
from gslopes.captions import tabulate
from gslopes.captions.config import CaptionsConfig
from gslopes.captions.groups import chosen_pairs, groups_of_table, mentioned_genders
from gslopes.captions.material import Coverage, Material
from gslopes.captions.techniques import STAGES
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.language.chunks import standard
from gslopes.language.mentions import Mentions


def chosen_stages(config: CaptionsConfig, stages: Sequence[str]) -> tuple[str, list[str]]:
    """The truth (human labels, else human captions; empty if there is neither) and the targets (all above it).

    Raises: UsageError if a stage of the configuration is not there.
    """
    automatic = next((stage for stage in ("human-labels", "human-captions") if stage in stages), "")
    truth = automatic if config.truth == "auto" else config.truth
    for name in (truth, *config.targets):
        if name and name not in stages:
            raise UsageError(f"There is no stage {name} in the input.", f"It holds {', '.join(stages)}.")
    there = [stage for stage in STAGES if stage in stages]
    above = [stage for stage in there if not truth or STAGES.index(stage) > STAGES.index(truth)]
    targets = list(config.targets) or above or there[-1:]
    return ("" if targets == [truth] else truth), targets


def material_of(out: Path, config: CaptionsConfig, mentions: Mentions) -> Material:
    """A run's tables as the material of the techniques.  Raises: UsageError if a file is damaged."""
    read = (schemas.IMAGES, schemas.SENTENCES, schemas.TUPLES, schemas.PEOPLE)
    images, sentences, tuples, people = (tables.read(table, out / f"{table.name}.parquet") for table in read)
    groups, clusters = groups_of_table(people)
    stages = [stage for stage in STAGES if images["stages"].str.contains(stage, regex=False).any()]
    captions = tabulate.captions_of(tuples, sentences, images["image"], stages)
    if config.groups_from == "mentions" and not groups:
        source = chosen_stages(config, list(captions))[0] or next(iter(captions))
        groups = {"mentioned_gender": mentioned_genders(captions.get(source, {}), mentions)}
    areas = images.dropna(subset=["person_area"])
    return Material(
        captions,
        mentions,
        groups,
        chosen_pairs(config, groups),
        dict(zip(areas["image"], areas["person_area"].astype(float), strict=True)),
        tabulate.boxes_of(tuples),
        _coverage(out / "coverage.json"),
        None if config.parser.startswith("tuples:") else standard().tag,
        clusters,
    )


def _coverage(file: Path) -> dict[str, Coverage]:
    try:
        content = read_json(file)
        return {name: Coverage(**{**one, "types": frozenset(one["types"])}) for name, one in content.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Measure the captions again in a new folder."
        raise UsageError(f"{show(file)} cannot be read: {error}.", hint) from error
