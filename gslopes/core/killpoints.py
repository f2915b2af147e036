"""Named places at which a run may be killed; a test walks through them one by one, and each time the run goes on.

``GSLOPES_KILL_AT=name`` ends this process, as ``kill -9`` would, when it comes to that place (``name:3``: for the third
time). Without the variable they do nothing.
"""

import os
import signal
import threading
from collections import Counter
from typing import Literal, get_args

VARIABLE = "GSLOPES_KILL_AT"

KillPoint = Literal[
    "file:temporary",  # written under its temporary name, not yet in its place
    "file:placed",  # in its place, not yet durable
    "table:temporary",
    "table:placed",
    "merge:half",  # some parts of a table are joined
    "merge:written",  # all are; the table is not in its place
    "answers:asked",  # the service has answered; nothing is kept
    "answers:kept",  # the answers are in the cache or journal; no table has them
    "part:whole",  # all of a part is there but the table that commits it
    "collect:stored",  # a photo is there, its line in the journal is not
    "collect:noted",  # its line is there
    "collect:committed",  # a search's table is there, its journal, too
]
KILL_POINTS: tuple[KillPoint, ...] = get_args(KillPoint)

_seen: Counter[str] = Counter()
_lock = threading.Lock()


def kill_point(name: KillPoint) -> None:
    """End this process here if GSLOPES_KILL_AT names this point."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return
    with _lock:
        _seen[name] += 1
        if wanted in (name, f"{name}:{_seen[name]}"):
            os.kill(os.getpid(), signal.SIGKILL)
