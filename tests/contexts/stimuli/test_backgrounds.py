"""Backgrounds: rooms that are drawn, contexts.toml, names of folders, and who is credited."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes import contexts
from gslopes.contexts.stimuli.backgrounds import (
    Context,
    name_backgrounds,
    read_backgrounds,
    read_contexts,
)
from gslopes.contexts.stimuli.stages import background_rows
from gslopes.core.errors import ConfigError, UsageError
from gslopes.report.inline import templates


def credited(rows):
    """The line of the page that names them."""
    page = templates(Path(contexts.__file__).parent, False).get_template("sections.html.j2")
    return page.module.credited(rows.to_dict("records"))


@pytest.mark.row("contexts-4.1-photographs")
def test_eight_contexts_are_drawn_in_two_layouts_and_need_no_credit():
    drawn = read_backgrounds(
        ("rendered",), (96, 64), lambda: pytest.fail("nobody looks for faces in drawings")
    )
    assert len({background.context for background in drawn}) == 8
    assert len({background.photo for background in drawn}) == len(drawn) == 16
    assert all(np.asarray(background.pixels).shape == (64, 96, 3) for background in drawn)
    rows = background_rows(drawn).query("creator not in ('', 'gslopes')")
    assert credited(rows) == ""


def test_whoever_must_be_named_is_and_a_strangers_name_cannot_break_the_line():
    rows = pd.DataFrame(
        [{"status": "used", "context": "bar", "creator": "A\nB\u202e", "licence": "CC-BY-2.0"}]
    )
    line = credited(rows).strip()
    assert line.startswith("Backgrounds: bar by A")
    assert "CC-BY-2.0" in line
    assert "\n" not in line
    assert "\u202e" not in line


def _toml(tmp_path, text):
    path = tmp_path / "contexts.toml"
    path.write_text(text, "utf-8")
    return path


def test_records_by_key(tmp_path):
    records = read_contexts(
        _toml(tmp_path, '["Baby Nursery"]\nlabel = "feminine"\nrating = 4\ntags = ["crib"]\n')
    )
    assert records == {"baby-nursery": Context(label="feminine", rating=4.0, tags=("crib",))}


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


@pytest.mark.row("contexts-4.1-photographs")
def test_pictures_are_numbered_in_their_order():
    files = [("garage/a.jpg", Path("1")), ("garage/b.jpg", Path("2")), ("Pub.png", Path("3"))]
    assert [record.key for record in name_backgrounds(files, {})] == [
        "garage.1",
        "garage.2",
        "pub.1",
    ]


def test_a_context_without_a_picture_is_an_error():
    with pytest.raises(UsageError, match="no picture"):
        name_backgrounds([("a.jpg", Path("1"))], {"b": Context()})
