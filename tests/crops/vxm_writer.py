"""Writes files in the .vxm format, laid out as the published one."""

import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.croppers.vxm import CONVOLUTION, MAGIC, PARAMETRIC, POOL, SMOOTH, Layer


def build(layers: tuple[Layer, ...], model_type: int = 2) -> bytes:
    """The bytes of a file with these layers, as the published one is laid out."""
    entries: dict[str, bytes] = {
        "layerCount": _packed(len(layers)),
        "modelType": _packed(model_type),
    }
    for index, layer in enumerate(layers):
        entries[f"{index}Type"] = _packed(layer.kind)
        if layer.kind == CONVOLUTION and layer.weight is not None and layer.bias is not None:
            entries[f"{index}Act"] = _packed(layer.activation)
            entries |= _array_records(f"{index}w", layer.weight, listed=True)
            entries |= _array_records(f"{index}b", layer.bias)
            if layer.activation == PARAMETRIC:
                entries |= _array_records(f"{index}alpha", np.array([layer.alpha], np.float32))
        elif layer.kind == POOL:
            entries[f"{index}Pool"] = _packed(2)
        elif layer.kind == SMOOTH:
            entries[f"{index}KernelSize"], entries[f"{index}Std"] = _packed(19), _packed(3)
    body = b"".join(
        struct.pack("<I", len(key) + 1)
        + key.encode()
        + b"\0"
        + struct.pack("<I", len(value))
        + value
        for key, value in sorted(entries.items())
    )
    return MAGIC + struct.pack("<I", len(entries)) + body


def _packed(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


def _array_records(
    key: str, array: NDArray[np.float32], *, listed: bool = False
) -> Mapping[str, bytes]:
    result = {
        key: np.ascontiguousarray(array, "<f4").tobytes(),
        f"{key}.dtype": b"float32",
        f"{key}.ndims": _packed(array.ndim),
        f"{key}.shape": _packed(*array.shape),
    }
    if listed:
        result[f"{key}.shape.listlength"] = _packed(array.ndim)
        result |= {f"{key}.shape[{axis}]": _packed(size) for axis, size in enumerate(array.shape)}
    return result
