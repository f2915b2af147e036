"""Asking: what is asked in which order, what is written down, what stops, and what a service costs."""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.cost import Budget
from gslopes.ask.questions import PartProgress, about_edits
from gslopes.ask.retry import DAY, SPACING, RateLimiter, RetryPolicy, Stopped, seconds_to_wait
from gslopes.core import tables
from gslopes.core.errors import (
    BudgetReached,
    ClassifierError,
    CredentialsError,
    ModelError,
    Refused,
    ServiceError,
    TableError,
    Throttled,
    Unavailable,
)
from gslopes.core.reasons import explained
from gslopes.core.records import Answer, Classifier
from gslopes.core.traits import Limits, RequestUsage, Traits

STEPS = 5


def ask_part(
    edits: pd.DataFrame, folder: Path, classifier: Classifier, *, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the asked table (one a picture) and of the scores table (one a label) about one part."""
    parts: list[PartProgress] = []
    Client(classifier).ask_parts([(0, about_edits(edits, folder, seed))], parts.append)
    return parts[0].rows(classifier.name)


class Service:
    """Answers by the picture's text; ``trouble`` may raise, or return the responses to a request.  sent: requests."""

    name, version = "service", ""

    def __init__(self, trouble=lambda texts: None, *, batch: int = 4, **limits) -> None:
        self.batch = batch
        self.traits = Traits(Limits(**{"price": 1000.0, "concurrency": 3} | limits))
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
        if isinstance(raw, dict):
            return Answer(
                "answered", tuple(raw["labels"].items()), version=str(raw.get("version", ""))
            )
        return raw if isinstance(raw, Answer) else Answer("answered", tuple(raw))

    @property
    def pictures(self) -> list[str]:
        return [text for request in self.sent for text in request]


def box(answer: Callable[[str], object] = lambda text: [("tag", len(text) / 100)]) -> Service:
    """A classifier of this machine, which answers text by text."""
    return Service(lambda texts: list(map(answer, texts)), price=0.0, concurrency=1)


@pytest.fixture
def make_edits(tmp_path: Path):
    """Writes edited "photos" and gives their table; ``text(photo number, step)`` is a picture's content."""

    def make(
        photos: int, text: Callable[[int, int], str] = "{}:{}".format, attribute: str = "gender"
    ) -> pd.DataFrame:
        rows = []
        (tmp_path / "edits").mkdir(exist_ok=True)
        for number in range(photos):
            for step in range(STEPS):
                file = f"edits/{attribute}-{number}-{step}.jpg"
                (tmp_path / file).write_text(text(number, step))
                rows.append((f"{number}", attribute, step, step - 2.0, file, 0.1))
        return pd.DataFrame(rows, columns=tables.EDITS.columns)

    return make


@pytest.fixture
def edits(make_edits) -> pd.DataFrame:
    """Six photos at five steps."""
    return make_edits(6)


# --- what is asked ---


def test_the_pictures_of_one_photo_are_asked_together(make_edits, tmp_path):
    judge = box()
    both = pd.concat([make_edits(6), make_edits(6, "{}:r{}".format, "race")])
    ask_part(both.sample(frac=1, random_state=0), tmp_path, judge)
    assert [len(call) for call in judge.sent] == [4] * 15
    order = [text.split(":")[0] for text in judge.pictures]
    assert sum(left != right for left, right in pairwise(order)) == 5


def test_the_order_is_shuffled_within_each_photo_and_differs_between_photos(make_edits, tmp_path):
    judge = box()
    ask_part(make_edits(12), tmp_path, judge)
    orders = {
        number: [t.split(":")[1] for t in judge.pictures if t.startswith(f"{number}:")]
        for number in range(12)
    }
    assert len({tuple(order) for order in orders.values()}) > 6
    assert sum(order == sorted(order) for order in orders.values()) <= 1


def test_the_seed_decides_the_order_and_nothing_else(make_edits, tmp_path):
    edits, boxes = make_edits(4), [box(), box(), box()]
    results = [
        ask_part(edits, tmp_path, judge, seed=seed)
        for judge, seed in zip(boxes, (1, 1, 2), strict=True)
    ]
    assert boxes[0].sent == boxes[1].sent
    assert boxes[0].sent != boxes[2].sent
    for other in results[1:]:
        pd.testing.assert_frame_equal(results[0][0], other[0])
        pd.testing.assert_frame_equal(results[0][1], other[1])


# --- what is written down ---


def test_the_frames_are_the_tables_of_the_design(make_edits, tmp_path):
    asked, scores = ask_part(make_edits(2), tmp_path, box(lambda text: [("b", 0.25), ("a", 1)]))
    for table, frame in ((tables.ASKED, asked), (tables.SCORES, scores)):
        tables.write(table, frame, tmp_path / "table.parquet")
        pd.testing.assert_frame_equal(tables.read(table, tmp_path / "table.parquet"), frame)
    assert scores["label"].tolist() == ["a", "b"] * 2 * STEPS
    assert scores["value"].tolist() == [
        step - 2.0 for _ in range(2) for step in range(STEPS) for _ in "ab"
    ]
    assert set(scores["classifier"]) == {"service"}


# --- one failure costs one picture ---


def test_a_picture_that_makes_a_batch_fail_costs_only_itself(make_edits, tmp_path):
    def answer(text: str) -> object:
        if text == "1:2":
            raise RuntimeError("cannot judge this")
        return [("tag", 0.5)]

    asked, scores = ask_part(make_edits(3), tmp_path, box(answer))
    failed = asked[asked["status"] == "failed"]
    assert list(zip(failed["photo"], failed["step"], strict=True)) == [("1", 2)]
    assert failed["reason"].item() == "failed"
    assert failed["detail"].item() == "RuntimeError: cannot judge this"
    assert len(scores) == 3 * STEPS - 1


@pytest.mark.parametrize("harm", ["unlink", "empty", "folder"])
def test_a_picture_that_cannot_be_read_is_failed_and_not_asked(make_edits, tmp_path, harm):
    edits, judge = make_edits(2), box()
    path = tmp_path / "edits/gender-0-1.jpg"
    path.unlink()
    if harm == "empty":
        path.touch()
    elif harm == "folder":
        path.mkdir()
    asked, _ = ask_part(edits, tmp_path, judge)
    failed = asked[asked["status"] == "failed"]
    assert failed["step"].tolist() == [1]
    assert failed["reason"].item() == "the edited photo cannot be read"
    assert str(tmp_path) not in failed["detail"].item()
    assert len(judge.pictures) == 2 * STEPS - 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([("tag", 1.01)], "the classifier's score of 'tag' is 1.01, not a number in [0, 1]"),
        ([("tag", float("nan"))], "not a number in [0, 1]"),
        ([("tag", True)], "not a number in [0, 1]"),
        ([("", 0.5)], "returned '' as a label"),
        ([("\ud800", 0.5)], "not valid Unicode"),
        ([("tag", 0.5), ("tag", 0.6)], "the label 'tag' twice"),
        (Answer("maybe"), "known status"),
        (Answer("failed", (("tag", 0.5),)), "labels with the status failed"),
        (7, "TypeError"),
    ],
)
def test_an_answer_that_makes_no_sense_is_failed_with_what_is_wrong(
    make_edits, tmp_path, answer, reason
):
    judge = box(lambda text: answer if text == "0:3" else [("tag", 0.5)])
    asked, scores = ask_part(make_edits(1), tmp_path, judge)
    failed = asked[asked["status"] == "failed"]
    assert failed["step"].tolist() == [3]
    assert reason.lower() in failed["detail"].item().lower()
    assert 3 not in scores["step"].tolist()


