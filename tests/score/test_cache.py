from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import time
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.core.errors import StorageError, TableError, UsageError
from gslopes.score import cache_files
from gslopes.score.cache import FILE, Kept, Store, _packed, _unpacked, cache_folder

SECRET = "s3cr3t-Value_0123456789"


def key(number: int) -> bytes:
    return sha256(str(number).encode()).digest()


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path / "cache") as opened:
        yield opened


@pytest.fixture
def shelf(store: Store) -> int:
    return store.shelf("box:a=1", "7")


# --- answers ---


def test_an_answer_comes_back_with_its_date_model_and_client(store, shelf):
    before = int(datetime.now(UTC).timestamp())
    store.keep(shelf, {key(1): Kept("answered", {"labels": [["ü", 0.5]]}, "model-2")})
    (kept,) = store.find(shelf, [key(1), key(2)]).values()
    assert (kept.status, kept.raw, kept.model) == ("answered", {"labels": [["ü", 0.5]]}, "model-2")
    assert kept.asked >= before
    assert kept.client


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "ü"]), inner, max_size=3),
    max_leaves=8,
)


@given(raw=JSON)
def test_any_raw_answer_comes_back_as_it_was(raw):
    assert _unpacked(_packed(raw)) == raw


def test_name_parameters_and_version_are_part_of_the_key(store):
    shelves = {store.shelf(name, version) for name in ("box", "box:a=1") for version in ("1", "2")}
    assert len(shelves) == 4
    for number in shelves:
        store.keep(number, {key(1): Kept("answered", number)})
    assert {store.find(number, [key(1)])[key(1)].raw for number in shelves} == shelves


def test_the_first_answer_stays(store, shelf):
    store.keep(shelf, {key(1): Kept("answered", "first")})
    store.keep(shelf, {key(1): Kept("answered", "second")})
    assert store.find(shelf, [key(1)])[key(1)].raw == "first"


def test_more_keys_than_one_statement_takes_are_found(store, shelf):
    store.keep(shelf, {key(number): Kept("answered", number) for number in range(700)})
    assert len(store.find(shelf, map(key, range(1500)))) == 700
    assert store.has(shelf, map(key, range(600, 1500))) == set(map(key, range(600, 700)))


# --- claims ---


def test_what_one_has_claimed_another_waits_for(store, shelf, tmp_path):
    with Store(tmp_path / "cache") as other:
        assert store.claim(shelf, [key(1), key(2)]).mine == {key(1), key(2)}
        store.keep(shelf, {key(1): Kept("answered", "x")})
        claim = other.claim(shelf, [key(1), key(2), key(3)])
        assert (set(claim.kept), claim.others, claim.mine) == ({key(1)}, {key(2)}, {key(3)})
        store.release(shelf, [key(2)])
        assert other.claim(shelf, [key(2)]).mine == {key(2)}


def test_a_claim_ends_with_its_lease(store, shelf, tmp_path, monkeypatch):
    monkeypatch.setattr("gslopes.score.cache.LEASE", -1.0)
    store.claim(shelf, [key(1)])
    with Store(tmp_path / "cache") as other:
        assert other.claim(shelf, [key(1)]).mine == {key(1)}


def test_closing_gives_claims_back(store, shelf, tmp_path):
    with Store(tmp_path / "cache") as other:
        other.claim(shelf, [key(1)])
    assert store.claim(shelf, [key(1)]).mine == {key(1)}
    assert list((tmp_path / "cache/owners").iterdir()) == [tmp_path / "cache/owners" / store.owner]


def _claim_and_wait(folder: Path, ready) -> None:
    store = Store(folder)
    store.claim(store.shelf("box:a=1", "7"), [key(1)])
    ready.set()
    signal.pause()


def test_a_claim_ends_with_its_process_even_if_that_is_killed(store, shelf, tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_claim_and_wait, args=(tmp_path / "cache", ready))
    process.start()
    assert ready.wait(60)
    assert store.claim(shelf, [key(1)]).others == {key(1)}
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert store.claim(shelf, [key(1)]).mine == {key(1)}


def _ask_all(folder: Path, count: int, log: Path) -> None:
    """Asks what is its own, two at a time, and waits for the rest, as the client does."""
    with Store(folder) as store, log.open("a") as asked:
        shelf, left = store.shelf("box", ""), [key(number) for number in range(count)]
        while left:
            claim = store.claim(shelf, left[:6])
            for one in claim.mine:
                asked.write(one.hex() + "\n")
            store.keep(shelf, {one: Kept("answered", one.hex()) for one in claim.mine})
            left = [one for one in left if one not in claim.mine and one not in claim.kept]
            left = left[1:] + left[:1]
            time.sleep(0.0 if claim.mine else 0.05)


