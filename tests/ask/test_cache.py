import errno
import json
import multiprocessing
import os
import signal
import sqlite3
import time
import zlib
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from gslopes.ask.cache import (
    FILE,
    AnswerCache,
    CachedAnswer,
    _packed,
    cache_folder,
    export_answers,
    facts,
    writable_cache,
)
from gslopes.core.errors import StorageError

SECRET = "s3cr3t-Value_0123456789"


def key(number: int) -> bytes:
    return sha256(str(number).encode()).digest()


@pytest.fixture
def cache(tmp_path: Path):
    with AnswerCache(tmp_path / "cache") as opened:
        yield opened


@pytest.fixture
def classifier_id(cache: AnswerCache) -> int:
    return cache.classifier_id("box:a=1", "7")


# --- answers ---


def test_the_first_answer_stays_with_its_date_model_and_client(cache, classifier_id):
    before = int(datetime.now(UTC).timestamp())
    cache.put(
        classifier_id, {key(1): CachedAnswer("answered", {"labels": [["ü", 0.5]]}, "model-2")}
    )
    (cached,) = cache.find(classifier_id, [key(1), key(2)]).values()
    assert (cached.status, cached.raw, cached.model) == (
        "answered",
        {"labels": [["ü", 0.5]]},
        "model-2",
    )
    assert cached.asked >= before
    assert cached.client
    cache.put(classifier_id, {key(1): CachedAnswer("answered", "second")})
    assert cache.find(classifier_id, [key(1)])[key(1)].raw == cached.raw


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "ü"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=30)
@given(raw=JSON)
def test_any_raw_answer_comes_back_as_it_was(raw):
    assert AnswerCache._unpacked(None, _packed(raw)) == raw  # type: ignore[arg-type]


def test_name_parameters_and_version_are_part_of_the_key(cache):
    ids = {
        cache.classifier_id(name, version) for name in ("box", "box:a=1") for version in ("1", "2")
    }
    assert len(ids) == 4
    for number in ids:
        cache.put(number, {key(1): CachedAnswer("answered", number)})
    assert {cache.find(number, [key(1)])[key(1)].raw for number in ids} == ids


def test_more_keys_than_one_statement_takes_are_found(cache, classifier_id):
    cache.put(
        classifier_id, {key(number): CachedAnswer("answered", number) for number in range(700)}
    )
    assert len(cache.find(classifier_id, map(key, range(1500)))) == 700
    assert cache.has(classifier_id, map(key, range(600, 1500))) == set(map(key, range(600, 700)))


# --- claims ---


def test_what_one_has_claimed_another_waits_for(cache, classifier_id, tmp_path):
    with AnswerCache(tmp_path / "cache") as other:
        assert cache.claim(classifier_id, [key(1), key(2)]).to_ask == {key(1), key(2)}
        cache.put(classifier_id, {key(1): CachedAnswer("answered", "x")})
        claim = other.claim(classifier_id, [key(1), key(2), key(3)])
        assert (set(claim.cached), claim.in_progress, claim.to_ask) == (
            {key(1)},
            {key(2)},
            {key(3)},
        )
        cache.release(classifier_id, [key(2)])
        assert other.claim(classifier_id, [key(2)]).to_ask == {key(2)}


def test_answers_are_synced_to_the_disk_and_claims_need_not_be(cache, classifier_id):
    said: list[str] = []
    cache._db.set_trace_callback(said.append)
    cache.claim(classifier_id, [key(1), key(2)])
    cache.put(classifier_id, {key(1): CachedAnswer("answered", 1)})
    cache.keep_begun(classifier_id, key(2), 2)
    cache.release(classifier_id, [key(2)])
    writes = {"INSERT OR REPLACE INTO claims": "NORMAL", "INSERT OR IGNORE INTO answers": "FULL"}
    writes |= {"INSERT OR REPLACE INTO begun": "FULL"}
    for write, sync in writes.items():
        before = said[: next(place for place, text in enumerate(said) if text.startswith(write))]
        assert [text for text in before if "synchronous" in text][-1].endswith(sync), write


def test_a_claim_ends_with_its_lease(cache, classifier_id, tmp_path, monkeypatch):
    monkeypatch.setattr("gslopes.ask.cache.LEASE", -1.0)
    cache.claim(classifier_id, [key(1)])
    with AnswerCache(tmp_path / "cache") as other:
        assert other.claim(classifier_id, [key(1)]).to_ask == {key(1)}


