import json

import pytest
import torch
from safetensors.torch import save_file

from gslopes.core.errors import ModelError
from gslopes.core.files import sha256_of
from gslopes.faces import zoo
from gslopes.faces.zoo import loading
from gslopes.faces.zoo.spec import DIGEST, ModelSpec
from training.weights import save_weights

SPEC = ModelSpec(
    "small",
    "a small editor",
    "fader",
    32,
    ("gender",),
    "none",
    (),
    "",
    "",
    config={"widths": [4, 8]},
    ends=("a", "b"),
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    torch.manual_seed(0)
    save_weights(tmp_path / "weights" / "small", SPEC, zoo.build(SPEC).state_dict())
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path))
    return tmp_path


def test_a_checkpoint_carries_its_own_spec(home):
    loaded = zoo.load("small")
    assert loaded.spec == SPEC
    assert not loaded.module.training
    assert not any(p.requires_grad for p in loaded.module.parameters())
    assert loaded.sha256 == (home / "weights/small/sha256").read_text().split()[0]


def test_in_eight_bits_a_kernel_is_within_half_a_step_of_what_fp16_stores(tmp_path):
    torch.manual_seed(0)
    state = zoo.build(SPEC).state_dict()
    for name, eight_bits in (("half", False), ("eight", True)):
        save_weights(tmp_path / name, SPEC, state, eight_bits=eight_bits)
    stored, half = (loading.read_weights(tmp_path / name)[1] for name in ("eight", "half"))
    assert stored.keys() == half.keys()
    kernels = {key: value for key, value in stored.items() if value.dim() > 1}
    assert kernels
    for key, value in kernels.items():
        step = half[key].abs().amax(tuple(range(1, value.dim())), keepdim=True) / 127
        assert ((value - half[key]).abs() <= 0.5001 * step).all()
    others = {key for key in stored if key not in kernels}
    assert all(torch.equal(stored[key], half[key]) for key in others)


def test_damaged_lost_and_foreign_files_are_named(home):
    folder = home / "weights/small"
    spec, state, _ = loading.read_weights(folder)
    assert all(torch.equal(value, value.half().float()) for value in state.values())
    data = bytearray((folder / loading.FILE).read_bytes())
    data[-1] ^= 1
    (folder / loading.FILE).write_bytes(data)
    with pytest.raises(ModelError, match="damaged"):
        zoo.load("small")
    save_file(
        {"x": torch.zeros(1)}, folder / loading.FILE, metadata={"spec": json.dumps({"name": 3})}
    )
    (folder / DIGEST).write_text(sha256_of(folder / loading.FILE))
    with pytest.raises(ModelError, match="not a gslopes checkpoint"):
        zoo.load("small")
    save_weights(
        folder, spec, {key: value for key, value in state.items() if key != "to_rgb.weight"}
    )
    with pytest.raises(ModelError, match="does not fit"):
        zoo.load("small")
    (folder / DIGEST).unlink()
    with pytest.raises(ModelError, match="lacks"):
        zoo.load("small")
