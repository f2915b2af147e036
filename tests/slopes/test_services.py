"""Commercial services at once against the fake provider: planted slopes found, nobody asked twice, whatever fails.

Two are asked in the quick suite, all five in the slow one, up to the page; figures are in
``tests/benches/bench_services.py``.
"""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import CredentialsError
from gslopes.slopes import audit as stages
from gslopes.slopes.config import FitConfig
from tests.again import redo
from tests.fake_provider import KINDS, PLANTED, Call, FakeProvider, drawn
from tests.fake_provider.folder import write_run

RATES = {"rekognition": 60, "clarifai": 15, "azure": 60, "imagga": 60}  # requests a second
NAMES = [
    "google:images_per_minute=3600",
    *(f"{name}:rate={rate},concurrency=4" for name, rate in RATES.items()),
]
TWO = [name for name in NAMES if name.startswith(("google", "azure"))]


def score(run: Path, cache: Path, names: list[str] = TWO) -> Path:
    return stages.score_photos(run, names, device="cpu", cache=cache, yes=True)


def answers_of(run: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tables.read(tables.ASKED, run / "asked.parquet"), tables.read(
        tables.SCORES, run / "scores.parquet"
    )


def assert_slopes_are_those_planted(run: Path, services: list[str]) -> None:
    slopes = redo(run, "fit", FitConfig(presence="none")).tables[
        "slopes"
    ]  # the furniture of the fake hides the rest from rank 10
    found = slopes[slopes["estimator"] == "paper"].set_index(["classifier", "label"])
    for service in services:
        for label, slope in PLANTED[service].items():
            row = found.loc[(service, label)]
            assert row["ci_low"] - 1e-9 <= slope <= row["ci_high"] + 1e-9, (service, label)
            assert row["slope"] == pytest.approx(slope, abs=0.02), (service, label)


def distinct(run: Path) -> set[str]:
    """sha256 of the pictures of a run."""
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in run.glob("edits/gender/*")}


# --- one audit, undisturbed ---


@pytest.fixture(
    scope="module", params=[TWO, pytest.param(NAMES, marks=pytest.mark.slow)], ids=["two", "five"]
)
def audited(
    request, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FakeProvider, Path, Path, list[str]]]:
    """24 photos, every picture in two of them: the fake, the run folder, the cache, the services by name."""
    folder = tmp_path_factory.mktemp("services")
    run = write_run(folder / "run", 24, part=6, copies=2)
    with FakeProvider() as provider, pytest.MonkeyPatch.context() as patch:
        for name, value in provider.environment.items():
            patch.setenv(name, value)
        score(run, folder / "cache", request.param)
        yield provider, run, folder / "cache", [name.partition(":")[0] for name in request.param]


@pytest.mark.row("slopes-4.1-google", "slopes-4.1-amazon", "slopes-4.1-clarifai")
def test_the_slopes_that_were_planted_are_found_at_every_service(audited):
    _, run, _, services = audited
    assert_slopes_are_those_planted(run, services)


@pytest.mark.row("slopes-4.2-asked")
def test_every_distinct_picture_is_judged_once(audited):
    provider, run, _, services = audited
    assert len(distinct(run)) == 84
    for service in services:
        assert sorted(provider.log.billed(service)) == sorted(distinct(run)), service
    batches = {
        service: max(len(call.images) for call in provider.log.of(service)) for service in services
    }
    assert (
        batches.items()
        <= {"google": 16, "rekognition": 1, "clarifai": 42, "azure": 1, "imagga": 1}.items()
    )


