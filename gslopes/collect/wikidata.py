"""People of named ethnic groups with a picture on Wikidata: who they are said to be, and where their pictures are.

A search is one ethnic group: the query service is asked page by page, Wikimedia Commons about 50 files at a time for
address, licence, author and date. The files are those that Commons itself shows (``upload.wikimedia.org``):
``Special:FilePath``, to which the query's answers point, is closed to robots.

Such labels are curated by volunteers, US-centred, and know ancestry, not appearance.

Source: Yee et al. 2021, section 3.1 and appendix, doi 10.1145/3479594; their query is not published, this one is ours.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from gslopes.collect.lists import DATA, Query, read_rows
from gslopes.collect.source import Candidate, FetchJson, Source, Terms, commons_file, text
from gslopes.core.errors import ConfigError, ServiceError, UsageError
from gslopes.core.files import read_regular
from gslopes.core.runfolder import show

CENSUS = DATA / "census.csv"
GENDERS = {"Q6581072": "female", "Q6581097": "male"}
PAGES = (5000, 1250, 300)  # rows of one request; the service stops at 60 seconds, so smaller ones follow
TITLES = 50
EARLIEST = 1950
REFUSED = (".pdf", ".svg", ".tif", ".tiff", ".webm", ".ogv", ".gif", ".djvu")
_LARGEST = 256 << 20  # bytes of a saved answer
_SEPARATOR = re.compile(r"[\s=]")
_ENTITY = re.compile(r"Q\d+\Z")
QUERY = """SELECT ?human ?image ?sex_or_gender ?ethnic_group ?loc_aid ?taken WHERE {{
  ?human wdt:P31 wd:Q5 ; wdt:P244 ?loc_aid ; wdt:P21 ?sex_or_gender ; wdt:P172 ?ethnic_group ; p:P18 ?shown .
  ?shown a wikibase:BestRank ; ps:P18 ?image .{genders}
  VALUES ?ethnic_group {{ wd:{group} }}
  OPTIONAL {{ ?shown pq:P585 ?taken }}
  FILTER NOT EXISTS {{ ?human wdt:P106 wd:Q488111 }}
  FILTER ( !BOUND(?taken) || YEAR(?taken) >= {earliest} )
}} ORDER BY ?human ?image ?ethnic_group LIMIT {limit} OFFSET {offset}"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of an answer: a person's Q-id, the picture's file name, Q-ids of gender and ethnic group, and the rest."""

    human: str
    file: str
    gender: str
    group: str
    loc_aid: str = ""
    taken: str = ""


