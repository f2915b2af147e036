"""A face parser of the user's through the whole first stage, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from skimage.data import astronaut

from gslopes.core import tables
from gslopes.core.files import sha256_of
from gslopes.faces.networks.bisenet_resnet18 import BiSeNetResNet18
from gslopes.faces.zoo.parsing import PUBLIC_CLASSES
from gslopes.slopes.config import configure


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Files in the public layout, by the class that their random network sees everywhere."""
    folder = tmp_path_factory.mktemp("parsers")

    def write(sees: str) -> Path:
        path = folder / sees / "79999_iter.pth"
        if not path.exists():
            with torch.random.fork_rng():
                torch.manual_seed(0)
                state = BiSeNetResNet18().state_dict()
            state["conv_out.conv.bn.bias"] += 10  # features are above 0
            state["conv_out.conv_out.weight"] *= 0
            state["conv_out.conv_out.weight"][PUBLIC_CLASSES.index(sees)] = 1
            path.parent.mkdir()
            torch.save(state, path)
        return path

    return write


@pytest.fixture
def portrait(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.fromarray(astronaut()[:300, 60:390]).save(folder / "astronaut.png")
    return folder


@pytest.fixture
def synthesise(gslopes, portrait, tmp_path):
    def run(*args):
        shared = ("--out", tmp_path / "run", "--steps", 3, "--format", "png")
        return gslopes("synthesise", portrait, *shared, *args)

    return run


def test_a_photo_is_edited_where_the_users_parser_sees_skin_and_the_manifest_names_the_file(
    synthesise, parser, portrait, tmp_path
):
    file, run = parser("skin"), tmp_path / "run"
    done = synthesise("--skin-weights", file)
    assert done.code == 0, done.err
    assert "1 edited of 1" in done.err
    manifest = json.loads((run / "run.json").read_text())
    known = manifest["models"]["parser"]
    assert (known["sha256"], known["file"]) == (sha256_of(file), "79999_iter.pth")
    assert manifest["config"]["compose"]["skin_weights"] == str(file)
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    pixels = [np.asarray(Image.open(run / f).convert("RGB")).astype(int) for f in edits["file"]]
    changed = np.abs(pixels[0] - pixels[2]).max(2) > 0
    assert 0.02 < changed.mean() < 0.5
    assert edits["mask_area"].iloc[0] == pytest.approx(changed.mean(), rel=0.3)


def test_a_parser_that_sees_hair_everywhere_leaves_nothing_to_edit(synthesise, parser, tmp_path):
    done = synthesise("--skin-weights", parser("hair"))
    assert done.code == 0, done.err
    reasons = tables.read(tables.PHOTOS, tmp_path / "run" / "photos.parquet")["reason"]
    assert reasons.str.startswith("face region not found").all()


def test_a_run_goes_on_with_the_same_parser_alone(synthesise, parser, tmp_path):
    mine = tmp_path / "mine.pth"
    mine.write_bytes(parser("skin").read_bytes())
    for code in (0, 0):
        assert synthesise("--skin-weights", mine).code == code
    mine.write_bytes(parser("hair").read_bytes())
    done = synthesise("--skin-weights", mine)
    assert done.code == 2
    assert "models.parser.sha256 is" in done.err
    done = synthesise("--skin-weights", parser("skin"))
    assert done.code == 2
    assert "compose.skin_weights is" in done.err


def test_wrong_files_are_sentences_before_any_work(synthesise, portrait, parser, tmp_path):
    (tmp_path / "notes.txt").write_text("Dear diary,\n")
    (tmp_path / "masks").mkdir()
    for args, code, sentence in (
        (("--skin-weights", tmp_path / "none.pth"), 2, "There is no file"),
        (("--skin-weights", tmp_path / "masks"), 2, "There is no file"),
        (("--skin-weights", tmp_path / "notes.txt"), 1, "is not a checkpoint"),
        (("--skin-weights", parser("skin"), "--masks", tmp_path / "masks"), 2, "--masks or --skin-weights"),
    ):
        done = synthesise(*args)
        assert (done.code, sentence in done.err) == (code, True), done.err
        assert "Traceback" not in done.err
        assert not (tmp_path / "run").exists()


def test_the_file_may_stand_in_a_configuration_and_is_then_relative_to_it(tmp_path):
    (tmp_path / "audit.toml").write_text('[compose]\nskin_weights = "p.pth"\n')
    config = configure("photos", {"config": tmp_path / "audit.toml"})
    assert config.compose.skin_weights == tmp_path / "p.pth"
    assert configure("photos", {"skin_weights": "q.pth"}).compose.skin_weights == Path.cwd() / "q.pth"
