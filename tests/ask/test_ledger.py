"""The money of all commands that share a cache: never more than its total, whoever is killed; told when it is lost."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.ledger import FILE, RESERVE, SETTLE, Ledger, spendable
from gslopes.ask.retry import RateLimiter, RequestSender, RetryPolicy, Stopped
from gslopes.ask.scoring.cost import Price, confirm_cost
from gslopes.core import Limits, RequestUsage
from gslopes.core.errors import BudgetReached, ConfigError, StorageError, Unavailable
from gslopes.core.traits import Traits

LIMITS = Limits(price=1000.0)  # a dollar a picture


def budget(folder: Path, total: float | None = None, usd: float | None = None) -> Budget:
    return Budget.of(CostLimits(cache=folder, budget=usd, budget_total=total))


def test_what_earlier_commands_spent_counts_and_what_was_not_billed_comes_back(tmp_path):
    first = budget(tmp_path)  # without any total
    assert first.reserve(LIMITS, 3, request="a") == (3, 3.0)
    assert Ledger(tmp_path).held() == 3.0
    first.settle(3.0, 2.0, "a")
    second = budget(tmp_path, total=4.0)
    assert second.reserve(LIMITS, 8, request="b") == (2, 2.0)
    second.settle(2.0, 0.0, "b")
    assert (Ledger(tmp_path).held(), spendable(CostLimits(tmp_path, budget_total=4.0))) == (2, 2)


def test_the_smaller_of_both_budgets_counts(tmp_path):
    limits = CostLimits(tmp_path, budget=3.0, budget_total=5.0)
    assert spendable(limits) == 3.0
    assert spendable(CostLimits(tmp_path, budget=7.0, budget_total=5.0)) == 5.0
    assert spendable(CostLimits(tmp_path, budget=7.0)) == 7.0
    assert spendable(CostLimits(tmp_path)) is None
    money = Budget.of(limits)
    assert money.reserve(LIMITS, 9, request="a") == (3, 3.0)
    money.settle(3.0, 3.0, "a")
    with pytest.raises(BudgetReached, match=r"The budget of 3\.00 USD is used up"):
        money.reserve(LIMITS, 1, request="b")
    assert budget(tmp_path, total=5.0).reserve(LIMITS, 9, request="c") == (2, 2.0)
    with pytest.raises(BudgetReached) as caught:
        budget(tmp_path, total=5.0).reserve(LIMITS, 1, request="d")
    assert "5.00 USD for all commands with this cache is used up: 5.00" in str(caught.value)
    assert "--budget-total" in caught.value.hint


def test_a_budget_of_all_needs_a_price(tmp_path):
    with pytest.raises(ConfigError, match="needs a price"):
        budget(tmp_path, total=1.0).reserve(Limits(price=None), 1)


def test_what_is_free_writes_no_ledger(tmp_path):
    assert budget(tmp_path, total=0.0).reserve(Limits(price=0.0), 5, request="a") == (5, 0.0)
    assert not (tmp_path / FILE).exists()


def test_many_threads_of_many_budgets_never_pass_the_total(tmp_path):
    counts = []

    def spend(name: str) -> None:
        money = budget(tmp_path, total=20.0)
        for index in range(10):
            try:
                _, usd = money.reserve(LIMITS, 2, request=f"{name} {index}")
            except BudgetReached:
                return
            assert Ledger(tmp_path).held() <= 20.0
            billed = usd / 2 if index % 2 else usd
            counts.append(billed)
            money.settle(usd, billed, f"{name} {index}")

    threads = [threading.Thread(target=spend, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Ledger(tmp_path).held() == pytest.approx(sum(counts))
    assert 19.0 <= sum(counts) <= 20.0


def test_what_is_posted_counts_once_however_many_commands_look_for_it(tmp_path):
    for _ in range(3):
        assert budget(tmp_path, total=1.5).reserve(LIMITS, 1, request="llm:m abc") == (1, 1.0)
    assert Ledger(tmp_path).held() == 1.0
    budget(tmp_path, total=1.5).settle(1.0, 0.25, "llm:m abc")
    assert Ledger(tmp_path).held() == 0.25


class Service:
    """A classifier at a dollar a picture.  ends: what each request ends in."""

    name, version, batch = "service", "1", 1

    def __init__(self, *ends: object, price: float = 1000.0, counts: bool = False) -> None:
        self.ends = list(ends)
        self.traits = Traits(limits=Limits(price=price), counts=counts)

    def ask(self, pictures: list[bytes]) -> list[object]:
        end = self.ends.pop(0) if self.ends else {"a": 1.0}
        if isinstance(end, BaseException):
            raise end
        return [end] * len(pictures)

    def usage(self, raw: object) -> RequestUsage:
        return RequestUsage(1, 1, float(raw["usd"]))  # type: ignore[index]


def send(service: Service, money: Budget, halt: threading.Event | None = None) -> UsageStats:
    usage = UsageStats()
    halt = halt or threading.Event()
    sender = RequestSender(service, money, usage, halt, RateLimiter(halt.wait))
    sender.send({b"1": b"picture"}, lambda _: None, RetryPolicy(base_delay=0.0, max_attempts=3))
    return usage


def test_a_reply_that_is_lost_counts_each_time_and_a_stop_leaves_nothing_reserved(tmp_path):
    lost = Unavailable("lost", billed=True)
    send(Service(lost, lost), budget(tmp_path))
    assert Ledger(tmp_path).held() == 3.0
    send(Service(Unavailable("down")), budget(tmp_path))
    assert Ledger(tmp_path).held() == 4.0
    halt = threading.Event()
    halt.set()
    with pytest.raises(Stopped):
        send(Service(), budget(tmp_path), halt)
    assert Ledger(tmp_path).held() == 4.0


def test_a_batch_that_a_later_command_comes_back_for_is_paid_once(tmp_path):
    for _ in range(2):  # it is out, and the command is stopped
        service = Service(Stopped())
        service.traits = Traits(limits=Limits(price=1000.0), posts=True)
        with pytest.raises(Stopped):
            send(service, budget(tmp_path, total=1.5))
        assert Ledger(tmp_path).held() == 1.0
    service = Service()
    service.traits = Traits(limits=Limits(price=1000.0), posts=True)
    assert send(service, budget(tmp_path, total=1.5)).spent == 1.0
    assert Ledger(tmp_path).held() == 1.0


def test_a_ledger_that_fails_after_an_answer_loses_neither_it_nor_the_money(tmp_path, monkeypatch):
    answers = {}
    usage = UsageStats()
    service, halt = Service(), threading.Event()
    sender = RequestSender(service, budget(tmp_path), usage, halt, RateLimiter(halt.wait))
    ask = service.ask

    def full(pictures: list[bytes]) -> list[object]:
        monkeypatch.setattr(Ledger, "change", broken)
        return ask(pictures)

    def broken(*_: object, **__: object) -> float:
        raise StorageError("the disk is full")

    service.ask = full
    sender.send({b"1": b"picture"}, answers.update, RetryPolicy())
    monkeypatch.undo()
    assert answers == {b"1": {"a": 1.0}}
    assert Ledger(tmp_path).held() == 1.0


# -- a price that changes in the middle --------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1.0, 5000.0, 1e6])
def test_a_price_that_changes_between_two_commands_counts_from_then_on(after, tmp_path):
    send(Service(price=2000.0), budget(tmp_path, total=9.0))
    second = budget(tmp_path, total=9.0)
    each = after / 1000
    if each > 7.0:
        with pytest.raises(BudgetReached, match=r"9\.00 USD .* 2\.00 USD are spent"):
            send(Service(price=after), second)
        assert second.spent == 0.0
    else:
        assert send(Service(price=after), second).spent == pytest.approx(each)
    assert Ledger(tmp_path).held() == pytest.approx(2.0 + (each if each <= 7.0 else 0.0))


@pytest.mark.parametrize(
    ("reported", "billed"),
    [(0.25, 0.25), (99.0, 1.0), (-5.0, 1.0), (float("nan"), 1.0), (0.0, 0.0)],
)
def test_what_a_server_says_that_it_cost_is_never_more_than_was_reserved(
    reported, billed, tmp_path
):
    money = budget(tmp_path, total=5.0)
    usage = send(Service({"usd": reported}, counts=True), money)
    assert (usage.spent, money.spent, Ledger(tmp_path).held()) == (billed, billed, billed)


def test_a_price_that_changes_within_a_command_is_that_of_each_request(tmp_path):
    money = budget(tmp_path, total=5.0, usd=4.0)
    service = Service(price=1000.0)
    send(service, money)
    service.traits = Traits(limits=Limits(price=2500.0))
    send(service, money)
    assert money.spent == 3.5
    with pytest.raises(BudgetReached, match=r"The budget of 4\.00 USD .* rest, 0\.50 USD"):
        send(service, money)


# -- other processes, kills and damage ---------------------------------------------------------------------------------

CHILD = """
import sys, time
from pathlib import Path
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget
from gslopes.core import Limits
from gslopes.core.errors import BudgetReached
money = Budget.of(CostLimits(cache=Path(sys.argv[1]), budget_total=30.0))
spent = 0
try:
    for index in range(40):
        count, usd = money.reserve(Limits(price=1000.0), 1, request=f"{sys.argv[2]} {index}")
        print(index, flush=True)
        if sys.argv[3] == "wait" and index == 4:
            time.sleep(60)
        money.settle(usd, usd, f"{sys.argv[2]} {index}")
        spent += usd
