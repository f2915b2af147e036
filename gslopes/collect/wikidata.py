"""People of named ethnic groups with a picture on Wikidata: who they are, and the addresses of their pictures.

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
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from pandas import DataFrame

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
from gslopes.core import ConfigError, JsonObject, ServiceError, frozen, read_toml
from gslopes.core.records import batches

CENSUS = DATA / "census.csv"
PAGES = (
    5000,
    1250,
    300,
)  # rows of one request; the service stops at 60 seconds, so smaller ones follow
TITLES = 50
EARLIEST = 1950
MIN_ETHNIC = 40  # people of an ethnic group, and of a group and gender, below which they are left out of people.csv
MIN_GROUP = 100
MIXED = "/"  # between several values of one person, as the audits read them
_SEPARATOR = re.compile(r"[\s=]")
_ENTITY = re.compile(r"Q\d+\Z")
ASKED = read_toml(DATA / "wikidata.toml")
REFUSED = tuple(ASKED["refused"])
Steps = tuple[tuple[str, int], ...]  # what was asked of people, and how many were left
Files = dict[str, JsonObject]  # the name of a file to what Commons knows of it


@frozen
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

    groups: Q-ids; by default as in ``census.csv``. Genders are female and male, as in the paper, which found others
    too sparse. A picture without a date is kept, one from before ``EARLIEST`` is not.
    per_person: pictures of each person, at most: first the ones that Wikidata names, then files of Commons that
        depict the person by their statements, others on them or not; None for only the ones that Wikidata names.

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
        usable = dict.fromkeys(row for row in rows if not row.file.lower().endswith(REFUSED))
        unique = list(usable)[:max_results]
        infos = self._files([row.file for row in unique], ask)
        if self.per_person is not None:
            unique = self._of_each(unique, infos, max_results, ask)
        people = Counter(file for file, _ in {(row.file, row.human) for row in [*rows, *unique]})
        results = []
        for row in unique[:max_results]:
            if row.file not in infos:
                continue
            candidate, fields = commons_file(infos[row.file])
            year = _year(row.taken) or _year(fields.get("DateTimeOriginal", ""))
            if year and int(year) < EARLIEST:
                continue
            # people are counted here: the others may lie beyond the photos that are wanted
            traits = {
                "gender": row.gender,
                "ethnic_group": row.group,
                "loc_aid": _SEPARATOR.sub("", row.loc_aid),
                "taken": year,
                "people": str(people[row.file]) * (people[row.file] > 1),
            }
            pairs = [f"{name}={value}" for name, value in traits.items() if value]
            results.append(replace(candidate, title=" ".join([row.human, *pairs])))
        return results

    def _asked(self, group: str, ask: FetchJson) -> list[Shown]:
        rows: dict[Shown, None] = {}
        offset = 0
        sizes = iter(PAGES)
        size = next(sizes)
        while True:
            query = ASKED["query"].format(group=group, earliest=EARLIEST, limit=size, offset=offset)
            headers = {"Accept": "application/sparql-results+json"}
            try:
                count, page = read_answer(ask(f"{self.service}/sparql", {"query": query}, headers))
            except (ServiceError, ValueError) as error:
                if size == PAGES[-1]:
                    why = str(getattr(error, "message", error)).rstrip(".")
                    raise ServiceError(
                        f"Wikidata does not answer pages of {size} rows: {why}.",
                        "What came is kept: the same command goes on from there. Fewer groups at once help, too.",
                    ) from None
                size = next(sizes)
                continue
            before = len(rows)
            rows |= dict.fromkeys(page)
            # a service that pays no heed to OFFSET never ends
            if count < size or len(rows) == before:
                return list(rows)
            offset += count

    def _of_each(
        self, rows: Sequence[Shown], infos: Files, most: int, ask: FetchJson
    ) -> list[Shown]:
        """The rows with ``per_person`` files of each person at most, searched for if Wikidata names fewer.

        infos: what Commons knows of the rows' files; other files are added.  most: rows that are wanted.
        """
        by_person: dict[str, list[Shown]] = {}
        for row in rows:
            by_person.setdefault(row.human, []).append(row)
        wanted = self.per_person or 1
        chosen: list[Shown] = []
        for human, named in by_person.items():
            if len(chosen) >= most:
                break
            by_file = {row.file: row for row in named if row.file in infos}
            if len(by_file) < wanted > 1:
                # up to 50 pictures that are stated to depict the person
                about = {
                    name: value.format(human=human) for name, value in ASKED["depicted"].items()
                }
                depicting, _ = self._infos(about, ask)
                for file, info in depicting.items():
                    if not file.lower().endswith(REFUSED):
                        infos.setdefault(file, info)
                        by_file.setdefault(file, replace(named[0], file=file, taken=""))
            files = list(by_file)[:wanted]
            chosen += [row for row in named if row.file in files]
            shown = {row.file for row in named}
            chosen += [by_file[file] for file in files if file not in shown]
        return chosen

    def _files(self, files: Sequence[str], ask: FetchJson) -> Files:
        """File name to what Commons knows; files that are gone are missing."""
        by_name = {}
        for some in batches(list(dict.fromkeys(files)), TITLES):
            titles = "|".join(f"File:{name}" for name in some)
            infos, renamed = self._infos({"titles": titles}, ask)
            for name in some:
                info = infos.get(renamed.get(name, name)) or infos.get(name.replace("_", " "))
                if info is not None:
                    by_name[name] = info
        return by_name

    def _infos(self, asked: dict[str, str], ask: FetchJson) -> tuple[Files, dict[str, str]]:
        """What Commons knows of the files that are asked for, and how it spells names of files that it was given."""
        answer = ask(f"{self.commons}/w/api.php", ASKED["commons"] | asked, {})
        reply = answer.get("query") or {}  # nothing of the kind without a result
        pages = [page for page in reply.get("pages") or [] if page.get("imageinfo")]
        pages.sort(key=lambda page: page.get("index", 0))
        infos = {_name(page["title"]): page["imageinfo"][0] for page in pages}
        renamed = reply.get("normalized") or []
        return infos, {_name(row["from"]): _name(row["to"]) for row in renamed}


def _name(title: str) -> str:
    """A file's name, without ``File:``."""
    return title.partition(":")[2]


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

    Raises: ValueError if it has another form.
    """
    people = []
    try:
        rows = answer["results"]["bindings"]
        for row in rows:
            cells = {name: text(cell["value"]) for name, cell in row.items()}
            human, gender, group, file = (
                unquote(cells.get(name, "").rpartition("/")[2])
                for name in ("human", "sex_or_gender", "ethnic_group", "image")
            )
            file = file.replace("_", " ")
            if all(map(_ENTITY.match, (human, gender, group))) and "." in file and "|" not in file:
                about = (cells.get(name, "") for name in ("loc_aid", "taken"))
                people.append(Shown(human, file, gender, group, *about))
        return len(rows), people
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("it is not an answer of a SPARQL service") from error


def traits_of(title: str) -> dict[str, str]:
    """The parts of such a photo's title: human, gender, ethnic_group, loc_aid, taken, people on it if several.

    >>> traits_of("Q42 gender=Q6581097 ethnic_group=Q42406 taken=1999")["taken"]
    '1999'
    """
    human, *pairs = title.split(" ")
    return {"human": human} | {pair.partition("=")[0]: pair.partition("=")[2] for pair in pairs}


def _year(when: str) -> str:
    return "".join(re.findall(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)", when)[:1])


def people_of(
    manifest: DataFrame, min_ethnic: int = MIN_ETHNIC, min_group: int = MIN_GROUP
) -> tuple[DataFrame, Steps]:
    """Who is on the photos, in words, for the audits; small groups are dropped.

    manifest: of a collection from ``wikidata``; its duplicates are of people with several ethnic groups.
    min_ethnic: people of one ethnic group, min_group: people of one group and gender, below which they are dropped.

    Returns the table (``columns`` of wikidata.toml), and how many people were left after each step: (what, people).

    Source: Yee et al. 2021, section 3.1. By its text ethnic groups under 40 are dropped; its program makes that
    list and does not use it; here it is used.
    """
    titles = [traits_of(title) for title in manifest["title"]]
    rows = DataFrame(titles, manifest.index, ["human", "gender", "ethnic_group", "people"])
    rows = rows.rename(columns={"human": "person"}).assign(file=manifest["path"])
    # whatever became of the download
    rows["on_address"] = rows.groupby(manifest["url"])["person"].transform("nunique")
    rows = rows[manifest["status"].isin(["kept", "duplicate"]) & (manifest["path"] != "")]
    left = {"with a picture": rows}
    on_file = rows.groupby("file")["person"].transform("nunique")
    rows = rows[(on_file == 1) & (rows["on_address"] == 1) & rows["people"].isna()]
    left["alone on it, by the picture's name"] = rows
    rows = rows[rows.groupby("ethnic_group")["person"].transform("nunique") >= min_ethnic]
    left[f"of an ethnic group of {min_ethnic} people"] = rows
    census = DataFrame(read_rows(CENSUS, "qid")).set_index("qid")
    words = rows[["person"]].assign(
        gender=rows["gender"].replace(ASKED["genders"]),
        ethnicity=rows["ethnic_group"].map(census["name"]).fillna(rows["ethnic_group"]),
        group=rows["ethnic_group"].map(census["group"]).fillna(rows["ethnic_group"]),
    )
    by_person: Any = words.groupby("person")
    joined = by_person.agg(lambda values: MIXED.join(sorted(set(values))))
    table = rows[["person", "file"]].drop_duplicates().join(joined.astype(object), on="person")
    sizes = table.groupby(["group", "gender"])["person"].transform("nunique")
    mixed = (table["group"] + table["gender"]).str.contains(MIXED)  # of several: the audit decides
    table = table[(sizes >= min_group) | mixed]
    left[f"of a group and gender of {min_group} people"] = table
    steps = tuple((step, who["person"].nunique()) for step, who in left.items())
    return table.sort_values(["person", "file"], ignore_index=True)[ASKED["columns"]], steps
