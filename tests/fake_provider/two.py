"""A model that chooses one of two people, behind a chat endpoint that takes nothing but what its protocol has.

``choose`` is what it is like: two pictures, (H, W, 3) uint8 RGB, to the probability that it takes the first.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fake_provider import chat
from tests.fake_provider.pictures import decode
from tests.fake_provider.protocol import Bad
from tests.loopback import QuietHandler, serving

Choose = Callable[[np.ndarray, np.ndarray], float]


def brighter(left: np.ndarray, right: np.ndarray) -> float:
    """It takes the picture that is brighter in the mean, and tosses a coin if both are the same."""
    return 0.5 + 0.5 * float(np.sign(left.mean() - right.mean()))


def first(left: np.ndarray, right: np.ndarray) -> float:
    """It takes the first, whatever it shows."""
    return 1.0


def second(left: np.ndarray, right: np.ndarray) -> float:
    """It takes the second, whatever it shows."""
    return 0.0


def chance(left: np.ndarray, right: np.ndarray) -> float:
    """It tosses a coin."""
    return 0.5


@dataclass
class Chooser:
    """choose: see above.  logprobs: whether it gives probabilities, or answers by lot.

    asked: (sha256 of the pictures, text) to how often.  problems: what was wrong with requests.  port: of the server.
    """

    choose: Choose
    logprobs: bool = False
    asked: Counter[tuple[str, ...]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    sizes: set[tuple[int, ...]] = field(default_factory=set)
    port: int = 0

    @property
    def name(self) -> str:
        """What it is asked as."""
        return f"llm:chooser,url=http://127.0.0.1:{self.port}/v1"

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request.  Raises: Bad, KeyError, TypeError, ValueError if that is not as documented."""
        images, text = chat._conversation(body["messages"])
        chat._check(body, set())
        digests = [hashlib.sha256(image).hexdigest() for image in images]
        self.asked[(*digests, text)] += 1
        pictures = [decode(image) for image in images]
        self.sizes |= {picture.shape for picture in pictures}
        if len(pictures) == 1:
            pictures = np.hsplit(pictures[0], 2)
        probability = self.choose(*pictures)
        options = list(chat._options(text))
        lot = random.Random(f"{digests} {body.get('seed')}")
        chosen = options[lot.random() >= probability]
        reply = chat._message(json.dumps({"answer": chosen}))
        if self.logprobs and body.get("logprobs"):
            sure = min(max(probability, 1e-4), 1 - 1e-4)
            chosen = options[sure < 0.5]
            reply = chat._message(json.dumps({"answer": chosen}))
            chances = dict(zip(options, (sure, 1 - sure), strict=False))
            reply["logprobs"] = {"content": chat._tokens(chosen, chances, 20), "refusal": None}
        usage = {"prompt_tokens": 900, "completion_tokens": 3, "total_tokens": 903}
        return {
            "model": "chooser-1",
            "choices": [reply],
            "usage": usage,
            "object": "chat.completion",
        }


class _Handler(QuietHandler):
    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            if self.path != "/v1/chat/completions":
                raise Bad("invalid", f"There is no {self.path}.")
            status, content = 200, self.service.answer(json.loads(body))
        except (Bad, KeyError, TypeError, ValueError) as error:
            self.service.problems.append(repr(error))
            status, content = (
                400,
                {"error": {"message": repr(error), "type": "invalid_request_error"}},
            )
        self.send(status, json.dumps(content).encode(), "application/json")


@contextmanager
def choosing(choose: Choose, **others: Any) -> Iterator[Chooser]:
    """A server of such a model, until the block ends."""
    chooser = Chooser(choose, **others)
    with serving(chooser, _Handler):
        yield chooser
    assert not chooser.problems
