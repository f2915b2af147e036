from __future__ import annotations

import json

import numpy as np
from click.testing import CliRunner
from PIL import Image

from gslopes.crops.cli import crops


def invoke(*args):
    return CliRunner().invoke(crops, [str(arg) for arg in args])


def test_the_first_word_may_be_the_folder(tmp_path):
    people = tmp_path / "people"
    people.mkdir()
    for index in range(4):
        Image.fromarray(np.full((20, 20, 3), index, np.uint8)).save(people / f"{index}.png")
    table = tmp_path / "people.csv"
    table.write_text("id,team\n0,a\n1,a\n2,b\n3,b\n")
    arguments = ["--people", table, "--groups", "team", "--out", tmp_path / "run", "--min-group", 2, "--dry-run"]
    done = invoke(people, *arguments)
    assert done.exit_code == 0, done.output
    assert "a over b: an even share would be known to ± 50.0%" in done.output
    assert "8 for each of spectral-residual" in done.output
    assert json.loads(invoke(people, *arguments, "--json").output)["pictures"] == 8
    assert not (tmp_path / "run").exists()


def test_help_has_examples():
    done = invoke("--help")
    assert "gslopes crops PEOPLE --people people.csv" in done.output
    assert "--policy" in done.output
    assert "--others" in invoke("sweep", "--help").output
