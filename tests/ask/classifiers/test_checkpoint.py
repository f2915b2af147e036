"""Weights as training scripts write them, and models that are named only by their file."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torchvision import models

from gslopes.ask.classifiers import canonical_name, load_classifier, torch_model
from gslopes.core.errors import ModelError, UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "four.txt").write_text("a\nb\nc\nd\n")
    (tmp_path / "three.txt").write_text("a\nb\nc\n")
    return tmp_path


def network(classes: int = 4) -> Any:
    return models.get_model("resnet18", weights=None, num_classes=classes)


@pytest.mark.parametrize(
    ("wrapper", "prefix"),
    [("", ""), ("state_dict", "module."), ("model_state_dict", "_orig_mod."), ("model", "model.")],
)
def test_wrappers_and_prefixes_of_training_scripts_come_off(
    folder: Path, wrapper: str, prefix: str
) -> None:
    trained = torch.nn.Linear(3, 2)
    state = {f"{prefix}{key}": value for key, value in trained.state_dict().items()}
    torch.save({"epoch": 9, wrapper: state} if wrapper else state, folder / "weights.pth")
    loaded = torch.nn.Linear(3, 2)
    torch_model.load_weights(loaded, folder / "weights.pth")
    assert torch.equal(loaded.weight, trained.weight)


def test_weights_with_another_number_of_classes_are_said(folder: Path) -> None:
    torch.save(
        {"state_dict": {f"module.{k}": v for k, v in network().state_dict().items()}}, "mine.pth"
    )
    assert load_classifier("torchvision:resnet18,weights=mine.pth,labels=four.txt").labels == tuple(
        "abcd"
    )
    for labels, count in (("", "1,000"), (",labels=three.txt", "3")):
        with pytest.raises(
            ModelError,
            match=rf"have 4 classes, and there are {count} labels\. Give labels=FILE with 4",
        ):
            load_classifier(f"torchvision:resnet18,weights=mine.pth{labels}")
    assert canonical_name("a.onnx,labels=l.txt") == "onnx:a.onnx,labels=l.txt"
    with pytest.raises(
        ModelError, match=r"do not say their network\. Name it, such as torchvision:resnet18"
    ):
        canonical_name("mine.pth")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"epoch": 9}, "holds no state dict. Save model.state_dict()"),
        (
            torch.nn.Linear(3, 2),
            "holds a whole Python object, which would run code. Save its weights alone",
        ),
    ],
)
def test_what_a_file_of_weights_is_not_is_said(folder: Path, content: Any, message: str) -> None:
    torch.save(content, "mine.pth")
    with pytest.raises(ModelError, match=re.escape(message)):
        load_classifier("torchvision:resnet18,weights=mine.pth")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_program_is_no_file_of_weights(folder: Path) -> None:
    torch.jit.save(torch.jit.trace(torch.nn.Flatten(), torch.zeros(1, 3, 8, 8)), "mine.pt")
    with pytest.raises(
        ModelError,
        match=r"is a TorchScript program, not weights\. Give torchscript:mine\.pt,labels=",
    ):
        load_classifier("torchvision:resnet18,weights=mine.pt")


def test_a_function_is_named_by_its_file(folder: Path, picture: Any) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/hire_by_file.py").write_text(
        "def hire(picture):\n    return [picture.mean() / 255]\n\ndef odd(pictures):\n    return len(pictures\n"
    )
    with pytest.raises(UsageError, match=r"SyntaxError"):
        load_classifier("sub/hire_by_file.py:hire")
    (folder / "sub/hire_by_file.py").write_text(
        "def hire(picture):\n    return [picture.mean() / 255]\n"
    )
    (folder / "one.txt").write_text("hire\n")
    classifier = load_classifier("sub/hire_by_file.py:hire,labels=one.txt")
    assert classifier.name == "python:sub/hire_by_file.py:hire,labels=one.txt"
    assert classifier.version.startswith("source ")
    assert dict(classifier.parse(classifier.ask([picture((51, 51, 51))])[0]).labels) == {
        "hire": pytest.approx(0.2)
    }
    for wrong, message in (
        ("none.py:hire", "the file none.py is missing"),
        ("sub/hire_by_file.py:no", "no attribute 'no'"),
    ):
        with pytest.raises(UsageError, match=message):
            load_classifier(wrong)