class Wikidata(Source):
    """``wikidata``, ``wikidata:FILE`` (a saved answer), ``wikidata:groups=Q49085/Q161652,genders=any``.

    groups: Q-ids with slashes between them; those of ``census.csv`` by default.  genders: ``two`` (female and male, as
    in the paper, which found others too sparse), ``any``, or Q-ids.  undated: ``keep`` or ``drop`` pictures without a
    date.  base: of a query service and Commons elsewhere, for tests.

    Raises: ConfigError for another parameter, or a group that is no Q-id.
    """

    name = "wikidata"
    needs_contact = True
    keeps_answers = True
    shares_files = True
    terms = Terms(
        gap=1.0,
        page=PAGES[0],
        max_results=0,
        note="Pictures of Wikimedia Commons under free licences, each named in the manifest; genders and ethnic "
        "groups as volunteers state them on Wikidata, a US-centred choice: ancestry is not appearance.",
    )

    def __init__(self, rest: str = "") -> None:
        options, self.file = _options(rest)
        self.base = options.get("base", "")
        self.undated = options.get("undated", "keep")
        self.genders = options.get("genders", "two")
        names = {row["qid"]: row["name"] for row in read_rows(CENSUS, "qid")}
        groups = options["groups"].split("/") if "groups" in options else list(names)
        wrong = [one for one in groups if not _ENTITY.match(one)]
        if wrong or self.undated not in ("keep", "drop"):
            reason = f"The ethnic group {wrong[0]!r} is no Q-id" if wrong else f"undated is {self.undated!r}"
            raise ConfigError(f"{reason}.", "Such as wikidata:groups=Q49085/Q161652,undated=keep.")
        if self.genders not in ("two", "any") and not all(map(_ENTITY.match, self.genders.split("/"))):
            raise ConfigError(f"genders of wikidata is {self.genders!r}.", "It is two, any, or Q-ids with / between.")
        self.groups = {one: names.get(one, one) for one in groups}
        self.needs_contact = self.file is None

    def check(self) -> None:
        """Raises: UsageError if a saved answer cannot be read, or has no person of the groups."""
        if self.file is not None and not any(row.group in self.groups for row in self._saved()):
            known = ", ".join(self.groups)
            raise UsageError(f"{show(self.file)} has no picture of a person of {known}.", "Name others with groups=.")

    def queries(self) -> list[Query] | None:
        """One for each ethnic group."""
        return [Query(name, keyword=qid) for qid, name in self.groups.items()]

    def search(self, query: Query, max_results: int, ask: FetchJson) -> list[Candidate]:
        """At most ``max_results`` pictures of one ethnic group, in the order of the Q-ids.

        Raises: ServiceError if the service does not answer, not even in small pages; the pages that came are kept.
        """
        group = query.keyword
        rows = [row for row in self._saved() if row.group == group] if self.file else self._asked(group, ask)
        on_file = Counter(file for file, _ in {(row.file, row.human) for row in rows})
        unique = list(dict.fromkeys(row for row in rows if not row.file.lower().endswith(REFUSED)))[:max_results]
        known = self._known([row.file for row in unique], ask)
        found = [_candidate(row, known[row.file], on_file[row.file]) for row in unique if row.file in known]
        years = [traits_of(one.title).get("taken", "") for one in found]
        undated = self.undated == "keep"
        return [one for one, year in zip(found, years, strict=True) if (int(year) >= EARLIEST if year else undated)]

    # -- who is shown --------------------------------------------------------------------------------------------------

    def _asked(self, group: str, ask: FetchJson) -> list[Shown]:
        rows: list[Shown] = []
        offset, sizes = 0, list(PAGES)
        while True:
            query = self._query(group, sizes[0], offset)
            try:
                sent = {"Accept": "application/sparql-results+json"}
                answer = ask(f"{self.base or 'https://query.wikidata.org'}/sparql", {"query": query}, sent)
                count, page = read_answer(answer)
            except (ServiceError, ValueError) as error:
                if len(sizes) == 1:
                    hint = "What came is kept: the same command goes on from there. Fewer groups at once help, too."
                    raise ServiceError(f"Wikidata does not answer pages of {sizes[0]} rows: {error}", hint) from None
                sizes.pop(0)
                continue
            rows += page
            if count < sizes[0]:
                return rows
            offset += count

    def _query(self, group: str, limit: int, offset: int) -> str:
        chosen = list(GENDERS) if self.genders == "two" else self.genders.split("/") if self.genders != "any" else []
        terms = " ".join(f"wd:{one}" for one in chosen)
        values = f"\n  VALUES ?sex_or_gender {{ {terms} }}" if terms else ""
        return QUERY.format(genders=values, group=group, earliest=EARLIEST, limit=limit, offset=offset)

    def _saved(self) -> list[Shown]:
        assert self.file is not None
        try:
            return read_answer(json.loads(read_regular(self.file, _LARGEST)))[1]
        except (OSError, ValueError) as error:
            hint = "Save an answer of query.wikidata.org as JSON."
            raise UsageError(f"{show(self.file)} cannot be read as an answer of Wikidata: {error}.", hint) from None

    # -- their pictures ------------------------------------------------------------------------------------------------

    def _known(self, files: Sequence[str], ask: FetchJson) -> dict[str, dict[str, Any]]:
        """File name to what Commons knows; files that are gone are missing."""
        fixed = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "prop": "imageinfo",
            "iiprop": "url|size|mime|extmetadata",
            "iiurlwidth": "1024",
            "iiextmetadatafilter": "LicenseShortName|LicenseUrl|Artist|DateTimeOriginal",
        }
        found: dict[str, dict[str, Any]] = {}
        names = list(dict.fromkeys(files))
        for start in range(0, len(names), TITLES):
            batch = names[start : start + TITLES]
            titles = "|".join(f"File:{name}" for name in batch)
            answer = ask(f"{self.base or 'https://commons.wikimedia.org'}/w/api.php", {**fixed, "titles": titles}, {})
            reply = answer.get("query", {})
            renamed = {row["from"]: row["to"] for row in reply.get("normalized", [])}
            infos = {page["title"]: page["imageinfo"][0] for page in reply.get("pages", []) if page.get("imageinfo")}
            for name in batch:
                title = f"File:{name}"
                info = infos.get(renamed.get(title, title)) or infos.get(title.replace("_", " "))
                if info is not None:
                    found[name] = info
        return found


