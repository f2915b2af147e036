from __future__ import annotations

import pandas as pd

from gslopes.collect.wikidata import people_of

WOMAN, MAN = "Q6581072", "Q6581097"


def manifest(*people):
    """(how many, gender, ethnic group) each."""
    rows = []
    for count, gender, group in people:
        for _ in range(count):
            number = len(rows) + 1
            rows.append(
                {
                    "status": "kept",
                    "path": f"x/{number}.jpg",
                    "url": f"https://pictures.example/{number}.jpg",
                    "title": f"Q{number} gender={gender} ethnic_group={group} loc_aid=n{number}",
                }
            )
    return pd.DataFrame(rows)


def test_ethnic_groups_that_are_too_small_are_dropped():
    """No 13: the paper discards ethnic groups under 40; its program makes the list and does not use it."""
    table, steps = people_of(manifest((60, WOMAN, "Q49085"), (39, WOMAN, "Q190168"), (41, WOMAN, "Q161652")), 40, 1)
    assert table["ethnicity"].value_counts().to_dict() == {"African Americans": 60, "Japanese": 41}
    assert steps == (
        ("with a picture", 140),
        ("alone on it, by the picture's name", 140),
        ("of an ethnic group of 40 people", 101),
        ("of a group and gender of 1 people", 101),
    )


def test_subgroups_that_are_too_small_are_dropped_after_the_mapping():
    table, _ = people_of(manifest((60, WOMAN, "Q7325"), (50, WOMAN, "Q42406"), (99, MAN, "Q7325")), 40, 100)
    assert table.groupby(["group", "gender"]).size().to_dict() == {("white", "female"): 110}


def test_values_without_a_name_stay_as_they_are_and_nothing_is_a_table_too():
    table, _ = people_of(manifest((2, "Q1052281", "Q99")), 1, 1)
    assert table.iloc[0][["gender", "ethnicity", "group"]].tolist() == ["Q1052281", "Q99", "Q99"]
    assert people_of(manifest((0, WOMAN, "Q99"), (1, WOMAN, "Q99")).iloc[:0])[0].empty


def test_nobody_is_taken_for_alone_on_a_picture_whose_other_download_failed_or_was_not_wanted():
    rows = manifest((6, WOMAN, "Q49085"))
    rows.loc[1, ["url", "status", "path"]] = [rows.loc[0, "url"], "failed", ""]
    rows.loc[2, "title"] += " people=2"
    assert people_of(rows, 1, 1)[0]["person"].tolist() == ["Q4", "Q5", "Q6"]
