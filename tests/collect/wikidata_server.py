"""A loopback service that speaks SPARQL's JSON and Commons' API, serves photos, and misbehaves."""

from __future__ import annotations

import json
import re
from collections import Counter
from urllib.parse import parse_qs, unquote, urlsplit

from tests.loopback import QuietHandler, serving

WIKI = "http://www.wikidata.org/entity/"
FILES = "http://commons.wikimedia.org/wiki/Special:FilePath/"


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
        self.port = 0

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"


def binding(row):
    uri = {"human": WIKI + row["human"], "image": FILES + row["file"], "sex_or_gender": WIKI + row["gender"]}
    uri["ethnic_group"] = WIKI + row["group"]
    values = {name: {"type": "uri", "value": value} for name, value in uri.items() if not value.endswith("/")}
    return values | {"loc_aid": {"type": "literal", "value": "n1"}}


class _Handler(QuietHandler):
    def do_GET(self):  # noqa: N802 - the name that http.server looks up
        service, url = self.service, urlsplit(self.path)
        service.asked[url.path] += 1
        service.agents.add(self.headers["User-Agent"])
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/sparql":
            return self.sparql(query["query"])
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
            return self.send(500, b"java.util.concurrent.TimeoutException", "text/plain", {"Retry-After": "0"})
        if trouble == "page":
            return self.send(200, b"<html>Wikimedia Error</html>", "text/html")
        rows = [binding(row) for row in service.rows if row["group"] == group][offset : offset + limit]
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
            if name not in service.photos:
                pages.append({"title": title, "missing": True})
                continue
            extra = {"LicenseShortName": {"value": "CC BY-SA 4.0"}, "Artist": {"value": "<a>Ann</a>"}}
            if name in service.years:
                extra["DateTimeOriginal"] = {"value": f"12 May {service.years[name]}"}
            info = {"thumburl": f"{service.base}/thumb/{name.replace(' ', '%20')}", "extmetadata": extra}
            info["descriptionurl"] = f"{service.base}/wiki/File:{name.replace(' ', '_')}"
            pages.append({"title": title, "imageinfo": [info]})
        return self.send(200, json.dumps({"query": {"pages": pages}}).encode(), "application/json")


def serve(rows, photos):
    return serving(Service(rows, photos), _Handler)
