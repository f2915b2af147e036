"""What the services' classifiers share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.ask.classifiers import wire
from gslopes.core.errors import ConfigError


@pytest.mark.parametrize("text", ["http://127.0.0.1:80", "http://localhost", "https://gateway.example/v", ""])
def test_addresses_that_keep_credentials_safe_are_taken(text):
    assert wire.address(text, "NO_SUCH_VARIABLE") == text


@pytest.mark.parametrize("text", ["http://gateway.example", "http://127.0.0.1.evil.example", "http://10.0.0.1"])
def test_plain_http_to_another_machine_is_not(text):
    with pytest.raises(ConfigError, match="without encryption"):
        wire.address(text)


def test_the_option_comes_before_the_variables_and_these_in_their_order(monkeypatch):
    monkeypatch.setenv("FIRST", "https://first.example/")
    monkeypatch.setenv("SECOND", "https://second.example")
    assert wire.address("", "UNSET", "FIRST", "SECOND") == "https://first.example"
    assert wire.address("https://given.example", "FIRST") == "https://given.example"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(-0.1, 1.1))))
def test_a_label_comes_once_with_its_highest_score(pairs):
    found = wire.best(pairs)
    assert dict(found) == {
        label: max(min(max(score, 0.0), 1.0) for other, score in pairs if other == label) for label, _ in pairs
    }
    assert len(found) == len({label for label, _ in pairs})


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "failed"),
        (401, "credentials"),
        (402, "service"),
        (403, "credentials"),
        (404, "service"),
        (408, "lost"),
        (413, "refused"),
        (415, "refused"),
        (429, "throttled"),
        (500, "unavailable"),
        (502, "unavailable"),
        (503, "unavailable"),
        (504, "lost"),
        (301, "service"),
    ],
)
def test_http_statuses_say_what_to_do(status, kind):
    assert wire.kind_of_status(status) == kind


@pytest.mark.parametrize(
    ("text", "seconds"), [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("soon", None), ("", None), (None, None)]
)
def test_retry_after_in_seconds_is_read(text, seconds):
    assert wire.seconds_to_wait({"Retry-After": text}) == seconds


def test_retry_after_as_a_date_is_read():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < (wire.seconds_to_wait({"retry-after": later}) or 0) <= 90
