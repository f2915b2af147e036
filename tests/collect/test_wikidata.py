"""Labelled people from Wikidata, over a loopback server that speaks SPARQL's JSON and misbehaves."""

import io
import json
import re
from collections import Counter
from functools import partial
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.collect import photos as photos_of, wikidata
from gslopes.collect.config import CollectConfig
from gslopes.collect.photos import collect, load_provider, plan_collection
from gslopes.collect.wikidata import people_of, read_answer, traits_of
from gslopes.core.errors import ConfigError, ServiceError, UsageError
from gslopes.crops.stimuli.people import read_people as read_portraits
from tests.collect.server import aim
from tests.loopback import QuietHandler, serving

WIKI = "http://www.wikidata.org/entity/"
FILES = "http://commons.wikimedia.org/wiki/Special:FilePath/"
WOMAN, MAN = "Q6581072", "Q6581097"
BLACK, JAPANESE = "Q49085", "Q161652"


class Service:
    """rows: what SPARQL knows.  photos: file name to bytes.  troubles: the next SPARQL answers, instead of rows."""

    def __init__(self, rows, photos):
        self.rows, self.photos = rows, photos
        self.troubles = []
        self.largest = 10**9  # rows of a page that the service can do in its time
        self.robots = ""
        self.asked = Counter()
        self.queries = []
        self.agents = set()
        self.titles = []
        self.years = {}
        self.depicts = {}  # Q-id to files of Commons, the oldest first
        self.searched = []
        self.port = 0

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"


def binding(row):
    uri = {
        "human": WIKI + row["human"],
        "image": FILES + row["file"],
        "sex_or_gender": WIKI + row["gender"],
    }
    uri["ethnic_group"] = WIKI + row["group"]
    values = {
        name: {"type": "uri", "value": value}
        for name, value in uri.items()
        if not value.endswith("/")
    }
    return values | {"loc_aid": {"type": "literal", "value": "n1"}}


