"""The ``.vxm`` format of the cropper that was published with Yee et al. 2021: read byte by byte.

Little-endian, nothing aligned: the magic ``01 74 50 4D``, a uint32 number of records, then the records in byte order of
their keys: uint32 length of the key with its final NUL, the key, NUL, uint32 length of the value, the value. Scalars
are int32; arrays are float32 in C order; the other records describe them.

The network is VGG-like: pairs of 3 x 3 convolutions with 2 x 2 max pooling between them, then 1 x 1 convolutions with
leaky units down to one map, a sixteenth of the picture. Zero padding, so one cell sees 140 pixels; nothing is global.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core.errors import ModelError
from gslopes.core.files import read_named

LARGEST = 1 << 30  # bytes of a file
MAGIC = b"\x01tPM"
PUBLISHED = "b76cefc218ec8969cc62b26ad0f41111800421287e7f2725d808da1d90afbdf7"
CONVOLUTION, POOL, SMOOTH = 0, 2, 3
_HINT = "Give the .vxm file as its authors publish it."
# Added to R, G, B by the published program, in this order. They are the customary means of B, G, R.
PROGRAM_MEANS = (103.939, 116.779, 123.68)
STRIDE = 16
PARAMETRIC = 4  # the code of leaky units; any other code is ReLU


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer as the file has it.

    kind: 0 convolution, 2 max pooling, 3 Gaussian smoothing.
    weight: (out, in, height, width) float32, cross-correlation.  bias: (out,).  activation: its code.
    alpha: factor of negative values where activation is 4.  size, sigma: of smoothing.
    """

    kind: int
    weight: NDArray[np.float32] | None = None
    bias: NDArray[np.float32] | None = None
    activation: int = 0
    alpha: float = 0.0
    size: int = 0
    sigma: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A whole file: its layers in order, its sha256, and whether it is the published one."""

    layers: tuple[Layer, ...]
    sha256: str

    @property
    def published(self) -> bool:
        """Whether these are the bytes that the authors published."""
        return self.sha256 == PUBLISHED


def read(path: Path | str) -> Model:
    """Raises: ModelError naming what is wrong and where: missing, truncated, wrong magic, unknown layer, sizes."""
    return parse(read_named(path, LARGEST, raises=ModelError, hint="Name a copy of the model file."), str(path))


def parse(data: bytes, name: str = "the file") -> Model:
    """The same from the file's bytes."""
    entries = records(data, name)
    count = _integer(entries, "layerCount", name)
    layers = tuple(_layer(entries, index, name) for index in range(count))
    _check_chain(layers, name)
    return Model(layers, sha256(data).hexdigest())


def records(data: bytes, name: str = "the file") -> dict[str, bytes]:
    """Key to value, in the file's order.  Raises: ModelError."""
    if data[:4] != MAGIC:
        raise ModelError(f"{name} is no .vxm file: it begins with {data[:4].hex(' ')}, not {MAGIC.hex(' ')}.", _HINT)
    offset = 4

    def take(count: int, what: str) -> bytes:
        nonlocal offset
        if offset + count > len(data):
            raise ModelError(
                f"{name} is truncated: {what} at offset {offset} needs {count} bytes of {len(data)}.", "Fetch it again."
            )
        offset += count
        return data[offset - count : offset]

    (number,) = struct.unpack("<I", take(4, "the number of records"))
    entries: dict[str, bytes] = {}
    for _ in range(number):
        (length,) = struct.unpack("<I", take(4, "a key's length"))
        key = take(length, "a key").rstrip(b"\0").decode("ascii", "replace")
        (length,) = struct.unpack("<I", take(4, f"the length of {key!r}"))
        entries[key] = take(length, f"the value of {key!r}")
    if offset != len(data):
        raise ModelError(f"{name} has {len(data) - offset} bytes after its last record, at offset {offset}.")
    return entries


def _layer(entries: Mapping[str, bytes], index: int, name: str) -> Layer:
    kind = _integer(entries, f"{index}Type", name)
    if kind == POOL:
        return Layer(POOL)
    if kind == SMOOTH:
        size, sigma = (_integer(entries, f"{index}{key}", name) for key in ("KernelSize", "Std"))
        return Layer(SMOOTH, size=size, sigma=sigma)
    if kind != CONVOLUTION:
        raise ModelError(f"{name} has the unknown type {kind} in {index}Type.", "Known: 0, 2 and 3.")
    activation = _integer(entries, f"{index}Act", name)
    weight, bias = _array(entries, f"{index}w", 4, name), _array(entries, f"{index}b", 1, name)
    if weight.shape[0] != len(bias):
        raise ModelError(f"{name}: {index}w has {weight.shape[0]} outputs, {index}b {len(bias)}.")
    if weight.shape[2] % 2 == 0 or weight.shape[3] % 2 == 0:
        raise ModelError(f"{name}: {index}w has a window of {weight.shape[2]} x {weight.shape[3]}; both must be odd.")
    alpha = float(_array(entries, f"{index}alpha", 1, name)[0]) if activation == PARAMETRIC else 0.0
    return Layer(CONVOLUTION, weight, bias, activation, alpha)


