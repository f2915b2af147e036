"""TorchScript files as classifiers: trusted first. What else holds of them: test_every_classifier."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch

from gslopes.ask.classifiers import load_classifier
from gslopes.ask.classifiers.model_file import Program
from gslopes.core import tables
from gslopes.core.errors import ClassifierError, ModelError, UsageError
from tests.fake_provider.folder import write_run


def scripted(folder: Path, body: str) -> str:
    """The name of a classifier whose program has this body."""
    source = f"def forward(self, pictures: Tensor) -> Tensor:\n{body}    return pictures.mean((2, 3))\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated; the files that people have remain
        program = type("Program", (torch.jit.ScriptModule,), {})()  # a class of its own: a method is defined once
        program.define(source)
        program.save(str(folder / "model.pt"))
    (folder / "labels.txt").write_text("a\nb\nc\n")
    return f"torchscript:{folder / 'model.pt'},labels={folder / 'labels.txt'},size=8"


def test_nothing_of_a_file_runs_before_it_is_trusted(tmp_path):
    mark = tmp_path / "it-was-here"
    name = scripted(tmp_path, f"    torch.save(pictures, '{mark}')\n")
    with pytest.raises(UsageError, match=r"model\.pt is a program"):
        load_classifier(name)
    assert not mark.exists()
    load_classifier(name, trust=True)
    assert mark.exists()  # which is what the question is about


def test_the_command_runs_it_with_the_option_alone(gslopes, tmp_path):
    run, name = write_run(tmp_path / "run", 2), scripted(tmp_path, "")
    refused = gslopes("audit", run, "--only", "score", "--classifier", name, "--device", "cpu")
    assert refused.code == 2
    assert "is a program" in refused.err
    assert "--trust" in refused.err
    assert not (run / "scores.parquet").exists()
    assert gslopes("audit", run, "--only", "score", "--classifier", name, "--device", "cpu", "--trust").code == 0
    answered = tables.read(tables.ASKED, run / "asked.parquet")
    assert set(answered["status"]) == {"answered"}


def test_a_program_that_fails_on_every_picture_is_found_before_any_work(tmp_path):
    name = scripted(tmp_path, "    pictures = pictures.view(-1, 7)\n")
    with pytest.raises(ModelError, match="does not take a picture of 8 pixels"):
        load_classifier(name, trust=True)


def test_a_recording_runs_nothing_that_it_names(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "it-was-here"
    program = scripted(tmp_path, f"    torch.save(pictures, '{mark}')\n")
    line = {"picture": sha256(b"picture").hexdigest(), "status": "answered", "raw": {"bright": 0.5}}
    recording = tmp_path / "answers.jsonl"
    for name, fate in (("python:mine:function", "answered"), ("captioner-python:mine:f", ""), (program, "")):
        recording.write_text(json.dumps({**line, "classifier": name}) + "\n")
        replay = load_classifier(f"replay:{recording}", trust=True)
        (raw,) = replay.ask([b"picture"])
        if fate:
            assert replay.parse(raw).status == fate
        else:
            with pytest.raises(UsageError):
                replay.parse(raw)
    assert not mark.exists()


# -- programs ----------------------------------------------------------------------------------------------------------


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
def saved(tmp_path: Path) -> Callable[[torch.nn.Module], Program]:
    """A module as a program in a file."""

    def save(module: torch.nn.Module) -> Program:
        path = tmp_path / f"{type(module).__name__}.pt"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch.jit is deprecated; the files that people have remain
            torch.jit.script(module).save(str(path))
        return Program(path, "cpu", trust=True)

    return save


BATCH = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 100


def test_a_program_answers_and_leaves_the_batch_unchanged(saved):
    program = saved(Means())
    np.testing.assert_array_equal(program(BATCH), BATCH.mean((2, 3)))
    np.testing.assert_array_equal(program(BATCH[:1]), BATCH[:1].mean((2, 3)))


def test_an_error_on_one_input_is_told_and_the_next_one_is_answered(saved):
    program = saved(Picky())
    with pytest.raises(ClassifierError, match="too bright"):
        program(BATCH + 100)
    assert program(BATCH).shape == (2, 3)


def test_an_output_that_is_no_tensor_is_told(saved):
    program = saved(Pair())
    with pytest.raises(ClassifierError, match="returns tuple, not one tensor"):
        program(BATCH)


def test_what_is_no_program_is_not_run(tmp_path):
    wrong = tmp_path / "wrong.pt"
    wrong.write_bytes(b"this is no model")
    with pytest.raises(ModelError, match=r"wrong\.pt cannot be loaded"):
        Program(wrong, "cpu", trust=True)
