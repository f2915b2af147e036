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
        "fit        30 of 120 sweeps, 0.7 a second, about 2 minutes for the other 90",
        "fit        70 of 120 sweeps, 0.7 a second, about 1 minute for the other 50",
        "fit        110 of 120 sweeps, 0.7 a second, under a minute for the other 10",
        "fit        120 of 120 sweeps, 0.7 a second",
    ]


def test_a_minute_in_which_nothing_is_done_has_a_line_without_an_end(
    screen: Any, clock: list[float]
) -> None:
    text = screen(False)
    with progress.progress_line(True, {0: 50}, "fit", "sweeps", 0) as tick:
        clock[0] += 70
        tick(0)
    assert text.getvalue().splitlines() == [
        "fit        0 of 50 sweeps",
        "fit        0 of 50 sweeps, 0.0 a second",
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


def test_nothing_is_promised_before_it_is_measured_and_it_is_said_again_as_the_end_moves(
    screen: Any, clock: list[float]
) -> None:
    text = screen(False)
    with progress.progress_line(True, {0: 100}, "synthesise", "photos") as tick:
        for seconds, photos in ((1, 0), (1, 1), (4, 5), (5, 5), (24, 1), (6, 1), (300, 87)):
            clock[0] += seconds
            tick(photos)
        tick(0)
    assert text.getvalue().splitlines() == [
        "synthesise 0 of 100 photos",
        # measured; a second later it is as told; then the machine got busy; then it is as told again
        "synthesise 6 of 100 photos, 1.0 a second, about 2 minutes for the other 94",
        "synthesise 12 of 100 photos, 0.3 a second, about 4 minutes for the other 88",
        "synthesise 100 of 100 photos, 0.3 a second",
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
