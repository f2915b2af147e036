"""Two objects whose answers can differ have two digests, and equal ones have one, in every process."""

import collections
import enum
import functools
import itertools
import logging
import math
import re
import subprocess
import sys
import threading
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from gslopes.core import digest as module
from gslopes.core.digest import NoDigest, digest_of_object

FACTOR: Any = 1.0
SETTINGS = types.ModuleType("settings_of_a_user")
Pair = collections.namedtuple("Pair", "low high")


class Model:
    share = 1.0

    def __init__(self, state: Any) -> None:
        self.state = state

    def __call__(self, picture: Any) -> dict[str, float]:
        return {"label": self.share * float(np.mean(self.state))}


class Slotted:
    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state


@dataclass(frozen=True, slots=True)
class Frozen:
    state: Any


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


def linear(weight: float) -> torch.nn.Module:
    layer = torch.nn.Linear(2, 2)
    torch.nn.init.constant_(layer.weight, weight)
    torch.nn.init.zeros_(layer.bias)
    return layer


class Scaled(torch.nn.Module):
    """A number that no state dict holds decides the answers."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor


def closure(state: Any) -> Any:
    return lambda picture: {"label": state}


def default(state: Any) -> Any:
    def classify(picture: Any, state: Any = state) -> Any:
        return {"label": state}

    return classify


def keyword(state: Any) -> Any:
    def classify(picture: Any, *, state: Any = state) -> Any:
        return {"label": state}

    return classify


def attribute(state: Any) -> Any:
    def classify(picture: Any) -> Any:
        return {"label": classify.state}

    classify.state = state
    return classify


def decorated(state: Any) -> Any:
    return functools.lru_cache(closure(state))


def class_of(state: Any) -> Any:
    return type("Made", (Model,), {"share": state})(0.5)


def cyclic(state: Any) -> Any:
    parts = [state]
    parts.append(parts)
    return parts


def power(state: Any) -> Any:
    return lambda picture: (
        {"label": picture.mean() ** 2} if state else {"label": picture.mean() ** 3}
    )


FORMS = {
    "an attribute": Model,
    "a list in an attribute": lambda state: Model([1, {"a": state}]),
    "an array": lambda state: Model(np.full((2, 3), state)),
    "an array of objects": lambda state: Model(np.array([state, None], object)),
    "a strided array": lambda state: Model(np.full((4, 6), state)[::2, ::3]),
    "a type": lambda state: Model(np.zeros(2, np.float32 if state else np.float64)),
    "the mask of an array": lambda state: np.ma.array([1, 2], mask=[0, bool(state)]),
    "an array of two axes, in columns": lambda state: np.asfortranarray(np.full((2, 3), state)),
    "what a table gives for a missing key": lambda state: collections.defaultdict(
        list if state else set, a=1
    ),
    "a queue": lambda state: collections.deque([1, state]),
    "a number of numpy": lambda state: np.float32(state),
    "a function of a library": lambda state: np.add if state else np.subtract,
    "a method of a type": lambda state: str.upper if state else str.lower,
    "a function of Python": lambda state: pow if state else math.pow,
    "a tensor": lambda state: Model(torch.full((2,), float(state))),
    "bfloat16": lambda state: Model(torch.full((2,), float(state), dtype=torch.bfloat16)),
    "a parameter": linear,
    "a module in an attribute": lambda state: Model(linear(state)),
    "a number of a module": Scaled,
    "a buffer that is not saved": lambda state: buffered(state),
    "a compiled module": lambda state: torch.jit.trace(
        linear(state), torch.ones(1, 2), check_trace=False
    ),
    "a closure": closure,
    "a default": default,
    "a keyword's default": keyword,
    "a function's attribute": attribute,
    "a cached function": decorated,
    "a partial": lambda state: functools.partial(keyword(0.0), state=state),
    "an array in a partial": lambda state: functools.partial(keyword(0.0), state=np.array([state])),
    "a bound method": lambda state: Model(state).__call__,
    "a bound method of a table": lambda state: {"a": state}.get,
    "a class": class_of,
    "slots": Slotted,
    "a frozen record": Frozen,
    "a named pair": lambda state: Pair(1, state),
    "a set": lambda state: {"a", "b", str(state)},
    "an enum": lambda state: Kind(1 + round(state)),
    "a pattern": lambda state: re.compile(f"a{state}"),
    "a table": lambda state: pd.DataFrame({"a": [1.0, state]}),
    "a generator of numbers": lambda state: np.random.default_rng(round(state)),
    "a cycle": cyclic,
}


def buffered(state: float) -> torch.nn.Module:
    made = torch.nn.Module()
    made.register_buffer("scale", torch.tensor(state), persistent=False)
    return made


@pytest.mark.filterwarnings("ignore:.torch.jit:")
@pytest.mark.parametrize("form", FORMS)
def test_another_state_is_another_digest_and_the_same_state_the_same(form: str) -> None:
    make = FORMS[form]
    zero = digest_of_object(make(0.0))
    assert len(zero) == 64
    assert digest_of_object(make(0.0)) == zero
    assert digest_of_object(make(1.0)) != zero


def scaled(picture: Any) -> Any:
    return {"label": FACTOR * Model.share * SETTINGS.factor}


def calls_another(picture: Any) -> Any:
    return [scaled(part) for part in picture]


@pytest.mark.parametrize(
    "function", [scaled, calls_another, closure(scaled), functools.partial(calls_another)]
)
def test_what_code_names_counts_wherever_it_lies(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SETTINGS, "factor", 1.0, raising=False)
    monkeypatch.setattr(SETTINGS, "unused", 1.0, raising=False)
    before = digest_of_object(function)
    monkeypatch.setattr(SETTINGS, "unused", 2.0)
    assert digest_of_object(function) == before
    for place, name in ((SETTINGS, "factor"), (sys.modules[__name__], "FACTOR"), (Model, "share")):
        with monkeypatch.context() as changed:
            changed.setattr(place, name, np.array([2.0]))
            assert digest_of_object(function) != before, name
    assert digest_of_object(function) == before


def test_code_counts_by_what_it_does() -> None:
    texts = [
        "def f(x):\n    return x + 1",
        "\n\ndef f(x):\n    # more\n    return x + 1",
        "def f(x):\n    return x - 1",
    ]
    digests = []
    for text in texts:
        scope: dict[str, Any] = {"__name__": "typed"}
        exec(text, scope)
        digests.append(digest_of_object(scope["f"]))
    assert digests[0] == digests[1] != digests[2]


def test_the_source_of_what_a_function_imports_when_it_runs_counts(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "late_of_a_user.py").write_text("FACTOR = 1\n")

    def classify(picture: Any) -> Any:
        import late_of_a_user

        return {"label": late_of_a_user.FACTOR}

    before = digest_of_object(classify)
    classify(None)
    assert digest_of_object(classify) == before
    (tmp_path / "late_of_a_user.py").write_text("FACTOR = 2\n")
    assert digest_of_object(classify) != before


def test_locks_and_loggers_decide_nothing() -> None:
    assert digest_of_object(
        Model([threading.Lock(), logging.getLogger("one")])
    ) == digest_of_object(Model([threading.Lock(), logging.getLogger("two")]))


def test_a_connection_counts_by_its_address() -> None:
    httpx = pytest.importorskip(
        "httpx", reason="httpx is not installed: pip install 'gslopes[http]'"
    )
    one, same, other = (Model(httpx.Client(base_url=f"http://{host}")) for host in ("a", "a", "b"))
    assert digest_of_object(one) == digest_of_object(same) != digest_of_object(other)


class Session:
    """As compiled libraries have them."""

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle")


@pytest.mark.parametrize("thing", [open, itertools.count], ids=str)
def test_what_is_installed_counts_by_its_name(thing: Any) -> None:
    assert digest_of_object(thing) == digest_of_object(thing)


def test_what_has_no_digest_is_named(tmp_path, monkeypatch) -> None:
    with pytest.raises(
        NoDigest, match=r"^its state is of the type .*\.Session, whose state cannot be read$"
    ):
        digest_of_object(Model(Session()))
    with pytest.raises(NoDigest, match=r"^its session is of the type"):
        digest_of_object(lambda_of(Session()))
    with (tmp_path / "file").open("w") as file, pytest.raises(NoDigest, match="TextIOWrapper"):
        digest_of_object(Model([file]))
    with pytest.raises(NoDigest, match="generator"):
        digest_of_object(Model(number for number in range(3)))
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(NoDigest, match="too deep"):
        digest_of_object(deep)
    monkeypatch.setattr(module, "LIMIT", 100)
    with pytest.raises(NoDigest, match="more than 100 parts"):
        digest_of_object([[number] for number in range(200)])


def lambda_of(session: Any) -> Any:
    return lambda picture: session


PROGRAM = """
import re
from gslopes.core.digest import digest_of_object
SETTING = {"a", "b", "c"}
class Model:
    names = frozenset("xyz")
    def __call__(self, picture):
        return picture in {"p", "q", "r"} or SETTING
print(digest_of_object([Model(), re.compile("a"), lambda x: Model]))
"""


def test_a_digest_is_the_same_in_every_process() -> None:
    said = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, check=True, text=True,
        )  # fmt: skip
        said.add(done.stdout)
    assert len(said) == 1
