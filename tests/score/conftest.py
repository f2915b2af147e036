"""Small classifiers with real files: a random tagger in a home of its own, and an ONNX model that reads redness."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="session")
def picture() -> Callable[..., bytes]:
    """Encodes a plain picture: ``picture((255, 0, 0))`` is a red PNG."""

    def encode(colour: tuple[int, int, int], size: tuple[int, int] = (24, 18), kind: str = "PNG") -> bytes:
        buffer = io.BytesIO()
        Image.new("RGB", size, colour).save(buffer, kind)
        return buffer.getvalue()

    return encode


@pytest.fixture
def random_tagger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The zoo's ``celeba-tagger`` with random weights, for as long as a test lasts; its 40 labels."""
    import torch

    from gslopes import zoo
    from gslopes.zoo import weights

    labels = tuple(f"label {index}" for index in range(40))
    facts = {"licence": "none", "data": (), "paper": "", "recipe": ""}
    shape = {"widths": [8, 8, 8]}
    spec = zoo.ModelSpec("celeba-tagger", "random", "tagger", 32, labels, config=shape, crop="portrait", **facts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = zoo.build(spec)
    weights.save(tmp_path / "home/weights/celeba-tagger", spec, module.state_dict())
    monkeypatch.setenv("GSLOPES_HOME", str(tmp_path / "home"))
    return labels


@pytest.fixture
def make_onnx(tmp_path: Path) -> Callable[..., str]:
    """Writes an ONNX model and its labels; returns ``onnx:FILE,labels=FILE``.

    The model averages each channel over the picture and multiplies by ``weights`` (3, L): with the default, ``red`` is
    the mean of the first channel and ``other`` the mean of the last two.
    """
    onnx = pytest.importorskip(
        "onnx", reason="onnx, which builds the models, is not installed: pip install 'gslopes[test]'"
    )
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'gslopes[onnx]'")

    def make(
        weights: object = ((1, 0), (0, 0.5), (0, 0.5)),
        labels: str = "red\nother\n",
        *,
        batch: int | str = "batch",
        side: int | str = 16,
        layout: str = "nchw",
        kind: str = "FLOAT",
    ) -> str:
        helper, dtype = onnx.helper, getattr(onnx.TensorProto, kind)
        matrix = np.asarray(weights, np.float32)
        shape = [batch, 3, side, side] if layout == "nchw" else [batch, side, side, 3]
        axes = [2, 3] if layout == "nchw" else [1, 2]
        nodes = [
            helper.make_node("Cast", ["photos"], ["pixels"], to=onnx.TensorProto.FLOAT),
            helper.make_node("ReduceMean", ["pixels", "axes"], ["means"], keepdims=0),
            helper.make_node("MatMul", ["means", "weights"], ["scores"]),
        ]
        constants = [
            onnx.numpy_helper.from_array(np.array(axes, np.int64), "axes"),
            onnx.numpy_helper.from_array(matrix, "weights"),
        ]
        graph = helper.make_graph(
            nodes,
            "redness",
            [helper.make_tensor_value_info("photos", dtype, shape)],
            [helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [batch, matrix.shape[1]])],
            constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, tmp_path / "model.onnx")
        (tmp_path / "labels.txt").write_text(labels, encoding="utf-8")
        return f"onnx:{tmp_path / 'model.onnx'},labels={tmp_path / 'labels.txt'}"

    return make
