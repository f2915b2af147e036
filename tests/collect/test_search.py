"""The sources, each against answers in its service's own form; the lists of searches, and the Bureau's shares."""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gslopes.collect.config import CollectConfig
from gslopes.collect.photos import NAMES, load_provider
from gslopes.collect.search import (
    DATA,
    Candidate,
    Query,
    make_queries,
    read_keywords,
    read_occupations,
    read_rows,
    women_of,
)
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from tests.collect.server import PhotoServer, aim, serving
from tests.published import gender_slopes

FILES = [f"{number:03d}.jpg" for number in range(130)]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PhotoServer]:
    (tmp_path / "photos/chef").mkdir(parents=True)
    for name in FILES:
        (tmp_path / "photos/chef" / name).write_bytes(b"x")
    monkeypatch.delenv("OPENVERSE_TOKEN", raising=False)
    with serving(PhotoServer(tmp_path / "photos")) as started:
        aim(started.base, monkeypatch.setattr)
        yield started


def ask(url: str, params: dict[str, str], headers: dict[str, str]) -> Any:
    request = urllib.request.Request(f"{url}?{urlencode(params)}", headers=dict(headers))
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


@pytest.mark.row("slopes-4.2-search")
@pytest.mark.parametrize("max_results", [7, 95, 500])
def test_results_come_in_their_order_page_after_page(server, max_results):
    provider = load_provider("openverse")
    results = provider.search(Query("chef", "female"), max_results, ask)
    expected = FILES[: min(max_results, provider.terms.max_results)]
    assert [result.url.rpartition("/")[2] for result in results] == expected
    assert all(result.page.startswith("https://") for result in results)
    assert provider.queries() is None


def test_a_token_is_sent_as_a_header_and_never_in_an_address(server, monkeypatch):
    monkeypatch.setenv("OPENVERSE_TOKEN", "right")
    load_provider("openverse").search(Query("chef"), 10, ask)
    path, headers = server.asked[0]
    assert "right" not in path
    assert headers["authorization"] == "Bearer right"


def test_a_list_of_addresses_brings_its_own_searches(tmp_path):
    (tmp_path / "list.csv").write_text(
        "url,occupation,keyword,licence\nhttp://a/1,chef,female,CC0\nhttp://a/2,judge,,\n"
    )
    provider = load_provider(f"urls:{tmp_path / 'list.csv'}")
    assert provider.queries() == [Query("chef", "female"), Query("judge")]
    assert provider.search(Query("chef", "female"), 9, None) == [
        Candidate("http://a/1", licence="CC0")
    ]
    (tmp_path / "plain.txt").write_text("# mine\nhttp://a/1\nhttp://a/2?x=1,2\n")
    plain = load_provider(f"urls:{tmp_path / 'plain.txt'}")
    assert [item.url for item in plain.search(Query("photos"), 9, None)] == [
        "http://a/1",
        "http://a/2?x=1,2",
    ]


@pytest.mark.parametrize("spec", ["urls", "openverse:http://x"])
def test_a_parameter_that_there_is_not_is_an_error(spec):
    with pytest.raises(ConfigError):
        load_provider(spec)


def test_an_unknown_source_names_the_nearest():
    with pytest.raises(UnknownName, match="openverse"):
        load_provider("openvers")
    assert NAMES == ("openverse", "wikidata", "urls")


# --- The lists: complete, in form, replaceable ------------------------------------------------------------------------


@pytest.mark.row("slopes-4.2-occupations")
def test_there_are_129_occupations_each_once_with_a_code_of_the_classification():
    jobs = read_occupations("bls-129")
    assert len({job.name for job in jobs}) == len(jobs) == 129
    assert [
        job
        for job in jobs
        if not re.fullmatch(r"(1[1-9]|2[1-9]|3[1-9]|4[1-9]|5[135])-\d{4}", job.soc)
    ] == []


@pytest.mark.row("slopes-4.2-occupations")
def test_the_twenty_titles_and_shares_of_table_3_are_marked_and_no_others():
    rows = read_rows(DATA / "occupations-bls-129.csv", "occupation")
    marked = {
        (end, row["occupation"], float(row[end]))
        for row in rows
        for end in ("female", "male")
        if row[end]
    }
    assert marked == set(gender_slopes(3).itertuples(index=False, name=None))
    assert len(marked) == 20


@pytest.mark.row("slopes-4.2-keywords", "slopes-4.2-per-keyword")
def test_the_paper_has_six_keywords_and_none_and_250_photos_of_each():
    words = ["", "male", "female", "African American", "Asian", "Caucasian", "Hispanic"]
    assert read_keywords("paper") == words
    assert (CollectConfig().keywords, CollectConfig().per_query) == ("paper", 250)
    assert len(make_queries(read_occupations("bls-129"), words)) == 903


@pytest.mark.row("slopes-4.3-gap")
def test_the_bureaus_shares_of_women_are_those_of_table_11_for_2022():
    published = {
        "chief executive": 0.292,
        "nurse": 0.879,
        "dental hygienist": 0.963,
        "electrician": 0.022,
    }
    assert women_of([*published, "soldier", "surgeon", "astronaut"]) == pytest.approx(published)


@pytest.mark.parametrize(
    ("folder", "share"), [("police", 0.127), ("Hair_Stylist", 0.931), ("truck-driver", 0.081)]
)
def test_a_folders_name_finds_its_occupation(folder, share):
    assert women_of([folder]) == pytest.approx({folder: share})


def test_lists_can_be_words_or_files(tmp_path):
    jobs = read_occupations("chef, glass blower,chef")
    assert [(job.name, job.soc) for job in jobs] == [("chef", "35-1011"), ("glass blower", "")]
    (tmp_path / "jobs.csv").write_text("# mine\noccupation,soc\nbeekeeper,45-2093\n")
    assert [
        query.text
        for query in make_queries(read_occupations(str(tmp_path / "jobs.csv")), ["", "old"])
    ] == [
        "beekeeper",
        "old beekeeper",
    ]
    assert read_keywords("none") == [""]
    assert read_keywords("old,young") == ["", "old", "young"]


@pytest.mark.parametrize("which", ["no-such.csv", ",", ""])
def test_a_list_that_is_not_there_is_a_sentence(which):
    with pytest.raises(UsageError):
        read_occupations(which)
