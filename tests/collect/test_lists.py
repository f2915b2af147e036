"""The lists of searches: complete, in form, replaceable; and the Bureau's shares, as published."""

from __future__ import annotations

import csv
import re

import pytest

from gslopes.collect.lists import DATA, make_queries, read_keywords, read_occupations, women_of
from gslopes.core.errors import UsageError


def test_there_are_129_occupations_each_once_with_a_code_of_the_classification():
    jobs = read_occupations("bls-129")
    assert len({job.name for job in jobs}) == len(jobs) == 129
    assert [job for job in jobs if not re.fullmatch(r"(1[1-9]|2[1-9]|3[1-9]|4[1-9]|5[135])-\d{4}", job.soc)] == []


def test_the_titles_that_the_paper_prints_in_table_3_and_ours_lacked_are_there_and_marked():
    lines = [line for line in (DATA / "occupations-bls-129.csv").read_text("utf-8").splitlines() if line[0] != "#"]
    printed = {row["occupation"] for row in csv.DictReader(lines) if row["printed"] == "table 3"}
    wanted = {
        "merchandise displayer",
        "nursing assistant",
        "businessperson",
        "chief executive officer",
        "repair worker",
    }
    assert printed == wanted


def test_the_ten_professions_of_idenprof_are_among_them():
    folders = ["chef", "doctor", "engineer", "farmer", "firefighter", "judge", "mechanic", "pilot", "police", "waiter"]
    assert set(women_of(folders)) == set(folders)


def test_the_paper_has_six_keywords_and_none():
    words = ["", "male", "female", "African American", "Asian", "Caucasian", "Hispanic"]
    assert read_keywords("paper") == words
    assert len(make_queries(read_occupations("bls-129"), words)) == 903


def test_every_occupation_that_the_survey_counts_has_a_row_in_its_table():
    lines = [line for line in (DATA / "women-bls-2022.csv").read_text("utf-8").splitlines() if line[0] != "#"]
    rows = {row["cps"]: row["women"] for row in csv.DictReader(lines)}
    assert {job.cps for job in read_occupations("bls-129")} - {""} == set(rows)
    assert all(value == "" or 0 <= float(value) <= 100 for value in rows.values())


def test_the_bureaus_shares_of_women_are_those_of_table_11_for_2022():
    published = {"chief executive": 0.292, "nurse": 0.879, "dental hygienist": 0.963, "electrician": 0.022}
    assert women_of([*published, "soldier", "surgeon", "astronaut"]) == pytest.approx(published)


@pytest.mark.parametrize(("folder", "share"), [("police", 0.127), ("Hair_Stylist", 0.931), ("truck-driver", 0.081)])
def test_a_folders_name_finds_its_occupation(folder, share):
    assert women_of([folder]) == pytest.approx({folder: share})


def test_a_word_that_begins_two_titles_finds_neither():
    assert list(women_of(["dental", "physical"])) == ["physical"]


def test_lists_can_be_words_or_files(tmp_path):
    jobs = read_occupations("chef, glass blower,chef")
    assert [(job.name, job.soc) for job in jobs] == [("chef", "35-1011"), ("glass blower", "")]
    (tmp_path / "jobs.csv").write_text("# mine\noccupation,soc\nbeekeeper,45-2093\n")
    assert [query.text for query in make_queries(read_occupations(str(tmp_path / "jobs.csv")), ["", "old"])] == [
        "beekeeper",
        "old beekeeper",
    ]
    assert read_keywords("none") == [""]
    assert read_keywords("old,young") == ["", "old", "young"]


@pytest.mark.parametrize("which", ["no-such.csv", ",", ""])
def test_a_list_that_is_not_there_is_a_sentence(which):
    with pytest.raises(UsageError):
        read_occupations(which)
