"""Groups by the tone of the skin in the photos, where ``skin-tone`` is a grouping and no column of the table.

The individual typology angle is that of the cheeks, see ``crops.pictures.covariates``: light and make-up change it as
much as skin does. What it describes are pictures, not people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from gslopes.crops.people import People, check_sizes, crossed

COLUMN, SOURCE = "skin-tone", "measured in the photos"
# Angles in degrees above which skin is said to be so.
TONES = {"very light": 55.0, "light": 41.0, "intermediate": 28.0, "tan": 10.0, "brown": -30.0, "dark": float("-inf")}


def tone(angle: float) -> str:
    """The group of an angle, degrees.

    Source: Chardon, Cretois & Hourseau 1991, doi 10.1111/j.1467-2494.1991.tb00561.x; Del Bino & Bernerd 2013, doi
    10.1111/bjd.12529.

    >>> tone(50), tone(-31)
    ('light', 'dark')
    """
    return next(name for name, above in TONES.items() if angle > above)


def with_skin_tone(
    people: People, columns: Sequence[str], seen: pd.DataFrame, covariates: pd.DataFrame, least: int
) -> People:
    """People with the groups of their skin's tone, the mean angle over a person's photos, among their columns.

    columns: all groupings, in order.  seen: PEOPLE.  covariates: COVARIATES.  least: as ``read_people``'s min_group.

    Raises: UsageError if there are too few groups.
    """
    used = seen[seen["status"] == "used"].drop_duplicates("photo").set_index("photo")["person"]
    angles = covariates[covariates["name"] == "ita"].dropna(subset=["value"])
    mean = angles.groupby(angles["photo"].map(used))["value"].mean()
    values = {
        column: {person: name for name, persons in people.groups[column].items() for person in persons}
        for column in people.columns
    }
    values[COLUMN] = {str(person): tone(angle) for person, angle in mean.items()}
    groups = crossed({column: values[column] for column in columns})
    check_sizes(groups, least)
    lost = used.nunique() - len(mean)
    left_out = {column: dict(people.left_out.get(column, {})) for column in groups}
    left_out[COLUMN] = {"no cheeks in sight": lost} if lost else {}
    return replace(people, columns=tuple(columns), groups=groups, left_out=left_out)
