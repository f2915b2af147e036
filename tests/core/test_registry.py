from __future__ import annotations

import sys
from importlib import metadata

import pytest

from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.registry import Registry

OURS = Registry("thing", {"counter": "collections:Counter", "deque": "collections:deque"}, "gslopes.things")


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch):
    """Pretends that packages with these entry points are installed."""

    def install(**points: str | tuple[str, ...]) -> None:
        flat = [
            (name, value)
            for name, values in points.items()
            for value in ([values] if isinstance(values, str) else values)
        ]
        found = [metadata.EntryPoint(name, value, "gslopes.things") for name, value in flat]
        monkeypatch.setattr(metadata, "entry_points", lambda group: found if group == "gslopes.things" else [])

    return install


def test_a_name_of_the_table_leads_to_its_class():
    from collections import Counter

    assert OURS.find("counter").load() is Counter


def test_a_name_that_the_table_lacks_is_looked_up_among_entry_points(plugins):
    from fractions import Fraction

    plugins(fraction="fractions:Fraction")
    assert OURS.find("fraction").load() is Fraction
    assert [target.name for target in OURS.targets()] == ["counter", "deque", "fraction"]


def test_an_unknown_name_names_the_nearest_one():
    with pytest.raises(UnknownName, match=r"no thing named 'conter'\. Did you mean 'counter'\?"):
        OURS.find("conter")


def test_a_plug_in_may_not_take_a_name_of_ours(plugins):
    plugins(counter="elsewhere:Counter")
    with pytest.raises(ConfigError, match="'counter' is claimed by gslopes and"):
        OURS.find("counter")
    with pytest.raises(ConfigError, match="'counter'"):
        OURS.targets()


def test_listing_imports_nothing(plugins):
    plugins(broken="gslopes_no_such_module:Thing", rare="this:s")
    before = set(sys.modules)
    assert {target.name for target in OURS.targets()} == {"broken", "counter", "deque", "rare"}
    assert "this" not in set(sys.modules) - before


@pytest.mark.parametrize("path", ["gslopes_no_such_module:Thing", "collections:NoSuchThing"])
def test_a_plug_in_that_cannot_be_imported_is_named(plugins, path):
    plugins(broken=path)
    with pytest.raises(UsageError, match=r"'broken'.* cannot be imported from"):
        OURS.find("broken").load()
