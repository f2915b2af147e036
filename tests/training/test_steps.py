"""Value 0 is neutral and steps are even: the table that is found for a curve, and how it is kept."""

import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from gslopes.core.errors import ConfigError, ModelError
from gslopes.faces import zoo
from gslopes.faces.zoo import loading
from gslopes.faces.zoo.spec import PACKAGE, find_asset
from training.evaluation.steps import FINE, solve, write_steps

GRID = 2 * FINE


@pytest.mark.row("slopes-4.3-neutral")
def test_the_ends_stay_zero_is_neutral_and_steps_are_even_but_the_last_on_the_farther_side():
    curve = 1 + 3 * np.tanh(GRID)
    table = solve(curve)
    along = np.interp(table, GRID, curve)
    assert (table[0], table[-1]) == (-2, 2)
    assert along[3] == pytest.approx(0, abs=0.01)
    steps = np.diff(along)
    np.testing.assert_allclose(steps[:-1], -curve[0] / 3, atol=0.01)
    assert steps[-1] > steps[0]
    np.testing.assert_allclose(solve(curve, 1.0), np.array(table) / 2, atol=0.001)


def test_a_curve_that_turns_back_still_gives_rising_numbers_and_one_without_a_middle_a_sentence():
    table = solve(np.concatenate([[-1.0, -1.2, -1.1], np.linspace(-0.9, 2, 10)]))
    assert (np.diff(table) > 0).all()
    with pytest.raises(ModelError, match="no value is neutral"):
        solve(np.linspace(-3, 0.8, len(GRID)))


@pytest.fixture
def home(tmp_path, monkeypatch):
    for folder in ("models", "weights"):
        shutil.copytree(
            PACKAGE.parent / folder / "gender-field", tmp_path / folder / "gender-field"
        )
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path))
    return tmp_path


def test_a_table_goes_into_spec_weights_and_card_and_no_weight_changes(home):
    file = home / "weights/gender-field" / loading.FILE
    before = load_file(file)
    table = (-2.0, -1.25, -0.5, 0.125, 0.5, 1.0, 2.0)
    write_steps("gender-field", table)
    loaded = zoo.load("gender-field")
    assert (
        loaded.spec.steps
        == table
        == zoo.read_spec(find_asset("models", "gender-field") / "spec.toml").steps
    )
    after = load_file(file)
    assert all(
        torch.equal(after[key], before[key]) and after[key].dtype == before[key].dtype
        for key in before
    )
    assert loaded.sha256 in (home / "models/gender-field/card.md").read_text()


@pytest.mark.parametrize(
    "steps", ["[-2, 0, 2]", "[-2, -1, 0, 0, 1, 1.5, 2]", "[-2, -1, nan, 0.5, 1, 1.5, 2]"]
)
def test_a_table_is_seven_rising_numbers(home, steps):
    path = home / "models/gender-field/spec.toml"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("steps")]
    path.write_text("\n".join([*lines, f"steps = {steps}"]))
    with pytest.raises(ConfigError, match=r"seven rising numbers|steps\[2\] is nan"):
        zoo.read_spec(path)
