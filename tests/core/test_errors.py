"""The error tree: drawn as it is, exit codes by branch, every message with its next step."""

import copy
import inspect
import pickle
import re

import pytest

from gslopes.core import errors
from gslopes.core.errors import (
    CredentialsError,
    GslopesError,
    PhotoError,
    Refused,
    Throttled,
    Unavailable,
    UnknownName,
    UsageError,
)

ALL = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)
]
OTHER = (PhotoError, UnknownName, Refused, Throttled, Unavailable, CredentialsError)
EXAMPLES = [
    *[kind("The disk is full.", "Make room.") for kind in ALL if kind not in OTHER],
    Refused("policy"),
    Throttled("Too many requests.", 2.5),
    Unavailable("The server failed.", billed=True, retry_after=1.0),
    CredentialsError("google", ["A_KEY", "A_SECRET"]),
    CredentialsError("google", ["A_KEY"], rejected=True, detail="401"),
    PhotoError("a b/ü.jpg", "it ends too early"),
    UnknownName("model", "gender-feld", ["race-field", "gender-field"]),
]


def test_the_drawing_shows_every_error_below_its_parent():
    drawn: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^( {4}[ │]*(?:[├└]── )?)([A-Z]\w+)(?: |$)", line)
        if match is None:
            continue
        depth = len(match[1])
        path = [(column, name) for column, name in path if column < depth]
        drawn[match[2]] = path[-1][1] if path else "Exception"
        path.append((depth, match[2]))
    assert drawn == {kind.__name__: kind.__base__.__name__ for kind in ALL}


@pytest.mark.parametrize("kind", ALL)
def test_exit_code_is_2_for_usage_and_1_for_the_rest(kind: type[GslopesError]):
    assert kind.exit_code == (2 if issubclass(kind, UsageError) else 1)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_is_a_sentence_with_its_hint_and_comes_back_whole_from_a_worker(
    error: GslopesError,
):
    assert error.message.endswith(".")
    assert str(error) == f"{error.message} {error.hint}".strip()
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (vars(again), str(again)) == (vars(error), str(error))


def test_unknown_name_offers_the_nearest_or_lists_what_there_is():
    near = UnknownName("model", "gender-feld", ["race-field", "gender-field"])
    far = UnknownName("model", "zzz", ["b", "a"])
    none = UnknownName("model", "zzz", [])
    assert near.hint == "Did you mean 'gender-field'?"
    assert far.hint == "Known: a, b."
    assert none.hint == "Known: none."
    assert near.message == "There is no model named 'gender-feld'."
