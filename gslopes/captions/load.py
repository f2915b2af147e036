"""A run's tables as the material of the techniques."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.groups import chosen_pairs, groups_of_table, mentioned_genders
from gslopes.captions.material import Coverage, Material
from gslopes.captions.techniques import STAGES
from gslopes.captions.tuples import boxes_of, captions_of
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.core.runfolder import show
from gslopes.frame.run import Run
from gslopes.words.chunks import standard
from gslopes.words.graph import Senses
from gslopes.words.mentions import Mentions
from gslopes.words.wordlists import Lists, read_list, shipped
from gslopes.words.wordnet import WordNet, wordnet


def lists_of(config: CaptionsConfig, words: WordNet) -> Lists:
    """The shipped lists, with the user's replacing those of the same name.  Raises: ConfigError."""
    lists = shipped()
    for name, file in config.lists.items():
        lists = lists.with_list(read_list(Path(file), name, words))
    return lists


def mentions_of(config: CaptionsConfig) -> Mentions:
    """What finds mentions of people under the configured WordNet, sense rule and lists.

    Raises: ConfigError, ModelError.
    """
    words = wordnet()
    return Mentions(Senses(words, config.senses, config.relax), lists_of(config, words))


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


def material_of(run: Run, mentions: Mentions) -> Material:
    """A run's tables as the material of the techniques.  Raises: UsageError if a file is damaged."""
    config: CaptionsConfig = run.config
    images, sentences, tuples, people = map(run.table, ("images", "sentences", "tuples", "people"))
    groups, clusters = groups_of_table(people)
    stages = [stage for stage in STAGES if images["stages"].str.contains(stage, regex=False).any()]
    captions = captions_of(tuples, sentences, images["image"], stages)
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
        boxes_of(tuples),
        _coverage(run.folder / "coverage.json"),
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
