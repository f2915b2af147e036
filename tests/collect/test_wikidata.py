"""Labelled people from Wikidata, over a loopback server that speaks SPARQL's JSON and misbehaves."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.collect import collector, wikidata
from gslopes.collect.lists import read_rows
from gslopes.collect.photos import CollectConfig, collect, load_source, plan_collection
from gslopes.collect.wikidata import CENSUS, read_answer, traits_of
from gslopes.core.errors import ConfigError, ServiceError, UsageError
from tests.collect.wikidata_server import binding, serve

WOMAN, MAN = "Q6581072", "Q6581097"
BLACK, JAPANESE = "Q49085", "Q161652"


def photo(seed):
    buffer = io.BytesIO()
    generator = np.random.default_rng(seed)
    Image.fromarray(generator.integers(0, 255, (96, 80, 3), dtype=np.uint8)).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def person(number, gender=WOMAN, group=BLACK, file=None):
    return {"human": f"Q{number}", "file": file or f"Person {number}.jpg", "gender": gender, "group": group}


ROWS = [
    *(person(number, WOMAN if number % 2 else MAN) for number in range(10, 22)),
    *(person(number, WOMAN if number % 2 else MAN, JAPANESE) for number in range(30, 35)),
]


@pytest.fixture
def service():
    rows = [*ROWS, ROWS[0], person(10, MAN, JAPANESE)]  # said twice; and of two ethnic groups
    rows += [{**person(50), "file": "Score.pdf"}, {**person(51), "file": ""}, {**person(52), "human": "L7"}]
    rows += [person(53, file="Gone.jpg"), person(54, file="Person 11.jpg")]  # deleted; two people on one picture
    photos = {row["file"]: photo(index) for index, row in enumerate(ROWS)}
    with serve(rows, photos) as found:
        yield found


def run(service, out, **options):
    spec = f"wikidata:groups={BLACK}/{JAPANESE},base={service.base}"
    given = {"source": spec, "contact": "me@example.org", "gap": 0.0, "per_query": 100, "min_ethnic": 4, "min_group": 2}
    config = CollectConfig(**{**given, "test_servers": (f"127.0.0.1:{service.port}",), **options})
    return collect(plan_collection(config, out))


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(wikidata.Wikidata.terms.__class__, "gap", 0.0, raising=False)
    policy = CollectConfig.policy
    monkeypatch.setattr(
        CollectConfig, "policy", lambda self: type(policy(self))(**{**_fields(policy(self)), "backoff": 0.0})
    )


def _fields(policy):
    return {name: getattr(policy, name) for name in policy.__dataclass_fields__}


def test_people_with_licences_and_a_table_for_the_crop_audit(service, tmp_path):
    found = run(service, tmp_path / "out")
    assert found.statuses["kept"] == 17
    kept = found.table[found.table["status"] == "kept"]
    assert set(kept["licence"]) == {"CC BY-SA 4.0"}
    assert set(kept["creator"]) == {"Ann"}
    assert kept["page"].str.contains("/wiki/File:").all()
    assert not kept["url"].str.contains("Special").any()
    people = pd.read_csv(tmp_path / "out/people.csv").set_index("person")
    assert people.loc["Q12", ["gender", "ethnicity", "group"]].tolist() == ["male", "African Americans", "black"]
    assert people.loc["Q31", "group"] == "asian"
    assert people.loc["Q10", "group"] == "asian/black"
    assert "Q11" not in people.index  # its file is another person's, too
    assert all((tmp_path / "out" / file).is_file() for file in people["file"])
    assert dict(found.people)["with a picture"] == 18
    assert all("me@example.org" in agent for agent in service.agents)
    assert max(service.titles) <= 50
    query = service.queries[0]
    for part in ("wdt:P31 wd:Q5", "wdt:P244 ?loc_aid", "wd:Q6581072 wd:Q6581097", "wdt:P106 wd:Q488111", "ORDER BY"):
        assert part in query


def test_a_picture_of_several_people_is_fetched_once_and_shows_nobody_alone(service, tmp_path):
    service.rows.append(person(55, MAN, JAPANESE, file="Person 13.jpg"))  # beside Q13, of another ethnic group
    found = run(service, tmp_path / "out")
    fetched = {path: count for path, count in service.asked.items() if path.startswith("/thumb/")}
    assert len(fetched) == 17
    assert set(fetched.values()) == {1}
    assert found.statuses["duplicate"] == 3  # Q10 as of its other group, Q54 and Q55 beside others
    people = pd.read_csv(tmp_path / "out/people.csv")
    assert not set(people["person"]) & {"Q11", "Q54", "Q13", "Q55"}


def test_people_beyond_the_photos_that_are_wanted_still_stand_on_them(service, tmp_path):
    """Q54 shares Q11's picture and comes after the limit: Q11 is not alone on it."""
    run(service, tmp_path / "out", per_query=6, min_ethnic=1, min_group=1)
    table = pd.read_csv(tmp_path / "out/people.csv")
    assert "Q12" in set(table["person"])
    assert "Q11" not in set(table["person"])


