"""Real TorchScript files, each run in a process of its own."""

from __future__ import annotations

import hashlib
import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.zoo.program import Program, ProgramError


class Means(torch.nn.Module):
    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        print("noise on stdout")  # noqa: T201 - as programs do
        return pictures.mean((2, 3))


class Endless(torch.nn.Module):
    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        while bool(pictures.sum() > -1):
            pictures = pictures * 0
        return pictures


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


def test_a_program_answers_as_in_this_process_and_its_prints_go_nowhere(saved, capfd):
    program = Program(*saved(Means()))
    np.testing.assert_array_equal(program(BATCH), BATCH.mean((2, 3)))
    np.testing.assert_array_equal(program(BATCH[:1]), BATCH[:1].mean((2, 3)))
    program.close()
    assert capfd.readouterr().out == ""


def test_an_endless_loop_is_a_sentence_and_its_process_is_gone(saved):
    program = Program(*saved(Endless()), time_limit=1.5)
    process = program._process
    with pytest.raises(ModelError, match=r"Endless\.pt did not answer within 1\.5 seconds") as caught:
        program(BATCH)
    assert "time_limit" in caught.value.hint
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(ModelError, match="has ended"):
        program(BATCH)


@pytest.mark.slow
def test_a_crash_is_a_sentence_with_its_signal(saved):
    program = Program(*saved(Means()))
    os.kill(program._process.pid, signal.SIGSEGV)  # as a program that reads beyond its memory, or is out of it
    with pytest.raises(ModelError, match=r"ended its process while it was to answer \(SIGSEGV\)"):
        program(BATCH)


@pytest.mark.slow
def test_an_error_on_one_input_is_told_and_the_next_one_is_answered(saved):
    program = Program(*saved(Picky()))
    with pytest.raises(ProgramError, match="too bright"):
        program(BATCH + 100)
    assert program(BATCH).shape == (2, 3)
    program.close()


def test_an_output_that_is_no_tensor_is_told(saved):
    program = Program(*saved(Pair()))
    with pytest.raises(ProgramError, match="returns tuple, not one tensor"):
        program(BATCH)
    program.close()


def test_what_is_no_program_or_changed_meanwhile_is_not_run(saved, tmp_path):
    path, _ = saved(Means())
    with pytest.raises(ModelError, match="changed since"):
        Program(path, "0" * 64)
    wrong = tmp_path / "wrong.pt"
    wrong.write_bytes(b"this is no model")
    with pytest.raises(ModelError, match=r"wrong\.pt cannot be loaded"):
        Program(wrong, hashlib.sha256(wrong.read_bytes()).hexdigest())


@pytest.mark.slow
def test_its_process_has_no_credential_and_no_open_file_and_ends_when_it_is_let_go(saved, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted")
    program = Program(*saved(Means()))
    process = program._process
    known = Path(f"/proc/{process.pid}")
    if known.exists():
        assert b"planted" not in (known / "environ").read_bytes()
        open_files = {os.readlink(one) for one in (known / "fd").iterdir()}
        assert {name.partition(":")[0] for name in open_files} <= {"/dev/null", "socket", "anon_inode", "pipe"}
    del program
    assert process.wait(timeout=60) == -signal.SIGKILL
