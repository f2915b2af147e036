import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gslopes.core import tables
from gslopes.core.errors import ConfigError, TableError
from gslopes.slopes.fit.sweeps import values_by_attribute

VALUES = np.linspace(-2, 2, 7)


@pytest.fixture
def arrow(answers):
    def make(present: np.ndarray, values=VALUES) -> tuple[pa.Table, pa.Table]:
        scores, asked = answers(present, values)
        return tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked)

    return make


def test_values_are_read_from_the_scores_table(arrow) -> None:
    assert values_by_attribute(*arrow(np.ones((2, 1, 7), bool)))["gender"].tolist() == VALUES.tolist()


def test_uneven_values_are_kept(arrow) -> None:
    uneven = [-2.0, -0.5, 0.0, 0.25, 1.0]
    assert values_by_attribute(*arrow(np.ones((2, 1, 5), bool), uneven))["gender"].tolist() == uneven


@pytest.mark.parametrize("kept", [(0, 1), (5, 6), (2, 4), (0, 3, 6)])
def test_steps_without_any_label_are_filled_in(arrow, kept: tuple[int, ...]) -> None:
    present = np.zeros((2, 1, 7), bool)
    present[:, :, list(kept)] = True
    np.testing.assert_allclose(values_by_attribute(*arrow(present))["gender"], VALUES, atol=1e-6)


def test_one_known_step_is_too_few(arrow) -> None:
    present = np.zeros((2, 1, 7), bool)
    present[0, 0, 3] = True
    with pytest.raises(TableError, match="holds 1 of the 7 values of gender"):
        values_by_attribute(*arrow(present))


def test_a_gap_among_uneven_values_is_not_guessed(arrow) -> None:
    present = np.ones((2, 1, 5), bool)
    present[:, :, 1] = False
    with pytest.raises(TableError, match="do not lie evenly"):
        values_by_attribute(*arrow(present, [-2.0, -0.5, 0.0, 0.25, 1.0]))


def test_given_values_and_those_of_the_table_are_the_same_to_the_bit(arrow) -> None:
    scores, asked = arrow(np.ones((2, 1, 7), bool))
    read = values_by_attribute(scores, asked)["gender"]
    for given in (VALUES.tolist(), VALUES.astype(np.float32).tolist()):
        assert (values_by_attribute(scores, asked, {"gender": given})["gender"] == read).all()


@pytest.mark.parametrize("given", [[-1, -0.5, 0.5, 1], [0.0], [-1, 0, 0], [2, 0, -2], [-1, 0, np.nan], [[1], [2], [3]]])
def test_given_values_must_be_odd_in_number_and_increase(arrow, given: list) -> None:
    with pytest.raises(ConfigError):
        values_by_attribute(*arrow(np.ones((2, 1, 3), bool), [-1.0, 0.0, 1.0]), {"gender": given})


def test_an_even_sweep_in_the_tables_is_refused(arrow) -> None:
    with pytest.raises(TableError, match="has 4 values"):
        values_by_attribute(*arrow(np.ones((2, 1, 4), bool), [-2.0, -1.0, 1.0, 2.0]))


def test_given_values_that_contradict_the_table_are_refused(arrow) -> None:
    with pytest.raises(TableError, match="Step 0 of gender is -2"):
        values_by_attribute(*arrow(np.ones((2, 1, 7), bool)), {"gender": np.linspace(-1, 1, 7).tolist()})


def test_more_steps_than_given_values_are_refused(arrow) -> None:
    with pytest.raises(TableError, match="step 6"):
        values_by_attribute(*arrow(np.ones((2, 1, 7), bool)), {"gender": [-2.0, 0.0, 2.0]})


def test_two_values_for_one_step_are_refused(answers) -> None:
    scores, asked = answers(np.ones((2, 1, 7), bool), VALUES)
    other, _ = answers(np.ones((2, 1, 7), bool), VALUES / 2)
    both = tables.check(tables.SCORES, pd.concat([scores, other]))
    with pytest.raises(TableError, match="different values for one step"):
        values_by_attribute(both, tables.check(tables.ASKED, asked))
