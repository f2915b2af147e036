import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision.models import resnet34

from gslopes.core.errors import ModelError, UsageError
from gslopes.core.files import sha256_of
from gslopes.faces.zoo.framing import FRAMES
from gslopes.faces.zoo.reader import LABELS, FaceReader, attribute, load_fairface


@pytest.fixture(scope="module")
def reader() -> FaceReader:
    return FaceReader.load()


@pytest.fixture(scope="module")
def chips() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, 128, 128, 3), np.uint8)


def test_race_is_the_share_of_white_among_white_and_black_of_arrays_and_tensors_alike():
    read = {"white": [0.3, 0.0], "black": [0.1, 0.0]}
    for kind in (np.array, torch.tensor):
        share = attribute({label: kind(values) for label, values in read.items()}, "race")
        assert share.tolist() == pytest.approx([0.75, 0.0])


def test_age_is_what_is_not_young():
    assert attribute({"young": np.array([0.25, 1.0])}, "age").tolist() == [0.75, 0.0]


def test_bytes_and_tensors_are_read_alike(reader: FaceReader, chips: np.ndarray):
    read = reader(chips)
    assert set(read) == set(reader.labels)
    tensor = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        values = reader.attributes(tensor, ("gender", "race", "young")).double().numpy()
    expected = np.stack([attribute(read, name) for name in ("gender", "race", "young")], 1)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert ((values >= 0) & (values <= 1)).all()


def test_an_attribute_that_it_cannot_read_is_an_error_before_any_reading(reader: FaceReader):
    with pytest.raises(ModelError, match="cannot read 'wealth'"):
        reader.check(("gender", "wealth"))


# --- FairFace weights of the user's: another's file, read strictly, in FairFace's framing and order -------------------


CHIPS = np.random.default_rng(0).integers(0, 255, (3, 256, 256, 3), np.uint8)
SAID = {"race": (0.1, 0.2, 0.05, 0.3, 0.1, 0.15, 0.1), "gender": (0.7, 0.3)}
SAID["age"] = (0.02, 0.03, 0.05, 0.2, 0.4, 0.1, 0.1, 0.05, 0.05)


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    """A network of that shape which gives the same for every face, by its last bias."""
    torch.manual_seed(0)
    network = resnet34(num_classes=18)
    torch.nn.init.zeros_(network.fc.weight)
    network.fc.bias.data = torch.tensor([share for part in SAID.values() for share in part]).log()
    return network.state_dict()


def saved(state: object, path: Path) -> Path:
    torch.save(state, path)
    return path


@pytest.mark.row("slopes-4.2-estimated")
def test_the_18_outputs_become_the_readings_of_a_census(state, tmp_path):
    file = saved({f"module.{name}": value for name, value in state.items()}, tmp_path / "res34.pt")
    reader = load_fairface(file)
    read = reader(CHIPS)
    assert reader.sha256 == sha256_of(file)
    assert tuple(read) == LABELS
    first = {name: round(float(value[0]), 4) for name, value in read.items()}
    assert first == {
        "masculine": 0.7, "white": 0.1, "black": 0.2, "asian": 0.4, "indian": 0.15, "other": 0.15, "young": 0.5,
    }  # fmt: skip


def test_the_framing_is_dlibs_chip_with_a_quarter_of_padding():
    left, right = FRAMES["fairface"][:2]
    assert left == pytest.approx(((0.25 + (0.1205751 + 0.3340851) / 2) / 1.5, 0.314267), abs=1e-4)
    assert right[0] == pytest.approx((0.25 + (0.6460605 + 0.8595675) / 2) / 1.5, abs=1e-4)
    nose, mouth = FRAMES["fairface"][2], FRAMES["fairface"][3:].mean(axis=0)
    assert nose[1] < (0.25 + 0.6277975) / 1.5 < mouth[1], (
        "dlib's point under the nose lies between tip and mouth"
    )


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("old", [False, True])
def test_code_in_a_checkpoint_is_never_run(tmp_path, old):
    caught, file = tmp_path / "caught", tmp_path / "trap.pth"
    torch.save({"x": Trap(caught)}, file, _use_new_zipfile_serialization=not old)
    with pytest.raises(ModelError, match="nothing in it was run"):
        load_fairface(file)
    for protocol in (0, 2, 4):
        file.write_bytes(pickle.dumps(Trap(caught), protocol=protocol))
        with pytest.raises(ModelError):
            load_fairface(file)
    assert not caught.exists()


@pytest.mark.slow
def test_other_files_are_named(state, tmp_path):
    file = tmp_path / "x.pt"
    with pytest.raises(UsageError, match="There is no file"):
        load_fairface(tmp_path / "none.pt")
    for content in (b"", b"Dear diary,\n", b"PK\x03\x04 no archive", b"\x80\x02 no pickle"):
        file.write_bytes(content)
        with pytest.raises(ModelError, match=r"x\.pt is not a checkpoint.*res34"):
            load_fairface(file)
    cases = {
        "another network: it lacks": {"fc.bias": torch.zeros(18)},
        "another shape": {"fc.bias": torch.zeros(1000)},
        "also has extra": {**state, "extra": torch.zeros(1)},
        "no table of parameters": [torch.zeros(3)],
        "not finite: fc.bias": {"fc.bias": torch.full((18,), torch.nan)},
    }
    for sentence, parameters in cases.items():
        with pytest.raises(ModelError, match=sentence):
            load_fairface(saved(parameters, file))
