"""What holds for every registered editor of others: a new one is tested by being registered."""

import inspect
import json
import subprocess
import sys
from dataclasses import is_dataclass
from importlib import metadata
from types import SimpleNamespace

import pytest

from gslopes.ask import names
from gslopes.ask.editors import (
    CATALOGUE,
    REGISTRY,
    is_outside,
    list_editors,
    load_editor,
    manual_of,
)
from gslopes.core.errors import UnknownName, UsageError
from gslopes.faces.edit.protocol import Wish

BUILT_IN = sorted(CATALOGUE)


@pytest.mark.parametrize("base", BUILT_IN)
def test_it_declares_its_options_and_is_listed_with_them(base):
    kind = REGISTRY.find(base).load()
    assert is_dataclass(kind.Options)
    assert kind.Options.__dataclass_params__.frozen
    (entry,) = [entry for entry in list_editors() if entry.name == base]
    assert entry.parameters == names.usage(kind.Options)
    assert entry.summary == CATALOGUE[base].summary
    assert {"prompt", "takes"} <= {parameter.partition("=")[0] for parameter in entry.parameters}
    assert list(inspect.signature(kind).parameters) == ["name", "options", "setting"]


@pytest.mark.parametrize("base", BUILT_IN)
def test_its_manual_begins_with_how_it_is_named(base):
    assert f"{base}:" in manual_of(base).splitlines()[0]
    assert is_outside(f"{base}:anything,prompt=p.toml")


@pytest.mark.parametrize("base", BUILT_IN)
def test_an_unknown_option_is_told_as_an_editors(base):
    with pytest.raises(UsageError, match=f"The editor '{base}' has no parameter 'promt'") as raised:
        load_editor(f"{base}:https://host.example/edit,promt=x")
    assert "prompt" in raised.value.hint


def test_those_of_the_zoo_are_listed_and_are_not_outside():
    zoo = {entry.name for entry in list_editors()} - {*BUILT_IN}
    assert {"gender-field", "gender-fader"} <= zoo
    assert "celeba-tagger" not in zoo
    assert not any(map(is_outside, zoo))
    assert "gslopes audit PHOTOS --editor gender-field" in manual_of("gender-field")


def test_a_wish_is_a_name_of_its_own():
    wishes = [
        Wish("gender", -2.0), Wish("gender", 2.0), Wish("gender"), Wish("age", -2.0), Wish("gender", "-2", draw=1),
        Wish("gender", -2.0, "One."), Wish("gender", -2.0, "Another."),
    ]  # fmt: skip
    assert len({wish.key for wish in wishes}) == len(wishes)
    assert Wish("gender", -2.0, seed=3).key == wishes[0].key  # who draws by it adds it


def test_listing_imports_no_heavy_library():
    code = (
        "import sys; from gslopes.ask.editors import list_editors; list_editors();"
        "print([m for m in ('torch', 'diffusers', 'httpx', 'cv2', 'jsonpath_rfc9535') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- other packages'


class Inverting:
    """Makes a negative of a photo."""

    takes = "photo"
    size = 0
    words = False
    prompt = ""
    version = "1"

    def __init__(self, name, options, setting):
        self.name = f"{name} on {setting.device}"

    def at(self, wish):
        return SimpleNamespace(name=self.name + wish.key)


def test_another_packages_editor_is_found_by_its_entry_point(monkeypatch):
    point = metadata.EntryPoint("inverting", f"{__name__}:Inverting", "gslopes.editors")
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: [point] if group == "gslopes.editors" else []
    )
    assert is_outside("inverting")
    assert "inverting" in {entry.name for entry in list_editors()}
    editor = load_editor("inverting")
    assert editor.at(Wish("gender", 1.0)).name == "inverting on cpu@gender=1"
    with pytest.raises(UnknownName, match="Did you mean 'inverting'"):
        load_editor("invertin")


def test_nothing_is_looked_up_for_the_default_editor(monkeypatch):
    monkeypatch.setattr(metadata, "entry_points", lambda group: pytest.fail(group))
    assert not is_outside("")


# -- gslopes list editors


def test_the_command_lists_them_and_their_manuals(gslopes):
    done = gslopes("list", "editors")
    assert done.code == 0, done.err
    assert {*BUILT_IN, "gender-field"} <= {line.split("  (")[0] for line in done.out.splitlines()}
    assert max(map(len, done.out.splitlines())) <= 100
    shown = gslopes("list", "editors", "python").out
    assert "def edit(image, value):" in shown
    assert "gender-field" not in shown
    entries = json.loads(gslopes("list", "editors", "--json").out)
    assert [entry["name"] for entry in entries] == sorted(entry["name"] for entry in entries)
    wrong = gslopes("list", "editors", "pyton")
    assert wrong.code == 2
    assert "There is no editor named 'pyton'." in wrong.err