def read_answer(answer: Any) -> tuple[int, list[Shown]]:
    """How many rows an answer has, and those that name a person, a picture and a group.

    answer: the standard JSON of SPARQL, or the list of flat rows that the service offers as a download and that was
        published.

    Raises: ValueError if it is neither.
    """
    if isinstance(answer, Mapping) and isinstance(answer.get("results"), Mapping):
        rows = answer["results"].get("bindings")
    else:
        rows = answer
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("it is no answer of a SPARQL service")
    return len(rows), list(_shown(rows))


def _shown(rows: Iterable[Mapping[str, Any]]) -> Iterable[Shown]:
    for row in rows:
        cells = {name: text(value.get("value") if isinstance(value, Mapping) else value) for name, value in row.items()}
        human, gender, group = (_last(cells.get(name, "")) for name in ("human", "sex_or_gender", "ethnic_group"))
        file = _last(cells.get("image", "") or cells.get("url", "")).replace("_", " ")
        if _ENTITY.match(human) and _ENTITY.match(gender) and _ENTITY.match(group) and "." in file and "|" not in file:
            yield Shown(human, file, gender, group, cells.get("loc_aid", ""), cells.get("taken", ""))


def _last(uri: str) -> str:
    """The last part of an address, without its escapes."""
    return unquote(uri.rpartition("/")[2])


def _candidate(row: Shown, info: Mapping[str, Any], people: int) -> Candidate:
    candidate, fields = commons_file(info)
    year = _year(row.taken) or _year(fields.get("DateTimeOriginal", ""))
    traits = {"gender": row.gender, "ethnic_group": row.group, "loc_aid": row.loc_aid, "taken": year}
    # given here: the others may lie beyond the photos that are wanted
    traits["people"] = str(people) if people > 1 else ""
    title = " ".join([row.human, *(f"{name}={_SEPARATOR.sub('', one)}" for name, one in traits.items() if one)])
    return replace(candidate, title=title)


def traits_of(title: str) -> dict[str, str]:
    """What the title of one of these photos says: human, gender, ethnic_group, loc_aid, taken, people on it if several.

    >>> traits_of("Q42 gender=Q6581097 ethnic_group=Q42406 taken=1999")["taken"]
    '1999'
    """
    human, *pairs = title.split(" ") if title else [""]
    return {"human": human} | {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def _year(when: str) -> str:
    found = re.search(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)", when)
    return found[1] if found else ""


def _options(rest: str) -> tuple[dict[str, str], Path | None]:
    known = ("groups", "genders", "undated", "base")
    items = [item.partition("=") for item in rest.split(",")] if rest else []
    if items and items[0][0] not in known:
        if "=" in rest and not Path(rest).exists():
            raise ConfigError(f"The source 'wikidata' has no parameter {items[0][0]!r}.", f"It has {', '.join(known)}.")
        return {}, Path(rest)
    for name, _, value in items:
        if name not in known or not value:
            raise ConfigError(f"The source 'wikidata' cannot read {name!r}.", f"It has {', '.join(known)}.")
    return {name: value for name, _, value in items}, None


# --- From a collection of people on Wikidata to the table of people that the audits read ------------------------------


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