# --- what stops the walk ---


def test_an_error_that_concerns_every_picture_stops_at_once_and_is_scrubbed(
    make_edits, tmp_path, monkeypatch
):
    monkeypatch.setenv("MY_SERVICE_KEY", "planted-secret")

    def answer(text: str) -> object:
        raise ModelError("The key=planted-secret is wrong.") from OSError(
            "Authorization: Bearer planted-secret"
        )

    judge = box(answer)
    with pytest.raises(ModelError) as caught:
        ask_part(make_edits(3), tmp_path, judge)
    assert len(judge.sent) == 1
    assert "planted-secret" not in f"{caught.value}{caught.value.args}{caught.value.__cause__}"


def test_a_classifier_that_fails_on_a_whole_part_stops_the_walk(make_edits, tmp_path):
    judge = box(lambda text: [("tag", 87.5)])
    with pytest.raises(
        ClassifierError, match=r"service failed on all 40 pictures of a part, first with: .*87\.5"
    ):
        ask_part(make_edits(8), tmp_path, judge)


def test_a_classifier_that_refuses_everything_does_not_stop_the_walk(make_edits, tmp_path):
    asked, scores = ask_part(
        make_edits(8), tmp_path, box(lambda text: Answer("refused", (), "policy"))
    )
    assert set(asked["status"]) == {"refused"}
    assert set(zip(asked["reason"], asked["detail"], strict=True)) == {("refused", "policy")}
    assert scores.empty