def test_a_second_run_asks_nothing_and_says_the_same(audited, tmp_path):
    provider, run, cache, services = audited
    before = len(provider.log.calls)
    again = write_run(tmp_path / "again", 24, part=6, copies=2)
    score(again, cache, [name for name in NAMES if name.partition(":")[0] in services])
    assert len(provider.log.calls) == before
    for one, other in zip(answers_of(run), answers_of(again), strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.row("slopes-4.1-services")
@pytest.mark.slow
@pytest.mark.row("contexts-4.4-taggers")
def test_five_services_are_asked_in_one_command_and_the_page_has_tables_1_and_2(
    gslopes, provider: FakeProvider, tmp_path, monkeypatch
):
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    run = drawn.pictured(tmp_path, 12)
    provider.known = drawn.planted(run)
    for command in drawn.commands(run):
        done = gslopes(*command)
        assert done.code == 0, done.err
    for service, known in provider.known.items():
        assert Counter(provider.log.billed(service)) == dict.fromkeys(known, 1), service
    page = (run / "report/index.html").read_text("utf-8")
    for number, label in ((1, "Nurse"), (2, "Engineer")):
        assert f'href="tables/table{number}.csv"' in page
        table = pd.read_csv(run / f"report/tables/table{number}.csv")
        assert table["API"].tolist() == ["rekognition", "google", "clarifai", "azure", "imagga"]
        assert set(table["Label"]) == {label}
        assert table["Slope"].tolist() == pytest.approx(
            [PLANTED[api][label] for api in table["API"]], abs=0.02
        )
    written = b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert [secret for secret in provider.secrets if secret.encode() in written] == []


# --- what goes wrong ---


@pytest.mark.slow
def test_a_fifth_of_all_requests_failing_in_every_way_changes_no_table(
    provider: FakeProvider, tmp_path
):
    provider.refuse(0.08)
    calm, stormy = (write_run(tmp_path / name, 8, copies=2) for name in ("calm", "stormy"))
    score(calm, tmp_path / "calm-cache", NAMES)
    provider.log.clear()
    provider.trouble(0.2)
    score(stormy, tmp_path / "stormy-cache", NAMES)
    for one, other in zip(answers_of(calm), answers_of(stormy), strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert (answers_of(calm)[0]["status"] == "refused").sum() > 0
    assert {call.trouble for call in provider.log.calls} == {"", *KINDS}
    for service in PLANTED:
        assert rebilled(provider.log.of(service)) <= undelivered(provider.log.of(service)), service


@pytest.mark.slow
def test_withdrawn_credentials_stop_everything_at_once_and_the_same_command_goes_on(
    provider: FakeProvider, tmp_path
):
    run, names = (
        write_run(tmp_path / "run", 3),
        ["azure:rate=100,concurrency=2", "rekognition:rate=100"],
    )
    provider.trouble(1.0, ["reject"], ["azure"])
    with pytest.raises(CredentialsError, match="VISION_KEY"):
        score(run, tmp_path / "cache", names)
    assert len(provider.log.of("azure")) <= 2
    provider.heal()
    score(run, tmp_path / "cache", names)
    for service in ("azure", "rekognition"):
        assert Counter(provider.log.billed(service)) == dict.fromkeys(distinct(run), 1), service


def test_a_model_that_changes_in_the_middle_is_reported(provider: FakeProvider, tmp_path):
    class Listening:
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, text: str) -> None:
            self.notes.append(text)

    listening = Listening()
    provider.change_version("azure", "2031-01-01", after=10)
    run = write_run(tmp_path / "run", 3)
    stages.score_photos(
        run,
        ["azure:rate=200"],
        device="cpu",
        executor=listening,
        cache=tmp_path / "cache",
        yes=True,
    )
    (said,) = (note for note in listening.notes if note.startswith("Warning:"))
    assert re.search(
        r"more than one model, so far \d+ pictures? by (azure-1\.0|\S*2031-01-01), ", said
    )
    assert re.search(r", \d+ pictures? by \S+\.$", said)
    assert "azure-1.0" in said
    assert "2031-01-01" in said


def test_no_secret_is_in_any_file_output_or_log(
    provider: FakeProvider, tmp_path, capfd, caplog, monkeypatch
):
    monkeypatch.setattr(
        logging, "_logRecordFactory", logging.getLogRecordFactory()
    )  # put back at the end
    run = write_run(tmp_path / "run", 2)
    provider.trouble(0.2, [*KINDS])
    with caplog.at_level(logging.DEBUG):
        score(run, tmp_path / "cache")
        provider.trouble(1.0, ["reject"])
        for name in TWO:
            with pytest.raises(CredentialsError) as raised:
                score(write_run(tmp_path / name.partition(":")[0], 2), tmp_path / "other", [name])
            logging.getLogger("test").error("%s %r", raised.value, vars(raised.value))
    said = "\n".join([caplog.text, *capfd.readouterr()]).encode()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 40
    leaks = [
        secret for secret in provider.secrets for text in (said, *files) if secret.encode() in text
    ]
    assert leaks == []


# --- kill -9 ---


def rebilled(calls: list[Call]) -> int:
    """How many pictures were judged more often than once, each time counted."""
    return sum(
        count - 1 for count in Counter(image for call in calls for image in call.billed).values()
    )


def undelivered(calls: list[Call]) -> int:
    """How many judgements never reached the client, since the connection was made to fail."""
    return sum(len(call.billed) for call in calls if not call.delivered)
