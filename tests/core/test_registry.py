import sys
from collections import Counter
from fractions import Fraction
from importlib import metadata

import pytest

from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.registry import Registry

OURS = Registry(
    "thing", {"counter": "collections:Counter", "deque": "collections:deque"}, "gslopes.things"
)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch):
    """Pretends that a package with these entry points is installed."""

    def install(**points: str) -> None:
        found = [
            metadata.EntryPoint(name, value, "gslopes.things") for name, value in points.items()
        ]
        monkeypatch.setattr(
            metadata, "entry_points", lambda group: found if group == "gslopes.things" else []
        )

    return install


def test_a_name_leads_to_its_class_ours_or_that_of_an_entry_point(plugins):
    plugins(fraction="fractions:Fraction")
    assert OURS.find("counter").load() is Counter
    assert OURS.find("fraction").load() is Fraction
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


def test_packages_are_looked_through_once_and_again_after_one_was_installed(monkeypatch, tmp_path):
    looked = []

    def find(group: str) -> list[metadata.EntryPoint]:
        looked.append(group)
        return []

    monkeypatch.setattr(metadata, "entry_points", find)
    for _ in range(3):
        OURS.find("counter")
    assert looked == ["gslopes.things"]
    monkeypatch.syspath_prepend(tmp_path)
    OURS.find("counter")
    (tmp_path / "thing-1.dist-info").mkdir()
    OURS.find("counter")
    assert len(looked) == 3
