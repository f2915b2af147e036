"""A run's tables as what the techniques work on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gslopes.captions import tables as schemas
from gslopes.captions import tabulate, techniques
from gslopes.captions.config import CaptionsConfig
from gslopes.captions.material import STAGES, Coverage, Material, pairs_of
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.language.mentions import Mentions


def chosen_stages(config: CaptionsConfig, stages: list[str]) -> tuple[str, list[str]]:
    """The truth (empty if there is none) and the targets.  Raises: UsageError if one is not there."""
    truth = techniques.default_truth(stages) if config.truth == "auto" else config.truth
    for name in (truth, *config.targets):
        if name and name not in stages:
            raise UsageError(f"There is no stage {name} in the input.", f"It holds {', '.join(stages)}.")
    targets = list(config.targets) or techniques.default_targets(stages, truth)
    return ("" if targets == [truth] else truth), targets


def material_of(out: Path, config: CaptionsConfig, mentions: Mentions) -> Material:
    """A run's tables as what the techniques work on."""
    images = tables.read(schemas.IMAGES, out / "images.parquet")
    sentences = tables.read(schemas.SENTENCES, out / "sentences.parquet")
    tuples = tables.read(schemas.TUPLES, out / "tuples.parquet")
    people = tables.read(schemas.PEOPLE, out / "people.parquet")
    groups: dict[str, dict[str, str]] = {}
    clusters: dict[str, str] = {}
    names = ("image", "column", "value", "source")
    for image, column, value, source in zip(*(people[name].tolist() for name in names), strict=True):
        (clusters if source == "cluster" else groups.setdefault(column, {}))[image] = value
    stages = [stage for stage in STAGES if images["stages"].str.contains(stage, regex=False).any()]
    having = tabulate.captions_of(tuples, sentences, images["image"], stages)
    if config.groups_from == "mentions" and not groups:
        groups = {"mentioned_gender": _mentioned(having, mentions, config)}
    try:
        said = read_json(out / "coverage.json")
        coverage = {name: Coverage(**{**one, "types": frozenset(one["types"])}) for name, one in said.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Measure the captions again in a new folder."
        raise UsageError(f"{show(out / 'coverage.json')} cannot be read: {error}.", hint) from error
    areas = images.dropna(subset=["person_area"])
    tag = None
    if not config.parser.startswith("tuples:"):
        from gslopes.language.chunks import standard

        tag = standard(source=config.wordnet).tag
    return Material(
        having,
        mentions,
        groups,
        config.chosen_pairs(pairs_of(groups)),
        dict(zip(areas["image"], areas["person_area"].astype(float), strict=True)),
        tabulate.boxes_of(tuples),
        coverage,
        tag,
        clusters,
    )


def _mentioned(having: Mapping[str, Any], mentions: Mentions, config: CaptionsConfig) -> dict[str, str]:
    """Image to the gender that the truth captions speak of, empty if none or both."""
    truth, _ = chosen_stages(config, list(having))
    found = {}
    for image, said in having.get(truth or next(iter(having)), {}).items():
        facts = [fact for caption in said for fact in caption.kept]
        genders = {m.group for m in mentions.identity(facts)} & {"feminine", "masculine"}
        found[image] = {"feminine": "female", "masculine": "male"}[genders.pop()] if len(genders) == 1 else ""
    return found
