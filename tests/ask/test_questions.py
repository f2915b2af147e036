"""What is asked of two pictures: which ones, in which order, and what cannot be."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gslopes.ask.pictures import decoded, halves, png
from gslopes.ask.questions import about_edits
from gslopes.core import tables
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.traits import Traits
from tests.fake_provider.pictures import paint, place

OF_TWO = SimpleNamespace(traits=Traits(pairs=True))


def edits_of(folder, sweeps: dict[str, int]) -> pd.DataFrame:
    """One photo's, whose picture at a step is painted with that value."""
    rows = []
    for attribute, count in sweeps.items():
        for step in range(count):
            file = f"{attribute}-{step}.png"
            (folder / file).write_bytes(paint(step / 4, 0.5))
            rows.append(("p", attribute, step, float(step), file, 0.5))
    return pd.DataFrame(rows, columns=pd.Index(tables.EDITS.columns))


def seen(data: bytes) -> tuple[float, ...]:
    """The steps that a picture of two shows."""
    return tuple(round(4 * place(half)[0]) for half in decoded(halves(data)))


@pytest.mark.parametrize("count", [2, 3, 7])
def test_each_picture_stands_left_of_the_one_at_the_opposite_step_and_both_orders_are_asked(
    tmp_path, count
):
    edits = edits_of(tmp_path, {"gender": count, "gender-light": count})
    questions = about_edits(edits.sample(frac=1, random_state=1), tmp_path, 0, OF_TWO)
    assert len(questions) == 2 * count
    for question in questions:
        assert seen(question.read()) == (question.step, count - 1 - question.step)
    plain = about_edits(edits, tmp_path, 0)
    assert [(one.attribute, one.step) for one in plain] == [
        (one.attribute, one.step) for one in questions
    ]


def test_a_cell_of_a_grid_stands_beside_the_opposite_one(tmp_path):
    for count in (9, 4):  # of three by three values, and of two by two names
        questions = about_edits(edits_of(tmp_path, {"gender-x-race": count}), tmp_path, 0, OF_TWO)
        assert {seen(one.read()) for one in questions} == {(k, count - 1 - k) for k in range(count)}


@pytest.mark.parametrize(
    ("sweeps", "lacking"),
    [({"unedited": 1}, None), ({"gender": 3}, 1), ({"gender": 3}, 2), ({"gender-x-race": 6}, None)],
)
def test_a_picture_without_an_opposite_is_said_before_any_question(tmp_path, sweeps, lacking):
    edits = edits_of(tmp_path, sweeps)
    both = pd.concat([edits[edits["step"] != lacking], edits.assign(photo="whole")])
    with pytest.raises(UsageError, match="pictures of each photo at opposite values"):
        about_edits(both, tmp_path, 0, OF_TWO)


def test_a_file_that_is_gone_or_outside_costs_only_its_pairs(tmp_path):
    edits = edits_of(tmp_path, {"gender": 3})
    edits.loc[0, "file"] = "../elsewhere.png"
    for question in about_edits(edits, tmp_path, 0, OF_TWO):
        if question.step == 1:
            assert png(decoded([question.read()])[0])
        else:
            with pytest.raises(PhotoError):
                question.read()
