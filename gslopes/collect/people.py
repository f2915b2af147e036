"""From a collection of people on Wikidata to the table of people that the audits read."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from gslopes.collect.lists import read_rows
from gslopes.collect.wikidata import CENSUS, GENDERS, traits_of

COLUMNS = ("person", "file", "gender", "ethnicity", "group")
MIXED = "/"  # between several values of one person, as the audits read them


def people_of(
    manifest: pd.DataFrame, min_ethnic: int = 40, min_group: int = 100
) -> tuple[pd.DataFrame, tuple[tuple[str, int], ...]]:
    """Who is on the photos, in words; small groups are dropped.

    manifest: of a collection from ``wikidata``; its duplicates are of people with several ethnic groups.
    min_ethnic: people of one ethnic group, min_group: people of one group and gender, below which they are dropped.

    Returns the table (``COLUMNS``), and how many people were left after each step: (what, people).

    Source: Yee et al. 2021, section 3.1. Its text says that ethnic groups under 40 are dropped, its program makes that
    list and does not use it; here it is used.
    """
    census = {row["qid"]: row for row in read_rows(CENSUS, "qid")}
    human = manifest["title"].map(lambda title: traits_of(title)["human"])
    on_address = human.groupby(manifest["url"]).transform("nunique")  # whatever became of the download
    shown = manifest.assign(on_address=on_address)
    shown = shown[shown["status"].isin(["kept", "duplicate"]) & (shown["path"] != "")]
    rows = pd.DataFrame(
        [{"people": count, **traits_of(title), "file": path}
         for title, path, count in zip(shown["title"], shown["path"], shown["on_address"], strict=True)],
        columns=["human", "file", "gender", "ethnic_group", "people"],
    )  # fmt: skip
    steps = [("with a picture", rows["human"].nunique())]
    on_file = rows.groupby("file")["human"].transform("nunique")
    rows = rows[(on_file == 1) & (rows["people"].astype(int) == 1)]
    steps.append(("alone on it, by the picture's name", rows["human"].nunique()))
    sizes = Counter(dict(rows.groupby("ethnic_group")["human"].nunique()))
    rows = rows[np.array([sizes[one] >= min_ethnic for one in rows["ethnic_group"]], dtype=bool)]
    steps.append((f"of an ethnic group of {min_ethnic} people", rows["human"].nunique()))
    rows = rows.assign(
        gender=[GENDERS.get(one, one) for one in rows["gender"]],
        ethnicity=[census[one]["name"] if one in census else one for one in rows["ethnic_group"]],
        group=[census[one]["group"] if one in census else one for one in rows["ethnic_group"]],
    )
    traits = {
        name: rows.groupby("human")[name].agg(lambda values: MIXED.join(sorted(set(values))))
        for name in ("gender", "ethnicity", "group")
    }
    people = rows.drop_duplicates(["human", "file"])[["human", "file"]]
    table = pd.DataFrame(
        {
            "person": people["human"],
            "file": people["file"],
            **{n: people["human"].map(trait) for n, trait in traits.items()},
        },
        columns=COLUMNS,
    )
    cells = Counter(dict(table.groupby(["group", "gender"])["person"].nunique()))
    large = [
        cells[cell] >= min_group or any(MIXED in value for value in cell)  # of several groups: the audit decides
        for cell in zip(table["group"], table["gender"], strict=True)
    ]
    table = table[np.array(large, dtype=bool)]
    steps.append((f"of a group and gender of {min_group} people", table["person"].nunique()))
    return table.sort_values(["person", "file"], ignore_index=True), tuple(steps)