def test_throttled_busy_and_broken_answers_are_asked_again_in_smaller_pages(service, tmp_path, monkeypatch):
    monkeypatch.setattr(wikidata, "PAGES", (100, 8, 5))
    service.troubles = ["throttle", "busy", "page", "cut"]
    found = run(service, tmp_path / "out")
    assert found.statuses["kept"] == 17
    limits = [query.split("LIMIT ")[1].split()[0] for query in service.queries]
    assert limits[:6] == ["100", "100", "100", "8", "5", "5"]  # twice after waiting, then smaller
    assert service.queries[-1].endswith("LIMIT 100 OFFSET 0")  # the next group starts anew


def test_a_page_that_came_is_kept_when_the_service_ends(service, tmp_path, monkeypatch):
    monkeypatch.setattr(wikidata, "PAGES", (6,))
    service.troubles = ["", "cut"]
    with pytest.raises(ServiceError, match="What came is kept"):
        run(service, tmp_path / "out")
    before = len(service.queries)
    found = run(service, tmp_path / "out")
    assert found.statuses["kept"] == 17
    again = service.queries[before:]
    assert f"wd:{BLACK}" in again[0]
    assert again[0].endswith("OFFSET 6")
    assert not list((tmp_path / "out").rglob("answers"))
    asked = service.asked.copy()
    run(service, tmp_path / "out")
    assert service.asked == asked


def test_a_finished_table_does_not_depend_on_the_troubles(service, tmp_path, monkeypatch):
    run(service, tmp_path / "fine")
    monkeypatch.setattr(wikidata, "PAGES", (7,))
    service.troubles = ["busy", "throttle"]
    run(service, tmp_path / "troubled")
    assert (tmp_path / "fine/people.csv").read_text() == (tmp_path / "troubled/people.csv").read_text()


def test_robots_are_obeyed(service, tmp_path):
    service.robots = "User-agent: *\nDisallow: /thumb/"
    found = run(service, tmp_path / "out")
    assert found.photos == 0
    assert not [path for path in service.asked if path.startswith("/thumb/")]
    assert pd.read_csv(tmp_path / "out/people.csv").empty


def test_dates_come_from_commons_where_wikidata_has_none(service, tmp_path):
    service.years = {"Person 12.jpg": 1931, "Person 14.jpg": 1999}
    found = run(service, tmp_path / "out")
    titles = " ".join(found.table["title"])
    assert "taken=1999" in titles
    assert "Q12 " not in titles
    spec = f"wikidata:groups={BLACK},undated=drop,base={service.base}"
    dated = run(service, tmp_path / "dated", source=spec, min_ethnic=1, min_group=1)
    assert dated.table["title"].str.split(" ").str[0].tolist() == ["Q14"]


def test_saved_answers_in_both_forms(tmp_path):
    standard = {"results": {"bindings": [binding(row) for row in ROWS]}}
    published = [
        {
            "human": f"http://www.wikidata.org/entity/{row['human']}",
            "image": f"http://commons.wikimedia.org/wiki/Special:FilePath/{row['file'].replace(' ', '%20')}",
            "sex_or_gender": f"http://www.wikidata.org/entity/{row['gender']}",
            "ethnic_group": f"http://www.wikidata.org/entity/{row['group']}",
            "occupation": "http://www.wikidata.org/entity/Q1",
            "loc_aid": "n1",
        }
        for row in ROWS
    ]
    assert read_answer(standard) == read_answer(published)
    assert read_answer(published)[0] == 17
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(published))
    source = load_source(f"wikidata:{file}")
    source.check()
    assert len(source.queries()) == len(read_rows(CENSUS, "qid")) == 13
    file.write_text("<html>")
    with pytest.raises(UsageError, match="cannot be read as an answer"):
        source.check()
    with pytest.raises(ValueError, match="no answer"):
        read_answer({"error": "timeout"})


def test_what_is_wrong_is_said_before_anybody_is_asked(tmp_path):
    with pytest.raises(UsageError, match="a way to reach you"):
        plan_collection(CollectConfig(source="wikidata"), tmp_path / "out")
    with pytest.raises(ConfigError, match="no Q-id"):
        load_source("wikidata:groups=black")
    with pytest.raises(ConfigError, match="groups, genders, undated, base"):
        load_source("wikidata:group=Q1")
    assert traits_of("Q42 gender=Q1 taken=1999") == {"human": "Q42", "gender": "Q1", "taken": "1999"}
    assert Path(collector.__file__).is_file()
