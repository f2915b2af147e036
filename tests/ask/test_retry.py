"""The client with a service that has limits, costs money and fails."""

from __future__ import annotations

import itertools
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget, Limits, RequestUsage
from gslopes.ask.retry import DAY, RateLimiter, RetryPolicy, seconds_to_wait
from gslopes.core import tables
from gslopes.core.errors import BudgetReached, CredentialsError, Refused, ServiceError, Throttled, Unavailable
from gslopes.core.records import Answer

QUICK = RetryPolicy(base_delay=0.001, max_delay=0.002, max_retry_after=1.0)


class Service:
    """Answers by the picture's text; ``trouble`` may raise, or return an error, for a request."""

    name, version = "service", ""

    def __init__(self, trouble=lambda texts: None, *, batch: int = 4, **limits) -> None:
        self.batch = batch
        self.limits = Limits(**{"price": 1000.0, "concurrency": 3} | limits)
        self.sent: list[list[str]] = []
        self._trouble = trouble
        self._lock = threading.Lock()

    def ask(self, pictures: list[bytes]) -> list[object]:
        texts = [data.decode() for data in pictures]
        with self._lock:
            self.sent.append(texts)
            responses = self._trouble(texts)
        return responses or [{"labels": {"tag": 0.5}, "text": text} for text in texts]

    def parse(self, raw: object) -> Answer:
        return Answer("answered", tuple(raw["labels"].items()), version=str(raw.get("version", "")))

    @property
    def pictures(self) -> list[str]:
        return [text for request in self.sent for text in request]


@pytest.fixture
def edits(tmp_path: Path) -> pd.DataFrame:
    """Six photos at five steps, their "pictures" being texts."""
    rows = []
    for number in range(6):
        for step in range(5):
            (tmp_path / f"{number}-{step}").write_text(f"{number}:{step}")
            rows.append((f"{number}", "gender", step, step - 2.0, f"{number}-{step}", 0.1))
    return pd.DataFrame(rows, columns=tables.EDITS.columns)


@pytest.fixture
def ask(edits, tmp_path):
    """Asks in two parts; the rows of the asked table, and the client."""

    def run(service: Service, **options) -> tuple[pd.DataFrame, Client]:
        found: list[pd.DataFrame] = []
        with AnswerCache(tmp_path / "cache") as cache:
            client = Client(service, cache=cache, retry=QUICK, **options)
            halves = [(0, edits[edits["photo"] < "3"]), (1, edits[edits["photo"] >= "3"])]
            client.ask_parts(halves, tmp_path, lambda _, asked, scores, progress: found.append(asked))
        return pd.concat(found) if found else tables.ASKED.empty(), client

    return run


def failing(count: int, make):
    """Trouble for the first ``count`` requests."""
    left = [count]

    def trouble(texts):
        left[0] -= 1
        if left[0] >= 0:
            raise make()

    return trouble


def test_a_second_run_asks_nothing(ask):
    first, second = Service(), Service()
    rows, _ = ask(first)
    assert sorted(first.pictures) == sorted(f"{n}:{s}" for n in range(6) for s in range(5))
    again, client = ask(second)
    assert second.sent == []
    assert client.usage.spent == 0
    pd.testing.assert_frame_equal(*(f.sort_values(["photo", "step"], ignore_index=True) for f in (rows, again)))


@pytest.mark.parametrize("error", [lambda: Throttled("slow down.", 0.01), lambda: Unavailable("503.")])
def test_what_may_pass_is_sent_again_and_costs_nothing_twice(ask, error):
    service = Service(failing(5, error))
    rows, client = ask(service)
    assert set(rows["status"]) == {"answered"}
    assert (client.usage.retries, client.usage.requests) == (5, len(service.sent))
    assert client.usage.spent == pytest.approx(30)


def test_a_lost_answer_counts_as_spent(ask):
    _, client = ask(Service(failing(1, lambda: Unavailable("timed out.", billed=True)), batch=5))
    assert client.usage.spent == pytest.approx(35)


def test_everybody_waits_as_long_as_the_service_says(ask):
    begun = time.monotonic()
    ask(Service(failing(1, lambda: Throttled("slow down.", 0.5))))
    assert time.monotonic() - begun >= 0.5


