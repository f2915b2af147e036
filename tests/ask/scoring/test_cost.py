import io
from dataclasses import replace

import pytest

from gslopes.ask.config import ScoreConfig
from gslopes.ask.scoring.cost import Price, confirm_cost
from gslopes.core.errors import ConfigError, UsageError


class Recorder:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def of(usd: float | None, pictures: int = 10_000, name: str = "google:max_results=50") -> Price:
    return Price(name, pictures, 5, 625, usd, 333.0, "first 1,000 a month free")


@pytest.fixture
def answer(monkeypatch):
    """Somebody sits at a terminal and types this; returns what they see."""

    def typed(text: str) -> Terminal:
        screen = Terminal()
        monkeypatch.setattr("sys.stdin", Terminal(text))
        monkeypatch.setattr("sys.stderr", screen)
        return screen

    return typed


def test_pictures_calls_price_and_minutes_are_told_before(answer):
    answer("")
    recorder = Recorder()
    confirm_cost([of(9.0)], ScoreConfig(), recorder)
    (note,) = recorder.notes
    for part in (
        "10,000 pictures",
        "625 calls",
        "9.00 USD",
        "5.5 minutes",
        "5 answered before",
        "free",
    ):
        assert part in note


def test_an_estimate_is_called_one_and_what_is_agreed_to_is_returned(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    tokens = Price("llm:m", 10, 0, 10, 12.0, 0.0, tokens=(11050, 2000), estimated=True)
    assert (
        str(tokens)
        == "llm:m: at most 10 pictures, 10 calls, an estimated 11,050 + 2,000 tokens, an estimated 12.00 USD, "
        "no quota known: the first answers tell how long it takes"
    )
    with pytest.raises(UsageError, match="cost an estimated 12"):
        confirm_cost([tokens], ScoreConfig(), Recorder())
    assert confirm_cost([tokens], ScoreConfig(yes=True), Recorder()) == 12.0
    assert confirm_cost([of(3.0)], ScoreConfig(), Recorder()) == 10.0


@pytest.mark.parametrize("text", ["y\n", " YES \n"])
def test_above_the_line_a_yes_goes_on(answer, text):
    screen = answer(text)
    confirm_cost([of(8.0), of(4.5, name="azure")], ScoreConfig(), Recorder())
    assert screen.getvalue() == "This will cost up to 12.50 USD. Go on? [y/N] "


def test_the_question_names_what_lost_replies_may_cost_unless_a_budget_ends_it(answer):
    screen = answer("y\ny\n")
    price = replace(of(12.001), usd_if_lost=96.0)
    confirm_cost([price], ScoreConfig(), Recorder())
    told = "12.01 USD (up to 96.00 USD if replies are lost and asked for again). Go on?"
    assert f"up to {told}" in screen.getvalue()  # to the cent, never less than it may be
    confirm_cost([price], ScoreConfig(budget=11.0), Recorder())
    assert screen.getvalue().endswith("This will cost up to 11.00 USD. Go on? [y/N] ")


@pytest.mark.parametrize("text", ["", "yep\n"])
def test_anything_else_asks_nothing(answer, text):
    answer(text)
    with pytest.raises(UsageError, match="nothing was asked"):
        confirm_cost([of(15.0)], ScoreConfig(), Recorder())


def test_without_a_terminal_it_needs_yes(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(UsageError, match=r"15\.00 USD, and no terminal is there") as raised:
        confirm_cost([of(15.0)], ScoreConfig(), Recorder())
    assert "--yes" in raised.value.hint
    confirm_cost([of(15.0)], ScoreConfig(yes=True), Recorder())
    confirm_cost([of(15.0)], ScoreConfig(confirm_above=15.0), Recorder())


def test_a_budget_below_the_line_is_agreed_to(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    confirm_cost([of(675.0)], ScoreConfig(budget=5.0), Recorder())
    with pytest.raises(UsageError, match=r"up to 20\.00 USD"):
        confirm_cost([of(675.0)], ScoreConfig(budget=20.0), Recorder())


def test_a_price_that_nobody_knows_is_asked_about_and_cannot_have_a_budget(answer):
    screen = answer("y\n")
    confirm_cost([of(None, name="imagga")], ScoreConfig(), Recorder())
    assert "what your plan says for imagga" in screen.getvalue()
    with pytest.raises(ConfigError, match="depends on your plan") as raised:
        confirm_cost([of(None, name="imagga")], ScoreConfig(budget=3.0, yes=True), Recorder())
    assert "imagga:price=" in raised.value.hint


def test_where_nothing_is_due_nothing_is_said_or_asked(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    recorder = Recorder()
    confirm_cost([of(None, pictures=0)], ScoreConfig(budget=1.0, confirm_above=0.0), recorder)
    assert recorder.notes == []
