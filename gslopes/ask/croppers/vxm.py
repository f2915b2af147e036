"""The ``.vxm`` format of the cropper that was published with Yee et al. 2021: read byte by byte.

Little-endian, nothing aligned: the magic ``01 74 50 4D``, a uint32 number of records, then the records in byte order of
their keys: uint32 length of the key with its final NUL, the key, NUL, uint32 length of the value, the value. Scalars
are int32; arrays are float32 in C order; the other records describe them.

The network is VGG-like: pairs of 3 x 3 convolutions with 2 x 2 max pooling between them, then 1 x 1 convolutions with
leaky units down to one map, a sixteenth of the picture. Zero padding, so one cell sees 140 pixels; nothing is global.
The file has a Gaussian layer, too, which the published program reads and never applies; nor do we.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.ask.boxes import fitted
from gslopes.ask.croppers import Setting
from gslopes.core import ModelError, frozen, frozen_identity, hexdigest, read_named
from gslopes.core.records import ByteArray, FloatArray, SaliencyMap, batches, floats

LARGEST = 1 << 30  # bytes of a file
MAGIC = b"\x01tPM"
PUBLISHED = "b76cefc218ec8969cc62b26ad0f41111800421287e7f2725d808da1d90afbdf7"
CONVOLUTION = 0
POOL = 2
SMOOTH = 3
# Added to R, G, B by the published program, in this order. They are the customary means of B, G, R.
PROGRAM_MEANS = (103.939, 116.779, 123.68)
STRIDE = 16
PARAMETRIC = 4  # the code of leaky units; any other code is ReLU
_BATCH = 16
Records = Mapping[str, bytes]
_SIDE = 320  # pixels of the square that a picture is fitted into, as the published program does it


@frozen_identity
class Layer:
    """One layer as the file has it.

    kind: 0 convolution, 2 max pooling, 3 Gaussian smoothing, which is never applied.
    weight: (out, in, height, width) float32, cross-correlation.  bias: (out,).  activation: its code.
    alpha: factor of negative values if activation is 4.
    """

    kind: int
    weight: FloatArray | None = None
    bias: FloatArray | None = None
    activation: int = 0
    alpha: float = 0.0


def read(path: Path | str) -> tuple[tuple[Layer, ...], str]:
    """A file's layers in order, and the sha256 of its bytes.

    Raises: ModelError naming the fault and its place: missing, truncated, wrong magic, unknown layer, sizes.
    """
    data = read_named(path, LARGEST, raises=ModelError, hint="Name a copy of the model file.")
    return parse(data, str(path)), hexdigest(data)


def parse(data: bytes, name: str = "the file") -> tuple[Layer, ...]:
    """The layers from a file's bytes.  Raises: ModelError."""
    try:
        entries = records(data)
        layers = tuple(_layer(entries, index) for index in range(_integer(entries, "layerCount")))
        channels = 3
        for index, layer in enumerate(layers):
            if layer.weight is not None:
                if layer.weight.shape[1] != channels:
                    raise ValueError(
                        f"{index}w takes {layer.weight.shape[1]} channels after {channels}"
                    )
                channels = layer.weight.shape[0]
        if channels != 1:
            raise ValueError(f"it ends with {channels} channels, not with one map")
    except ValueError as error:
        raise ModelError(
            f"{name} is no .vxm file: {error}.", "Give the file as its authors publish it."
        ) from None
    return layers


def records(data: bytes) -> dict[str, bytes]:
    """Key to value, in the file's order.  Raises: ValueError."""
    if data[:4] != MAGIC:
        raise ValueError(f"it begins with {data[:4].hex(' ')}, not {MAGIC.hex(' ')}")
    offset = 4

    def take(count: int, what: str) -> bytes:
        nonlocal offset
        if offset + count > len(data):
            raise ValueError(
                f"it is truncated: {what} at offset {offset} needs {count} bytes of {len(data)}"
            )
        offset += count
        return data[offset - count : offset]

    def number(what: str) -> int:
        return int.from_bytes(take(4, what), "little")

    entries = {}
    for _ in range(number("the number of records")):
        key = take(number("a key's length"), "a key").rstrip(b"\0").decode("ascii", "replace")
        entries[key] = take(number(f"the length of {key!r}"), f"the value of {key!r}")
    if offset != len(data):
        raise ValueError(
            f"it has {len(data) - offset} bytes after its last record, at offset {offset}"
        )
    return entries


