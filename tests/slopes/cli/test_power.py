import json

import numpy as np
import pandas as pd
import pytest

from gslopes.core import placebo, runfolder, tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions
from tests.slopes.measures.conftest import build

VALUES = np.linspace(-2, 2, 7)


def pilot(folder, kinds=placebo.KINDS):
    """A fitted run of 150 photos: two labels, of which one moves."""
    rng = np.random.default_rng(0)
    parts = []
    for name in ("gender", *(placebo.name("gender", kind) for kind in kinds)):
        move = 0.06 if name == "gender" else 0.0
        present = rng.random((150, 2, 7)) < 0.4 + move * np.array([1, 0])[:, None] * VALUES
        parts.append(build(present, VALUES, labels=["moves", "still"], attribute=name))
    scores, asked = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    found = analyse(scores, asked, options=FitOptions(permutations=200))
    folder.mkdir(exist_ok=True)
    for table in (tables.SLOPES, tables.PLACEBOS):
        runfolder.write_table(table, getattr(found, table.name), folder / f"{table.name}.parquet")
    return folder


def test_the_three_questions_have_an_answer_each(gslopes) -> None:
    known = ("power", "--rate", 0.3, "--labels", 5, "--noise", 0.5, "--json")
    slope = json.loads(gslopes(*known, "--photos", 100).out)["slope"]
    chance = json.loads(gslopes(*known, "--photos", 100, "--slope", slope).out)
    assert chance["power"] == pytest.approx(0.8, abs=0.03)
    assert (chance["labels"], chance["noise"]) == (5, 0.5)
    assert json.loads(gslopes(*known, "--slope", slope).out)["photos"] == pytest.approx(
        100, rel=0.08
    )


def test_the_answer_is_a_sentence_for_both_kinds_of_classifiers(gslopes) -> None:
    text = gslopes("power", "--photos", 100, "--rate", 0.3, "--slope", 4).out
    assert text.startswith(
        "100 photos make a slope of 4 percentage points per unit a finding with a chance of "
    )
    assert "one label, on 30.0 % of the photos." in text
    assert (
        "whose answers are by chance. If only the edit changes its answers, the chance is " in text
    )
    assert "may not judge it" in gslopes("power", "--photos", 50, "--rate", 0.05, "--slope", 1).out


def test_a_pilot_says_how_the_answers_vary_and_how_many_labels_are_judged(
    gslopes, tmp_path
) -> None:
    run = pilot(tmp_path / "run")
    plan = json.loads(
        gslopes(
            "power", "--pilot", run, "--label", "moves", "--photos", 100, "--slope", 5, "--json"
        ).out
    )
    assert plan["rate"] == pytest.approx(0.4, abs=0.1)
    assert plan["noise"] == pytest.approx(1, abs=0.2)  # every answer was by chance
    assert plan["labels"] == 2
    assert plan["unit"] == "percentage points per unit"


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--rate", 0.1], "Give --photos, --slope or both."),
        (["--rate", 2, "--photos", 9], "between 0 and 1"),
        (["--photos", 9], "--rate"),
        (["--photos", 9, "--pilot", "RUN"], "--label"),
        (["--photos", 9, "--pilot", "RUN", "--label", "nothing"], "It has judged moves, still."),
        (
            ["--photos", 9, "--pilot", "RUN", "--label", "moves", "--classifier", "x"],
            "has no classifier x",
        ),
        (["--photos", 9, "--pilot", "EMPTY", "--label", "moves"], "is not fitted"),
        (["--photos", 9, "--pilot", "BARE", "--label", "moves"], "--no-placebo"),
    ],
)
def test_a_question_without_an_answer_is_a_usage_error(gslopes, tmp_path, args, why) -> None:
    folders = {
        "RUN": lambda: pilot(tmp_path / "run"),
        "BARE": lambda: pilot(tmp_path / "bare", ()),
        "EMPTY": lambda: tmp_path,
    }
    done = gslopes("power", *(folders[arg]() if arg in folders else arg for arg in args))
    assert done.code == 2
    assert not done.out
    assert why in done.err
