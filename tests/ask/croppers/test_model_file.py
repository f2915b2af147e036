"""Saliency models in files: the .vxm format byte for byte, what may be wrong with one, the published numbers; ONNX."""

import os
import struct
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch.nn import functional as F

from gslopes.ask.croppers import Setting, load_cropper, vxm
from gslopes.ask.croppers.joining import check_map, focal_point
from gslopes.core.errors import ConfigError, ModelError, UsageError
from tests.crops.vxm_writer import build


def small():
    generator = np.random.default_rng(0)
    return (
        vxm.Layer(
            vxm.CONVOLUTION,
            generator.normal(size=(2, 3, 3, 3)).astype("f4"),
            np.array([1, 2], "f4"),
            1,
        ),
        vxm.Layer(vxm.POOL),
        vxm.Layer(
            vxm.CONVOLUTION,
            generator.normal(size=(1, 2, 1, 1)).astype("f4"),
            np.zeros(1, "f4"),
            4,
            0.25,
        ),
        vxm.Layer(vxm.SMOOTH),
    )


def record(key, value):
    return (
        struct.pack("<I", len(key) + 1)
        + key.encode()
        + b"\0"
        + struct.pack("<I", len(value))
        + value
    )


def test_the_layout_byte_for_byte():
    data = build(small())
    found = vxm.records(data)
    assert data[:4] == bytes.fromhex("0174504d")
    assert struct.unpack("<I", data[4:8]) == (len(found),)
    assert data[8:25] == bytes.fromhex("05000000 3041637400 04000000 01000000".replace(" ", ""))
    assert data == data[:8] + b"".join(record(key, value) for key, value in found.items())
    assert list(found) == sorted(found)
    assert list(found)[-2:] == ["layerCount", "modelType"]
    weight = small()[0].weight
    assert found["0w"] == weight.tobytes()
    assert found["0w.dtype"] == b"float32"
    assert found["0w.shape"] == struct.pack("<4i", 2, 3, 3, 3)
    assert found["0w.shape.listlength"] == struct.pack("<i", 4)
    assert found["0w.shape[3]"] == struct.pack("<i", 3)
    assert found["3KernelSize"] + found["3Std"] == struct.pack("<2i", 19, 3)


def test_what_is_written_is_read(tmp_path: Path):
    path = tmp_path / "small.vxm"
    path.write_bytes(build(small()))
    found, digest = vxm.read(path)
    assert digest != vxm.PUBLISHED
    for one, other in zip(found, small(), strict=True):
        assert (one.kind, one.activation) == (other.kind, other.activation)
        assert one.alpha == pytest.approx(other.alpha)
        if other.weight is not None:
            np.testing.assert_array_equal(one.weight, other.weight)
            np.testing.assert_array_equal(one.bias, other.bias)


def changed(key, value):
    found = vxm.records(build(small()))
    found[key] = value
    return (
        vxm.MAGIC
        + struct.pack("<I", len(found))
        + b"".join(record(*pair) for pair in found.items())
    )


WHOLE = build(small())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04" + WHOLE[4:], "begins with 50 4b 03 04"),
        (WHOLE[:-3], "truncated: .* at offset"),
        (WHOLE[:6], "truncated"),
        (WHOLE + b"!", "1 bytes after its last record"),
        (changed("1Type", struct.pack("<i", 1)), "unknown type 1 in 1Type"),
        (changed("0w.dtype", b"float64"), "float64"),
        (changed("0w.shape", struct.pack("<4i", 2, 3, 3, 4)), "not the shape"),
        (changed("layerCount", struct.pack("<i", 5)), "number '4Type' is missing"),
        (build(small()[:2]), "ends with 2 channels"),
        (build(small()[2:]), "takes 2 channels after 3"),
    ],
)
def test_damaged_files_say_what_and_where(data, says):
    with pytest.raises(ModelError, match=says):
        vxm.parse(data)


@pytest.mark.row("crops-2.3-model")
def test_the_published_file_has_the_layers_that_its_description_says():
    path = os.environ.get("GSLOPES_TEST_FASTGAZE")
    if not path:
        pytest.skip(
            "Name a copy of fastgaze.vxm in GSLOPES_TEST_FASTGAZE to test the published model."
        )
    found, digest = vxm.read(path)
    assert digest == vxm.PUBLISHED
    assert len(found) == 19
    sums = [float(layer.weight.sum()) for layer in found if layer.weight is not None]
    assert sums[:3] == pytest.approx([-4.0258, -41.9820, 6.2428], abs=6e-4)
    assert (
        sum(layer.weight.size + layer.bias.size for layer in found if layer.weight is not None)
        == 121_060
    )


# -- the network -------------------------------------------------------------------------------------------------------


def layers():
    generator = np.random.default_rng(0)
    return [
        vxm.Layer(
            vxm.CONVOLUTION,
            generator.normal(size=(4, 3, 3, 3)).astype("f4"),
            generator.normal(size=4).astype("f4"),
        ),
        vxm.Layer(vxm.POOL),
        vxm.Layer(
            vxm.CONVOLUTION,
            generator.normal(size=(1, 4, 1, 1)).astype("f4"),
            np.zeros(1, "f4"),
            alpha=0.25,
        ),
        vxm.Layer(vxm.SMOOTH),
    ]


