"""The student of both ends learns what its teacher shows."""

import json

import numpy as np
import pytest
import torch

from gslopes.core.errors import ConfigError, UnknownName
from gslopes.faces import zoo
from gslopes.faces.zoo.spec import find_spec
from training import drawn
from training.distillation import Optimisation, train_edit_ends
from training.field_editor import FieldEditor
from training.recipe import check_teacher
from training.sets import drawn_chips

SPEC = find_spec("gender-field")


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    return drawn_chips(drawn.sample(12, seed=5), 128)


def run(pixels, folder, steps):
    folder.mkdir(exist_ok=True)
    return train_edit_ends(
        SPEC, pixels, np.zeros((len(pixels), 3), np.float32), np.ones(len(pixels)), folder, teacher="gender-teacher",
        optimisation=Optimisation(steps=steps, batch=4), report_every=1, save_every=2,
    )  # fmt: skip


@pytest.mark.evidence
@pytest.mark.slow
def test_what_is_left_of_the_teacher_falls_and_is_a_share_of_what_it_shows(pixels, tmp_path):
    run(pixels, tmp_path / "run", 12)
    rows = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert rows[0]["low"] == pytest.approx(1, abs=0.01)  # no edit at all
    assert rows[-1]["low"] + rows[-1]["high"] < 0.8 * (rows[0]["low"] + rows[0]["high"])


@pytest.mark.parametrize("name", ["gender", "race"])
def test_the_student_that_ships_shows_what_its_teacher_shows(name, pixels):
    """On drawn faces, which neither has seen: most of what the teacher changes in the face."""
    x = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    target, _ = FieldEditor(f"{name}-teacher").ends(x)
    with torch.inference_mode():
        ratios, _ = zoo.load(f"{name}-field").module(2 * x - 1)
    face = (..., slice(45, 105), slice(38, 90))
    remaining = (ratios - target)[face].square().mean() / target[face].square().mean()
    assert remaining < 0.3


def test_a_recipe_without_a_teacher_or_with_another_editors_is_refused(tmp_path):
    path = tmp_path / "recipe.toml"
    with pytest.raises(ConfigError, match="names no teacher"):
        check_teacher("", SPEC, path)
    with pytest.raises(ConfigError, match="cannot teach gender-field"):
        check_teacher("race-teacher", SPEC, path)
    with pytest.raises(ConfigError, match="cannot teach gender-field"):
        check_teacher("judge", SPEC, path)
    with pytest.raises(UnknownName):
        check_teacher("gender-teechar", SPEC, path)
