"""Whole collections from a loopback server: complete, safe, polite, resumable, with licences."""

from __future__ import annotations

import dataclasses
import errno
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from gslopes.cli import main
from gslopes.collect import collector
from gslopes.collect.fetch import FetchPolicy
from gslopes.collect.photos import CollectConfig, CollectPlan, collect, plan_collection
from gslopes.collect.source import Google, Openverse, Wikimedia
from gslopes.core import runfolder, tables
from gslopes.core.errors import ConfigError, CredentialsError, RunFolderMismatch, ServiceError, StorageError
from gslopes.core.reasons import Reason
from gslopes.core.tables import MANIFEST
from tests.collect.server import TROUBLES, PhotoServer, serving

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def photos(unpacked: Callable[[str], Path]) -> Path:
    return unpacked("idenprof-test") / "idenprof"


@pytest.fixture
def server(photos: Path) -> Iterator[PhotoServer]:
    with serving(PhotoServer(photos)) as started:
        yield started


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch policy without waiting, and interfaces that may be asked at once: the pace has tests of its own."""
    kind = CollectConfig.policy

    def policy(self: CollectConfig) -> FetchPolicy:
        return dataclasses.replace(kind(self), seconds=20, max_attempts=2, backoff=0.01, max_bytes=1 << 20)

    monkeypatch.setattr(CollectConfig, "policy", policy)
    for source in (Openverse, Wikimedia, Google):
        terms = "anonymous" if hasattr(source, "anonymous") else "terms"  # Openverse has others with a token
        monkeypatch.setattr(source, terms, dataclasses.replace(getattr(source, terms), gap=0.0))


def planned(server: PhotoServer, out: Path, source: str = "openverse", **options: object) -> CollectPlan:
    known = {"occupations": "chef", "keywords": "none", "per_query": 10, "gap": 0.0, "test_servers": (server.host,)}
    return plan_collection(CollectConfig(source=f"{source}:base={server.base}", **{**known, **options}), out)


def same(found: Path, expected: Path) -> None:
    """Two collections are equal but for the moments at which their photos came."""
    frames = [tables.read(MANIFEST, one / "manifest.parquet").drop(columns="retrieved") for one in (found, expected)]
    pd.testing.assert_frame_equal(*frames)
    assert contents(found) == contents(expected)


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.jpg"))}


def test_a_collection_keeps_photos_with_their_licences_and_where_they_are_from(server, photos, tmp_path):
    found = collect(planned(server, tmp_path / "out", occupations="chef,judge", keywords="none"))
    assert (found.photos, found.searches, found.statuses) == (20, 2, {"kept": 20})
    assert found.licences == {"CC0 1.0": 10, "CC BY-SA 2.0": 10}
    row = found.table[found.table["occupation"] == "chef"].iloc[1]
    assert (row["soc"], row["query"], row["rank"], row["source"]) == ("35-1011", "chef", 2, "openverse")
    assert (row["licence"], row["creator"]) == ("CC BY-SA 2.0", "Ann <b>1</b>")
    assert row["page"].startswith("https://photos.example/")
    originals = {path.read_bytes() for path in (photos / "chef").iterdir()}
    assert {data for name, data in contents(tmp_path / "out").items() if name.startswith("chef/")} <= originals


def test_the_csv_has_the_same_rows_and_runs_no_formula(server, tmp_path):
    found = collect(planned(server, tmp_path / "out"))
    rows = pd.read_csv(tmp_path / "out/manifest.csv", dtype=str, keep_default_na=False)
    assert rows["photo"].tolist() == found.table["photo"].tolist()
    assert found.table["creator"].iloc[0].startswith("=HYPERLINK")
    assert rows["creator"].iloc[0].startswith("'=HYPERLINK")


@pytest.mark.parametrize("source", ["wikimedia", "google"])
def test_every_source_fills_the_same_folder(server, tmp_path, source, monkeypatch):
    for name, value in {"GOOGLE_SEARCH_KEY": "right", "GOOGLE_SEARCH_ENGINE": "engine"}.items():
        monkeypatch.setenv(name, value)
    collect(planned(server, tmp_path / "openverse"))
    collect(planned(server, tmp_path / source, source))
    assert contents(tmp_path / source) == contents(tmp_path / "openverse")


def test_a_folder_and_a_list_need_no_search(server, photos, tmp_path):
    config = CollectConfig(source=f"folder:{photos}", per_query=3)
    found = collect(plan_collection(config, tmp_path / "folder"))
    assert (found.searches, found.photos) == (10, 30)
    lines = [f"{url},chef" for url, _ in server.results("chef")[:5]]
    (tmp_path / "list.csv").write_text("\n".join(["url,occupation", *lines, lines[0]]))
    config = CollectConfig(source=f"urls:{tmp_path / 'list.csv'}", gap=0.0, test_servers=(server.host,))
    assert collect(plan_collection(config, tmp_path / "list")).statuses == {"kept": 5}


def test_whatever_goes_wrong_with_a_photo_costs_that_photo_alone(server, tmp_path):
    server.troubles = {number: trouble for number, trouble in enumerate(TROUBLES) if trouble != "slow"}
    found = collect(planned(server, tmp_path / "out", per_query=20))
    rows = found.table.set_index("rank")
    whys = rows["status"], rows["reason"], rows["detail"]
    fates = {trouble: tuple(column[number + 1] for column in whys) for number, trouble in enumerate(TROUBLES)}
    refused = {trouble for trouble, (status, *_) in fates.items() if status == "refused"}
    assert refused == {"gone", "wrong-type", "loopback", "file", "endless", "bomb", "not-a-picture", "loop", "gzip"}
    assert {trouble for trouble, (status, *_) in fates.items() if status == "failed"} == {"cut", "busy", "drop"}
    assert "too large" in fates["bomb"][1]
    assert "private" in fates["loopback"][1]
    assert fates["gone"] == ("refused", "HTTP error", "404")
    assert {reason for _, reason, _ in fates.values()} <= {*Reason}
    assert fates["throttle"][0] == fates["moved"][0] == "kept"
    assert found.photos == len(contents(tmp_path / "out")) == 18


def test_robots_are_obeyed(server, tmp_path):
    server.robots = "User-agent: *\nDisallow: /photo/\n"
    found = collect(planned(server, tmp_path / "out"))
    assert found.photos == 0
    assert set(found.table["reason"]) == {"its robots.txt does not allow it"}
    assert server.downloads() == []


def test_what_other_searches_found_is_kept_once_and_told(server, tmp_path):
    found = collect(planned(server, tmp_path / "out", keywords="paper", per_query=4))
    assert len(contents(tmp_path / "out")) == found.photos
    again = found.table[found.table["status"] == "duplicate"]
    assert len(again)
    assert set(again["keyword"]) == {"male", "female", "African American", "Asian", "Caucasian", "Hispanic"}
    kept = found.table[found.table["status"] == "kept"].set_index("photo")["path"]
    assert (again["path"] == again["photo"].map(kept)).all()
    assert kept.is_unique


def test_a_dry_run_counts_and_asks_nobody(server, tmp_path):
    plan = planned(server, tmp_path / "out", occupations="bls-129", keywords="paper", per_query=250)
    assert (len(plan.queries), plan.done, plan.photos, plan.requests) == (903, 0, 903 * 240, 903 * 12)
    assert server.asked == []
    assert not (tmp_path / "out").exists()


def test_called_again_it_asks_nothing_and_another_wish_is_another_folder(server, tmp_path):
    collect(planned(server, tmp_path / "out"))
    before = len(server.asked)
    assert collect(planned(server, tmp_path / "out")).photos == 10
    assert len(server.asked) == before
    with pytest.raises(RunFolderMismatch, match="per_query is 10 there and 11 here"):
        planned(server, tmp_path / "out", per_query=11)


def test_a_wrong_key_is_told_without_it(server, tmp_path, monkeypatch):
    monkeypatch.setenv("GOOGLE_SEARCH_KEY", "wrong-secret")
    monkeypatch.setenv("GOOGLE_SEARCH_ENGINE", "engine")
    with pytest.raises(CredentialsError, match="GOOGLE_SEARCH_KEY") as caught:
        collect(planned(server, tmp_path / "out", "google"))
    assert "secret" not in str(caught.value)
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


def test_a_network_that_is_gone_stops_the_collection_which_then_goes_on(server, tmp_path, monkeypatch):
    monkeypatch.setattr(collector, "OUTAGE", 5)
    server.troubles = dict.fromkeys(range(6, 200), "busy")
    with pytest.raises(ServiceError, match="5 downloads failed"):
        collect(planned(server, tmp_path / "out"))
    server.troubles = {}
    for number, url in enumerate(json.loads((tmp_path / "out/parts/collect/000000-results.json").read_text())):
        assert ("busy" in url["url"]) == (number >= 6)
    assert len(contents(tmp_path / "out")) == 6
    assert tables.read(MANIFEST, tmp_path / "out/manifest.parquet").empty


def test_a_full_disk_is_a_sentence_and_loses_nothing(server, tmp_path, monkeypatch):
    collect(planned(server, tmp_path / "whole", occupations="chef,judge"))
    write, left = runfolder.write_bytes, [14]

    def full(path: Path, data: bytes) -> None:
        left[0] -= path.suffix == ".jpg"
        with runfolder.storage(path):
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(runfolder, "write_bytes", full)
    with pytest.raises(StorageError, match="no space left"):
        collect(planned(server, tmp_path / "out", occupations="chef,judge"))
    monkeypatch.setattr(runfolder, "write_bytes", write)
    assert len(contents(tmp_path / "out")) == 14
    before = len(server.downloads())
    collect(planned(server, tmp_path / "out", occupations="chef,judge"))
    same(tmp_path / "out", tmp_path / "whole")
    assert len(server.downloads()) - before <= 10 - 4


@pytest.mark.parametrize("wrong", [{"per_query": 0}, {"near": 40}, {"gap": -1.0}, {"contact": "a\r\nX: y"}])
def test_limits_out_of_their_range_are_errors(wrong):
    with pytest.raises(ConfigError):
        CollectConfig(source="openverse", **wrong)


# --- the command, stopped ---


def command(server: PhotoServer, out: Path, per_query: int = 100) -> list[str]:
    source = ["--source", f"wikimedia:base={server.base}", "--test-server", server.host, "--gap", "0"]
    words = ["--occupations", "chef,judge,pilot", "--keywords", "none", "--per-query", str(per_query)]
    return [sys.executable, "-m", "gslopes", "collect", *source, *words, "--out", str(out)]


def stop(process: subprocess.Popen[str], out: Path, photos: int, how: signal.Signals) -> None:
    while process.poll() is None and sum(1 for _ in out.rglob("*.jpg")) < photos:
        time.sleep(0.005)
    process.send_signal(how)


@pytest.mark.slow
def test_killed_in_the_middle_and_run_again_300_photos_are_those_of_the_undisturbed_collection(server, tmp_path):
    quiet = {"cwd": ROOT, "capture_output": True, "text": True, "check": True}
    whole = subprocess.run([*command(server, tmp_path / "whole"), "--json"], **quiet)
    assert json.loads(whole.stdout)["photos"] == 300
    server.hits.clear()
    server.delay = 0.02
    for photos in (40, 150, 260):
        process = subprocess.Popen(command(server, tmp_path / "out"), cwd=ROOT, stderr=subprocess.PIPE, text=True)
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
    process = subprocess.Popen(command(server, tmp_path / "out", 40), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    stop(process, tmp_path / "out", 60, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "goes on from there" in err
    assert "Traceback" not in err
    done = tables.read(MANIFEST, tmp_path / "out/manifest.parquet")
    assert set(done["occupation"]) == {"chef"}
    assert (done["status"] == "kept").sum() == 40


def test_the_dry_run_of_the_command_prints_counts(server, tmp_path):
    done = subprocess.run([*command(server, tmp_path / "out"), "--dry-run"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "searches     3, of which 0 are done" in done.stdout
    assert "photos       300 at most" in done.stdout
    assert server.asked == []


def test_the_papers_collection_takes_54_days_without_a_token_and_minutes_with_one(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENVERSE_TOKEN", raising=False)
    plan = plan_collection(CollectConfig("openverse"), tmp_path / "photos")
    assert (len(plan.queries), plan.requests) == (903, 10_836)
    assert plan.duration == "54.0 days at its 200 requests a day"
    monkeypatch.setenv("OPENVERSE_TOKEN", "a-token")
    plan = plan_collection(CollectConfig("openverse", gap=0.5), tmp_path / "photos")
    assert (plan.requests, plan.source.terms.page, plan.duration) == (903, 500, "9 minutes at its pace")


@pytest.mark.parametrize(
    ("source", "requests", "duration", "downloads"),
    [
        ("openverse", 10_836, "54.0 days", "2.5 days"),
        ("wikimedia", 7_224, "2.0 hours", "2.6 days"),
        ("google", 9_030, "2.5 hours", "25.1 hours"),
    ],
)
def test_the_papers_whole_collection_says_honestly_how_long_it_takes(
    tmp_path, monkeypatch, source, requests, duration, downloads
):
    monkeypatch.delenv("OPENVERSE_TOKEN", raising=False)
    for name in ("GOOGLE_SEARCH_KEY", "GOOGLE_SEARCH_ENGINE"):
        monkeypatch.setenv(name, "planted")
    command = ["collect", "--source", source, "--contact", "me@example.org", "--out", str(tmp_path / "photos")]
    done = CliRunner().invoke(main, [*command, "--dry-run"])
    assert done.exit_code == 0, done.output
    assert f"{requests:,} at most to the source, {duration}" in done.output
    assert f"up to {downloads}, 1 s apart" in done.output
    assert ("ends it on 2027-01-01" in done.output) == (source == "google")
    facts = json.loads(CliRunner().invoke(main, [*command, "--dry-run", "--json"]).stdout)
    assert facts["requests"] == requests
    assert facts["download_hours"] > 24
    assert not (tmp_path / "photos").exists()


def test_the_search_that_ends_is_not_the_default():
    assert CollectConfig().source == "openverse"
