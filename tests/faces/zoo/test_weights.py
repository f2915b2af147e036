import json

import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.core.files import sha256_of
from gslopes.faces import zoo
from gslopes.faces.zoo import weights
from gslopes.faces.zoo.spec import ModelSpec

SPEC = ModelSpec(
    "small", "a small editor", "fader", 32, ("gender",), "none", (), "", "", config={"widths": [4, 8]}, ends=("a", "b")
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    torch.manual_seed(0)
    weights.save(tmp_path / "weights" / "small", SPEC, zoo.build(SPEC).state_dict())
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path))
    return tmp_path


def test_a_checkpoint_carries_its_own_spec(home):
    loaded = zoo.load("small")
    assert loaded.spec == SPEC
    assert not loaded.module.training
    assert not any(p.requires_grad for p in loaded.module.parameters())
    assert loaded.sha256 == (home / "weights/small/sha256").read_text().split()[0]


def test_weights_are_stored_as_half_precision(home):
    _, state, _ = weights.load(home / "weights/small")
    again = {key: value.half().float() for key, value in state.items()}
    assert all(torch.equal(state[key], again[key]) for key in state)


def test_in_eight_bits_a_kernel_is_within_half_a_step_of_what_fp16_stores(tmp_path):
    torch.manual_seed(0)
    state = zoo.build(SPEC).state_dict()
    for name, eight_bits in (("half", False), ("eight", True)):
        weights.save(tmp_path / name, SPEC, state, eight_bits=eight_bits)
    stored, half = (weights.load(tmp_path / name)[1] for name in ("eight", "half"))
    assert stored.keys() == half.keys()
    kernels = {key: value for key, value in stored.items() if value.dim() > 1}
    assert kernels
    for key, value in kernels.items():
        step = half[key].abs().amax(tuple(range(1, value.dim())), keepdim=True) / 127
        assert ((value - half[key]).abs() <= 0.5001 * step).all()
    others = {key for key in stored if key not in kernels}
    assert all(torch.equal(stored[key], half[key]) for key in others)


def test_one_changed_byte_is_found(home):
    path = home / "weights/small/model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match="damaged"):
        zoo.load("small")


@pytest.mark.parametrize("lost", ["model.safetensors", "sha256"])
def test_a_missing_file_is_named(home, lost):
    (home / "weights/small" / lost).unlink()
    with pytest.raises(ModelError, match="lacks"):
        zoo.load("small")


def test_weights_that_do_not_fit_their_spec_are_refused(home):
    spec, state, _ = weights.load(home / "weights/small")
    state.pop("to_rgb.weight")
    weights.save(home / "weights/small", spec, state)
    with pytest.raises(ModelError, match="does not fit"):
        zoo.load("small")


def test_a_file_that_is_no_checkpoint_of_ours_is_refused(home):
    from safetensors.torch import save_file

    folder = home / "weights/small"
    save_file({"x": torch.zeros(1)}, folder / "model.safetensors", metadata={"spec": json.dumps({"name": 3})})
    (folder / "sha256").write_text(sha256_of(folder / "model.safetensors"))
    with pytest.raises(ModelError, match="no gslopes checkpoint"):
        zoo.load("small")