def _layer(entries: Records, index: int) -> Layer:
    kind = _integer(entries, f"{index}Type")
    if kind in (POOL, SMOOTH):
        return Layer(kind)
    if kind != CONVOLUTION:
        raise ValueError(f"there is the unknown type {kind} in {index}Type; known are 0, 2 and 3")
    activation = _integer(entries, f"{index}Act")
    weight = _array(entries, f"{index}w", 4)
    bias = _array(entries, f"{index}b", 1)
    if weight.shape[0] != len(bias) or weight.shape[2] % 2 == 0 or weight.shape[3] % 2 == 0:
        raise ValueError(
            f"{index}w has the shape {weight.shape}; {len(bias)} outputs and odd windows are expected"
        )
    alpha = float(_array(entries, f"{index}alpha", 1)[0]) if activation == PARAMETRIC else 0.0
    return Layer(CONVOLUTION, weight, bias, activation, alpha)


def _integer(entries: Records, key: str) -> int:
    value = entries.get(key, b"")
    if len(value) != 4:
        raise ValueError(f"the number {key!r} is missing")
    return int.from_bytes(value, "little", signed=True)


def _array(entries: Records, key: str, dims: int) -> FloatArray:
    value = entries.get(key, b"")
    if (kind := entries.get(f"{key}.dtype", b"")) != b"float32":
        raise ValueError(f"{key} is of the type {kind!r}, not float32")
    raw = entries.get(f"{key}.shape", b"")
    shape = np.frombuffer(raw[: len(raw) // 4 * 4], "<i4").tolist()
    if len(raw) != 4 * dims or min(shape) < 1 or 4 * prod(shape) != len(value):
        raise ValueError(f"{key} has {len(value)} bytes, which is not the shape {shape}")
    return np.frombuffer(value, "<f4").reshape(shape).astype(np.float32)


# -- the network -------------------------------------------------------------------------------------------------------


class FastGaze(nn.Module):
    """(B, 3, H, W) float32 RGB in [0, 255] to (B, ceil(H/16), ceil(W/16)) scores of any sign.

    layers: in order. ``PROGRAM_MEANS`` are subtracted from R, G, B.
    """

    means: Tensor

    def __init__(self, layers: Sequence[Layer]) -> None:
        super().__init__()
        self.register_buffer("means", torch.tensor(PROGRAM_MEANS).reshape(1, 3, 1, 1))
        self.plan = [(layer.kind, layer.alpha) for layer in layers]
        arrays = [(layer.weight, layer.bias) for layer in layers if layer.weight is not None]
        self.weights, self.biases = (
            nn.ParameterList(map(torch.as_tensor, same)) for same in zip(*arrays, strict=True)
        )

    def forward(self, pictures: Tensor) -> Tensor:
        x = pictures - self.means  # (B, 3, H, W)
        arrays = zip(self.weights, self.biases, strict=True)
        for kind, alpha in self.plan:
            if kind == CONVOLUTION:
                x = F.conv2d(x, *next(arrays), padding="same")
                x = F.leaky_relu(x, alpha)  # alpha 0 is ReLU
            elif kind == POOL:
                x = F.max_pool2d(x, 2, ceil_mode=True)  # windows cut at the border
        return x[:, 0]  # (B, ceil(H/16), ceil(W/16))


# -- the saliency model ------------------------------------------------------------------------------------------------


@frozen
class FastGazeOptions:
    """path: the .vxm file."""

    path: str


class FastGazeModel:
    """``fastgaze:PATH``: a copy of the cropper's model that was published with Yee et al. 2021.

    version: ``published``, or the sha256 of another file.

    Raises: ModelError as ``read``.
    """

    Options = FastGazeOptions
    log = True

    def __init__(self, name: str, options: FastGazeOptions, setting: Setting) -> None:
        layers, digest = read(options.path)
        self.name = name
        self._device = setting.device
        self.version = "published" if digest == PUBLISHED else f"sha256 {digest}"
        self._network = FastGaze(layers).to(setting.device).eval()

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps of a sixteenth of the fitted picture; scores of any sign."""
        small = [fitted(picture, _SIDE) for picture in pictures]
        maps = []
        for _, group in groupby(zip(small, pictures, strict=True), key=lambda pair: pair[0].shape):
            for batch in batches(list(group), _BATCH):
                stack = torch.from_numpy(np.stack([resized for resized, _ in batch]))
                with torch.inference_mode():
                    on_device = stack.to(self._device).permute(0, 3, 1, 2).float()
                    scores = self._network(on_device).cpu().numpy()
                maps += [_map(score, *pair) for score, pair in zip(scores, batch, strict=True)]
        return maps


def _map(scores: FloatArray, small: ByteArray, picture: ByteArray) -> SaliencyMap:
    """A cell is the pixel (16c + 8, 16r + 8) of the fitted picture, moved inside."""
    factor = min(picture.shape[1] / small.shape[1], picture.shape[0] / small.shape[0])

    def cells(axis: int) -> FloatArray:
        middles = STRIDE * np.arange(scores.shape[axis]) + STRIDE // 2
        return floats(np.minimum(small.shape[axis] - 1, middles) * factor)

    return SaliencyMap(scores, cells(1), cells(0))
