"""Servers that lie to ``collect``: a photo costs only itself, rules that cannot be had forbid, every search ends."""

import functools
import gzip
import io
import json
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.collect.config import CollectConfig
from gslopes.collect.photos import collect, plan_collection
from gslopes.core import tables
from tests import loopback
from tests.attack.children import End, ended
from tests.collect.server import PhotoServer, aim, serving as photo_serving

pytestmark = pytest.mark.slow
Reply = Callable[["Liar"], None]


class Liar(loopback.QuietHandler):
    service: "Server"

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server looks up
        self.service.asked.append(self.path)
        service = self.service
        kinds = {"/robots": service.robots, "/liar.j": service.photo}
        kinds |= {"/v1/ima": service.search, "/sparql": service.search}
        try:
            kinds.get(self.path[:7], plain(picture(self.path), "image/jpeg"))(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@functools.cache
def picture(name: str, side: int = 96, form: str = "JPEG") -> bytes:
    """Noise, another for each name."""
    noise = np.random.default_rng(list(name.encode())).integers(0, 256, (8, 8, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(noise).resize((side, side), Image.Resampling.NEAREST).save(data, form)
    return data.getvalue()


def plain(body: bytes, kind: str = "text/plain", status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(status, body, kind, named)


def raw(*pieces: bytes, again: int = 0, pause: float = 0.0) -> Reply:
    """Bytes as they are, the last of them ``again`` times, and the connection closed."""

    def reply(handler: Liar) -> None:
        handler.close_connection = True
        for piece in [*pieces, *[pieces[-1]] * again]:
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(pause)

    return reply


def listed(results: object, pages: object = 1) -> Reply:
    """What a search of Openverse gives."""
    answer = json.dumps(
        {"result_count": 1, "page_count": pages, "page_size": 20, "page": 1, "results": results}
    )
    return lambda handler: handler.send(
        200, answer.replace("URL", handler.service.base).encode(), "application/json"
    )


class Server:
    """What is answered at an address of each kind; any other is a photo that is fine."""

    def __init__(self) -> None:
        self.port, self.robots, self.search, self.photo = (
            0,
            plain(b"", status=404),
            listed([]),
            plain(b""),
        )
        self.asked: list[str] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def collected(
    server: Server, folder: Path, *addresses: str, source: str = ""
) -> tuple[End, pd.DataFrame]:
    """How a collection ends: of addresses at this server, or of a source's search that it answers; and its manifest."""
    folder.mkdir(exist_ok=True)
    jobs = {"occupations": "chef", "keywords": "none", "contact": "me@example.org"}
    if addresses:
        (folder / "list.txt").write_text("".join(f"{server.base}/{name}\n" for name in addresses))
        source, jobs = f"urls:{folder / 'list.txt'}", {}

    def work() -> None:
        config = CollectConfig(source=source, per_query=20, gap=0.0, **jobs)
        collect(plan_collection(config, folder / "out"))

    end = ended(work, before=lambda: aim(server.base), most=90)
    assert end.code in (0, 1, 2, 3), end.stderr
    assert "Traceback" not in end.stderr
    assert "Unexpected" not in end.stderr
    assert end.seconds < 75  # a source of people is asked for three sizes of pages, 20 seconds each
    assert not [
        path for path in folder.parent.rglob("*") if path.name == "evil" or path.suffix == ".tmp"
    ]
    return end, tables.read(tables.MANIFEST, folder / "out/manifest.parquet")


OK, JPEG = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n"
CHUNKED = JPEG + b"Transfer-Encoding: chunked\r\n\r\n"
GZIPPED = gzip.compress(bytes(50_000_000))
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
PHOTOS: dict[str, Reply] = {
    "two lengths": raw(JPEG + b"Content-Length: 5\r\nContent-Length: 900\r\n\r\n" + picture("a")),
    "length below nought": raw(JPEG + b"Content-Length: -1\r\n\r\n" + picture("a")),
    "length of 10^30": raw(JPEG + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n" + picture("a")),
    "chunks that lie": raw(CHUNKED + b"FFFFFFFFFFFFFFFF\r\n", picture("a")),
    "chunks without end": raw(CHUNKED, b"1000\r\n" + bytes(4096) + b"\r\n", again=5000),
    "headers without end": raw(OK, b"X-A: " + b"a" * 1000 + b"\r\n", again=5000),
    "a header of a megabyte": raw(OK + b"X-A: " + b"a" * (1 << 20) + b"\r\n\r\n"),
    "status drip": raw(*[bytes([byte]) for byte in b"HTTP/1.1 200 OK\r\n" * 20], pause=0.2),
    "body drip": raw(JPEG + b"Content-Length: 400\r\n\r\n", b"\xff", again=399, pause=0.1),
    "no HTTP": raw(b"\x16\x03\x01\x02\x00 nothing that anyone could read\r\n\r\n"),
    "HTTP/9.9": raw(b"HTTP/9.9 200 OK\r\n\r\n" + picture("a")),
    "status 99999": raw(b"HTTP/1.1 99999 Fine\r\nContent-Length: 0\r\n\r\n"),
    "gzip bomb": plain(GZIPPED, "image/jpeg", Content_Encoding="gzip"),
    "bomb in a type": plain(GZIPPED, "image/jpeg"),
    "to 0x7f000001": plain(b"", status=302, Location="http://0x7f000001:9/evil"),
    "to 2130706433": plain(b"", status=301, Location="http://2130706433:9/evil"),
    "to 127.1": plain(b"", status=307, Location="http://127.1:9/evil"),
    "to ::ffff:7f00:1": plain(b"", status=308, Location="http://[::ffff:7f00:1]:9/evil"),
    "to metadata": plain(b"", status=303, Location="http://169.254.169.254/latest/meta-data/"),
    "to localhost": plain(b"", status=302, Location="http://localhost:9/evil"),
    "to a megabyte": plain(b"", status=302, Location="/" + "a" * (1 << 20)),
    "to data": plain(b"", status=302, Location="data:image/jpeg;base64,AAAA"),
    "a name with a path": plain(picture("a"), "image/jpeg", Content_Disposition='attachment; filename="../../evil"'),
    "a type with a path": plain(picture("a"), "image/../../evil"),
    "SVG as JPEG": plain(SVG, "image/jpeg"),
    "GIF": plain(picture("a", form="GIF"), "image/gif"),
    "WebP as PNG": plain(picture("a", form="WEBP"), "image/png"),
}  # fmt: skip
KEPT = {"a name with a path", "a type with a path", "WebP as PNG"}


@pytest.mark.parametrize("lie", PHOTOS)
def test_a_photo_that_lies_costs_itself_alone(lie, tmp_path, monkeypatch):
    server = Server()
    server.photo = PHOTOS[lie]
    with loopback.serving(server, Liar):
        end, rows = collected(server, tmp_path / "run", "1.jpg", "liar.jpg", "2.jpg", "3.jpg")
    assert end.code == 0, end.stderr
    fates = rows.set_index("rank")["status"]
    assert list(fates[[1, 3, 4]]) == ["kept"] * 3
    assert (fates[2] == "kept") is (lie in KEPT), rows.set_index("rank").loc[2]


ROBOTS: dict[str, Reply] = {
    "without end": raw(OK + b"\r\n", b"Allow: /\n" * 500, again=2000),
    "gzip bomb": plain(GZIPPED, Content_Encoding="gzip"),
    "in a circle": plain(b"", status=302, Location="/robots.txt"),
    "private": plain(b"", status=302, Location="http://10.0.0.1/robots.txt"),
    "drip": raw(OK + b"Content-Length: 9000\r\n\r\n", b"U", again=400, pause=0.1),
    "busy": plain(b"", status=503),
    "cut": raw(OK + b"Content-Length: 9000\r\n\r\nUser-agent: *\nAllow: /\n"),
    "stars": plain(b"User-agent: *\nDisallow: /" + b"*a" * 5000 + b"$\nDisallow: /*.jpg\n"),
    "NUL and halves": plain(b"\x00User-agent: *\n\xff\xfe\xed\xa0\x80\nUser-agent: *\nDisallow: /\n"),
    "delay of 10^308": plain(b"User-agent: *\nCrawl-delay: 1e308\nDisallow: /\n"),
    "delay below nought": plain(b"User-agent: *\nCrawl-delay: -5\nDisallow: /\n"),
    "100,000 agents": plain(b"User-agent: x\n" * 30_000 + b"User-agent: gslopes\nDisallow: /\n"),
}  # fmt: skip


@pytest.mark.parametrize("lie", ROBOTS)
def test_rules_that_cannot_be_had_or_forbid_are_no_permission(lie, tmp_path):
    server = Server()
    server.robots = ROBOTS[lie]
    with loopback.serving(server, Liar):
        end, rows = collected(server, tmp_path / "run", "1.jpg", "liar.jpg", "2.jpg", "3.jpg")
    assert set(server.asked) == {"/robots.txt"}, end.stderr
    assert not (rows["status"] == "kept").any()


def entry(**fields: object) -> dict[str, object]:
    """A result of which nothing but this is unusual."""
    return {
        "url": "URL/9.jpg",
        "license": "cc0",
        "license_version": "1.0",
        "title": "A photo",
        **fields,
    }


def person(**cells: str) -> dict[str, object]:
    """A row of Wikidata's of which nothing but this is unusual."""
    usual = {
        "human": "Q1",
        "sex_or_gender": "Q6581072",
        "ethnic_group": "Q49085",
        "image": "a.jpg",
        **cells,
    }
    return {name: {"value": f"/{value}"} for name, value in usual.items()}


def bound(rows: object) -> Reply:
    """What a SPARQL service gives."""
    return plain(
        json.dumps({"head": {}, "results": {"bindings": rows}}).encode(), "application/json"
    )


SEARCHES: dict[str, Reply] = {
    "not JSON": plain(b"<html>", "application/json"),
    "nested 100,000 deep": plain(b'{"results":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "application/json"),
    "pages of 1e999": plain(b'{"page_count": 1e999, "results": []}', "application/json"),
    "pages of 10^5000": plain(b'{"page_count": 1' + b"0" * 5000 + b', "results": []}', "application/json"),
    "a billion empty pages": listed([], 10**9),
    "a billion pages of the same": listed([entry()], 10**9),
    "results null": listed(None),
    "results a text": listed("many"),
    "a result null": listed([None]),
    "pages null": listed([entry()], None),
    "addresses of all kinds": listed([entry(url=url) for url in (1, [], {}, True, "javascript:1", "file:///etc/passwd")]),
    "halves of characters": listed([entry(title="\ud800", creator="\udfff", url="URL/\ud800.jpg")]),
    "titles of a megabyte": listed([entry(title="a" * 900_000)]),
    "5,000 results": listed([entry(url=f"URL/{number}.jpg") for number in range(5_000)]),
    "a list": plain(b"[]", "application/json"),
    "without end": raw(OK + b"Content-Type: application/json\r\n\r\n", b" " * 5000, again=2000),
    "gzip bomb": plain(GZIPPED, "application/json", Content_Encoding="gzip"),
    "to a private address": plain(b"", status=302, Location="http://192.168.0.1/v1/images/"),
    "drip": raw(OK + b"Content-Length: 9000\r\n\r\n", b"{", again=400, pause=0.1),
    "the same people for ever": bound([person()] * 5000),
    "bindings null": bound(None),
    "cells that are none": bound([{"human": None}, {"human": {"value": []}}, 5, []]),
    "people of other places": bound([person(image="file:///etc/passwd|a.jpg"), person(human="Q1/../../evil")]),
}  # fmt: skip


@pytest.mark.parametrize("source", ["openverse", "wikidata:groups=Q49085"])
@pytest.mark.parametrize("lie", SEARCHES)
def test_a_search_that_lies_ends_with_photos_or_a_sentence(lie, source, tmp_path):
    server = Server()
    server.search = SEARCHES[lie]
    with loopback.serving(server, Liar):
        end, rows = collected(server, tmp_path / "run", source=source)
    searched = [path for path in server.asked if path.startswith(("/v1/", "/sparql"))]
    assert len(searched) <= 40
    assert end.code == 0 or end.stderr.startswith("gslopes: "), end.stderr
    assert (
        not rows["url"].str.startswith(("file:", "javascript:")).any()
        or not (rows["status"] == "kept").any()
    )


# -- killed while it is at work ---------------------------------------------------------------------------------------


def noted(out: Path) -> set[str]:
    """Addresses whose photos a collection has noted: by lines of journals that are whole, and in tables."""
    lines = [
        line
        for journal in out.rglob("journal.jsonl")
        for line in journal.read_text("utf-8").split("\n")[:-1]
    ]
    found = {json.loads(line)["url"] for line in lines}
    for table in out.glob("parts/collect/*.parquet"):
        found |= set(tables.read(tables.MANIFEST, table)["url"])
    return found


def test_killed_ten_times_at_work_a_collection_asks_again_only_for_what_was_under_way(
    tmp_path, monkeypatch
):
    for job in ("chef", "judge"):
        (tmp_path / "photos" / job).mkdir(parents=True)
        for number in range(30):
            (tmp_path / f"photos/{job}/{number:02d}.jpg").write_bytes(picture(f"{job}{number}"))
    lot = random.Random(7)

    def work(out: Path) -> Callable[[], object]:
        config = CollectConfig(
            source="openverse",
            occupations="chef,judge",
            keywords="none",
            per_query=30,
            gap=0.0,
            contact="me@example.org",
        )
        return lambda: collect(plan_collection(config, out))

    with photo_serving(PhotoServer(tmp_path / "photos", {3: "throttle", 7: "gone"})) as server:
        aim(server.base, monkeypatch.setattr)
        undisturbed = ended(work(tmp_path / "calm"))
        assert undisturbed.code == 0, undisturbed.stderr
        server.hits.clear()
        server.delay = 0.1
        out, kills, attempts = tmp_path / "out", 0, 0
        while kills < 10:
            attempts += 1
            assert attempts < 80, f"only {kills} of {attempts} kills found it at work"
            known, before = noted(out), len(server.asked)
            moment = lot.uniform(0.0, undisturbed.seconds + 0.5)
            end = ended(work(out), [(moment, signal.SIGKILL)])
            asked = {f"{server.base}{path}" for path, _ in server.asked[before:]}
            assert not asked & known
            if end.code == 0:  # it was faster: another one is begun
                shutil.rmtree(out)
                server.hits.clear()
                continue
            assert end.code == -signal.SIGKILL, end.stderr
            kills += len(server.asked) > before
        assert ended(work(out)).code == 0
    frames = [
        tables.read(tables.MANIFEST, folder / "manifest.parquet").drop(columns="retrieved")
        for folder in (out, tmp_path / "calm")
    ]
    pd.testing.assert_frame_equal(*frames)
    assert {path.name: path.read_bytes() for path in out.rglob("*.jpg")} == {
        path.name: path.read_bytes() for path in (tmp_path / "calm").rglob("*.jpg")
    }
    assert not list(out.rglob("*.tmp"))