def test_processes_on_one_cache_never_ask_the_same_and_do_not_corrupt_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    logs = [tmp_path / f"{number}.log" for number in range(2)]
    processes = [context.Process(target=_ask_all, args=(tmp_path / "cache", 60, log)) for log in logs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    asked = [line for log in logs for line in log.read_text().split()]
    assert sorted(asked) == sorted(key(number).hex() for number in range(60))
    with sqlite3.connect(tmp_path / "cache" / FILE) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    db.close()


# --- secrets ---


@pytest.mark.parametrize(
    "raw",
    [
        {"request": {"headers": {"Authorization": f"Bearer {SECRET}", "Host": "x"}}},
        {"headers": {"Ocp-Apim-Subscription-Key": SECRET, "X-Amz-Security-Token": SECRET}},
        {"error": f"Authorization: Bearer {SECRET}"},
        {"labels": [[f"key {os.sep}", 0.5]], "echo": SECRET},
    ],
)
def test_no_secret_reaches_the_file(store, shelf, tmp_path, monkeypatch, raw):
    monkeypatch.setenv("VISION_KEY", SECRET)
    store.keep(shelf, {key(1): Kept("answered", raw)})
    assert SECRET not in json.dumps(store.find(shelf, [key(1)])[key(1)].raw)
    cache_files.export_answers(store, tmp_path / "out.jsonl")
    assert SECRET not in (tmp_path / "out.jsonl").read_text()


def test_a_label_that_looks_like_a_parameter_is_left_as_it_is(store, shelf):
    raw = {"labels": [["Secret: garden", 0.5], ["token=ring", 0.25]]}
    store.keep(shelf, {key(1): Kept("answered", raw)})
    assert store.find(shelf, [key(1)])[key(1)].raw == raw


# --- trouble ---


def test_a_file_that_is_no_database_is_a_sentence(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StorageError, match="cannot be used: file is not a database"):
        Store(tmp_path)


def test_a_cache_of_a_newer_gslopes_is_left_alone(tmp_path):
    Store(tmp_path).close()
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StorageError, match="newer gslopes"):
        Store(tmp_path)


def test_the_folder_is_what_is_given_or_the_environment_or_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "env"))
    assert cache_folder(tmp_path / "given") == tmp_path / "given"
    assert cache_folder() == tmp_path / "env"
    monkeypatch.delenv("GSLOPES_CACHE")
    assert "gslopes" in str(cache_folder())


# --- files ---


def test_what_is_exported_and_imported_is_the_same_cache(store, shelf, tmp_path):
    store.keep(shelf, {key(n): Kept("answered", {"n": n}, "m") for n in range(7)} | {key(9): Kept("refused", "policy")})
    assert cache_files.export_answers(store, tmp_path / "out.jsonl") == 8
    with Store(tmp_path / "second") as second:
        assert cache_files.import_answers(second, tmp_path / "out.jsonl") == (8, 8)
        assert cache_files.import_answers(second, tmp_path / "out.jsonl") == (8, 0)
        assert cache_files.facts(second) == cache_files.facts(store)
        number = second.shelf("box:a=1", "7")
        assert second.find(number, map(key, range(10))) == store.find(shelf, map(key, range(10)))


def test_a_line_that_is_no_answer_is_named(store, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"picture": "00"}\n')
    with pytest.raises(TableError, match="Line 1 of"):
        cache_files.import_answers(store, tmp_path / "in.jsonl")
    with pytest.raises(UsageError, match="no file"):
        cache_files.import_answers(store, tmp_path / "none.jsonl")


def test_pruning_takes_what_was_named_and_nothing_else(store, shelf):
    other = store.shelf("other", "")
    store.keep(shelf, {key(1): Kept("answered", 1, asked=1000), key(2): Kept("answered", 2)})
    store.keep(other, {key(1): Kept("answered", 1)})
    assert cache_files.prune(store, before=datetime.fromtimestamp(2000, UTC)) == 1
    assert store.has(shelf, [key(1), key(2)]) == {key(2)}
    assert cache_files.prune(store, name="other") == 1
    assert [one.classifier for one in cache_files.facts(store)] == ["box:a=1"]
