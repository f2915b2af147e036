"""The sources, each against answers in its service's own form; and those that the user brings."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gslopes.collect.lists import Query
from gslopes.collect.photos import NAMES, load_source
from gslopes.collect.source import Candidate
from gslopes.core.errors import ConfigError, CredentialsError, UnknownName, UsageError
from tests.collect.server import PhotoServer, serving

FILES = [f"{number:03d}.jpg" for number in range(130)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PhotoServer]:
    (tmp_path / "photos/chef").mkdir(parents=True)
    for name in FILES:
        (tmp_path / "photos/chef" / name).write_bytes(b"x")
    with serving(PhotoServer(tmp_path / "photos")) as started:
        yield started


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("GOOGLE_SEARCH_KEY", "right")
    monkeypatch.setenv("GOOGLE_SEARCH_ENGINE", "engine")

    def asked(url: str, params: dict[str, str], headers: dict[str, str]) -> Any:
        request = urllib.request.Request(f"{url}?{urlencode(params)}", headers=dict(headers))
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    return asked


@pytest.mark.parametrize("name", ["openverse", "wikimedia", "google"])
@pytest.mark.parametrize("max_results", [7, 95, 500])
def test_results_come_in_their_order_page_after_page(server, ask, name, max_results):
    source = load_source(f"{name}:base={server.base}")
    source.check()
    found = source.search(Query("chef", "female"), max_results, ask)
    expected = FILES[: min(max_results, source.terms.max_results)]
    assert [one.url.rpartition("/")[2] for one in found] == expected
    assert all(one.page.startswith("https://") for one in found)
    assert source.queries() is None


@pytest.mark.parametrize("name", ["openverse", "wikimedia", "google"])
def test_a_search_that_finds_nothing_is_empty(server, ask, name):
    assert load_source(f"{name}:base={server.base}").search(Query("astronaut"), 50, ask) == []


def test_openverse_tells_licence_and_creator(server, ask):
    _, second = load_source(f"openverse:base={server.base}").search(Query("chef"), 2, ask)
    assert (second.licence, second.creator) == ("CC BY-SA 2.0", "Ann <b>1</b>")
    assert second.licence_url == "https://creativecommons.org/licenses/by-sa/2.0/"


def test_commons_names_are_made_plain_and_files_are_asked_for_at_a_size_that_it_keeps(server, ask):
    (first,) = load_source(f"wikimedia:base={server.base}").search(Query("chef"), 1, ask)
    assert (first.licence, first.creator, first.title) == ("CC BY-SA 4.0", "Bo & Co", "000.jpg")
    assert "iiurlwidth=960" in server.asked[0][0]


def test_googles_key_is_sent_as_a_header_and_never_in_an_address(server, ask):
    load_source(f"google:base={server.base}").search(Query("chef"), 10, ask)
    path, headers = server.asked[0]
    assert "right" not in path
    assert headers["x-goog-api-key"] == "right"


def test_a_missing_key_is_named_before_any_work(monkeypatch):
    for variable in ("GOOGLE_SEARCH_KEY", "GOOGLE_SEARCH_ENGINE"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(CredentialsError, match="GOOGLE_SEARCH_KEY"):
        load_source("google").check()


def test_a_list_of_addresses_brings_its_own_searches(tmp_path):
    (tmp_path / "list.csv").write_text(
        "url,occupation,keyword,licence\nhttp://a/1,chef,female,CC0\nhttp://a/2,judge,,\n"
    )
    source = load_source(f"urls:{tmp_path / 'list.csv'}")
    source.check()
    assert source.queries() == [Query("chef", "female"), Query("judge")]
    assert source.search(Query("chef", "female"), 9, None) == [Candidate("http://a/1", licence="CC0")]
    (tmp_path / "plain.txt").write_text("# mine\nhttp://a/1\nhttp://a/2?x=1,2\n")
    plain = load_source(f"urls:{tmp_path / 'plain.txt'}")
    assert [one.url for one in plain.search(Query("photos"), 9, None)] == ["http://a/1", "http://a/2?x=1,2"]


def test_a_folder_brings_its_subfolders(server, tmp_path):
    source = load_source(f"folder:{tmp_path / 'photos'}")
    source.check()
    assert source.queries() == [Query("chef")]
    (first, *_) = source.search(Query("chef"), 5, None)
    assert source.read(first) == b"x"


@pytest.mark.parametrize("spec", ["urls:no-such.csv", "folder:no-such"])
def test_what_is_not_there_is_a_sentence(spec):
    with pytest.raises(UsageError):
        load_source(spec).check()


@pytest.mark.parametrize("spec", ["urls", "folder:", "google:key=secret", "openverse:http://x"])
def test_a_parameter_that_there_is_not_is_an_error(spec):
    with pytest.raises(ConfigError):
        load_source(spec)


def test_an_unknown_source_names_the_nearest():
    with pytest.raises(UnknownName, match="openverse"):
        load_source("openvers")
    assert NAMES == ("openverse", "wikimedia", "google", "wikidata", "urls", "folder")


def test_every_source_says_what_its_photos_may_be_used_for():
    for name in NAMES:
        assert "icen" in load_source(f"{name}:x" if name in ("urls", "folder") else name).terms.note or name == "folder"
