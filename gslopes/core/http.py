"""What HTTP headers mean, read so that no server can break the reader."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DAY = 86_400.0  # seconds; no service means a longer Retry-After, and no clock takes much more


def seconds_to_wait(value: str, now: datetime | None = None) -> float | None:
    """What a ``Retry-After`` header asks for.

    value: seconds or a date, as it was sent.  now: instead of the clock.
    Returns: seconds in [0, one day]; None if it is empty or makes no sense.

    >>> [seconds_to_wait(value) for value in ("7", "1e300", "-3", "²", "", "Fri, 31 Dec 9999 23:59:59 GMT")]
    [7.0, 86400.0, 0.0, None, None, 86400.0]

    Source: RFC 9110, section 10.2.3.
    """
    text = value.strip()[:100]
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
            seconds = (when.replace(tzinfo=when.tzinfo or UTC) - (now or datetime.now(UTC))).total_seconds()
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), DAY)
