"""A home of tiny random models and folders of rendered faces: the whole walk in a second, without trained weights."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Faces:
    """A folder of rendered photos, and the arguments that name what is known about them."""

    folder: Path

    @property
    def photos(self) -> Path:
        return self.folder / "photos"

    @property
    def known(self) -> dict[str, Path]:
        return {"landmarks": self.folder / "faces.csv", "masks": self.folder / "masks"}

    @property
    def args(self) -> list[str]:
        return ["--landmarks", str(self.known["landmarks"]), "--masks", str(self.known["masks"])]


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose weights/ holds networks of a few hundred parameters with random weights."""
    import torch

    from gslopes.zoo import ModelSpec, build, weights

    home = tmp_path_factory.mktemp("home")
    about = {"summary": "For tests.", "licence": "CC0-1.0", "data": (), "paper": "", "recipe": ""}
    labels = ("Chef", "Smiling", "Tie", "Young")
    specs = [
        ModelSpec(name=f"fader-{a}", network="fader", size=32, labels=(a,), config={"widths": [4, 8]}, **about)
        for a in ("gender", "race")
    ]
    specs.append(
        ModelSpec("celeba-tagger", network="tagger", size=32, labels=labels, config={"widths": [4, 8]}, **about)
    )
    for seed, spec in enumerate(specs):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            module = build(spec)
            for parameter in module.parameters():
                torch.nn.init.normal_(parameter, std=0.5)
        weights.save(home / "weights" / spec.name, spec, module.state_dict())
    return home


@pytest.fixture
def home(tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GSLOPES_HOME", str(tiny_models))
    return tiny_models


@pytest.fixture(scope="session")
def draw(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Faces]:
    """Draws n rendered faces into a fresh folder."""
    from gslopes.datasets.rendered import sample, write_folder

    def drawn(n: int, seed: int = 0, size: int = 96) -> Faces:
        folder = tmp_path_factory.mktemp("faces")
        write_folder(sample(n, seed), folder, size=size)
        return Faces(folder)

    return drawn


@dataclass(frozen=True)
class Done:
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def gslopes(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Runs the command line in this process."""
    from gslopes.cli import main

    def run(*args: object) -> Done:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                main([os.fspath(arg) if isinstance(arg, Path) else str(arg) for arg in args])
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())
        return Done(int(ended.value.code or 0), *texts)

    return run