except BudgetReached:
    pass
print("spent", spent)
"""


def child(folder: Path, name: str, how: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(folder), name, how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_two_commands_at_once_and_one_that_is_killed_never_pass_the_total(tmp_path):
    killed = child(tmp_path, "killed", "wait")
    assert killed.stdout
    while killed.stdout.readline().strip() != "4":
        pass
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    assert Ledger(tmp_path).held() == 5.0  # the fifth may have been billed
    both = [child(tmp_path, name, "spend").communicate for name in ("one", "other")]
    outs = [wait(timeout=60)[0] for wait in both]
    spent = [float(re.findall(r"spent (\S+)", out)[0]) for out in outs]
    assert sum(spent) == 25.0
    assert Ledger(tmp_path).held() == 30.0


@pytest.mark.parametrize("content", [b"no database at all, but a text", b"SQLite format 3\0" * 99])
def test_a_ledger_that_cannot_be_read_stops_what_costs_before_it_is_sent(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StorageError, match=r"ledger\.sqlite cannot be used"):
        spendable(CostLimits(tmp_path, budget_total=1.0))
    service = Service()
    with pytest.raises(StorageError):
        send(service, budget(tmp_path))
    assert service.ends == []


class Recorder:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_before_the_first_request_it_is_told_what_is_left_and_whether_the_ledger_is_gone(tmp_path):
    price = Price("imagga", 3, 0, 3, 3.0, 0.0)
    limits = CostLimits(tmp_path, budget_total=50.0, yes=True)
    Ledger(tmp_path).change(SETTLE, request="", usd=12.5)
    recorder = Recorder()
    confirm_cost([price], limits, recorder)
    assert recorder.notes[-1] == (
        "budget     12.50 of 50.00 USD for all commands with this cache are spent or in flight, 37.50 USD left"
    )
    (tmp_path / FILE).unlink()
    confirm_cost([price], limits, recorder)
    assert "Warning" not in recorder.notes[-1]  # a new cache
    (tmp_path / "answers.sqlite").touch()
    confirm_cost([price], limits, recorder)
    assert recorder.notes[-1].startswith("Warning: answers are here, and no ledger")
    assert not (tmp_path / FILE).exists()


def test_a_request_of_no_picture_reserves_nothing(tmp_path):
    facts = {"request": "a", "price": 2.0, "most": 1.0}
    assert Ledger(tmp_path).change(RESERVE, pictures=3, **facts) == 0.0
    assert Ledger(tmp_path).held() == 0.0
