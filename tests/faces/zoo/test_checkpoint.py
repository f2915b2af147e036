"""The public checkpoint of BiSeNet: a file of the user's, read strictly, in another framing and order."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

import gslopes
from gslopes.core import tables
from gslopes.core.errors import ModelError, UsageError
from gslopes.core.files import read_json, sha256_of
from gslopes.core.records import Face, Photo
from gslopes.faces.compose.skin import CLASSES, ParserMasker
from gslopes.faces.networks.bisenet import BiSeNet
from gslopes.faces.zoo.checkpoint import BISENET, load_bisenet
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.faces.zoo.loading import LoadedModel


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    """As the public file has it: a state dict, whose last layer takes every picture for a nose."""
    torch.manual_seed(0)
    network = BiSeNet()
    state = network.state_dict()
    state["conv_out.conv.bn.weight"].zero_()
    state["conv_out.conv.bn.bias"].fill_(1.0)
    return sees("nose", state)


def sees(label: str, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The checkpoint, if every pixel were of this class."""
    weight = torch.zeros_like(state["conv_out.conv_out.weight"])
    weight[BISENET.labels.index(label)] = 1.0
    return {**state, "conv_out.conv_out.weight": weight}


def saved(content: object, path: Path, old: bool = True) -> Path:
    torch.save(content, path, _use_new_zipfile_serialization=not old)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("old", [True, False])
def test_a_file_of_the_public_layout_is_a_parser_whose_sha256_is_known(state, tmp_path, old):
    file = saved(state, tmp_path / "79999_iter.pth", old)
    parser = load_bisenet(file)
    assert parser.sha256 == sha256_of(file)
    assert not parser.module.training
    with torch.inference_mode():
        result = parser.module(torch.rand(1, 3, 64, 64)).argmax(1).unique().tolist()
    assert [parser.spec.labels[index] for index in result] == ["nose"]


def test_its_classes_are_those_of_celebamask_hq_in_the_order_of_its_repository():
    order = "skin l_brow r_brow l_eye r_eye eye_g l_ear r_ear ear_r nose mouth u_lip l_lip neck neck_l cloth hair hat"
    words = {
        "l": "left", "r": "right", "eye_g": "eyeglasses", "ear_r": "earring", "neck_l": "necklace",
        "u_lip": "upper lip", "l_lip": "lower lip",
    }  # fmt: skip
    named = [
        words.get(item) or " ".join(words.get(part, part) for part in item.split("_"))
        for item in order.split()
    ]
    assert list(BISENET.labels) == ["background", *named]
    assert set(BISENET.labels) == set(CLASSES)