def test_a_refusal_is_recorded_once_for_all(ask):
    def trouble(texts):
        if "2:3" in texts:
            raise Refused("policy")

    first, second = Service(trouble), Service(trouble)
    rows, _ = ask(first)
    refused = rows[rows["status"] == "refused"]
    assert refused[["photo", "step", "detail"]].values.tolist() == [["2", 3, "policy"]]
    again, _ = ask(second)
    assert second.sent == []
    assert (again["status"] == "refused").sum() == 1


def test_an_error_about_one_picture_of_a_request_concerns_it_alone(ask):
    seen: set[str] = set()

    def trouble(texts):
        answers = [{"labels": {"tag": 0.5}} for _ in texts]
        for position, text in enumerate(texts):
            if text == "0:0":
                answers[position] = Refused("too dark")
            elif text.endswith(":4") and text not in seen:
                seen.add(text)
                answers[position] = Throttled("later.", 0.001)
        return answers

    service = Service(trouble)
    rows, _ = ask(service)
    assert rows["status"].value_counts().to_dict() == {"answered": 29, "refused": 1}
    assert len(service.pictures) == 30 + len(seen) == 36


def test_rejected_credentials_stop_at_once_and_what_was_answered_is_kept(ask):
    def trouble(texts):
        if len(service.sent) > 3:
            raise CredentialsError("service", ["THE_KEY"], rejected=True)

    service = Service(trouble, concurrency=1)
    with pytest.raises(CredentialsError, match="THE_KEY"):
        ask(service)
    assert len(service.sent) == 4
    rest = Service()
    ask(rest)
    assert len(rest.pictures) == 30 - sum(map(len, service.sent[:3]))


def test_a_service_that_is_down_stops_the_walk(ask):
    def trouble(texts):
        raise Unavailable("connection refused.")

    with pytest.raises(ServiceError, match="service does not answer: connection refused"):
        ask(Service(trouble, concurrency=1))


def test_a_hard_stop_is_never_passed_and_the_next_command_goes_on(ask):
    service, rest = Service(batch=5), Service(batch=5)
    with pytest.raises(BudgetReached, match="goes on from there"):
        ask(service, budget=Budget(usd=13.0))
    assert len(service.pictures) == 13
    rows, _ = ask(rest)
    assert len(rows) == 30
    assert len(rest.pictures) == 30 - 13


def test_a_change_of_model_is_counted(ask):
    def trouble(texts):
        return [{"labels": {}, "version": "a" if len(service.sent) < 4 else "b"} for _ in texts]

    service = Service(trouble, concurrency=1)
    _, client = ask(service)
    assert set(client.usage.models) == {"a", "b"}
    assert sum(client.usage.models.values()) == 30


def test_a_stop_finishes_what_is_in_flight_and_keeps_it(ask, edits, tmp_path):
    def trouble(texts):
        client.halt()

    service = Service(trouble, concurrency=1)
    with AnswerCache(tmp_path / "cache") as cache:
        client = Client(service, cache=cache)
        assert not client.ask_parts([(0, edits)], tmp_path, lambda *_: None)
    assert len(service.sent) == 1
    rest = Service()
    ask(rest)
    assert len(rest.pictures) == 26


def test_two_clients_on_one_cache_share_the_work(edits, tmp_path):
    services = [Service(lambda texts: time.sleep(0.005)) for _ in range(2)]
    rows: list[list[pd.DataFrame]] = [[], []]

    def run(number: int) -> None:
        with AnswerCache(tmp_path / "cache") as cache:
            done = lambda _, asked, scores, progress: rows[number].append(asked)  # noqa: E731
            Client(services[number], cache=cache).ask_parts([(0, edits)], tmp_path, done)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(services[0].pictures + services[1].pictures) == sorted(f"{n}:{s}" for n in range(6) for s in range(5))
    pd.testing.assert_frame_equal(rows[0][0], rows[1][0])


# --- pace and price ---


@pytest.mark.parametrize("share", [0, 0.5, 1000])
def test_a_wrong_number_of_answers_is_paid_as_what_was_sent_and_said(ask, share):
    service = Service(batch=4)
    service.ask = lambda pictures, ask=service.ask: (ask(pictures) * 1000)[: int(len(pictures) * share)]
    rows, client = ask(service)
    assert client.usage.spent == len(service.pictures) == client.usage.miscounted
    assert "more or fewer answers than pictures to 88, which count as paid" in str(client.usage)
    assert set(rows["status"]) == {"failed"}