@pytest.mark.row("crops-2.3-model")
def test_the_steps_are_those_that_the_program_takes():
    x = torch.rand(1, 3, 8, 6) * 255
    first, _, second, _ = layers()
    weight, bias, last = (
        torch.as_tensor(values) for values in (first.weight, first.bias, second.weight)
    )
    by_hand = F.relu(
        F.conv2d(x - torch.tensor(vxm.PROGRAM_MEANS).reshape(1, 3, 1, 1), weight, bias, padding=1)
    )
    by_hand = F.conv2d(F.max_pool2d(by_hand, 2, ceil_mode=True), last)
    by_hand = torch.where(by_hand < 0, second.alpha * by_hand, by_hand)
    torch.testing.assert_close(vxm.FastGaze(layers())(x), by_hand[:, 0])
    assert vxm.FastGaze(layers())(torch.zeros(2, 3, 17, 33)).shape == (2, 9, 17)  # rounded up


PICTURE = np.zeros((120, 200, 3), np.uint8)
PICTURE[20:60, 130:170] = 255


@pytest.fixture
def small_vxm(tmp_path):
    """Brightness, through four poolings."""
    ones = vxm.Layer(vxm.CONVOLUTION, np.full((1, 3, 1, 1), 0.01, "f4"), np.zeros(1, "f4"), 4, 1.0)
    path = tmp_path / "small.vxm"
    path.write_bytes(build((ones, *[vxm.Layer(vxm.POOL)] * 4)))
    return path


@pytest.mark.row("crops-2.3-model")
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
    path.write_bytes(build((*vxm.read(small_vxm)[0], vxm.Layer(vxm.SMOOTH))))
    without, plain = (
        load_cropper(f"fastgaze:{file}").maps([PICTURE])[0].scores for file in (small_vxm, path)
    )
    np.testing.assert_array_equal(plain, without)


def test_pictures_of_several_sizes_come_back_in_their_order(small_vxm):
    model = load_cropper(f"fastgaze:{small_vxm}")
    tall = np.ascontiguousarray(PICTURE.transpose(1, 0, 2))
    shapes = [found.scores.shape for found in model.maps([PICTURE, tall, PICTURE])]
    assert shapes == [(12, 20), (20, 12), (12, 20)]


@pytest.mark.row("crops-3.4-second")
def test_onnx_and_torchscript_give_the_same_map(tmp_path):
    weight = np.full((1, 3, 1, 1), 1 / 3, np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    value = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, c, None, None])
        for n, c in (("x", 3), ("y", 1))
    ]
    tensor = helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.ravel().tolist())
    graph = helper.make_graph([node], "mean", value[:1], value[1:], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, tmp_path / "mean.onnx")
    network = torch.nn.Conv2d(3, 1, 1, bias=False)
    network.weight.data.fill_(1 / 3)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # torch.jit is deprecated; the files that people have remain
        torch.jit.script(network).save(str(tmp_path / "mean.pt"))
    one, other = (
        load_cropper(text, Setting(trust=True)).maps([PICTURE])[0]
        for text in (f"onnx:{tmp_path}/mean.onnx", f"torchscript:{tmp_path}/mean.pt")
    )
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
    assert one.scores.max() == pytest.approx(1.0)


def test_of_several_maps_one_is_named(tmp_path):
    shapes = {
        "x": [1, 3, None, None],
        "y": [1, 3, None, None],
        "a": [1, 1, None, None],
        "b": [1, 1, None, None],
    }
    value = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    }
    nodes = [
        helper.make_node("Identity", ["x"], ["y"]),
        helper.make_node("ReduceMean", ["x", "axis"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
    ]
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [1])
    graph = helper.make_graph(nodes, "two", [value["x"]], [value[name] for name in "yab"], [axis])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
        tmp_path / "two.onnx",
    )
    with pytest.raises(
        ConfigError,
        match=r"several outputs that fit: a 1x1x.*, b 1x1x.*Give output=a, or another one",
    ):
        load_cropper(f"onnx:{tmp_path}/two.onnx")
    one, other = (
        load_cropper(f"onnx:{tmp_path}/two.onnx,output={name}").maps([PICTURE])[0].scores
        for name in "ab"
    )
    np.testing.assert_array_equal(one, -other)
    with pytest.raises(UsageError, match="has no output 'c'"):
        load_cropper(f"onnx:{tmp_path}/two.onnx,output=c")


@pytest.mark.parametrize("kind", ["onnx", "torchscript", "fastgaze"])
def test_a_file_of_another_kind(kind, tmp_path):
    path = tmp_path / "wrong"
    path.write_bytes(b"this is no model")
    with pytest.raises(ModelError, match="wrong"):
        load_cropper(f"{kind}:{path}", Setting(trust=True))
    with pytest.raises(ModelError, match="nothing"):
        load_cropper(f"{kind}:{tmp_path}/nothing")


def test_a_torchscript_file_runs_only_where_it_is_trusted(tmp_path):
    path = tmp_path / "program.pt"
    path.write_bytes(b"whatever it is: it is not looked into")
    with pytest.raises(UsageError, match=r"program\.pt is a program") as caught:
        load_cropper(f"torchscript:{path}")
    assert "--trust" in caught.value.hint
