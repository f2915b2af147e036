"""Groups of the people depicted, by image: from the user's table, and in the run's.

Zhao et al.'s demographics of COCO go under our names: annotators' perception of the largest person; it is not who a
person is.  Source: Zhao, Wang & Russakovsky 2021, Understanding and Evaluating Racial Biases in Image Captioning.
"""

from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from pandas import DataFrame

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.stimuli.corpus import MOST_VALUES, Groups
from gslopes.captions.stimuli.readers import LARGEST, examples
from gslopes.core import DataMissing, UsageError, read_beside, show
from gslopes.core.csv_table import unmatched
from gslopes.core.tables import lookup
from gslopes.photos.people import People, read_people

ZHAO = read_beside(__file__, "zhao.toml")


def read_groups(file: Path, columns: Sequence[str] = ()) -> Groups:
    """Column to image to value; empty if a value is unknown.

    columns: of the file, ``a + b`` crosses two; all but the image's by default.

    Raises: DataMissing without a column of images, or if an image has two different values; UnknownName for an
        unknown column.
    """
    people = _zhao(read_people(file, raises=DataMissing, limit=LARGEST))
    image = people.photo_column()
    groups = {}
    for name in columns or [column for column in people.columns if column != image]:
        values = people.groups(name)
        groups[name] = {
            photo: values[row] for photo, row in people.by_photo({name: values}).items()
        }
    return groups


def _zhao(people: People) -> People:
    """Zhao et al.'s columns under our names; another table stays."""
    columns = {
        name: [
            told["values"].get(str(cell).strip().lower(), "")
            for cell in people.columns[told["column"]]
        ]
        for name, told in ZHAO.items()
        if told["column"] in people.columns
    }
    if not columns:
        return people
    image = people.photo_column(("id",))
    return replace(people, columns={image: people.columns[image], **columns})


def groups_of(config: CaptionsConfig) -> tuple[Groups, list[str]]:
    """Column to image to value, of the columns that are compared, and a sentence on each that has too many values.

    Raises: DataMissing, UnknownName as ``read_groups``; UsageError if a chosen column, or every column, has more than
        ``MOST_VALUES`` values, as identifiers have.
    """
    chosen = {}
    notes = []
    for name, values in (
        read_groups(config.groups, config.columns) if config.groups else {}
    ).items():
        count = len(set(values.values()) - {""})
        if count <= MOST_VALUES:
            chosen[name] = values
        elif config.columns:
            problem = f"The column {name} of {show(config.groups)} has {count:,} values"
            raise UsageError(
                f"{problem}, and at most {MOST_VALUES} are compared.",
                "Choose others with --column.",
            )
        else:
            notes.append(
                f"The column {name} is not compared: it has {count:,} values, and at most {MOST_VALUES} are."
            )
    if notes and not chosen:
        raise UsageError(
            f"{show(config.groups)} has no column of groups. {notes[0]}", "Add a column of groups."
        )
    return chosen, notes


def notes_on_groups(images: Set[str], config: CaptionsConfig) -> list[str]:
    """Sentences on columns with too many values, and on images that the table of groups names and no stage has.

    Raises: UsageError with three ids of each side if the groups name none of the images; as ``groups_of``.
    """
    groups, notes = groups_of(config)
    grouped = {image for values in groups.values() for image in values}
    if images and grouped and not grouped & images:
        theirs = examples(grouped)
        raise UsageError(
            f"{config.groups} names none of the images: it has {theirs}, the captions have {examples(images)}.",
            "Use the same ids in both.",
        )
    text = unmatched(config.groups, sorted(grouped - images), "images") if config.groups else ""
    if text:
        return [*notes, text]
    return notes


def people_table(config: CaptionsConfig) -> list[dict[str, str]]:
    """The rows of the people table: groups by image."""
    return [
        {"image": image, "column": name, "value": value, "source": "annotation"}
        for name, values_of in groups_of(config)[0].items()
        for image, value in values_of.items()
    ]


def groups_of_table(people: DataFrame) -> Groups:
    """Column to image to value, of the people table."""
    return {
        str(column): lookup(rows, "image", "value")
        for column, rows in people.groupby("column", sort=False)
    }
