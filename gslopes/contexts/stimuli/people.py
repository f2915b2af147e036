"""Self-reports of the people on the photos: their genders under one word each.

Here too: people's decisions about cut-outs, as the page of cut-outs saves them in review.csv.
"""

import re
from pathlib import Path

from pandas import DataFrame

from gslopes.contexts import HOME
from gslopes.core import Reason, Row, Texts, config, csv_table, files
from gslopes.photos.people import read_people

KNOWN = config.read_toml(HOME / "people.toml")
ALIASES = {word: gender for gender, words in KNOWN["genders"].items() for word in words}
_CFD = re.compile(r"CFD-(?P<race>[A-Z])(?P<gender>[FM])-(?P<person>\d+)-\d+-N\b")


def gender_of(word: str) -> str:
    """The word under which a self-reported gender is counted; words without an alias stay themselves.

    >>> gender_of("Female"), gender_of("m"), gender_of("non-binary"), gender_of("NA")
    ('woman', 'man', 'non-binary', 'not said')
    """
    plain = word.strip().casefold()
    return ALIASES.get(plain, plain)


def read_reports(path: Path, group_column: str = "") -> dict[str, Row]:
    """What names a photo to its person, gender and group.  Without a column of persons each row is one.

    Raises: UsageError as ``photos.people``; without a column of genders, or a photo's two rows differ.
    """
    people = read_people(path)

    def usual(what: str) -> str:
        return next((name for name in KNOWN["columns"][what] if name in people.columns), "")

    photos = people.columns[people.photo_column()]
    group = group_column or usual("group")
    genders = people.columns[people.parts_of(usual("gender") or "gender")[0]]
    persons = people.columns.get(usual("person"), photos)
    reports = {
        "person": [person or photo for person, photo in zip(persons, photos, strict=True)],
        "gender": [gender_of(str(word)) for word in genders],
        "group": people.groups(group) if group else [""] * len(photos),
    }
    return {
        photo: {name: values[row] for name, values in reports.items()}
        for photo, row in people.by_photo(reports).items()
    }


def cfd_person(name: str) -> Row | None:
    """The row of a neutral photo by its file name in the Chicago Face Database; None for another name or expression.

    >>> cfd_person("CFD-WF-001-003-N.jpg")
    {'person': 'WF-001', 'gender': 'woman', 'group': 'White'}
    """
    match = _CFD.search(name)
    if not match:
        return None
    race = match["race"]
    gender = match["gender"]
    person = f"{race}{gender}-{match['person']}"
    return {"person": person, "gender": gender_of(gender), "group": KNOWN["cfd"].get(race, race)}


DECISIONS = {"a": "accept", "x": "exclude"}  # by their keys


def read_review(path: Path) -> dict[str, str]:
    """Photo to accept, exclude or empty.

    Raises: UsageError, naming the line, if the file is not such a CSV, or decides about a photo twice.
    """
    values = {"decision": (*DECISIONS.values(), "")}
    hint = "Save it from the page of cut-outs."
    table = csv_table.read_csv(path, ("photo", "decision"), strip=True, hint=hint).checked(
        ("photo",), values
    )
    return {files.without_guard(row["photo"]): row["decision"] for _, row in table.rows()}


def reviewed(cutouts: DataFrame, decisions: Texts) -> DataFrame:
    """The ``cutouts`` table with the decisions applied: accepted ones are used, excluded ones skipped."""
    decided = cutouts.copy()
    decision = cutouts["photo"].map(decisions)
    decided.loc[(decision == "accept") & (cutouts["status"] == "flagged"), "status"] = "used"
    excluded = (decision == "exclude") & (cutouts["status"] != "skipped")
    decided.loc[excluded, ["status", "reason", "detail"]] = [
        "skipped",
        Reason.CUTOUT_EXCLUDED.value,
        "",
    ]
    return decided