def test_a_row_given_twice_is_refused(make_edits, tmp_path):
    edits = make_edits(1)
    with pytest.raises(TableError, match="two rows for one photo"):
        ask_part(pd.concat([edits, edits]), tmp_path, box())


# --- secrets ---


def test_no_secret_reaches_the_asked_table(make_edits, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_KEY", "planted-secret")

    def raising(_: str) -> object:
        raise RuntimeError("GET https://host/v1?q=planted-secret gave 401")

    for answer in (raising, lambda _: Answer("failed", (), "https://me:planted-secret@host/")):
        asked, _ = ask_part(make_edits(1), tmp_path, box(answer))
        assert set(asked["status"]) == {"failed"}
        assert not asked["detail"].str.contains("planted-secret").any()


# --- a whole table ---


@pytest.mark.parametrize(
    "file", ["/etc/hostname", "../secret.jpg", "edits/../../secret.jpg", "link.jpg"]
)
def test_no_picture_outside_the_run_folder_is_ever_sent(make_edits, tmp_path, file):
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "secret.jpg").write_text("my own")
    (run / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    edits = make_edits(1).assign(file=file)
    judge = box()
    asked, _ = ask_part(edits, run, judge)
    assert judge.pictures == []
    assert set(asked["status"]) == {"failed"}
    assert set(map(explained, asked["reason"], asked["detail"])) == {
        "the edited photo cannot be read (lies outside the run folder)"
    }


QUICK = RetryPolicy(base_delay=0.001, max_delay=0.002, max_retry_after=0.05)


@pytest.fixture
def ask(edits, tmp_path):
    """Asks in two parts; the rows of the asked table, and the client."""

    def run(service: Service, **options) -> tuple[pd.DataFrame, Client]:
        found: list[PartProgress] = []
        with AnswerCache(tmp_path / "cache") as cache:
            client = Client(service, cache=cache, retry=QUICK, **options)
            halves = [edits[edits["photo"] < "3"], edits[edits["photo"] >= "3"]]
            questions = [about_edits(half, tmp_path, 0) for half in halves]
            client.ask_parts(enumerate(questions), found.append)
        rows = [progress.rows("service")[0] for progress in found]
        return pd.concat(rows) if rows else tables.ASKED.empty(), client

    return run


def failing(count: int, make):
    """Trouble for the first ``count`` requests."""
    left = [count]

    def trouble(texts):
        left[0] -= 1
        if left[0] >= 0:
            raise make()

    return trouble


@pytest.mark.parametrize(
    "error", [lambda: Throttled("slow down.", 0.01), lambda: Unavailable("503.")]
)
def test_what_may_pass_is_sent_again_and_costs_nothing_twice(ask, error):
    service = Service(failing(5, error))
    rows, client = ask(service)
    assert set(rows["status"]) == {"answered"}
    assert (client.usage.retries, client.usage.requests) == (5, len(service.sent))
    assert client.usage.spent == pytest.approx(30)


def test_every_request_waits_for_its_turn_and_everybody_as_long_as_the_service_says(
    ask, monkeypatch
):
    turns, waits = [], []
    monkeypatch.setattr(RateLimiter, "acquire", lambda _, gap: turns.append(gap))
    monkeypatch.setattr(RateLimiter, "pause", lambda _, seconds: waits.append(seconds))
    service = Service(failing(1, lambda: Throttled("slow down.", 0.03)), pictures_per_second=20)
    ask(service)
    gaps = [service.traits.limits.seconds(len(pictures), 1) * SPACING for pictures in service.sent]
    assert sorted(turns) == sorted(gaps)
    assert max(waits) >= 0.03


def test_a_lost_answer_counts_as_spent(ask):
    _, client = ask(Service(failing(1, lambda: Unavailable("timed out.", billed=True)), batch=5))
    assert client.usage.spent == pytest.approx(35)


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


def test_a_budget_is_never_passed_the_next_command_goes_on_and_a_third_asks_nothing(ask):
    service, rest, again = Service(batch=5), Service(batch=5), Service(batch=5)
    budget = Budget(usd=13.0)
    with pytest.raises(BudgetReached, match="goes on from there"):
        ask(service, budget=budget)
    assert (len(service.pictures), budget.spent) == (13, 13.0)
    rows, _ = ask(rest)
    assert len(rows) == 30
    assert len(rest.pictures) == 30 - 13
    assert sorted(service.pictures + rest.pictures) == sorted(
        f"{n}:{s}" for n in range(6) for s in range(5)
    )
    third, client = ask(again)
    assert (again.sent, client.usage.spent) == ([], 0)
    pd.testing.assert_frame_equal(
        *(f.sort_values(["photo", "step"], ignore_index=True) for f in (rows, third))
    )


def test_a_stop_finishes_what_is_in_flight_and_keeps_it(ask, edits, tmp_path):
    def trouble(texts):
        client.halt()

    service = Service(trouble, concurrency=1)
    with AnswerCache(tmp_path / "cache") as cache:
        client = Client(service, cache=cache)
        assert not client.ask_parts([(0, about_edits(edits, tmp_path, 0))], print)
    assert len(service.sent) == 1
    rest = Service()
    ask(rest)
    assert len(rest.pictures) == 26


def test_two_clients_on_one_cache_share_the_work(edits, tmp_path):
    services = [Service(lambda texts: time.sleep(0.005)) for _ in range(2)]
    parts: list[list[PartProgress]] = [[], []]

    def run(number: int) -> None:
        with AnswerCache(tmp_path / "cache") as cache:
            client = Client(services[number], cache=cache)
            client.ask_parts([(0, about_edits(edits, tmp_path, 0))], parts[number].append)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(services[0].pictures + services[1].pictures) == sorted(
        f"{n}:{s}" for n in range(6) for s in range(5)
    )
    pd.testing.assert_frame_equal(*(each[0].rows("service")[0] for each in parts))


# --- pace and price ---


@pytest.mark.parametrize("share", [0, 0.5, 1000])
def test_a_wrong_number_of_answers_is_paid_as_what_was_sent_and_said(ask, share):
    service = Service(batch=4)
    service.ask = lambda pictures, ask=service.ask: (ask(pictures) * 1000)[
        : int(len(pictures) * share)
    ]
    rows, client = ask(service)
    assert client.usage.spent == len(service.pictures) == client.usage.miscounted
    assert "more or fewer answers than pictures to 88, which count as paid" in str(client.usage)
    assert set(rows["status"]) == {"failed"}


class Counting(Service):
    """Reports what it took, as it likes."""

    reported: float | None = None

    def __init__(self, **limits) -> None:
        super().__init__(**limits)
        self.traits = replace(self.traits, counts=True)

    def usage(self, raw: object) -> RequestUsage:
        return RequestUsage(0, 0, self.reported)


@pytest.mark.parametrize("reported", [None, -1e9, float("nan"), float("inf"), 1.001, 1e9])
def test_what_no_price_can_be_counts_as_the_price_known_beforehand(ask, reported):
    service = Counting(batch=4)
    service.reported = reported
    _, client = ask(service)
    assert client.usage.spent == pytest.approx(30)


@pytest.mark.parametrize("reported", [0.001, 0.1, 1e9])
@pytest.mark.parametrize(
    ("budget", "agreed", "why"),
    [
        (
            0.0105,
            None,
            r"budget of 0\.0105 USD is used up: 0\.0100 USD were spent, and the rest, 0\.0005 USD",
        ),
        (
            0.0009,
            None,
            r"budget of 0\.0009 USD is used up: 0\.0000 USD were spent, and the rest, 0\.0009 USD",
        ),
        (
            None,
            0.0144,
            r"What was agreed to, 0\.01 USD, is used up: 0\.01 USD were spent, and the rest, 0\.00 USD",
        ),
    ],
)
def test_no_report_passes_a_budget_or_what_was_agreed_to(ask, budget, agreed, why, reported):
    service = Counting(batch=1, price=1.0, estimated=True)
    money = Budget(usd=budget)
    service.reported = reported
    if agreed:
        money.agree(agreed)
    with pytest.raises(BudgetReached, match=why):
        ask(service, budget=money)
    assert len(service.sent) == round((budget or agreed) // 0.001)


def test_under_a_budget_of_less_than_a_dollar_what_is_left_is_not_rounded_away(ask):
    budget = Budget(usd=0.0061)
    with pytest.raises(
        BudgetReached,
        match=r"budget of 0\.0061 USD .* 0\.0060 USD were spent, and the rest, 0\.0001 USD",
    ):
        ask(Service(batch=5, price=1.5), budget=budget)


def test_money_in_flight_is_waited_for_before_a_budget_counts_as_used_up():
    limits, budget = Limits(price=1000.0), Budget(usd=2.0)
    assert budget.reserve(limits, 2) == (2, 2.0)
    threading.Timer(0.3, lambda: budget.settle(2.0, 1.0)).start()
    assert budget.reserve(limits, 2) == (1, 1.0)
    assert budget.reserve(limits, 2, lambda: True) == (0, 0.0)


@pytest.mark.parametrize("wait", [999_999.0, float("inf"), float("nan"), -1.0])
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

    limits = Limits(requests_per_second=10, pictures_per_second=20)
    one, eight = (limits.seconds(pictures, 1) * SPACING for pictures in (1, 8))
    rate = RateLimiter(wait, lambda: now[0])
    turns = []
    for gap in (one, one, eight, one, one):
        rate.acquire(gap)
        turns.append(now[0])
    gaps = [later - earlier for earlier, later in itertools.pairwise(turns)]
    assert gaps == pytest.approx([0.103, 0.103, 0.412, 0.103])
    now[0] += 100  # unused quota is not made up for
    assert rate.acquire(one) == 0
    before = now[0]
    assert rate.acquire(one) == pytest.approx(0.103)
    assert now[0] == pytest.approx(before + 0.103)
    rate.pause(5)
    rate.acquire(one)
    assert now[0] >= before + 5
    stop[0] = True
    with pytest.raises(Stopped):
        rate.acquire(one)


# -- Retry-After -------------------------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *[("1.5", 1.5), ("-1", 0.0), ("inf", DAY), ("9" * 5000, DAY)],
        *[("nan", None), ("²", None), ("", None), ("Fri, 99 Foo 2026", None)],
        *[("Sat, 21 Nov 2026 12:01:00 GMT", 60.0), ("Sat, 21 Nov 2020 12:01:00 GMT", 0.0)],
        *[("Fri, 31 Dec 9999 23:59:59 -2359", DAY), ("Fri, 31 Dec 9999 23:59:59 GMT", DAY)],
    ],
)
def test_a_retry_after_is_seconds_up_to_a_day_or_nothing(value, seconds):
    told = {"retry-after": value, "date": format_datetime(NOW, usegmt=True)}
    assert seconds_to_wait(told) == seconds