@pytest.mark.parametrize("jump", [-3600, 86_400, 4e9, -1.7e9])
def test_a_clock_that_jumps_ends_no_claim_of_a_process_that_runs(
    cache, classifier_id, tmp_path, monkeypatch, jump
):
    cache.claim(classifier_id, [key(1)])
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    with AnswerCache(tmp_path / "cache") as other:
        assert other.claim(classifier_id, [key(1)]).in_progress == {key(1)}
        cache.release(classifier_id, [key(1)])
        assert other.claim(classifier_id, [key(1)]).to_ask == {key(1)}


def test_closing_gives_claims_back(cache, classifier_id, tmp_path):
    with AnswerCache(tmp_path / "cache") as other:
        other.claim(classifier_id, [key(1)])
    assert cache.claim(classifier_id, [key(1)]).to_ask == {key(1)}
    assert list((tmp_path / "cache/owners").iterdir()) == [tmp_path / "cache/owners" / cache.owner]


def _ask_all(folder: Path, count: int, log: Path) -> None:
    """Asks what it claimed, two at a time, and waits for the rest, as the client does."""
    with AnswerCache(folder) as cache, log.open("a") as asked:
        classifier_id, due = (
            cache.classifier_id("box", ""),
            [key(number) for number in range(count)],
        )
        while due:
            claim = cache.claim(classifier_id, due[:6])
            for picture in claim.to_ask:
                asked.write(picture.hex() + "\n")
            cache.put(
                classifier_id,
                {picture: CachedAnswer("answered", picture.hex()) for picture in claim.to_ask},
            )
            due = [
                picture
                for picture in due
                if picture not in claim.to_ask and picture not in claim.cached
            ]
            due = due[1:] + due[:1]
            time.sleep(0.0 if claim.to_ask else 0.05)


def test_processes_on_one_cache_never_ask_the_same_and_a_killed_ones_claims_end(tmp_path):
    killed = os.fork()
    if not killed:
        cache = AnswerCache(tmp_path / "cache")
        cache.claim(cache.classifier_id("box", ""), [key(1)])
        (tmp_path / "ready").touch()
        signal.pause()
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    with AnswerCache(tmp_path / "cache") as cache:
        assert cache.claim(cache.classifier_id("box", ""), [key(1)]).in_progress == {key(1)}
    os.kill(killed, signal.SIGKILL)
    os.waitpid(killed, 0)
    logs = [tmp_path / f"{number}.log" for number in range(2)]
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(target=_ask_all, args=(tmp_path / "cache", 60, log)) for log in logs
    ]
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


def test_no_secret_reaches_the_file_or_what_is_exported(
    cache, classifier_id, tmp_path, monkeypatch
):
    raw = {
        "headers": {"Authorization": f"Bearer {SECRET}", "X-Amz-Security-Token": SECRET},
        "echo": SECRET,
    }
    monkeypatch.setenv("VISION_KEY", SECRET)
    kept = {
        "labels": [["Secret: garden", 0.5], ["token=ring", 0.25]]
    }  # labels that look like parameters
    cache.put(
        classifier_id,
        {key(1): CachedAnswer("answered", raw), key(2): CachedAnswer("answered", kept)},
    )
    assert cache.find(classifier_id, [key(2)])[key(2)].raw == kept
    assert SECRET not in json.dumps(cache.find(classifier_id, [key(1)])[key(1)].raw)
    cache.put(classifier_id, {key(9): CachedAnswer("refused", "policy", "m")})
    assert export_answers(cache, tmp_path / "out.jsonl") == 3
    assert SECRET not in (tmp_path / "out.jsonl").read_text()
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {(line["classifier"], line["version"]) for line in lines} == {("box:a=1", "7")}
    assert (lines[1]["picture"], lines[1]["raw"]) == (key(2).hex(), kept)
    assert (lines[-1]["status"], lines[-1]["raw"], lines[-1]["model"]) == ("refused", "policy", "m")


# --- trouble ---


def test_a_file_that_is_no_database_is_a_sentence(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StorageError, match="cannot be used: file is not a database"):
        AnswerCache(tmp_path)


def test_a_cache_of_a_newer_gslopes_is_left_alone(tmp_path):
    AnswerCache(tmp_path).close()
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StorageError, match="another version of gslopes"):
        AnswerCache(tmp_path)


