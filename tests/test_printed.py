"""README, Get started and the page about gates: every command is run as printed, in a folder that has what it names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from gslopes.frame.conditions import FAILED
from gslopes.slopes.demo import astronaut
from tests.ask import local_models
from tests.fake_provider import FakeProvider
from tests.frame.audits import AUDITS
from tests.loopback import QuietHandler, serving

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README", "ten-minutes", "counterfactual-set", "paid-service", "own-model", "gate")
INSTALLS = ("pip ", "pipx ", "uv ", "sudo ", "docker ", "wsl ")


def text_of(page: str) -> str:
    (path,) = [
        path
        for path in (ROOT / "README.md", *ROOT.glob(f"docs/pages/*/{page}.md"))
        if path.stem == page
    ]
    return path.read_text("utf-8")


def commands(page: str) -> list[str]:
    """The lines of a page's blocks for a shell, without comments."""
    blocks = re.findall(r"```bash\n(.*?)```", text_of(page), flags=re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in (re.sub(r"\s+# .*|^# .*", "", line).strip() for line in lines) if line]


def draw_photos(folder: Path) -> None:
    """One face, nearer and further: four photos, in two folders, and as single files."""
    folder.mkdir()
    picture = Image.fromarray(astronaut())
    for name, cut in (("one", 0), ("two", 12), ("three", 24), ("four", 36)):
        picture.crop((cut, 0, 512 - cut, 512 - 2 * cut)).save(folder / f"{name}.jpg", quality=92)
        shutil.copy(folder / f"{name}.jpg", folder.parent)
    shutil.copytree(folder, folder.parent / "photos")
    people = {"one": "female", "two": "male", "three": "female", "four": "male"}
    rows = "".join(f"{name}.jpg,{name},{gender}\n" for name, gender in people.items())
    (folder.parent / "people.csv").write_text(f"id,person,gender\n{rows}")


def draw_pairs(table: Path) -> None:
    rows = ["picture,unit,attribute,value"]
    for name in ("one", "two", "three"):
        pixels = np.asarray(Image.open(table.parent / f"PHOTOS/{name}.jpg"))
        for value in (-1, 1):
            file = f"{name}{value}.png"
            Image.fromarray((pixels * (1 + value / 10)).clip(0, 255).astype(np.uint8)).save(
                table.parent / file
            )
            rows.append(f"{file},{name},gender,{value}")
    table.write_text("\n".join(rows) + "\n")


def write_models(folder: Path, toy: str) -> None:
    """Model files and functions by the names that pages give them."""
    import torch
    import torchvision

    model, labels = (
        Path(part.partition("=")[2] or part) for part in toy.removeprefix("onnx:").split(",")
    )
    for name in ("model", "v1", "v2"):
        shutil.copy(model, folder / f"{name}.onnx")
    shutil.copy(labels, folder)
    (folder / "mine.py").write_text(
        "def mine(image):\n    return {'bright': float(image.mean() / 255)}\n"
    )
    (folder / "hiring.py").write_text(
        "def hire(image):\n    return {'hire': float(image.mean() / 255)}\n"
    )
    module = torchvision.models.get_model("resnet18", weights=None, num_classes=8)
    torch.save(module.state_dict(), folder / "weights.pth")
    local_models.transformers(folder)
    (folder / "vit").rename(folder / "FOLDER")


def prepare(folder: Path, page: str, toy: str) -> None:
    draw_photos(folder / "PHOTOS")
    if page == "README":
        draw_pairs(folder / "set.csv")
    if page == "own-model":
        write_models(folder, toy)
        shutil.copy(folder / "one.jpg", folder / "photo.jpg")
    if page == "gate":
        write_models(folder, toy)
        shutil.copytree(folder / "PHOTOS", folder / "PEOPLE")
        AUDITS["contexts"].begin(AUDITS["contexts"].prepare(folder / "drawn"), folder / "rooms-run")
        AUDITS["captions"].prepare(folder)


class Predictions(QuietHandler):
    """An endpoint with a protocol of its own: POST /predict, a form with the file."""

    def do_POST(self) -> None:  # noqa: N802
        assert b'name="field"' not in self.rfile.read(int(self.headers["Content-Length"]))
        self.send(
            200, json.dumps({"predictions": {"hat": 0.25, "tie": 0.5}}).encode(), "application/json"
        )


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs_as_printed(
    page: str, tmp_path: Path, provider: FakeProvider, toy: str
) -> None:
    """In the order of the page, in one folder. Servers are on this machine; what installs is left to .ci/run."""
    folder, tools = tmp_path / "desk", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    prepare(folder, page, toy)
    for name, what in (
        ("gslopes", f'exec {sys.executable} -m gslopes "$@"'),
        ("xdg-open", "exit 0"),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{what}\n")
        (tools / name).chmod(0o755)
    env = os.environ | provider.environment
    env |= {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    failed = {}
    with serving(SimpleNamespace(), Predictions) as service:
        for line in commands(page):
            if line.startswith(INSTALLS):
                continue
            here = line.replace("https://host", f"http://127.0.0.1:{service.port}")
            done = subprocess.run(
                ["bash", "-c", here],
                cwd=folder, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if done.returncode not in ((0, FAILED) if "--fail-if" in line else (0,)):
                failed[line] = (done.returncode, done.stderr[-600:])
    assert failed == {}


def test_what_is_not_run_here_installs() -> None:
    skipped = {line for page in PAGES for line in commands(page) if line.startswith(INSTALLS)}
    assert all(
        line.startswith(
            ("pip install", "pipx install", "uv tool install", "sudo apt", "docker ", "wsl ")
        )
        for line in skipped
    )
