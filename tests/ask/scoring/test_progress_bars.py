from __future__ import annotations

import io

import pytest

from gslopes.ask.cost import UsageStats
from gslopes.ask.scoring import progress_bars
from gslopes.ask.scoring.progress_bars import ProgressBars


@pytest.fixture
def clock(monkeypatch):
    """Time that stands still until it is told."""
    now = [100.0]
    monkeypatch.setattr(progress_bars.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def screen(monkeypatch):
    def make(terminal: bool) -> io.StringIO:
        text = io.StringIO()
        text.isatty = lambda: terminal
        monkeypatch.setattr("sys.stderr", text)
        return text

    return make


def test_a_log_file_gets_a_line_a_minute_with_rate_time_left_money_and_refusals(clock, screen):
    text = screen(False)
    shown = ProgressBars(True)
    with shown.watch({"google": (40, 1000)}):
        clock[0] += 59
        shown.update({"google": UsageStats(pictures=10)})
        assert text.getvalue() == ""
        clock[0] += 1
        shown.update({"google": UsageStats(pictures=120, spent=1.5, refused=3, failed=2, retries=7)})
        clock[0] += 1
        shown.update({"google": UsageStats(pictures=122)})
    assert text.getvalue() == (
        "score      google: 160 of 1,000 pictures, 2.0 a second, 7 minutes left, "
        "1.50 USD spent, 3 refused, 2 failed, 7 retries\n"
    )


def test_a_terminal_has_a_line_for_each_classifier(screen):
    text = screen(True)
    shown = ProgressBars(True)
    with shown.watch({"google": (0, 10), "azure": (2, 10)}):
        shown.update({"google": UsageStats(pictures=10, refused=1), "azure": UsageStats(pictures=8)})
    assert "google" in text.getvalue()
    assert "1 refused" in text.getvalue()
    assert text.getvalue().count("10/10") >= 2
