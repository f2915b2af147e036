"""Clocks that jump, dead proxies, wrong certificates: numbers stay, and one sentence tells what to do."""

import os
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gslopes.ask.classifiers import load_classifier
from gslopes.core import tables
from gslopes.slopes import audit as stages
from tests import loopback
from tests.attack.children import ended
from tests.attack.test_amounts import Large, Server
from tests.attack.test_shared import PHOTOS, PICTURES, Service
from tests.fake_provider import paint
from tests.fake_provider.folder import write_run

pytestmark = pytest.mark.slow
CLOCKS = (
    "an hour back",
    "a year back",
    "1970",
    "before 1970",
    "back at each look",
    "random",
    "stands",
    "2100",
    "9999",
)


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_clock_that_goes_back_asks_nothing_twice_and_ends(clock, tmp_path):
    (tmp_path / "log").touch()
    real, looks, lot = time.time, [0], random.Random(1)

    def told() -> float:
        looks[0] += 1
        now = {
            "an hour back": real() - 3600,
            "a year back": real() - 31_536_000,
            "1970": 5.0,
            "before 1970": -1e6,
        }
        now |= {
            "back at each look": real() - 1000.0 * looks[0],
            "random": lot.uniform(0, 4e9),
            "stands": 1.7e9,
        }
        return (now | {"2100": 4.1e9, "9999": 2.5e11})[clock]

    runs = [write_run(tmp_path / name, PHOTOS, part=2) for name in ("calm", "run")]
    (tmp_path / "calm-log").touch()

    def scoring(run: Path, log: str, cache: str):
        return lambda: stages.score_photos(
            run, Service(tmp_path / log, 4), cache=tmp_path / cache, yes=True
        )

    assert ended(scoring(runs[0], "calm-log", "calm-cache")).code == 0
    end = ended(
        scoring(runs[1], "log", "cache"), before=lambda: setattr(time, "time", told), most=60
    )
    assert end.code == 0, end.stderr
    assert ended(scoring(runs[1], "log", "cache")).code == 0
    assert len((tmp_path / "log").read_text().splitlines()) == PICTURES
    item, second = (tables.read(tables.SCORES, run / "scores.parquet") for run in runs)
    assert item.equals(second)


KEY = "sk-0123456789abcdefABCDEF0123456789"
PROXIES = (
    "http://127.0.0.1:9",
    "http://user:" + KEY + "@127.0.0.1:9",
    "socks5://127.0.0.1:9",
    "nonsense",
    "http://",
)
PROXIES += (
    "http://[::1",
    "http://nowhere.invalid:3128",
    "https://127.0.0.1:9",
    "ftp://127.0.0.1:9",
)


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_dead_proxy_is_a_sentence_without_its_key(proxy):
    text = of_asking(
        "http://127.0.0.2:9", {"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "https_proxy": proxy}
    )
    assert KEY not in text


@pytest.mark.parametrize("fault", ["self-signed", "expired", "wrong host", "not yet", "no TLS"])
def test_a_certificate_that_is_none_is_a_sentence(fault, tmp_path, monkeypatch):
    days = {"expired": -9, "not yet": 9}.get(fault, 0)

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(UTC) + timedelta(days=days)

    monkeypatch.setattr(loopback, "datetime", Later)
    certificate = None if fault == "no TLS" else loopback.write_certificate(tmp_path / "pem")
    with loopback.serving(Server(), Large, certificate) as server:
        trusted = {} if fault in ("self-signed", "no TLS") else {"SSL_CERT_FILE": str(certificate)}
        host = "localhost" if fault == "wrong host" else "127.0.0.1"
        of_asking(f"https://{host}:{server.port}/fine", trusted)
        assert server.asked == 0


def of_asking(address: str, environment: dict[str, str]) -> str:
    """The output of asking a classifier at this address with a key."""

    def ask() -> None:
        os.environ.update({"TEAM_TOKEN": KEY, **environment})
        classifier = load_classifier(
            f"http:{address},token=TEAM_TOKEN" if "https" in address else f"http:{address}"
        )
        classifier.ask([paint(0, 0.5)])

    end = ended(ask, most=60)
    assert end.code in (1, 2, 3), end.stderr
    assert KEY not in end.stderr
    assert "Traceback" not in end.stderr
    assert "Unexpected" not in end.stderr
    assert len([line for line in end.stderr.splitlines() if line.startswith("gslopes: ")]) == 1
    return end.stderr