def _integer(entries: Mapping[str, bytes], key: str, name: str) -> int:
    value = entries.get(key)
    if value is None or len(value) != 4:
        raise ModelError(f"{name} has no number {key!r}." if value is None else f"{name}: {key!r} is no int32.")
    return int(struct.unpack("<i", value)[0])


def _array(entries: Mapping[str, bytes], key: str, dims: int, name: str) -> NDArray[np.float32]:
    for part in (key, f"{key}.dtype", f"{key}.shape"):
        if part not in entries:
            raise ModelError(f"{name} has no record {part!r}.")
    if entries[f"{key}.dtype"] != b"float32":
        raise ModelError(f"{name}: {key} is of the type {entries[f'{key}.dtype']!r}, not float32.")
    raw = entries[f"{key}.shape"]
    shape = struct.unpack(f"<{len(raw) // 4}i", raw) if len(raw) % 4 == 0 else ()
    if len(shape) != dims or min(shape, default=0) < 1 or 4 * prod(shape) != len(entries[key]):
        raise ModelError(f"{name}: {key} has {len(entries[key])} bytes, which is not the shape {list(shape)}.")
    return np.frombuffer(entries[key], "<f4").reshape(shape).astype(np.float32)


def _check_chain(layers: tuple[Layer, ...], name: str) -> None:
    channels = 3
    for index, layer in enumerate(layers):
        if layer.weight is not None:
            if layer.weight.shape[1] != channels:
                raise ModelError(f"{name}: {index}w takes {layer.weight.shape[1]} channels after {channels}.")
            channels = layer.weight.shape[0]
    if channels != 1:
        raise ModelError(f"{name} ends with {channels} channels, not with one map.")


# -- the network -------------------------------------------------------------------------------------------------------


class FastGaze(nn.Module):
    """(B, 3, H, W) float32 RGB in [0, 255] to (B, ceil(H/16), ceil(W/16)) scores of any sign.

    layers: in order.  means: subtracted from R, G, B: ``PROGRAM_MEANS`` as the program does it, or reversed.
    smooth: whether the smoothing layer is applied; the program reads it and does not.
    """

    means: Tensor

    def __init__(
        self,
        layers: Sequence[Layer],
        means: tuple[float, float, float] = PROGRAM_MEANS,
        *,
        smooth: bool = False,
    ) -> None:
        super().__init__()
        self.register_buffer("means", torch.tensor(means).reshape(1, 3, 1, 1))
        self.smooth = smooth
        self.plan = [(layer.kind, layer.alpha, layer.size, layer.sigma) for layer in layers]
        self.convolutions = nn.ModuleList(_convolution(layer) for layer in layers if layer.kind == CONVOLUTION)

    def forward(self, pictures: Tensor) -> Tensor:
        x = pictures - self.means  # (B, 3, H, W)
        convolutions = iter(self.convolutions)
        for kind, alpha, size, sigma in self.plan:
            if kind == CONVOLUTION:
                x = F.leaky_relu(next(convolutions)(x), alpha)  # alpha 0 is ReLU
            elif kind == POOL:
                x = F.max_pool2d(x, 2, ceil_mode=True)  # windows cut at the border
            elif self.smooth:
                x = _smooth(x, size, sigma)
        return x[:, 0]  # (B, ceil(H/16), ceil(W/16))


def _convolution(layer: Layer) -> nn.Conv2d:
    weight, bias = (torch.as_tensor(values) for values in (layer.weight, layer.bias))
    out, into, tall, wide = weight.shape
    convolution = nn.Conv2d(into, out, (tall, wide), padding=(tall // 2, wide // 2))
    convolution.load_state_dict({"weight": weight, "bias": bias})
    return convolution


def _smooth(x: Tensor, size: int, sigma: float) -> Tensor:
    away = torch.arange(size, dtype=x.dtype, device=x.device) - (size - 1) / 2
    taps = torch.exp(-(away**2) / (2 * sigma**2))
    taps = taps / taps.sum()
    x = F.conv2d(x, taps.reshape(1, 1, 1, size), padding=(0, size // 2))
    return F.conv2d(x, taps.reshape(1, 1, size, 1), padding=(size // 2, 0))
