"""Small classifiers with real files: a random tagger in a separate home, and an ONNX model that reads redness."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image


@pytest.fixture(scope="session")
def picture() -> Callable[..., bytes]:
    """Encodes a plain picture: ``picture((255, 0, 0))`` is a red PNG."""

    def encode(
        colour: tuple[int, int, int], size: tuple[int, int] = (24, 18), kind: str = "PNG"
    ) -> bytes:
        buffer = io.BytesIO()
        Image.new("RGB", size, colour).save(buffer, kind)
        return buffer.getvalue()

    return encode


@pytest.fixture
def random_tagger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The zoo's ``celeba-tagger`` with random weights, for as long as a test lasts; its 40 labels."""
    import torch

    from gslopes.faces import zoo
    from training.weights import save_weights

    labels = tuple(f"label {index}" for index in range(40))
    facts = {"licence": "none", "data": (), "paper": "", "recipe": ""}
    shape = {"widths": [8, 8, 8]}
    spec = zoo.ModelSpec(
        "celeba-tagger", "random", "tagger", 32, labels, config=shape, crop="portrait", **facts
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = zoo.build(spec)
    save_weights(tmp_path / "home/weights/celeba-tagger", spec, module.state_dict())
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path / "home"))
    return labels
