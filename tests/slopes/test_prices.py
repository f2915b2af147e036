"""What a plan promises is what is billed at most: every count against the log of a server that bills."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gslopes.ask.retry import RetryPolicy
from gslopes.core.errors import BudgetReached
from gslopes.frame.ask import outline_of_prices
from gslopes.frame.brought import planned
from gslopes.frame.executors import OneProcess
from gslopes.frame.run import carry_out
from gslopes.slopes import audit as stages
from gslopes.slopes.demo import drawn_faces
from tests.conftest import ROOT
from tests.fake_provider import FakeProvider
from tests.fake_provider.folder import write_run

SHORT = {"steps": 3, "placebo": False, "unedited": False, "fit.permutations": 99}
# the fake's answers have three tokens: all that they may have
TASK = "llm:m,prompt=loan,repeats=2,max_tokens=3,price_in=2.5,price_out=10"


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return drawn_faces(tmp_path_factory.mktemp("drawn"), 2)


def plan_of(faces: dict[str, Any], run: Path, *names: str, **options: Any) -> Any:
    known = {**SHORT, **faces, "classifier": names, "cache": run.parent / "cache", **options}
    photos = known.pop("photos")
    return planned(stages.SLOPES, photos, run, known)


def prices_of(plan: Any) -> list[dict[str, Any]]:
    prices: list[dict[str, Any]] = outline_of_prices(plan)[1]["prices"]
    return prices


def spent(notes: str) -> float:
    """The ledger: what the run says was spent."""
    return sum(float(usd) for usd in re.findall(r"([\d.]+) USD spent", notes))


@pytest.mark.slow
def test_the_worst_case_is_what_was_promised_by_call_and_by_cent(
    provider: FakeProvider, faces: dict[str, Any], tmp_path: Path, capsys: Any
) -> None:
    provider.chat.ignored = {"logprobs", "top_logprobs"}  # two orders, two replies each
    names = ("google:price=1000", "rekognition:price=1000", TASK)
    plan = plan_of(faces, tmp_path / "run", *names, yes=True)
    google, rekognition, task = prices_of(plan)
    assert not provider.log.calls
    # three values of two photos, which were asked about before
    assert [price["pictures"] for price in (google, rekognition, task)] == [8, 8, 8]
    assert (rekognition["calls"], task["calls"]) == (8, 8 * 2 * 2)
    assert (google["usd"], rekognition["usd"]) == (8.0, 8.0)
    assert task["usd"] == pytest.approx((2.5 * task["tokens"][0] + 10 * task["tokens"][1]) / 1e6)
    carry_out(plan, OneProcess(progress=True))
    notes = capsys.readouterr().err
    assert len(provider.log.billed("google")) == 8
    assert len(provider.log.calls) == 8 + 32 + len(provider.log.of("google"))
    assert len(provider.log.of("google")) <= google["calls"]
    tokens = re.findall(r"([\d,]+) \+ ([\d,]+) tokens\)|spent, ([\d,]+) \+ ([\d,]+) tokens", notes)
    counts = [[int(text.replace(",", "")) for text in texts if text] for texts in tokens]
    assert [sum(column) for column in zip(*counts, strict=True)] == [*task["tokens"]]
    assert spent(notes) == pytest.approx(16 + task["usd"], abs=0.02)
    # the words of the plan are those above the question
    assert f"score      {rekognition['text']}\n" in notes
    assert prices_of(plan) == []


@pytest.mark.slow
def test_a_resumed_run_is_promised_what_is_left_and_pays_no_more(
    provider: FakeProvider, faces: dict[str, Any], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with pytest.raises(BudgetReached):
        carry_out(plan_of(faces, run, "rekognition:price=1000", budget=5), OneProcess())
    assert len(provider.log.billed("rekognition")) == 5
    plan = plan_of(faces, run, "rekognition:price=1000", yes=True, budget=None)
    (price,) = prices_of(plan)
    assert (price["pictures"], price["cached"], price["usd"]) == (3, 3, 3.0)
    assert "at most 3 pictures, 3 calls, 3.00 USD" in price["text"]
    carry_out(plan, OneProcess())
    assert len(provider.log.billed("rekognition")) == 8


@pytest.mark.parametrize(
    ("name", "calls"),
    [pytest.param("rekognition:price=1000", 3 * 8, marks=pytest.mark.slow), (TASK, 3 * (4 + 7))],
)
def test_calls_whose_replies_are_lost_are_billed_as_often_as_was_told(
    provider: FakeProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
    name: str,
    calls: int,
) -> None:
    monkeypatch.setattr(RetryPolicy, "delay", lambda *_: 0.0)
    provider.chat.ignored = {"logprobs", "top_logprobs"}
    lost: dict[tuple[str, ...], int] = {}

    def seven_times(call: Any) -> str:
        lost[call.images] = lost.get(call.images, 0) + 1
        return "lost" if lost[call.images] <= 7 else ""

    monkeypatch.setattr(provider, "work", losing(provider, seven_times))
    run = write_run(tmp_path / "run", 1, values=(-1, 0, 1))
    cache = {"cache": tmp_path / "cache", "yes": True}
    plan = planned(stages.SLOPES, run, None, {**cache, "classifier": name}, only=["score"])
    (price,) = prices_of(plan)
    carry_out(plan, OneProcess(progress=True))
    assert len(provider.log.calls) == calls
    assert spent(capsys.readouterr().err) == pytest.approx(price["usd_if_lost"], abs=0.006)


def test_the_plan_in_the_docs_is_what_is_printed(
    gslopes: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("PHOTOS").mkdir()
    for number in range(200):
        Image.new("L", (8, 8), number).save(f"PHOTOS/{number}.png")
    page = (ROOT / "docs/pages/start/paid-service.md").read_text("utf-8")
    (command,) = re.findall(r"(?m)^gslopes (audit .* --dry-run)$", page)
    done = gslopes(*command.split())
    assert done.code == 0, done.err
    printed = done.out[done.out.index("score ") : done.out.index("Nothing was written.")]
    assert f"```text\n{printed}```" in page


KNOWN = {  # of a classifier, what the plan must say of four pictures: three values of one photo, and the photo
    "celeba-tagger": "at most 4 pictures, free, on this machine",
    "google:price=0": "4 calls, under 0.01 USD, under a tenth",  # 0: as listed
    "rekognition:price=1e9,rate=0.01": "4 calls, 4,000,000.00 USD, 6.7 minutes at the quota",
    "azure:price=0.001": "4 calls, under 0.01 USD, under a tenth",
    "http:http://127.0.0.1:9/tag,batch=2,price=2000,rate=0.1": "3 calls, 8.00 USD, 0.5 minutes at",
    "http:http://127.0.0.1:9/free": "no price, no quota known: the first answers tell",
    "imagga": "4 calls, price unknown, no quota known",
    "llm:a,prompt=loan,repeats=3": "24 calls, an estimated 28,056 + 4,800 tokens, price unknown",
    "llm:b,prompt=labels,scores=repeats,price_in=1,price_out=1": "20 calls, an estimated",
    "llm:c,prompt=loan,scores=logprobs,price=1000": "8 calls, an estimated 9,352 + 1,600 tokens, 4.00 USD,",
    "llm:d,prompt=loan,url=http://localhost:9/v1": "40 calls, an estimated 46,760 + 8,000 tokens, no price",
}


def test_every_plan_names_what_is_known_and_what_is_not(
    faces: dict[str, Any], tmp_path: Path
) -> None:
    plan = plan_of(faces, tmp_path / "run", *KNOWN, limit=1)
    _, facts = outline_of_prices(plan)
    for price, told in zip(facts["prices"], KNOWN.values(), strict=True):
        assert told in price["text"]
    assert "price=USD_PER_1000" in facts["prices"][6]["text"]
    assert "price_in and price_out" in facts["prices"][7]["text"]
    known = [price["usd"] for price in facts["prices"]]
    assert known.count(None) == 2
    assert facts["usd"] == pytest.approx(sum(filter(None, known)))


def test_of_two_with_one_name_the_options_of_the_last_count_in_plan_and_run(
    faces: dict[str, Any], tmp_path: Path
) -> None:
    plan = plan_of(faces, tmp_path / "run", "google:price=2", "google:price=1000", limit=1)
    (price,) = prices_of(plan)
    assert price["usd"] == 4.0 == plan.models["google"].traits.limits.cost(4)


def losing(provider: FakeProvider, trouble: Callable[[Any], str]) -> Callable[..., Any]:
    """The fake's work, after which a reply may be lost."""
    work = provider.work

    def lossy(call: Any, job: Any) -> Any:
        result = work(call, job)
        if trouble(call):
            raise ConnectionError
        return result

    return lossy
