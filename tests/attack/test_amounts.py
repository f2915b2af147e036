"""100,000 labels, answers of 100 MB, 2,000 requests: all end, in bounded memory and without a leak."""

import json
import os
import resource
import sys
import threading
import time
import zlib

import pytest

from gslopes.ask.classifiers import load_classifier
from tests.attack.children import ended
from tests.attack.conftest import GIB, Attacked
from tests.fake_provider import paint
from tests.fake_provider.folder import write_run
from tests.loopback import QuietHandler, serving

pytestmark = pytest.mark.slow
MANY = 100_000
FIT_MANY = f"""
import sys
import pandas as pd
from gslopes.core import tables
from gslopes.slopes import audit as stages
from gslopes.core.records import Answer
from tests.again import redo
class Talkative:
    name, version, batch = "talkative", "1", 7
    def ask(self, pictures):
        return [len(picture) for picture in pictures]
    def parse(self, raw):
        return Answer("answered", tuple((f"label {{n:06d}}", 0.5 + n % 40 / 100) for n in range(raw % 2, {MANY}, 2)))
stages.score_photos(sys.argv[1], Talkative(), device="cpu", yes=True)
redo(sys.argv[1], "fit")
print(len(redo(sys.argv[1], "report").tables["slopes"]))
"""


def test_of_a_hundred_thousand_labels_fit_and_page_end_and_the_page_is_bounded(
    attacked: Attacked, tmp_path
):
    run = write_run(tmp_path / "run", 4, values=(-2.0, 0.0, 2.0))
    done = attacked(run, program=FIT_MANY)
    assert done.code == 0, done.err[-2000:]
    assert int(done.out) >= MANY // 2
    assert done.cpu < 150
    assert done.peak < 4 * GIB
    assert (run / "report/index.html").stat().st_size < 40e6


class Server:
    """Answers with what ``reply`` makes of the request's number."""

    port = asked = 0


class Large(QuietHandler):
    """Each path is a way to be large."""

    def do_POST(self) -> None:  # noqa: N802
        content = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.service.asked += 1
        answer = b'{"answers": [%s]}' % b", ".join(
            [b'{"labels": {"tag": 0.5}}'] * len(content["pictures"])
        )
        kind, headers, name = "application/json", {}, self.path.strip("/")
        if name == "long":
            answer = b'{"answers": [{"labels": {"%s": 0.5}}]}' % (b"x" * 100_000_000)
        elif name == "blanks":
            answer = b" " * 100_000_000 + answer
        elif name == "labels":
            labels = b", ".join(b'"label %d": 0.5' % number for number in range(5_000_000))
            answer = b'{"answers": [{"labels": {%s}}]}' % labels
        elif name == "deep":
            answer = b"[" * 100_000_000
        elif name in ("gzip", "deflate"):
            packer = zlib.compressobj(wbits=31 if name == "gzip" else 15)
            answer, headers = (
                packer.compress(bytes(100_000_000)) + packer.flush(),
                {"Content-Encoding": name},
            )
        elif name == "header":
            headers = {"X-Long": "x" * 10_000_000}
        elif name == "headers":
            headers = {f"X-{number}": "x" * 60_000 for number in range(500)}
        elif name == "error":
            self.send(500, b"e" * 100_000_000, "text/plain")
            return
        elif name == "page":
            answer, kind = b"<p>" * 33_000_000, "text/html"
        try:
            self.send(200, answer, kind, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


WAYS = ("long", "blanks", "labels", "deep", "gzip", "deflate", "header", "headers", "error", "page")


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_of_100_megabytes_is_refused_in_bounded_memory(way):
    with serving(Server(), Large) as server:
        classifier = load_classifier(f"http:http://127.0.0.1:{server.port}/{way}")

        def ask() -> None:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try:
                classifier.ask([paint(0, 0.5)])
            finally:
                grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
                sys.stderr.write(f"grew {grown >> 10} MiB\n")

        end = ended(ask)
    assert end.code in (1, 3), end.stderr
    assert "Unexpected" not in end.stderr
    assert len(end.stderr) < 3000
    assert int(end.stderr.split("grew ")[1].split()[0]) < 300
    assert end.seconds < 60


def test_two_thousand_requests_leave_nothing_behind():
    picture = paint(0, 0.5)

    def held() -> tuple[int, int, float]:
        with open("/proc/self/statm") as pages:
            return (
                len(os.listdir("/proc/self/fd")),
                threading.active_count(),
                int(pages.read().split()[1]) / 244,
            )

    with serving(Server(), Large) as server:
        classifier = load_classifier(f"http:http://127.0.0.1:{server.port}/fine")
        marks = []
        for number in range(2000):
            classifier.parse(*classifier.ask([picture]))
            if number in (199, 1999):
                time.sleep(0.1)
                marks.append(held())
        assert server.asked == 2000
    (files, threads, memory), (later_files, later_threads, later_memory) = marks
    assert later_files <= files + 2
    assert later_threads <= threads + 2
    assert later_memory < memory + 30