class Counting(Service):
    """Reports what it took, as it likes."""

    reported: float | None = None

    def usage(self, raw: object) -> RequestUsage:
        return RequestUsage(0, 0, self.reported)


@pytest.mark.parametrize("reported", [None, -1e9, float("nan"), float("inf")])
def test_what_no_price_can_be_counts_as_the_price_known_beforehand(ask, reported):
    service = Counting(batch=4)
    service.reported = reported
    _, client = ask(service)
    assert client.usage.spent == pytest.approx(30)


def test_a_budget_below_one_batch_buys_what_it_pays_for(ask):
    service = Service(batch=5)
    budget = Budget(usd=3.0)
    with pytest.raises(BudgetReached, match=r"3\.00 USD were spent, and the rest, 0\.00 USD, does not cover"):
        ask(service, budget=budget)
    assert len(service.pictures) == 3
    assert budget.spent == 3.0


def test_under_a_budget_of_less_than_a_dollar_what_is_left_is_not_rounded_away(ask):
    budget = Budget(usd=0.0061)
    with pytest.raises(
        BudgetReached, match=r"budget of 0\.0061 USD .* 0\.0060 USD were spent, and the rest, 0\.0001 USD"
    ):
        ask(Service(batch=5, price=1.5), budget=budget)


def test_money_in_flight_is_waited_for_before_a_budget_counts_as_used_up():
    limits, budget = Limits(price=1000.0), Budget(usd=2.0)
    assert budget.reserve(limits, 2) == (2, 2.0)
    threading.Timer(0.3, lambda: budget.settle(2.0, 1.0)).start()
    assert budget.reserve(limits, 2) == (1, 1.0)
    assert budget.reserve(limits, 2, lambda: True) == (0, 0.0)


@pytest.mark.parametrize("wait", [999_999.0, float("inf"), 1e300, float("nan"), -1.0])
def test_no_retry_after_waits_longer_than_the_policy_says(ask, wait):
    def trouble(texts):
        if len(service.sent) == 1:
            raise Throttled("too many.", wait)

    service = Service(trouble, concurrency=1)
    rows, client = ask(service)
    assert set(rows["status"]) == {"answered"}
    assert client.usage.throttled == 1
    assert "1 throttled" in str(client.usage)


# -- pace, and Retry-After ---------------------------------------------------------------------------------------------


def test_requests_of_all_threads_are_spaced_held_and_stopped():
    now, stop = [0.0], [False]

    def wait(seconds: float) -> bool:
        now[0] += seconds
        return stop[0]

    rate = RateLimiter(Limits(requests_per_second=10, pictures_per_second=20), wait, lambda: now[0])
    turns = []
    for pictures in (1, 1, 8, 1, 1):
        assert rate.acquire(pictures)
        turns.append(now[0])
    gaps = [later - earlier for earlier, later in itertools.pairwise(turns)]
    assert gaps == pytest.approx([0.103, 0.103, 0.412, 0.103])
    now[0] += 100  # unused quota is not made up for
    assert rate.acquire(1)
    before = now[0]
    assert rate.acquire(1)
    assert now[0] == pytest.approx(before + 0.103)
    rate.pause(5)
    assert rate.acquire(1)
    assert now[0] >= before + 5
    stop[0] = True
    assert not rate.acquire(1)


# -- Retry-After -------------------------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *[("0", 0.0), ("1.5", 1.5), ("-1", 0.0), ("999999", DAY), ("inf", DAY), ("1e300", DAY), ("9" * 5000, DAY)],
        *[("nan", None), ("²", None), ("", None), ("soon", None), ("Fri, 99 Foo 2026", None)],
        *[("Sat, 21 Nov 2026 12:01:00 GMT", 60.0), ("Sat, 21 Nov 2020 12:01:00 GMT", 0.0)],
        *[("Fri, 31 Dec 9999 23:59:59 -2359", DAY), ("Fri, 31 Dec 9999 23:59:59 GMT", DAY)],
    ],
)
def test_a_retry_after_is_seconds_up_to_a_day_or_nothing(value, seconds):
    assert seconds_to_wait(value, NOW) == seconds


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d ([+-]\d{4}|GMT)"))
def test_no_text_breaks_it(value):
    found = seconds_to_wait(value, NOW)
    assert found is None or 0 <= found <= DAY
