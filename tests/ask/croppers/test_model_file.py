from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

from gslopes.ask.croppers import load_cropper, vxm
from gslopes.core.errors import ModelError, UsageError
from gslopes.crops.pictures import check_map, focal_point
from tests.crops.vxm_writer import build

PICTURE = np.zeros((120, 200, 3), np.uint8)
PICTURE[20:60, 130:170] = 255


@pytest.fixture
def small_vxm(tmp_path):
    """Brightness, through four poolings."""
    ones = vxm.Layer(vxm.CONVOLUTION, np.full((1, 3, 1, 1), 0.01, "f4"), np.zeros(1, "f4"), 4, 1.0)
    path = tmp_path / "small.vxm"
    path.write_bytes(build((ones, *[vxm.Layer(vxm.POOL)] * 4)))
    return path


def test_a_vxm_file_is_a_saliency_model(small_vxm):
    model = load_cropper(f"fastgaze:{small_vxm}")
    assert model.version.startswith("sha256 ")
    (found,) = model.maps([PICTURE])
    check_map(found, 200, 120, model.name, "a square")
    assert found.scores.shape == (12, 20)
    x, y = focal_point(found)
    assert 125 <= x <= 175
    assert 15 <= y <= 65


def test_a_smoothing_layer_of_the_file_is_read_and_not_applied(small_vxm, tmp_path):
    """No 16: the file has a Gaussian layer, which the published program reads and never applies."""
    path = tmp_path / "smooth.vxm"
    path.write_bytes(build((*vxm.read(small_vxm)[0], vxm.Layer(vxm.SMOOTH, size=19, sigma=3))))
    without, plain = (load_cropper(f"fastgaze:{file}").maps([PICTURE])[0].scores for file in (small_vxm, path))
    np.testing.assert_array_equal(plain, without)


def test_pictures_of_several_sizes_come_back_in_their_order(small_vxm):
    model = load_cropper(f"fastgaze:{small_vxm}")
    tall = np.ascontiguousarray(PICTURE.transpose(1, 0, 2))
    shapes = [found.scores.shape for found in model.maps([PICTURE, tall, PICTURE])]
    assert shapes == [(12, 20), (20, 12), (12, 20)]


def test_onnx_and_torchscript_give_the_same_map(tmp_path):
    weight = np.full((1, 3, 1, 1), 1 / 3, np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, c, None, None]) for n, c in (("x", 3), ("y", 1))]
    tensor = helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.ravel().tolist())
    graph = helper.make_graph([node], "mean", value[:1], value[1:], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, tmp_path / "mean.onnx")
    network = torch.nn.Conv2d(3, 1, 1, bias=False)
    network.weight.data.fill_(1 / 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated; the files that people have remain
        torch.jit.script(network).save(str(tmp_path / "mean.pt"))
    one, other = (
        load_cropper(text, trust=True).maps([PICTURE])[0]
        for text in (f"onnx:{tmp_path}/mean.onnx", f"torchscript:{tmp_path}/mean.pt")
    )
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
    assert one.scores.max() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["onnx", "torchscript", "fastgaze"])
def test_a_file_of_another_kind(kind, tmp_path):
    path = tmp_path / "wrong"
    path.write_bytes(b"this is no model")
    with pytest.raises(ModelError, match="wrong"):
        load_cropper(f"{kind}:{path}", trust=True)
    with pytest.raises(ModelError, match="nothing"):
        load_cropper(f"{kind}:{tmp_path}/nothing")


def test_a_torchscript_file_runs_only_where_it_is_trusted(tmp_path):
    path = tmp_path / "program.pt"
    path.write_bytes(b"whatever it is: it is not looked into")
    with pytest.raises(UsageError, match=r"program\.pt is a program") as caught:
        load_cropper(f"torchscript:{path}")
    assert "--trust" in caught.value.hint