class _Handler(QuietHandler):
    def do_GET(self):  # noqa: N802 - the name that http.server looks up
        service, url = self.service, urlsplit(self.path)
        service.asked[url.path] += 1
        service.agents.add(self.headers["User-Agent"])
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/sparql":
            return self.sparql(query["query"])
        if url.path == "/w/api.php" and "generator" in query:
            return self.search(query)
        if url.path == "/w/api.php":
            return self.api(query["titles"].split("|"))
        if url.path == "/robots.txt":
            return self.send(200 if service.robots else 404, service.robots.encode(), "text/plain")
        name = unquote(url.path.rpartition("/")[2])
        return (
            self.send(200, service.photos[name], "image/jpeg")
            if name in service.photos
            else self.send(404, b"", "text/plain")
        )

    def sparql(self, query):
        service = self.service
        service.queries.append(query)
        assert self.headers["Accept"] == "application/sparql-results+json"
        group = re.search(r"VALUES \?ethnic_group { wd:(Q\d+) }", query)[1]
        limit, offset = (int(re.search(rf"{word} (\d+)", query)[1]) for word in ("LIMIT", "OFFSET"))
        trouble = service.troubles.pop(0) if service.troubles else ""
        if trouble == "throttle":
            return self.send(429, b"", "text/plain", {"Retry-After": "0"})
        if trouble == "busy":
            return self.send(
                500, b"java.util.concurrent.TimeoutException", "text/plain", {"Retry-After": "0"}
            )
        if trouble == "page":
            return self.send(200, b"<html>Wikimedia Error</html>", "text/html")
        rows = [binding(row) for row in service.rows if row["group"] == group][
            offset : offset + limit
        ]
        body = json.dumps({"head": {"vars": []}, "results": {"bindings": rows}}).encode()
        if trouble == "cut" or limit > service.largest:
            body = body[: len(body) // 2] + b"\nSPARQL-QUERY: queryStr=..."
        return self.send(200, body, "application/sparql-results+json")

    def api(self, titles):
        service = self.service
        service.titles.append(len(titles))
        pages = []
        for title in titles:
            name = title.removeprefix("File:")
            expected = (
                {"imageinfo": [self.info(name)]} if name in service.photos else {"missing": True}
            )
            pages.append({"title": title, **expected})
        return self.send(200, json.dumps({"query": {"pages": pages}}).encode(), "application/json")

    def info(self, name):
        service = self.service
        extra = {"LicenseShortName": {"value": "CC BY-SA 4.0"}, "Artist": {"value": "<a>Ann</a>"}}
        if name in service.years:
            extra["DateTimeOriginal"] = {"value": f"12 May {service.years[name]}"}
        info = {
            "thumburl": f"{service.base}/thumb/{name.replace(' ', '%20')}",
            "extmetadata": extra,
        }
        return info | {"descriptionurl": f"{service.base}/wiki/File:{name.replace(' ', '_')}"}

    def search(self, query):
        """As MediaWiki answers with formatversion 2: pages by their ids, places in ``index``; no query without any."""
        service = self.service
        human = re.fullmatch(r"haswbstatement:P180=(Q\d+) filetype:bitmap", query["gsrsearch"])[1]
        fixed = (
            "action",
            "format",
            "formatversion",
            "generator",
            "gsrnamespace",
            "gsrsort",
            "prop",
        )
        questions = [query.get(name) for name in fixed]
        assert questions == [
            "query",
            "json",
            "2",
            "search",
            "6",
            "create_timestamp_asc",
            "imageinfo",
        ]
        service.searched.append(human)
        pages = [
            {
                "pageid": 1000 - index,
                "ns": 6,
                "title": f"File:{name}",
                "index": index,
                "imageinfo": [self.info(name)],
            }
            for index, name in enumerate(
                service.depicts.get(human, [])[: int(query["gsrlimit"])], 1
            )
        ]
        answer = {"query": {"pages": pages[::-1]}} if pages else {}
        return self.send(
            200, json.dumps({"batchcomplete": True, **answer}).encode(), "application/json"
        )


def photo(seed):
    buffer = io.BytesIO()
    generator = np.random.default_rng(seed)
    Image.fromarray(generator.integers(0, 255, (96, 80, 3), dtype=np.uint8)).save(
        buffer, "JPEG", quality=90
    )
    return buffer.getvalue()


def person(number, gender=WOMAN, group=BLACK, file=None):
    return {
        "human": f"Q{number}",
        "file": file or f"Person {number}.jpg",
        "gender": gender,
        "group": group,
    }


ROWS = [
    *(person(number, WOMAN if number % 2 else MAN) for number in range(10, 22)),
    *(person(number, WOMAN if number % 2 else MAN, JAPANESE) for number in range(30, 35)),
]


@pytest.fixture
def service(monkeypatch):
    rows = [*ROWS, ROWS[0], person(10, MAN, JAPANESE)]  # stated twice; and of two ethnic groups
    rows += [
        {**person(50), "file": "Score.pdf"},
        {**person(51), "file": ""},
        {**person(52), "human": "L7"},
    ]
    rows += [
        person(53, file="Gone.jpg"),
        person(54, file="Person 11.jpg"),
    ]  # deleted; two people on one picture
    photos = {row["file"]: photo(index) for index, row in enumerate(ROWS)}
    with serving(Service(rows, photos), _Handler) as fake:
        aim(fake.base, monkeypatch.setattr, attempts=4)
        monkeypatch.setattr(photos_of, "people_of", partial(people_of, min_ethnic=4, min_group=2))
        yield fake


def run(out, **options):
    inputs = {
        "source": f"wikidata:groups={BLACK}/{JAPANESE}",
        "contact": "me@example.org",
        "gap": 0.0,
        "per_query": 100,
    }
    return collect(plan_collection(CollectConfig(**{**inputs, **options}), out))


@pytest.mark.row("slopes-4.2-celebrities")
@pytest.mark.row(
    "crops-3.1-query", "crops-3.1-genders", "crops-3.1-census", "crops-3.1-filters", "crops-3.1-set"
)
def test_people_with_licences_and_a_table_for_the_crop_audit(service, tmp_path):
    result = run(tmp_path / "out")
    assert result.statuses["kept"] == 17
    retained = result.table[result.table["status"] == "kept"]
    assert set(retained["licence"]) == {"CC BY-SA 4.0"}
    assert set(retained["creator"]) == {"Ann"}
    assert retained["page"].str.contains("/wiki/File:").all()
    assert not retained["url"].str.contains("Special").any()
    people = pd.read_csv(tmp_path / "out/people.csv").set_index("person")
    assert people.loc["Q12", ["gender", "ethnicity", "group"]].tolist() == [
        "male",
        "African Americans",
        "black",
    ]
    assert people.loc["Q31", "group"] == "asian"
    assert people.loc["Q10", "group"] == "asian/black"
    assert "Q11" not in people.index  # its file is another person's, too
    assert all((tmp_path / "out" / file).is_file() for file in people["file"])
    assert dict(result.people)["with a picture"] == 18
    assert all("me@example.org" in agent for agent in service.agents)
    assert max(service.titles) <= 50
    query = service.queries[0]
    for part in (
        "wdt:P31 wd:Q5",
        "wdt:P244 ?loc_aid",
        "wd:Q6581072 wd:Q6581097",
        "wdt:P106 wd:Q488111",
        "ORDER BY",
    ):
        assert part in query


# --- Several photos of a person ---------------------------------------------------------------------------------------


@pytest.fixture
def depicted(service):
    """Q12 has four further pictures on Commons, Q13 two, of which Q15 is on one; Q14 has three by Wikidata itself."""
    service.depicts = {
        "Q12": [
            "Twelve a.jpg",
            "Person 12.jpg",
            "Twelve b.jpg",
            "Twelve.pdf",
            "Twelve c.jpg",
            "Twelve d.jpg",
        ],
        "Q13": ["Thirteen a.jpg", "Both.jpg"],
        "Q15": ["Both.jpg"],
    }
    service.rows += [person(14, MAN, file=f"Fourteen {letter}.jpg") for letter in "ab"]
    service.rows.sort(key=lambda row: row["human"])
    files = [file for files in service.depicts.values() for file in files] + [
        "Fourteen a.jpg",
        "Fourteen b.jpg",
    ]
    service.photos |= {
        file: photo(100 + index) for index, file in enumerate(dict.fromkeys(files))
    } | service.photos
    return service


def files_of(out):
    """Person to how many photos of people.csv are of that person."""
    return pd.read_csv(out / "people.csv").groupby("person")["file"].nunique().to_dict()


@pytest.mark.slow
@pytest.mark.row("slopes-4.2-thirty")
def test_each_person_has_at_most_so_many_photos_the_further_ones_from_commons(depicted, tmp_path):
    run(tmp_path / "three", per_person=3)
    many = files_of(tmp_path / "three")
    assert (many["Q12"], many["Q13"], many["Q14"], many["Q16"]) == (3, 2, 3, 1)
    assert many["Q15"] == 1  # the other one is of Q13, too
    manifest = pd.read_csv(tmp_path / "three/manifest.csv")
    pages = manifest.loc[manifest["title"].str.startswith("Q12 "), "page"].str.rpartition(":")[2]
    assert list(pages) == ["Person_12.jpg", "Twelve_a.jpg", "Twelve_b.jpg"]
    assert set(manifest["licence"]) == {"CC BY-SA 4.0"}
    assert "Q14" not in depicted.searched  # Wikidata names three
    assert Counter(depicted.searched)["Q12"] == 1
    run(tmp_path / "five", per_person=5)
    assert files_of(tmp_path / "five")["Q12"] == 5


@pytest.mark.slow
def test_one_photo_of_a_person_searches_for_none_and_without_the_option_wikidata_decides(
    depicted, tmp_path
):
    run(tmp_path / "one", per_person=1)
    assert set(files_of(tmp_path / "one").values()) == {1}
    run(tmp_path / "plain")
    assert files_of(tmp_path / "plain")["Q14"] == 3
    assert not depicted.searched


def test_people_are_filled_one_after_the_other_up_to_the_photos_of_a_search(depicted, tmp_path):
    plan = plan_collection(
        CollectConfig(
            source=f"wikidata:groups={BLACK}", contact="me", per_query=4, per_person=3, gap=0.0
        ),
        tmp_path / "out",
    )
    assert plan.requests == 1 + 1 + 6  # half as many results again, each of another person at most
    collect(plan)
    retained = pd.read_csv(tmp_path / "out/manifest.csv")
    assert len(retained[retained["status"] == "kept"]) == 4
    assert len(depicted.searched) < 6


def test_photos_of_one_person_are_one_unit_of_the_audits(depicted, tmp_path):
    """The table names the person of each photo: crops counts people, and the walk takes the column for --cluster."""
    run(tmp_path / "out", per_person=3)
    people = read_portraits(tmp_path / "out", tmp_path / "out/people.csv", ["gender"])
    photos = Counter(portrait.person for portrait in people.portraits)
    assert photos["Q12"] == 3
    assert sum(len(members) for members in people.groups["gender"].values()) == len(photos)
    once = read_portraits(tmp_path / "out", tmp_path / "out/people.csv", ["gender"], one_photo=True)
    assert set(Counter(portrait.person for portrait in once.portraits).values()) == {1}


def test_photos_of_each_person_are_of_people_alone(tmp_path):
    with pytest.raises(ConfigError, match="knows no people"):
        plan_collection(CollectConfig(per_person=3), tmp_path / "out")
    with pytest.raises(ConfigError, match="per_person"):
        plan_collection(
            CollectConfig(source="wikidata", per_person=51, contact="me@example.org"),
            tmp_path / "out",
        )


@pytest.mark.row("crops-3.1-filters")
def test_pictures_from_before_1950_are_left_out_by_the_date_on_commons(service, tmp_path):
    service.years = {"Person 12.jpg": 1949, "Person 13.jpg": 1950}
    result = run(tmp_path / "out")
    assert result.statuses["kept"] == 16
    people = set(pd.read_csv(tmp_path / "out/people.csv")["person"])
    assert ("Q12" in people, "Q13" in people) == (False, True)
    assert "YEAR(?taken) >= 1950" in service.queries[0]  # by the date on Wikidata


def test_a_picture_of_several_people_is_fetched_once_and_shows_nobody_alone(service, tmp_path):
    service.rows.append(
        person(55, MAN, JAPANESE, file="Person 13.jpg")
    )  # beside Q13, of another ethnic group
    result = run(tmp_path / "out")
    fetched = {path: count for path, count in service.asked.items() if path.startswith("/thumb/")}
    assert len(fetched) == 17
    assert set(fetched.values()) == {1}
    assert result.statuses["duplicate"] == 3  # Q10 as of its other group, Q54 and Q55 beside others
    people = pd.read_csv(tmp_path / "out/people.csv")
    assert not set(people["person"]) & {"Q11", "Q54", "Q13", "Q55"}


def test_people_beyond_the_photos_that_are_wanted_still_stand_on_them(
    service, tmp_path, monkeypatch
):
    """Q54 shares Q11's picture and comes after the limit: Q11 shares it."""
    monkeypatch.setattr(photos_of, "people_of", partial(people_of, min_ethnic=1, min_group=1))
    run(tmp_path / "out", per_query=6)
    table = pd.read_csv(tmp_path / "out/people.csv")
    assert "Q12" in set(table["person"])
    assert "Q11" not in set(table["person"])


def test_throttled_busy_and_broken_answers_are_asked_again_in_smaller_pages(
    service, tmp_path, monkeypatch
):
    monkeypatch.setattr(wikidata, "PAGES", (100, 8, 5))
    service.troubles = ["throttle", "busy", "page", "cut"]
    result = run(tmp_path / "out")
    assert result.statuses["kept"] == 17
    limits = [query.split("LIMIT ")[1].split()[0] for query in service.queries]
    assert limits[:6] == ["100", "100", "100", "8", "5", "5"]  # twice after waiting, then smaller
    assert service.queries[-1].endswith("LIMIT 100 OFFSET 0")  # the next group starts anew


def test_a_group_that_came_is_kept_when_the_service_ends(service, tmp_path, monkeypatch):
    monkeypatch.setattr(wikidata, "PAGES", (100,))
    service.troubles = ["", "cut"]
    with pytest.raises(ServiceError, match="What came is kept"):
        run(tmp_path / "out")
    before = len(service.queries)
    assert run(tmp_path / "out").statuses["kept"] == 17
    assert [f"wd:{JAPANESE}" in query for query in service.queries[before:]] == [True]
    questions = service.asked.copy()
    run(tmp_path / "out")
    assert service.asked == questions


def test_robots_are_obeyed(service, tmp_path):
    service.robots = "User-agent: *\nDisallow: /thumb/"
    assert run(tmp_path / "out").photos == 0
    assert not [path for path in service.asked if path.startswith("/thumb/")]


def test_what_is_wrong_is_said_before_anybody_is_asked(tmp_path):
    with pytest.raises(UsageError, match="a way to reach you"):
        plan_collection(CollectConfig(source="wikidata"), tmp_path / "out")
    questions = CollectConfig(source="wikidata:groups=Q49085", contact="me", per_query=5000)
    assert (
        plan_collection(questions, tmp_path / "out").requests == 2 + 7500 // 50
    )  # half as many results again
    for wrong in ("groups=black", "group=Q1"):
        with pytest.raises(ConfigError, match="not a Q-id"):
            load_provider(f"wikidata:{wrong}")
    assert len(load_provider("wikidata").queries()) == 13
    assert traits_of("Q42 gender=Q1 taken=1999") == {
        "human": "Q42",
        "gender": "Q1",
        "taken": "1999",
    }
    for wrong in ({"error": "timeout"}, [], {"results": {"bindings": [3]}}):
        with pytest.raises(ValueError, match="not an answer"):
            read_answer(wrong)


# --- Who is on the photos ---------------------------------------------------------------------------------------------


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


@pytest.mark.row("crops-3.1-small")
def test_ethnic_groups_that_are_too_small_are_dropped():
    """No 13: the paper discards ethnic groups under 40; its program makes the list and does not use it."""
    table, steps = people_of(
        manifest((60, WOMAN, "Q49085"), (39, WOMAN, "Q190168"), (41, WOMAN, "Q161652")), 40, 1
    )
    assert table["ethnicity"].value_counts().to_dict() == {"African Americans": 60, "Japanese": 41}
    assert steps == (
        ("with a picture", 140),
        ("alone on it, by the picture's name", 140),
        ("of an ethnic group of 40 people", 101),
        ("of a group and gender of 1 people", 101),
    )
    black, white = "Q49085", "Q7325"
    table, _ = people_of(manifest((100, WOMAN, black), (99, MAN, black), (120, WOMAN, white)))
    assert table.groupby(["group", "gender"]).size().to_dict() == {
        ("black", "female"): 100,
        ("white", "female"): 120,
    }


def test_values_without_a_name_stay_as_they_are_and_nothing_is_a_table_too():
    table, _ = people_of(manifest((2, "Q1052281", "Q99")), 1, 1)
    assert table.iloc[0][["gender", "ethnicity", "group"]].tolist() == ["Q1052281", "Q99", "Q99"]
    assert people_of(manifest((0, WOMAN, "Q99"), (1, WOMAN, "Q99")).iloc[:0])[0].empty


def test_nobody_is_taken_for_alone_on_a_picture_whose_other_download_failed_or_was_not_wanted():
    rows = manifest((6, WOMAN, "Q49085"))
    rows.loc[1, ["url", "status", "path"]] = [rows.loc[0, "url"], "failed", ""]
    rows.loc[2, "title"] += " people=2"
    assert people_of(rows, 1, 1)[0]["person"].tolist() == ["Q4", "Q5", "Q6"]
