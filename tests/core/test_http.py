from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.core.http import DAY, seconds_to_wait

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
