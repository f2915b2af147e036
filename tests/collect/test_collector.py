"""One photo's trouble is that photo's; an outage stops the run and costs nothing of it."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.collect.fetch import FetchPolicy
from gslopes.collect.photos import CollectConfig, collect, plan_collection
from gslopes.core.errors import ServiceError
from tests.collect.server import PhotoServer, serving
from tests.collect.test_fetch import raw_server


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Forty photos of noise, all different."""
    folder = tmp_path / "photos/chef"
    folder.mkdir(parents=True)
    for number in range(40):
        noise = np.random.default_rng(number).integers(0, 256, (8, 8, 3), np.uint8)
        Image.fromarray(noise).resize((96, 96), Image.Resampling.NEAREST).save(folder / f"{number:02d}.jpg")
    return tmp_path / "photos"


@pytest.fixture
def server(photos: Path) -> Iterator[PhotoServer]:
    with serving(PhotoServer(photos)) as started:
        yield started


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    original = CollectConfig.policy

    def policy(self: CollectConfig) -> FetchPolicy:
        return dataclasses.replace(original(self), backoff=0.001, max_attempts=2, seconds=20)

    monkeypatch.setattr(CollectConfig, "policy", policy)


def of_list(urls: list[str], out: Path, *hosts: str) -> pd.DataFrame:
    (out.parent / "list.txt").write_text("\n".join(urls) + "\n")
    config = CollectConfig(source=f"urls:{out.parent / 'list.txt'}", gap=0.0, test_servers=hosts, near=-1)
    return collect(plan_collection(config, out)).table


def addresses(server: PhotoServer, count: int = 40) -> list[str]:
    return [url for url, _ in server.results("chef")[:count]]


def test_an_outage_stops_the_run_and_the_next_one_goes_on(server, tmp_path):
    urls = addresses(server)
    server.status = 503
    with pytest.raises(ServiceError, match=r"robots.txt cannot be fetched \(HTTP error \(503\)\)"):
        of_list(urls, tmp_path / "out", server.host)
    server.status = 0
    found = of_list(urls, tmp_path / "out", server.host)
    assert found["status"].tolist() == ["kept"] * 40


def test_an_outage_in_which_every_search_is_short_is_one_too(server, tmp_path):
    (tmp_path / "list.csv").write_text(
        "url,occupation\n" + "".join(f"{url},job {n}\n" for n, url in enumerate(addresses(server)))
    )
    config = CollectConfig(source=f"urls:{tmp_path / 'list.csv'}", gap=0.0, test_servers=(server.host,), near=-1)
    server.status = 503
    with pytest.raises(ServiceError, match="25 downloads failed"):
        collect(plan_collection(config, tmp_path / "out"))
    server.status = 0
    assert collect(plan_collection(config, tmp_path / "out")).statuses == {"kept": 40}


@pytest.mark.parametrize("code", [500, 501, 503, 508, 520, 599])
def test_a_few_addresses_that_all_fail_are_an_outage(server, tmp_path, code):
    server.status = code
    with pytest.raises(ServiceError, match="3 downloads failed"):
        of_list(addresses(server, 3), tmp_path / "out", server.host)
    server.status = 0
    assert len(of_list(addresses(server, 3), tmp_path / "out", server.host)) == 3


@pytest.mark.parametrize(
    "robots",
    [
        *("User-agent: *\nDisallow: //[x\n", "User-agent: *\nCrawl-delay: ²\n", "User-agent: *\nRequest-rate: 1/²\n"),
        *("User-agent: *\nCrawl-delay: nan\n", "\x00\xff", f"User-agent: *\nCrawl-delay: -{'9' * 5000}\n"),
    ],
)
def test_whatever_stands_in_robots_the_photos_are_had(server, tmp_path, robots):
    server.robots = robots
    assert of_list(addresses(server, 3), tmp_path / "out", server.host)["status"].tolist() == ["kept"] * 3


def test_one_server_that_misbehaves_costs_its_own_photo(server, tmp_path):
    good = addresses(server, 3)
    with raw_server([b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n"]) as (host, _):
        bad = [f"http://{host}/a.jpg", "http://host:99999/a.jpg", "http://host:-1/a.jpg", "http://[", "http://]"]
        found = of_list([good[0], *bad, *good[1:]], tmp_path / "out", server.host, host)
    assert found["status"].tolist()[2:6] == ["refused"] * 4
    assert (found["status"] == "kept").sum() == 3


CTRL_C = """
import sys
from pathlib import Path
from gslopes.collect.photos import CollectConfig, collect, plan_collection
config = CollectConfig(source=f"urls:{sys.argv[1]}", gap=0.0, test_servers=(sys.argv[2],))
print("begun", flush=True)
collect(plan_collection(config, Path(sys.argv[3])))
"""


def test_the_first_ctrl_c_ends_it_while_servers_drip(tmp_path):
    with raw_server([b"HTTP/1.1 100 Continue\r\n\r\n"] * 600, pause=0.1) as (host, _):
        (tmp_path / "list.txt").write_text("".join(f"http://{host}/{number}.jpg\n" for number in range(20)))
        command = [sys.executable, "-c", CTRL_C, str(tmp_path / "list.txt"), host, str(tmp_path / "out")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(1.5)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
            seconds = time.monotonic() - began
    assert process.returncode != 0
    assert seconds < 5  # one, on a machine that does nothing else; 200 and more before


def test_the_limits_are_part_of_a_collection_whatever_their_key_was_called(server, tmp_path):
    of_list(addresses(server, 2), tmp_path / "out", server.host)
    manifest = tmp_path / "out/run.json"
    manifest.write_text(manifest.read_text().replace('"limits"', '"wishes"'))
    assert len(of_list(addresses(server, 2), tmp_path / "out", server.host)) == 2
