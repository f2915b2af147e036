"""Backgrounds that are drawn or read from installed packages, and the licences under which they are shown."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.lead import credit_line
from gslopes.contexts.pictures import backgrounds as module
from gslopes.contexts.pictures.backgrounds import TERMS, read_backgrounds
from gslopes.contexts.pictures.scenes import SCENES
from gslopes.contexts.stimuli import background_rows

LICENCES = Path(module.__file__).with_name("LICENCES.md")
CANVAS = (96, 64)


def no_finder():
    raise AssertionError("nobody looks for faces in drawings")


def packaged():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'gslopes[test]'")
    return read_backgrounds(("packaged",), CANVAS, no_finder)


def licences() -> dict[str, tuple[str, str, str]]:
    """Key to creator, licence and terms, from the file that ships."""
    found = {}
    for line in LICENCES.read_text("utf-8").splitlines():
        if line.startswith("| `"):
            keys, _, creator, licence, terms = (part.strip() for part in line.strip("|").split("|"))
            found |= dict.fromkeys(re.findall(r"`([a-z-]+)`", keys), (creator, licence, terms))
    return found


def test_every_background_that_is_drawn_or_read_from_a_package_has_its_licence_in_the_file():
    every = [*read_backgrounds(("rendered",), CANVAS, no_finder), *packaged()]
    assert {one.context for one in every} == set(licences())
    for one in every:
        creator, licence, terms = licences()[one.context]
        assert (one.record.creator, one.record.licence) == (creator, licence)
        assert TERMS[licence] == terms
        assert terms in one.record.source


def test_eight_contexts_are_drawn_in_two_layouts_and_nine_pictures_are_read():
    drawn = read_backgrounds(("rendered",), CANVAS, no_finder)
    assert len({one.context for one in drawn}) == len(SCENES) == 8
    assert len(drawn) == 16
    assert len({one.photo for one in drawn}) == 16
    assert all(np.asarray(one.pixels).shape == (64, 96, 3) for one in [*drawn, *packaged()])
    assert len(packaged()) == 9


def test_whoever_must_be_named_is_named_where_the_pictures_are_shown():
    text = credit_line({"backgrounds": background_rows(packaged())})
    assert "temple by danielbuechele, CC-BY-2.0" in text
    assert "flower by vultilion, CC-BY-2.0" in text
    drawn = read_backgrounds(("rendered",), CANVAS, no_finder)
    assert credit_line({"backgrounds": background_rows(drawn)}) == ""


def test_a_strangers_name_cannot_break_the_line():
    rows = pd.DataFrame([{"status": "used", "context": "bar", "creator": "A\nB\u202e", "licence": "CC0"}])
    assert "\n" not in credit_line({"backgrounds": rows})
    assert "\u202e" not in credit_line({"backgrounds": rows})
