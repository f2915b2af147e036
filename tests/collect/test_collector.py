"""One photo's trouble is that photo's; an outage stops the run and costs nothing of it."""

from __future__ import annotations

import dataclasses
import io
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
from skimage.data import astronaut, chelsea

from gslopes.collect.collector import DuplicateIndex, check_type, examine, perceptual_hash
from gslopes.collect.fetch import DownloadError, FetchPolicy
from gslopes.collect.photos import CollectConfig, collect, plan_collection
from gslopes.core.errors import ServiceError
from tests.collect.server import PhotoServer, bomb, serving
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


# --- What counts as a photo, and what as the same photo again ---------------------------------------------------------


def encoded(pixels: np.ndarray, kind: str = "JPEG", **options: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def test_the_same_photo_smaller_and_worse_is_found_and_another_is_not():
    duplicates = DuplicateIndex(near=4)
    first = examine(encoded(astronaut(), quality=95), 64)
    duplicates.add(first.photo, "a/first.jpg", first.phash)
    small = np.asarray(Image.fromarray(astronaut()).resize((220, 220)))
    again = duplicates.find(examine(encoded(small, quality=40), 64))
    assert again is not None
    assert again[:2] == (first.photo, "a/first.jpg")
    assert "looks the same" in again[2]
    assert duplicates.find(examine(encoded(chelsea()), 64)) is None


def test_equal_bytes_are_found_even_if_looks_do_not_count():
    duplicates = DuplicateIndex(near=-1)
    data = encoded(astronaut())
    first = examine(data, 64)
    duplicates.add(first.photo, "a", first.phash)
    assert duplicates.find(examine(data, 64)) == (first.photo, "a", "same bytes as another photo")
    assert duplicates.find(examine(encoded(astronaut(), quality=50), 64)) is None


def test_of_several_near_photos_the_nearest_is_named():
    duplicates = DuplicateIndex(near=8)
    picture = examine(encoded(astronaut()), 64)
    for number, bits in enumerate((0b1111, 0b1, 0b11)):
        duplicates.add(f"photo{number}", f"path{number}", picture.phash ^ bits)
    found = duplicates.find(picture)
    assert found == ("photo1", "path1", "looks the same (1 of 64 bits differ)")


def test_more_photos_than_there_was_room_for_are_all_remembered():
    duplicates = DuplicateIndex(near=0)
    for number in range(3000):
        duplicates.add(str(number), str(number), number * 0x1_0001_0001)
    picture = examine(encoded(astronaut()), 64)
    for number in (0, 1023, 1024, 2999):
        again = duplicates.find(type(picture)("new", "jpg", 1, 1, number * 0x1_0001_0001))
        assert again is not None
        assert again[0] == str(number)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a JPEG"),
        (b"<html>", "not a JPEG"),
        (b"GIF89a" + bytes(100), "not a JPEG"),
        (b"\xff\xd8\xff" + bytes(1000), "unreadable"),
        (encoded(astronaut())[:5000], "truncated"),
        (bomb(), "too large"),
        (encoded(astronaut()[:40]), "too small"),
    ],
)
def test_what_is_no_usable_photo_is_refused_with_the_reason(data, reason):
    with pytest.raises(DownloadError, match=reason) as caught:
        examine(data, 64)
    assert caught.value.status == "refused"


def test_the_suffix_is_that_of_the_contents():
    kinds = {kind: examine(encoded(astronaut(), kind), 64).suffix for kind in ("JPEG", "PNG", "WEBP", "TIFF", "BMP")}
    assert kinds == {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "TIFF": "tif", "BMP": "bmp"}


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "", "application/json"])
def test_what_is_not_sent_as_a_picture_is_refused(kind):
    with pytest.raises(DownloadError, match="not sent as a picture"):
        check_type(kind)


def test_pictures_and_plain_bytes_may_be_tried():
    for kind in ("image/jpeg", "image/webp", "application/octet-stream"):
        check_type(kind)


def test_the_hash_is_a_number_of_64_bits():
    assert 0 < perceptual_hash(astronaut()) < 2**64
