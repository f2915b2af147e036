"""Groups of the depicted: read from a CSV, or taken from captions; and the pairs of them that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.demographics import Groups, read_groups
from gslopes.captions.material import MOST_VALUES, Caption, Pair, pairs_of
from gslopes.captions.stimuli import Read, check_shared_images, examples, find_stages, read_stages
from gslopes.captions.tables import TABLES
from gslopes.core.csv_table import unmatched
from gslopes.core.errors import UsageError
from gslopes.core.files import show
from gslopes.words.mentions import Mentions


def groups_of(config: CaptionsConfig) -> Groups:
    """Column to image to value, of the columns that are compared: all that are chosen but that of the clusters.

    Raises: DataMissing, UnknownName as ``read_groups``; UsageError if a chosen column, or every column, has more than
        ``MOST_VALUES`` values, and it is neither that of ages nor are pairs of it named.
    """
    return _compared(config)[0]


def left_out(config: CaptionsConfig) -> list[str]:
    """A sentence for each column that is not compared because it has too many values, as identifiers have."""
    return _compared(config)[1]


def _compared(config: CaptionsConfig) -> tuple[Groups, list[str]]:
    found = read_groups(config.groups, config.columns) if config.groups else {}
    kept: Groups = {}
    notes = []
    for name, values in found.items():
        count = len(set(values.values()) - {""})
        if name == config.cluster:
            continue
        if count <= MOST_VALUES or name == config.options.age or (config.columns and config.pairs):
            kept[name] = values
        elif config.columns:
            problem = f"The column {name} of {show(config.groups)} has {count:,} values"
            raise UsageError(f"{problem}, and at most {MOST_VALUES} are compared.", "Choose others with --column.")
        else:
            notes.append(f"The column {name} is not compared: it has {count:,} values, and at most {MOST_VALUES} are.")
    if notes and not kept:
        raise UsageError(f"{show(config.groups)} has no column of groups. {notes[0]}", "Add a column of groups.")
    return kept, notes


def read_checked(stages: Path, config: CaptionsConfig, mentions: Mentions) -> Read:
    """The stages of a folder, or of a file that names them, checked against one another and the groups.

    Raises: as ``find_stages`` and ``read_stages``; UsageError if they share no image, or the groups name none.
    """
    read = read_stages(find_stages(stages, config.files), mentions.wordnet)
    check_shared_images(read)
    check_groups(read, config)
    return read


def check_groups(read: Read, config: CaptionsConfig) -> None:
    """Raises: UsageError with three ids of each side if the groups name none of the images."""
    grouped = _grouped(config)
    images = read.all_images()
    if grouped and not grouped & images:
        there, here = examples(grouped), examples(images)
        raise UsageError(
            f"{config.groups} names none of the images: it has {there}, the captions have {here}.",
            "Use the same ids in both.",
        )


def unmatched_groups(read: Read, config: CaptionsConfig) -> list[str]:
    """A sentence on images that the table of groups names and no stage has; none without any."""
    if not config.groups:
        return []
    grouped = _grouped(config)
    text = unmatched(Path(config.groups), sorted(grouped - read.all_images()), "images")
    return [text] if text else []


def _grouped(config: CaptionsConfig) -> set[str]:
    """The images that the table of groups names."""
    return {image for values in groups_of(config).values() for image in values}


def people_table(config: CaptionsConfig) -> pd.DataFrame:
    """The people table: groups and clusters by image."""
    rows = [(i, name, value, "annotation") for name, values in groups_of(config).items() for i, value in values.items()]
    if config.groups and config.cluster:
        clusters = read_groups(config.groups, (config.cluster,), identifiers=True)[config.cluster]
        rows += [(image, config.cluster, value, "cluster") for image, value in clusters.items()]
    return pd.DataFrame(rows, columns=TABLES["people"].columns)


def groups_of_table(people: pd.DataFrame) -> tuple[Groups, dict[str, str]]:
    """Groups (column to image to value) and clusters (image to value) of the people table."""
    groups: Groups = {}
    clusters: dict[str, str] = {}
    names = ("image", "column", "value", "source")
    for image, column, value, source in zip(*(people[name].tolist() for name in names), strict=True):
        (clusters if source == "cluster" else groups.setdefault(column, {}))[image] = value
    return groups, clusters


def mentioned_genders(captions: Mapping[str, Sequence[Caption]], mentions: Mentions) -> dict[str, str]:
    """Image to the gender of which its captions have words: female or male; empty if none or both."""
    found = {}
    for image, some in captions.items():
        facts = [fact for caption in some for fact in caption.kept]
        genders = {mention.group for mention in mentions.identity(facts)} & {"feminine", "masculine"}
        found[image] = {"feminine": "female", "masculine": "male"}[genders.pop()] if len(genders) == 1 else ""
    return found


def chosen_pairs(config: CaptionsConfig, groups: Mapping[str, Mapping[str, str]]) -> list[Pair]:
    """The pairs of groups that are compared.  Raises: UsageError if one is unknown."""
    known = pairs_of(groups)
    found = []
    for text in config.pairs:
        column, _, values = text.partition(":")
        group, _, other = values.partition(",")
        if group == other or not {group, other} <= set(groups.get(column, {}).values()) - {""}:
            names = ", ".join(f"{pair.column}:{pair.group},{pair.other}" for pair in known) or "none"
            raise UsageError(f"There is no pair {text!r} in the groups.", f"Known: {names}.")
        found.append(Pair(column, group, other))
    return found or known
