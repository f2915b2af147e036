"""People of named ethnic groups with a picture on Wikidata: who they are said to be, and where their pictures are.

A search is one ethnic group: the query service is asked page by page, Wikimedia Commons about 50 files at a time for
address, licence, author and date; for more pictures of a person than Wikidata names it is searched person by person.
The files are those that Commons itself shows (``upload.wikimedia.org``): ``Special:FilePath``, to which the query's
answers point, is closed to robots.

Such labels are curated by volunteers, US-centred, and know ancestry, not appearance.

Source: Yee et al. 2021, section 3.1 and appendix, doi 10.1145/3479594; their query is not published, this one is ours.
"""

import html
import math
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

import pandas as pd

from gslopes.collect.search import (
    DATA,
    TERMS,
    Candidate,
    FetchJson,
    Provider,
    Query,
    read_rows,
    text,
)
from gslopes.core.errors import ConfigError, ServiceError
from gslopes.core.files import JsonObject

CENSUS = DATA / "census.csv"
GENDERS = {"Q6581072": "female", "Q6581097": "male"}
PAGES = (
    5000,
    1250,
    300,
)  # rows of one request; the service stops at 60 seconds, so smaller ones follow
TITLES = 50
EARLIEST = 1950
MIN_ETHNIC = 40  # people of an ethnic group, and of a group and gender, below which they are left out of people.csv
MIN_GROUP = 100
REFUSED = (".pdf", ".svg", ".tif", ".tiff", ".webm", ".ogv", ".gif", ".djvu")
COLUMNS = ("person", "file", "gender", "ethnicity", "group")
MIXED = "/"  # between several values of one person, as the audits read them
_SEPARATOR = re.compile(r"[\s=]")
_ENTITY = re.compile(r"Q\d+\Z")
ASKED: dict[str, Any] = tomllib.loads((DATA / "wikidata.toml").read_text("utf-8"))
Steps = tuple[tuple[str, int], ...]  # what was asked of people, and how many were left
Files = dict[str, JsonObject]  # the name of a file to what Commons knows of it


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of an answer: a person's Q-id, the picture's file name, Q-ids of gender and ethnic group, and the rest."""

    human: str
    file: str
    gender: str
    group: str
    loc_aid: str = ""
    taken: str = ""


class Wikidata(Provider):
    """``wikidata``, or ``wikidata:groups=Q49085/Q161652``.

    groups: Q-ids; those of ``census.csv`` by default. Genders are female and male, as in the paper, which found others
    too sparse. A picture without a date is kept, one from before ``EARLIEST`` is not.
    per_person: pictures of each person, at most: those that Wikidata names, then files of Commons that are said to
        depict the person, others on them or not; None for those that Wikidata names.

    Raises: ConfigError for a group that is not a Q-id.
    """

    name = "wikidata"
    bound = f"to the source, and one for each further {PAGES[0]:,} people of a group"
    needs_contact = True
    of_people = True
    service = "https://query.wikidata.org"
    commons = "https://commons.wikimedia.org"
    terms = replace(TERMS["wikidata"], page=PAGES[0])

    def __init__(self, rest: str = "", per_person: int | None = None) -> None:
        self.per_person = per_person
        names = {row["qid"]: row["name"] for row in read_rows(CENSUS, "qid")}
        groups = rest.removeprefix("groups=").split("/") if rest else list(names)
        for group in groups:
            if not _ENTITY.match(group):
                raise ConfigError(
                    f"The ethnic group {group!r} is not a Q-id.",
                    "Such as wikidata:groups=Q49085/Q161652.",
                )
        self.groups = {group: names.get(group, group) for group in groups}

    def queries(self) -> list[Query] | None:
        """One for each ethnic group."""
        return [Query(name, keyword=qid) for qid, name in self.groups.items()]

    def requests(self, results: int) -> int:
        """Pages of the query, files of Commons, and people who are searched for there."""
        people = results if (self.per_person or 1) > 1 else 0
        return super().requests(results) + math.ceil(results / TITLES) + people

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """At most ``max_results`` pictures of one ethnic group, person by person in the order of the Q-ids.

        Raises: ServiceError if the service does not answer, not even in small pages; groups that came are kept.
        """
        rows = self._asked(query.keyword, ask)
        unique = list(dict.fromkeys(row for row in rows if not row.file.lower().endswith(REFUSED)))[
            :max_results
        ]
        infos = self._files([row.file for row in unique], ask)
        if self.per_person is not None:
            unique = self._of_each(unique, infos, max_results, ask)
        on_file = Counter(file for file, _ in {(row.file, row.human) for row in [*rows, *unique]})
        results = []
        for row in unique[:max_results]:
            if row.file in infos:
                candidate, fields = commons_file(infos[row.file])
                year = _year(row.taken) or _year(fields.get("DateTimeOriginal", ""))
                if year and int(year) < EARLIEST:
                    continue
                traits = {
                    "gender": row.gender,
                    "ethnic_group": row.group,
                    "loc_aid": row.loc_aid,
                    "taken": year,
                }
                # counted here: the others may lie beyond the photos that are wanted
                traits["people"] = str(on_file[row.file]) if on_file[row.file] > 1 else ""
                pairs = [
                    f"{name}={_SEPARATOR.sub('', value)}" for name, value in traits.items() if value
                ]
                results.append(replace(candidate, title=" ".join([row.human, *pairs])))
        return results

    def _asked(self, group: str, ask: FetchJson) -> list[Shown]:
        rows: dict[Shown, None] = {}
        offset = 0
        sizes = list(PAGES)
        while True:
            query = ASKED["query"].format(
                group=group, earliest=EARLIEST, limit=sizes[0], offset=offset
            )
            try:
                headers = {"Accept": "application/sparql-results+json"}
                count, page = read_answer(ask(f"{self.service}/sparql", {"query": query}, headers))
            except (ServiceError, ValueError) as error:
                if len(sizes) == 1:
                    hint = "What came is kept: the same command goes on from there. Fewer groups at once help, too."
                    why = str(getattr(error, "message", error)).rstrip(".")
                    raise ServiceError(
                        f"Wikidata does not answer pages of {sizes[0]} rows: {why}.", hint
                    ) from None
                sizes.pop(0)
                continue
            before = len(rows)
            rows |= dict.fromkeys(page)
            if (
                count < sizes[0] or len(rows) == before
            ):  # a service that pays no heed to OFFSET never ends
                return list(rows)
            offset += count

    def _of_each(
        self, rows: Sequence[Shown], infos: Files, most: int, ask: FetchJson
    ) -> list[Shown]:
        """The rows with ``per_person`` files of each person at most, searched for where Wikidata names fewer.

        infos: what Commons knows of the rows' files; that of others is added.  most: rows that are wanted.
        """
        by_person: dict[str, list[Shown]] = {}
        for row in rows:
            by_person.setdefault(row.human, []).append(row)
        wanted = self.per_person or 1
        chosen: list[Shown] = []
        for human, named in by_person.items():
            if len(chosen) >= most:
                break
            files = list(dict.fromkeys(row.file for row in named if row.file in infos))
            if len(files) < wanted > 1:
                found = self._depicting(human, ask)
                infos |= {file: info for file, info in found.items() if file not in infos}
                files += [file for file in found if file not in files]
            files = files[:wanted]
            chosen += [row for row in named if row.file in files]
            shown = {row.file for row in named}
            chosen += [
                replace(named[0], file=file, taken="") for file in files if file not in shown
            ]
        return chosen

    def _depicting(self, human: str, ask: FetchJson) -> Files:
        """File name to what Commons knows, of up to 50 pictures that are said to depict a person."""
        asked = {name: value.format(human=human) for name, value in ASKED["depicted"].items()}
        answer = ask(f"{self.commons}/w/api.php", ASKED["commons"] | asked, {})
        pages = (answer.get("query") or {}).get(
            "pages"
        ) or []  # nothing of the kind without a result
        pages = sorted(
            (page for page in pages if page.get("imageinfo")), key=lambda page: page.get("index", 0)
        )
        found = {page["title"].partition(":")[2]: page["imageinfo"][0] for page in pages}
        return {file: info for file, info in found.items() if not file.lower().endswith(REFUSED)}

    def _files(self, files: Sequence[str], ask: FetchJson) -> Files:
        """File name to what Commons knows; files that are gone are missing."""
        by_name: Files = {}
        names = list(dict.fromkeys(files))
        for start in range(0, len(names), TITLES):
            titles = {name: f"File:{name}" for name in names[start : start + TITLES]}
            answer = ask(
                f"{self.commons}/w/api.php",
                ASKED["commons"] | {"titles": "|".join(titles.values())},
                {},
            )
            reply = answer.get("query", {})
            renamed = {row["from"]: row["to"] for row in reply.get("normalized") or []}
            infos = {
                page["title"]: page["imageinfo"][0]
                for page in reply.get("pages") or []
                if page.get("imageinfo")
            }
            for name, title in titles.items():
                info = infos.get(renamed.get(title, title)) or infos.get(title.replace("_", " "))
                if info is not None:
                    by_name[name] = info
        return by_name


def commons_file(info: JsonObject) -> tuple[Candidate, dict[str, str]]:
    """A file of Wikimedia Commons, without a title, and its extended metadata.  info: of ``imageinfo``."""
    fields = {}
    for key, value in (info.get("extmetadata") or {}).items():  # names are HTML there
        fields[key] = text(html.unescape(re.sub(r"<[^>]*>", " ", str(value.get("value") or ""))))
    candidate = Candidate(
        url=text(info.get("thumburl") or info.get("url")),
        page=text(info.get("descriptionurl")),
        creator=fields.get("Artist", ""),
        licence=fields.get("LicenseShortName", ""),
        licence_url=fields.get("LicenseUrl", ""),
    )
    return candidate, fields


def read_answer(answer: Any) -> tuple[int, list[Shown]]:
    """How many rows an answer has, and those that name a person, a picture and a group.

    answer: the standard JSON of SPARQL.

    Raises: ValueError if it is none.
    """
    try:
        rows = [
            {name: text(cell["value"]) for name, cell in row.items()}
            for row in answer["results"]["bindings"]
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("it is not an answer of a SPARQL service") from error
    people = []
    for cells in rows:
        names = ("human", "sex_or_gender", "ethnic_group", "image")
        human, gender, group, file = (
            unquote(cells.get(name, "").rpartition("/")[2]) for name in names
        )
        file = file.replace("_", " ")
        if all(map(_ENTITY.match, (human, gender, group))) and "." in file and "|" not in file:
            people.append(
                Shown(human, file, gender, group, cells.get("loc_aid", ""), cells.get("taken", ""))
            )
    return len(rows), people


def traits_of(title: str) -> dict[str, str]:
    """What the title of one of these photos says: human, gender, ethnic_group, loc_aid, taken, people on it if several.

    >>> traits_of("Q42 gender=Q6581097 ethnic_group=Q42406 taken=1999")["taken"]
    '1999'
    """
    human, *pairs = title.split(" ")
    return {"human": human} | {
        name: value for name, _, value in (pair.partition("=") for pair in pairs)
    }


def _year(when: str) -> str:
    match = re.search(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)", when)
    if match:
        return match[1]
    return ""


def people_of(
    manifest: pd.DataFrame, min_ethnic: int = MIN_ETHNIC, min_group: int = MIN_GROUP
) -> tuple[pd.DataFrame, Steps]:
    """Who is on the photos, in words, for the audits; small groups are dropped.

    manifest: of a collection from ``wikidata``; its duplicates are of people with several ethnic groups.
    min_ethnic: people of one ethnic group, min_group: people of one group and gender, below which they are dropped.

    Returns the table (``COLUMNS``), and how many people were left after each step: (what, people).

    Source: Yee et al. 2021, section 3.1. Its text says that ethnic groups under 40 are dropped, its program makes that
    list and does not use it; here it is used.
    """
    columns = ["human", "gender", "ethnic_group", "people"]
    traits = pd.DataFrame(
        [traits_of(title) for title in manifest["title"]], manifest.index, columns=columns
    )
    rows = traits.assign(file=manifest["path"])
    rows["on_address"] = (
        rows["human"].groupby(manifest["url"]).transform("nunique")
    )  # whatever became of the download
    rows = rows[manifest["status"].isin(["kept", "duplicate"]) & (manifest["path"] != "")]
    steps = [("with a picture", rows["human"].nunique())]
    on_file = rows.groupby("file")["human"].transform("nunique")
    rows = rows[(on_file == 1) & (rows["on_address"] == 1) & rows["people"].isna()]
    steps.append(("alone on it, by the picture's name", rows["human"].nunique()))
    rows = rows[rows.groupby("ethnic_group")["human"].transform("nunique") >= min_ethnic]
    steps.append((f"of an ethnic group of {min_ethnic} people", rows["human"].nunique()))
    census = {row["qid"]: row for row in read_rows(CENSUS, "qid")}
    words = {
        "gender": [GENDERS.get(qid, qid) for qid in rows["gender"]],
        "ethnicity": [census.get(qid, {"name": qid})["name"] for qid in rows["ethnic_group"]],
        "group": [census.get(qid, {"group": qid})["group"] for qid in rows["ethnic_group"]],
    }
    table = rows.drop_duplicates(["human", "file"])[["human", "file"]].rename(
        columns={"human": "person"}
    )
    for column, values in words.items():
        by_person = pd.Series(values, rows.index, dtype=object).groupby(rows["human"])
        joined = by_person.agg(lambda of_one: MIXED.join(sorted(set(of_one))))
        table[column] = table["person"].map(joined).astype(object)
    sizes = table.groupby(["group", "gender"])["person"].transform("nunique")
    mixed = table["group"].str.contains(MIXED) | table["gender"].str.contains(
        MIXED
    )  # of several: the audit decides
    table = table[(sizes >= min_group) | mixed]
    steps.append((f"of a group and gender of {min_group} people", table["person"].nunique()))
    return table.sort_values(["person", "file"], ignore_index=True)[[*COLUMNS]], tuple(steps)
