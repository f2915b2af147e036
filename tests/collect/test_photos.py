"""Whole collections from a loopback server: complete, safe, polite, resumable, with licences.

One photo's trouble is that photo's; an outage stops the run and costs nothing of it.
"""

import errno
import io
import json
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

from gslopes.collect import collector
from gslopes.collect.collector import examine
from gslopes.collect.config import CollectConfig
from gslopes.collect.fetch import DownloadError
from gslopes.collect.photos import CollectPlan, collect, plan_collection
from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch, ServiceError, StorageError
from gslopes.core.reasons import Reason
from gslopes.core.tables import MANIFEST
from gslopes.slopes.demo import astronaut
from tests.collect.server import TROUBLES, PhotoServer, aim, bomb, serving
from tests.collect.test_fetch import raw_server

ROOT = Path(__file__).resolve().parents[2]
JOBS = ("chef", "judge", "pilot")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred photos of noise of each job, all different."""
    folder = tmp_path_factory.mktemp("photos")
    for index, job in enumerate(JOBS):
        (folder / job).mkdir()
        for number in range(100):
            noise = np.random.default_rng(1000 * index + number).integers(
                0, 256, (8, 8, 3), np.uint8
            )
            picture = Image.fromarray(noise).resize((96, 96), Image.Resampling.NEAREST)
            picture.save(folder / job / f"{number:03d}.jpg")
    return folder


@pytest.fixture
def server(photos: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PhotoServer]:
    monkeypatch.delenv("OPENVERSE_TOKEN", raising=False)
    with serving(PhotoServer(photos)) as started:
        aim(started.base, monkeypatch.setattr)
        yield started


def planned(out: Path, source: str = "openverse", **options: object) -> CollectPlan:
    defaults = {
        "occupations": "chef",
        "keywords": "none",
        "per_query": 10,
        "gap": 0.0,
        "contact": "me@example.org",
    }
    return plan_collection(CollectConfig(source=source, **{**defaults, **options}), out)


def of_list(lines: list[str], out: Path) -> pd.DataFrame:
    (out.parent / "list.csv").write_text("\n".join(lines) + "\n")
    return collect(planned(out, f"urls:{out.parent / 'list.csv'}", per_query=250)).table


def addresses(server: PhotoServer, count: int = 40) -> list[str]:
    return [url for url, _ in server.results("chef")[:count]]


def same(folder: Path, expected: Path) -> None:
    """Two collections are equal but for the moments at which their photos came."""
    frames = [
        tables.read(MANIFEST, tree / "manifest.parquet").drop(columns="retrieved")
        for tree in (folder, expected)
    ]
    pd.testing.assert_frame_equal(*frames)
    assert contents(folder) == contents(expected)


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.jpg"))}


@pytest.mark.row("slopes-1-photos", "slopes-4.2-search")
def test_a_collection_keeps_photos_with_their_licences_and_where_they_are_from(
    server, photos, tmp_path
):
    result = collect(planned(tmp_path / "out", occupations="chef,judge", keywords="none"))
    assert (result.photos, result.searches, result.statuses) == (20, 2, {"kept": 20})
    assert result.licences == {"CC0 1.0": 10, "CC BY-SA 2.0": 10}
    row = result.table[result.table["occupation"] == "chef"].iloc[1]
    assert (row["soc"], row["query"], row["rank"], row["source"]) == (
        "35-1011",
        "chef",
        2,
        "openverse",
    )
    assert (row["licence"], row["creator"]) == ("CC BY-SA 2.0", "Ann <b>1</b>")
    assert row["page"].startswith("https://photos.example/")
    rows = pd.read_csv(tmp_path / "out/manifest.csv", dtype=str, keep_default_na=False)
    assert rows["photo"].tolist() == result.table["photo"].tolist()
    assert result.table["creator"].iloc[0].startswith("=HYPERLINK")
    assert rows["creator"].iloc[0].startswith("'=HYPERLINK")  # a spreadsheet runs no formula
    originals = {path.read_bytes() for path in (photos / "chef").iterdir()}
    assert {
        data for name, data in contents(tmp_path / "out").items() if name.startswith("chef/")
    } <= originals


def test_whatever_goes_wrong_with_a_photo_costs_that_photo_alone(server, tmp_path):
    server.troubles = {
        number: trouble for number, trouble in enumerate(TROUBLES) if trouble != "slow"
    }
    result = collect(planned(tmp_path / "out", per_query=20))
    rows = result.table.set_index("rank")
    whys = rows["status"], rows["reason"], rows["detail"]
    fates = {
        trouble: tuple(column[number + 1] for column in whys)
        for number, trouble in enumerate(TROUBLES)
    }
    refused = {trouble for trouble, (status, *_) in fates.items() if status == "refused"}
    assert refused == {
        "gone",
        "wrong-type",
        "loopback",
        "file",
        "endless",
        "bomb",
        "not-a-picture",
        "loop",
        "gzip",
    }
    assert {trouble for trouble, (status, *_) in fates.items() if status == "failed"} == {
        "cut",
        "busy",
        "drop",
    }
    assert "too large" in fates["bomb"][1]
    assert "private" in fates["loopback"][1]
    assert fates["gone"] == ("refused", "HTTP error", "404")
    assert {reason for _, reason, _ in fates.values()} <= {*Reason}
    assert fates["throttle"][0] == fates["moved"][0] == "kept"
    assert result.photos == len(contents(tmp_path / "out")) == 18


def test_robots_are_obeyed(server, tmp_path):
    server.robots = "User-agent: *\nDisallow: /photo/\n"
    assert set(collect(planned(tmp_path / "out")).table["reason"]) == {
        "its robots.txt does not allow it"
    }
    assert server.downloads() == []


def test_what_other_searches_found_is_kept_once_and_told(server, tmp_path):
    result = collect(planned(tmp_path / "out", keywords="paper", per_query=4))
    assert len(contents(tmp_path / "out")) == result.photos
    again = result.table[result.table["status"] == "duplicate"]
    assert len(again)
    assert set(again["keyword"]) == {
        "male",
        "female",
        "African American",
        "Asian",
        "Caucasian",
        "Hispanic",
    }
    path = result.table[result.table["status"] == "kept"].set_index("photo")["path"]
    assert (again["path"] == again["photo"].map(path)).all()
    assert path.is_unique


@pytest.mark.row("slopes-4.2-keywords")
def test_a_dry_run_counts_and_asks_nobody(server, tmp_path):
    plan = planned(tmp_path / "out", occupations="bls-129", keywords="paper", per_query=250)
    assert (len(plan.queries), plan.done, plan.photos, plan.requests) == (
        903,
        0,
        903 * 240,
        903 * 12,
    )
    assert server.asked == []
    assert not (tmp_path / "out").exists()


def test_called_again_it_asks_nothing_and_another_wish_is_another_folder(server, tmp_path):
    collect(planned(tmp_path / "out"))
    before = len(server.asked)
    assert collect(planned(tmp_path / "out")).photos == 10
    assert len(server.asked) == before
    with pytest.raises(RunFolderMismatch, match="per_query is 10 there and 11 here"):
        planned(tmp_path / "out", per_query=11)


def test_a_network_that_is_gone_stops_the_collection_which_then_goes_on(
    server, tmp_path, monkeypatch
):
    monkeypatch.setattr(collector, "OUTAGE", 5)
    server.troubles = dict.fromkeys(range(6, 200), "busy")
    with pytest.raises(ServiceError, match="5 downloads failed"):
        collect(planned(tmp_path / "out"))
    server.troubles = {}
    for number, url in enumerate(
        json.loads((tmp_path / "out/parts/collect/000000-results.json").read_text())
    ):
        assert ("busy" in url["url"]) == (number >= 6)
    assert len(contents(tmp_path / "out")) == 6
    assert tables.read(MANIFEST, tmp_path / "out/manifest.parquet").empty


def test_a_full_disk_is_a_sentence_and_loses_nothing(server, tmp_path, monkeypatch):
    collect(planned(tmp_path / "whole", occupations="chef,judge"))
    write, left = runfolder.write_bytes, [14]

    def full(path: Path, data: bytes) -> None:
        left[0] -= path.suffix == ".jpg"
        with runfolder.storage(path):
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(runfolder, "write_bytes", full)
    with pytest.raises(StorageError, match="no space left"):
        collect(planned(tmp_path / "out", occupations="chef,judge"))
    monkeypatch.setattr(runfolder, "write_bytes", write)
    assert len(contents(tmp_path / "out")) == 14
    before = len(server.downloads())
    collect(planned(tmp_path / "out", occupations="chef,judge"))
    same(tmp_path / "out", tmp_path / "whole")
    assert len(server.downloads()) - before <= 10 - 4


@pytest.mark.slow
def test_an_outage_in_which_every_search_is_short_is_one_too(server, tmp_path):
    lines = ["url,occupation", *(f"{url},job {n}" for n, url in enumerate(addresses(server, 26)))]
    server.status = 503
    with pytest.raises(ServiceError, match="25 downloads failed"):
        of_list(lines, tmp_path / "out")
    server.status = 0
    assert of_list(lines, tmp_path / "out")["status"].tolist() == ["kept"] * 26


def test_a_few_addresses_that_all_fail_are_an_outage(server, tmp_path):
    server.status = 503
    with pytest.raises(ServiceError, match="3 downloads failed"):
        of_list(addresses(server, 3), tmp_path / "out")
    server.status = 0
    assert len(of_list(addresses(server, 3), tmp_path / "out")) == 3


def test_one_server_that_misbehaves_costs_its_own_photo(server, tmp_path, monkeypatch):
    good = addresses(server, 3)
    with raw_server([b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n"]) as (
        host,
        _,
    ):
        bad = [
            "http://host:99999/a.jpg",
            "http://host:-1/a.jpg",
            "http://[",
            "http://]",
            f"http://{host}/a.jpg",
        ]
        result = of_list([good[0], *bad, *good[1:]], tmp_path / "out")
    assert result["status"].tolist() == ["kept", *["refused"] * 5, "kept", "kept"]


# --- the command, stopped ---


def command(server: PhotoServer, out: Path, per_query: int = 100) -> list[str]:
    options = ["--gap", "0", "--out", str(out)]
    words = ["--occupations", ",".join(JOBS), "--keywords", "none", "--per-query", str(per_query)]
    return [sys.executable, "-m", "tests.collect.server", server.base, "collect", *options, *words]


def stop(process: subprocess.Popen[str], out: Path, photos: int, how: signal.Signals) -> None:
    while process.poll() is None and sum(1 for _ in out.rglob("*.jpg")) < photos:
        time.sleep(0.005)
    process.send_signal(how)


@pytest.mark.slow
def test_killed_in_the_middle_and_run_again_300_photos_are_those_of_the_undisturbed_collection(
    server, tmp_path
):
    quiet = {"cwd": ROOT, "capture_output": True, "text": True, "check": True}
    full = subprocess.run([*command(server, tmp_path / "whole"), "--json"], **quiet)
    assert json.loads(full.stdout)["photos"] == 300
    server.hits.clear()
    server.delay = 0.02
    for photos in (40, 150, 260):
        process = subprocess.Popen(
            command(server, tmp_path / "out"), cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        stop(process, tmp_path / "out", photos, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    subprocess.run(command(server, tmp_path / "out"), **quiet)
    same(tmp_path / "out", tmp_path / "whole")
    assert not list((tmp_path / "out").rglob("*.tmp"))
    # each kill costs the downloads that were under way or waiting to be judged, sixteen at most
    assert sum(count - 1 for count in server.hits.values()) <= 3 * 16


@pytest.mark.slow
def test_ctrl_c_is_a_sentence_and_the_manifest_tells_what_is_done(server, tmp_path):
    server.delay = 0.02
    process = subprocess.Popen(
        command(server, tmp_path / "out", 40), cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    stop(process, tmp_path / "out", 60, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "goes on from there" in err
    assert "Traceback" not in err
    done = tables.read(MANIFEST, tmp_path / "out/manifest.parquet")
    assert set(done["occupation"]) == {"chef"}
    assert (done["status"] == "kept").sum() == 40


@pytest.mark.slow
def test_the_first_ctrl_c_ends_it_while_servers_drip(tmp_path):
    with raw_server([b"HTTP/1.1 100 Continue\r\n\r\n"] * 600, pause=0.1) as (host, _):
        (tmp_path / "list.txt").write_text(
            "".join(f"http://{host}/{number}.jpg\n" for number in range(20))
        )
        options = [
            "collect",
            "--source",
            f"urls:{tmp_path / 'list.txt'}",
            "--gap",
            "0",
            "--out",
            str(tmp_path / "out"),
        ]
        argv = [sys.executable, "-m", "tests.collect.server", f"http://{host}", *options]
        with subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
            while not (tmp_path / "out/parts").is_dir():
                time.sleep(0.01)
            time.sleep(0.5)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) != 0
    assert time.monotonic() - began < 5


# --- What counts as a photo -------------------------------------------------------------------------------------------


def encoded(pixels: np.ndarray, kind: str = "JPEG", **options: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


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
    kinds = {
        kind: examine(encoded(astronaut(), kind), 64)["path"].split(".")[1]
        for kind in ("JPEG", "PNG", "WEBP", "TIFF", "BMP")
    }
    assert kinds == {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "TIFF": "tif", "BMP": "bmp"}


@pytest.mark.parametrize(
    "kind", ["text/html", "image/svg+xml", "image/webp", "application/octet-stream"]
)
def test_what_is_not_sent_as_a_picture_is_refused(server, tmp_path, kind):
    server.kind = kind
    refused = "html" in kind or "svg" in kind
    assert set(of_list(addresses(server, 2), tmp_path / "out")["status"]) == {
        "refused" if refused else "kept"
    }
