"""Real TorchScript files, loaded in this process."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from gslopes.ask.program import Program, ProgramError
from gslopes.core.errors import ModelError


class Means(torch.nn.Module):
    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return pictures.mean((2, 3))


class Picky(torch.nn.Module):
    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        if bool(pictures.sum() > 100):
            raise RuntimeError("too bright")
        return pictures.mean((2, 3))


class Pair(torch.nn.Module):
    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return pictures, pictures


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[torch.nn.Module], tuple[Path, str]]:
    """Scripts a module into a file; the file and its sha256."""

    def save(module: torch.nn.Module) -> tuple[Path, str]:
        path = tmp_path / f"{type(module).__name__}.pt"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch.jit is deprecated; the files that people have remain
            torch.jit.script(module).save(str(path))
        return path, hashlib.sha256(path.read_bytes()).hexdigest()

    return save


BATCH = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 100


def test_a_program_answers_and_leaves_the_batch_unchanged(saved):
    program = Program(*saved(Means()))
    np.testing.assert_array_equal(program(BATCH), BATCH.mean((2, 3)))
    np.testing.assert_array_equal(program(BATCH[:1]), BATCH[:1].mean((2, 3)))


def test_an_error_on_one_input_is_told_and_the_next_one_is_answered(saved):
    program = Program(*saved(Picky()))
    with pytest.raises(ProgramError, match="too bright"):
        program(BATCH + 100)
    assert program(BATCH).shape == (2, 3)


def test_an_output_that_is_no_tensor_is_told(saved):
    program = Program(*saved(Pair()))
    with pytest.raises(ProgramError, match="returns tuple, not one tensor"):
        program(BATCH)


def test_what_is_no_program_or_changed_meanwhile_is_not_run(saved, tmp_path):
    path, _ = saved(Means())
    with pytest.raises(ModelError, match="changed since"):
        Program(path, "0" * 64)
    wrong = tmp_path / "wrong.pt"
    wrong.write_bytes(b"this is no model")
    with pytest.raises(ModelError, match=r"wrong\.pt cannot be loaded"):
        Program(wrong, hashlib.sha256(wrong.read_bytes()).hexdigest())