@pytest.mark.parametrize(
    "packed",
    [
        b"no zlib",
        zlib.compress(b"[" * 100_000),
        zlib.compress(b"{}")[:-6],
        zlib.compress(bytes(3 << 20)),
    ],
)
def test_an_answer_that_others_damaged_is_a_storage_error(
    cache, classifier_id, packed, monkeypatch
):
    monkeypatch.setattr("gslopes.ask.cache._LARGEST_ANSWER", 1 << 20)
    cache.put(classifier_id, {key(1): CachedAnswer("answered", 1)})
    with sqlite3.connect(cache.path) as other:
        other.execute("UPDATE answers SET raw = ?", (packed,))
    with pytest.raises(StorageError, match="holds a damaged answer"):
        cache.find(classifier_id, [key(1)])


def test_a_cache_with_views_is_none_of_ours(tmp_path):
    with AnswerCache(tmp_path):
        pass
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("DROP TABLE answers")
        loop = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS classifier FROM n"
        other.execute(f"CREATE VIEW answers AS {loop}")
    with pytest.raises(StorageError, match="is not a cache that gslopes made"):
        AnswerCache(tmp_path)


def test_a_claim_that_names_a_file_elsewhere_leaves_it_there(cache, classifier_id, tmp_path):
    (tmp_path / "mine").write_text("kept")
    with sqlite3.connect(cache.path) as other:
        row = (classifier_id, key(1), "../../mine", time.time() + 999)
        other.execute("INSERT INTO claims VALUES (?, ?, ?, ?)", row)
    assert cache.claim(classifier_id, [key(1)]).to_ask == {key(1)}
    assert (tmp_path / "mine").read_text() == "kept"


class Failing:
    """A connection whose next COMMIT fails, before or after SQLite has rolled back by itself."""

    def __init__(self, own: sqlite3.Connection, rolled_back: bool) -> None:
        self.own, self.rolled_back, self.fails = own, rolled_back, True

    def __getattr__(self, name: str) -> object:
        return getattr(self.own, name)

    def execute(self, statement: str, *values: object) -> object:
        if self.fails and statement == "COMMIT":
            self.fails = False
            if self.rolled_back:
                self.own.execute("ROLLBACK")
            raise sqlite3.OperationalError("disk I/O error")
        return self.own.execute(statement, *values)


@pytest.mark.parametrize("rolled_back", [False, True])
def test_after_a_commit_that_failed_the_same_cache_goes_on(cache, classifier_id, rolled_back):
    answers = {key(1): CachedAnswer("answered", {"a": 0.5})}
    cache._db = Failing(cache._db, rolled_back)
    with pytest.raises(StorageError, match="cannot be used: disk I/O error"):
        cache.put(classifier_id, answers)
    assert cache.find(classifier_id, [key(1)]) == {}
    cache.put(classifier_id, answers)
    assert set(cache.find(classifier_id, [key(1)])) == {key(1)}


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO])
def test_an_owner_whose_lock_cannot_be_looked_at_is_not_taken_for_dead(
    cache, classifier_id, tmp_path, monkeypatch, code
):
    cache.claim(classifier_id, [key(1)])
    with AnswerCache(tmp_path / "cache") as other:
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(code, "no")))
            with pytest.raises(OSError, match="no"):
                other.claim(classifier_id, [key(1)])
        assert other.claim(classifier_id, [key(1)]).in_progress == {key(1)}


def test_pruning_takes_what_was_named_and_nothing_else(cache, classifier_id):
    other = cache.classifier_id("other", "")
    cache.put(
        classifier_id,
        {key(1): CachedAnswer("answered", 1, asked=1000), key(2): CachedAnswer("answered", 2)},
    )
    cache.put(other, {key(1): CachedAnswer("answered", 1)})
    assert cache.prune(before=datetime.fromtimestamp(2000, UTC)) == 1
    assert cache.has(classifier_id, [key(1), key(2)]) == {key(2)}
    assert cache.prune("other") == 1
    assert [one.classifier for one in facts(cache)] == ["box:a=1"]


# -- the folder --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, "~/answers"])
def test_a_user_without_a_home_is_said_with_the_option_and_the_variable(monkeypatch, given):
    for name in ("HOME", "XDG_CACHE_HOME", "GSLOPES_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)  # no entry
    with pytest.raises(StorageError, match="home folder") as raised:
        cache_folder(given)
    assert "--cache" in raised.value.hint
    assert "GSLOPES_CACHE" in raised.value.hint


def test_a_folder_that_cannot_be_written_is_named_before_any_work(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be kept") as raised:
        writable_cache(tmp_path / "file" / "answers")
    assert "--cache" in raised.value.hint
    assert list(writable_cache(tmp_path / "new").iterdir()) == []
