"""Groups of the depicted: Zhao et al.'s demographics of COCO, or any table with a column of images.

Source: Zhao, Wang & Russakovsky 2021, Understanding and Evaluating Racial Biases in Image Captioning. Annotators'
perception of the largest person; it is not who a person is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gslopes.captions.caption_tables import LARGEST
from gslopes.core.errors import DataMissing
from gslopes.photos.people import People, read_people

GENDER = {"female": "female", "male": "male"}
SKIN = {"dark": "darker", "darker": "darker", "light": "lighter", "lighter": "lighter"}
Groups = dict[str, dict[str, str]]


def read_groups(file: Path, columns: Sequence[str] = (), *, identifiers: bool = False) -> Groups:
    """Column to image to value; empty where a value is unknown.

    columns: of the file, ``a + b`` crosses two; all but the image's by default.
    identifiers: whether they name people rather than groups: then two spellings are two.

    Raises: DataMissing if there is no column of images, or an image has two different values; UnknownName for an
        unknown column.
    """
    people = _zhao(read_people(file, raises=DataMissing, limit=LARGEST))
    image = people.photo_column()
    groups: Groups = {}
    for name in columns or [column for column in people.columns if column != image]:
        values = people.groups(name, identifiers=identifiers)
        groups[name] = {photo: values[row] for photo, row in people.by_photo({name: values}).items()}
    return groups


def _zhao(people: People) -> People:
    """Zhao et al.'s columns under our names; another table stays."""
    columns = {}
    for name, source, values in (("gender", "bb_gender", GENDER), ("skin", "bb_skin", SKIN)):
        if source in people.columns:
            columns[name] = [values.get(str(cell).strip().lower(), "") for cell in people.columns[source]]
    if not columns:
        return people
    image = people.photo_column(("id",))
    return replace(people, columns={image: people.columns[image], **columns})
