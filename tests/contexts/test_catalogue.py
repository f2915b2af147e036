"""contexts.toml and the names of folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslopes.contexts.catalogue import Context, name_backgrounds, read_contexts
from gslopes.core.errors import ConfigError, UsageError


def _toml(tmp_path, text):
    path = tmp_path / "contexts.toml"
    path.write_text(text, "utf-8")
    return path


def test_records_by_key(tmp_path):
    found = read_contexts(_toml(tmp_path, '["Baby Nursery"]\nlabel = "feminine"\nrating = 4\ntags = ["crib"]\n'))
    assert found == {"baby-nursery": Context(label="feminine", rating=4.0, tags=("crib",))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nrating = 11\n", "between 0"),
        ('[a]\nlable = "none"\n', "Did you mean 'label'"),
        ('[a]\nlabel = "femine"\n', "feminine"),
    ],
)
def test_what_is_wrong_is_said(text, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        read_contexts(_toml(tmp_path, text))


def test_two_names_that_become_one_are_named(tmp_path):
    with pytest.raises(UsageError, match="both become"):
        read_contexts(_toml(tmp_path, '["a b"]\n["A-B"]\n'))
    with pytest.raises(UsageError, match="both become"):
        name_backgrounds([("a b/1.jpg", Path("x")), ("A-b.jpg", Path("y"))], {})


def test_pictures_are_numbered_in_their_order():
    files = [("garage/a.jpg", Path("1")), ("garage/b.jpg", Path("2")), ("Pub.png", Path("3"))]
    assert [record.key for record in name_backgrounds(files, {})] == ["garage.1", "garage.2", "pub.1"]


def test_a_context_without_a_picture_is_an_error():
    with pytest.raises(UsageError, match="no picture"):
        name_backgrounds([("a.jpg", Path("1"))], {"b": Context()})
