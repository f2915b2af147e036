"""Servers for the soak that lie about what they did, and count what they really were sent."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter

from tests.loopback import QuietHandler

ANSWER = json.dumps({"answer": "A"})
REPORTS = [
    None,
    (-(10**9), 4),
    (10**15, 4),
    (float("nan"), 4),
    (0, 0),
    (1, 1),
    ("9", 4),
    (10**400, 4),
]  # of tokens


class Thief:
    """Whoever the redirects lead to; counts what comes."""

    port = 0
    came = 0


class ThiefHandler(QuietHandler):
    def do_POST(self) -> None:  # noqa: N802
        self.service.came += 1
        self.send(200, b'{"answers": []}', "application/json")


class Liar:
    """A tagger at /judge and a chat server at /v1, which lie in a share of their replies.

    thief: where redirects lead.  judged: pictures that were sent to "judge", and requests to "chat", and not failed.
    redirected: requests.
    """

    def __init__(self, seed: int, thief: Thief) -> None:
        self.lot, self.thief, self.judged, self.port = random.Random(seed), thief, Counter[str](), 0
        self.lock, self.redirected = threading.Lock(), 0

    def judge(self, pictures: int) -> tuple[int, dict[str, object] | str]:
        """Status and reply: as many answers as pictures, or not."""
        what = self.lot.random()
        if what < 0.05:
            self.redirected += 1
            return 307, f"http://127.0.0.1:{self.thief.port}/judge"
        if what < 0.1:
            return 503, {}
        self.judged["judge"] += pictures
        count = pictures if what < 0.7 else self.lot.choice([0, pictures - 1, pictures + 1, 1000])
        return 200, {"answers": [{"labels": {"tag": 0.5}}] * count}

    def chat(self) -> tuple[int, dict[str, object] | str]:
        """Status and reply, with a report of tokens that cannot be."""
        if self.lot.random() < 0.1:
            return 503, {}
        self.judged["chat"] += 1
        report = self.lot.choice(REPORTS)
        usage = (
            dict(zip(("prompt_tokens", "completion_tokens"), report, strict=True))
            if report
            else None
        )
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": ANSWER},
            "finish_reason": "stop",
        }
        return 200, {"model": "liar", "choices": [choice], "usage": usage}


class LiarHandler(QuietHandler):
    def do_POST(self) -> None:  # noqa: N802
        content = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.service.lock:
            status, reply = (
                self.service.judge(len(content["pictures"]))
                if "pictures" in content
                else self.service.chat()
            )
        time.sleep(0.05)
        headers = {"Location": reply} if isinstance(reply, str) else {}
        self.send(status, json.dumps(reply).encode(), "application/json", headers)
