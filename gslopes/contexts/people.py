"""Self-reports of the people on the photos: people.csv to rows, genders under one word each.

Here too: people's decisions about cut-outs, as the page of cut-outs saves them in review.csv.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.contexts.config import PeopleColumns
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import show, without_guard
from gslopes.core.group_names import normal_names
from gslopes.core.reasons import Reason

ALIASES = {
    **dict.fromkeys(("woman", "women", "female", "f", "w"), "woman"),
    **dict.fromkeys(("man", "men", "male", "m"), "man"),
    **dict.fromkeys(("", "na", "n/a", "nan", "none", "unknown"), "not said"),
}
ID_COLUMNS = ("id", "photo", "file", "name", "path", "filename")
GENDER_COLUMNS = ("gender", "sex", "self_reported_gender")
GROUP_COLUMNS = ("ethnicity", "race", "group")
PERSON_COLUMNS = ("person", "subject", "person_id")
_CFD = re.compile(r"CFD-(?P<race>[A-Z])(?P<gender>[FM])-(?P<person>\d+)-(?P<photo>\d+)-(?P<expression>[A-Z]+)")
_CFD_RACES = {"A": "Asian", "B": "Black", "L": "Latinx", "W": "White", "I": "Indian", "M": "Multiracial"}


def gender_of(word: str, aliases: Mapping[str, str] | None = None) -> str:
    """The word under which a self-reported gender is counted; words that are no alias stay themselves.

    >>> gender_of("Female"), gender_of("m"), gender_of("non-binary"), gender_of("NA")
    ('woman', 'man', 'non-binary', 'not said')
    """
    plain = word.strip().casefold()
    known = {**ALIASES, **{key.casefold(): value for key, value in (aliases or {}).items()}}
    return known.get(plain, plain)


def read_people(path: Path, names: PeopleColumns | None = None) -> dict[str, dict[str, Any]]:
    """Photo (file name without its ending, or with it) to person, gender, group and age, from a CSV.

    The first of id, photo, file, name names the photo.  Without a person column each row is one person.

    Raises: UsageError as ``read_csv``; if the gender column or a named column is not there, or a photo has two rows.
    """
    names = names or PeopleColumns()
    table = read_csv(path, strip=True, hint="Name the CSV of the people.")
    columns = list(table.columns)
    id_column = _pick(path, columns, "", ID_COLUMNS, "names the photo")
    gender = _pick(path, columns, names.gender_column, GENDER_COLUMNS, "holds the self-reported gender")
    parts = [part.strip() for part in names.group_column.split("+")] if names.group_column else []
    for part in (*parts, *filter(None, [names.person_column])):
        if part not in columns:
            raise UsageError(f"{show(path)} has no column {part!r}.", f"Its columns are {', '.join(columns)}.")
    parts = parts or [name for name in GROUP_COLUMNS if name in columns][:1]
    person = names.person_column or next((name for name in PERSON_COLUMNS if name in columns), id_column)
    people: dict[str, dict[str, Any]] = {}
    spelled = {part: dict(zip(table.columns[part], normal_names(table.columns[part]), strict=True)) for part in parts}
    for line, row in table.rows():
        key = row[id_column]
        if key in people:
            raise UsageError(
                f"{show(path)}, line {line}: there are two rows of {key[:80]!r}.", "Each photo has one row."
            )
        people[key] = {
            "person": row[person] or key,
            "gender": gender_of(row[gender], names.genders),
            "group": " + ".join(spelled[part][row[part]] for part in parts),
            "age": _number(row.get("age", "")),
        }
    return people


def cfd_person(name: str) -> dict[str, Any] | None:
    """The row of a photo by its file name in the Chicago Face Database; None for another name.

    >>> cfd_person("CFD-WF-001-003-N.jpg")
    {'person': 'WF-001', 'gender': 'woman', 'group': 'White', 'age': nan}
    """
    match = _CFD.search(name)
    if not match:
        return None
    race, gender = match["race"], match["gender"]
    person = f"{race}{gender}-{match['person']}"
    return {"person": person, "gender": gender_of(gender), "group": _CFD_RACES.get(race, race), "age": math.nan}


def person_of(people: Mapping[str, dict[str, Any]], relative: str) -> dict[str, Any] | None:
    """The row of a photo by its name below the folder, its file name, or that without its ending."""
    name = relative.rpartition("/")[2]
    for key in (relative, relative.rpartition(".")[0], name, name.rpartition(".")[0]):
        if key and key in people:
            return people[key]
    return None


def _pick(path: Path, columns: Sequence[str], wanted: str, usual: Sequence[str], what: str) -> str:
    name = wanted if wanted in columns else next((one for one in usual if one in columns and not wanted), "")
    if not name:
        listed = ", ".join(columns)
        raise UsageError(
            f"{show(path)} has no column {wanted or usual[0]!r}, which {what}.", f"Its columns are {listed}."
        )
    return name


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


DECISIONS = {"a": "accept", "x": "exclude"}  # by their keys


def read_review(path: Path) -> dict[str, str]:
    """Photo to accept, exclude or empty.

    Raises: UsageError, naming the line, if the file is not such a CSV, or decides about a photo twice.
    """
    values = {"decision": (*DECISIONS.values(), "")}
    hint = "Save it from the page of cut-outs."
    table = read_csv(path, ("photo", "decision"), unique=("photo",), values=values, strip=True, hint=hint)
    return {without_guard(row["photo"]): row["decision"] for _, row in table.rows()}


def reviewed(cutouts: pd.DataFrame, decisions: Mapping[str, str]) -> pd.DataFrame:
    """The ``cutouts`` table with the decisions applied: accepted ones are used, excluded ones skipped."""
    decided = cutouts.copy()
    decision = cutouts["photo"].map(decisions)
    decided.loc[(decision == "accept") & (cutouts["status"] == "flagged"), "status"] = "used"
    excluded = (decision == "exclude") & (cutouts["status"] != "skipped")
    decided.loc[excluded, ["status", "reason", "detail"]] = ["skipped", Reason.CUTOUT_EXCLUDED.value, ""]
    return decided
