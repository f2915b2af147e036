import io
from typing import Any

import pytest

from gslopes.core import progress


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(terminal: bool) -> io.StringIO:
        text = io.StringIO()
        text.isatty = lambda: terminal  # type: ignore[method-assign]
        monkeypatch.setattr("sys.stderr", text)
        monkeypatch.setenv("COLUMNS", "140")
        return text

    return make


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_file_has_a_line_at_once_one_a_minute_and_one_at_the_end(
    screen: Any, clock: list[float]
) -> None:
    text = screen(False)
    with progress.progress_line(True, {0: 50, 1: 50}, "fit", "sweeps", 20) as tick:
        for _ in range(10):
            clock[0] += 15
            tick(10)
    assert text.getvalue().splitlines() == [
        "fit        20 of 120 sweeps",
        "fit        60 of 120 sweeps, 0.7 a second, 2 minutes left",
        "fit        100 of 120 sweeps, 0.7 a second, 0 minutes left",
        "fit        120 of 120 sweeps, 0.7 a second",
    ]


def test_the_last_line_is_printed_once_though_work_reports_again(
    screen: Any, clock: list[float]
) -> None:
    text = screen(False)
    with progress.progress_line(True, {0: 5}, "score", "pictures") as tick:
        for count in (2, 3, 0, 0):
            clock[0] += 1
            tick(count)
    assert [line.split(",")[0] for line in text.getvalue().splitlines()] == [
        "score      0 of 5 pictures",
        "score      5 of 5 pictures",
    ]


def test_a_terminal_has_a_bar_of_at_most_100_columns_and_notes_stand_above_it(screen: Any) -> None:
    text = screen(True)
    with progress.progress_line(True, {0: 2}, "report", "steps", 0) as tick:
        progress.tell("a note [of] brackets \x1b]0;owned\x07 \u202e")
        tick(2)
    assert "2/2 steps" in text.getvalue()
    assert "a note [of] brackets \\x1b]0;owned\\x07 \\u202e" in text.getvalue()
    plain = text.getvalue().replace("\r", "\n")
    assert max(map(len, plain.split("\n"))) < 140
    progress.tell("afterwards")
    assert text.getvalue().endswith("afterwards\n")