@pytest.mark.slow
def test_other_files_end_in_one_sentence(state, tmp_path):
    file = tmp_path / "x.pth"
    with pytest.raises(UsageError, match="There is no file"):
        load_bisenet(tmp_path / "none.pth")
    full = saved(state, file).read_bytes()
    for content in (b"", b"Dear diary,\n", full[: len(full) // 2], b"PK\x03\x04 no archive"):
        file.write_bytes(content)
        with pytest.raises(ModelError, match=r"x\.pth is not a checkpoint.*79999_iter"):
            load_bisenet(file)
    lips = "conv_out.conv_out.weight"
    cases = {
        "another network: it lacks cp.resnet.conv1": {lips: state[lips]},
        r"another shape.*conv_out\.conv_out\.weight": {**state, lips: torch.zeros(11, 256, 1, 1)},
        "also has sp.conv1.conv.weight": {
            **state,
            "sp.conv1.conv.weight": torch.zeros(64, 3, 7, 7),
        },
        "no table of parameters": [torch.zeros(3)],
        "not finite: conv_out.conv_out.weight": {
            **state,
            lips: torch.full((19, 256, 1, 1), torch.inf),
        },
    }
    for sentence, content in cases.items():
        with pytest.raises(ModelError, match=sentence) as error:
            load_bisenet(saved(content, file))
        assert "\n" not in str(error.value)


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_code_in_a_checkpoint_is_never_run(tmp_path):
    caught, file = tmp_path / "caught", tmp_path / "trap.pth"
    for old in (True, False):
        with pytest.raises(ModelError, match="nothing in it was run"):
            load_bisenet(saved({"x": Trap(caught)}, file, old))
    file.write_bytes(pickle.dumps(Trap(caught)))
    with pytest.raises(ModelError, match="nothing in it was run"):
        load_bisenet(file)
    assert not caught.exists()


# --- What it sees, and the places of its classes ----------------------------------------------------------------------


def test_it_sees_celeba_hq_s_own_framing():
    eyes, mouth = FRAMES["celeba-hq"][:2], FRAMES["celeba-hq"][3:].mean(0)
    assert eyes[1, 0] - eyes[0, 0] == pytest.approx(1 / 4)
    centre = eyes.mean(0) + 0.1 * (mouth - eyes.mean(0))
    np.testing.assert_allclose(centre, (0.5, 0.5), atol=1e-9)
    assert (mouth - eyes.mean(0))[1] < 1 / 3.6, "else the mouth's distance would set the side"


class Red(torch.nn.Module):
    """Skin where a picture is red, hair elsewhere."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.shape[1:] == (3, 512, 512)
        red = x[:, :1] * BISENET.std[0] + BISENET.mean[0]
        logits = torch.full((len(x), 19, 512, 512), -30.0)
        logits[:, BISENET.labels.index("skin")] = (40 * (red - 0.5))[:, 0]
        logits[:, BISENET.labels.index("hair")] = (40 * (0.5 - red))[:, 0]
        return logits


@pytest.mark.row("slopes-3.3-parser")
def test_the_photo_s_own_pixels_are_parsed_and_the_region_lies_where_they_are():
    """The skin is a red disc in the photo; the chip is black, and is not looked at."""
    side, offset, size = 384, 100, 128
    y, x = np.mgrid[:600, :600]
    disc = np.hypot(x - offset - side / 2, y - offset - side * 0.55) < side * 0.3
    photo = Photo(
        id="0" * 64,
        path=Path("a.png"),
        pixels=np.where(disc[..., None], [255, 0, 0], 0).astype(np.uint8),
    )
    matrix = np.array(
        [(size / side, 0, -offset * size / side), (0, size / side, -offset * size / side)]
    )
    points = (CHIP * side + offset).astype(np.float32)
    face = Face(
        np.array([offset, offset, offset + side, offset + side], np.float32), points, 1.0, 1, matrix
    )
    masker = ParserMasker(LoadedModel(Red(), BISENET, ""), "skin", size)
    mask = masker([photo], [face], np.zeros((1, size, size, 3), np.uint8))[0]
    row, column = np.mgrid[:size, :size]
    distance = np.hypot(column - size / 2, row - size * 0.55) / size
    assert mask[distance < 0.25].min() > 0.98
    assert mask[distance > 0.31].max() == 0
    head = masker.heads([photo], [face], np.zeros((1, size, size, 3), np.uint8))[0]
    assert head.face[distance < 0.25].min() > 0.98


@pytest.mark.slow
@pytest.mark.row("slopes-3.3-parser")
def test_an_audit_cuts_the_region_that_the_file_sees_and_records_its_sha256(
    state, home, draw, tmp_path
):
    faces = draw(1)
    options = {"landmarks": faces.known["landmarks"], "region": "skin", "placebo": False}
    facts = {}
    for label in ("nose", "hair"):
        file, run = saved(sees(label, state), tmp_path / f"{label}.pth"), tmp_path / label
        gslopes.synthesise(faces.photos, run, parser=file, **options)
        assert read_json(run / "run.json")["models"]["parser"]["sha256"] == sha256_of(file)
        facts[label] = tables.read(tables.PHOTOS, run / "photos.parquet")["reason"].tolist()
    assert facts == {"nose": [""], "hair": ["face region not found"]}
