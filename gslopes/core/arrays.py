"""Arrays by what they hold, as annotations name them; a sweep's centre; rows in parts."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Objects = NDArray[np.object_]
Int8Array = NDArray[np.int8]
Int32Array = NDArray[np.int32]
Numbers = NDArray[np.floating]  # of any precision
AnyIntegers = NDArray[np.integer]
AnyArray = NDArray[Any]
Interval = tuple[float, float]  # its ends, low and high
T = TypeVar("T")


def centre_of(values: Array) -> int:
    """A sweep's centre: the value nearest 0; of several as near the middle one, the upper of two."""
    distance = np.abs(values)
    near = np.flatnonzero(distance <= distance.min() + 1e-6)
    return int(near[len(near) // 2])


def doubles(numbers: ArrayLike) -> Array:
    """Numbers in 64 bits."""
    return np.asarray(numbers, np.float64)


def floats(numbers: ArrayLike) -> NDArray[np.float32]:
    """Numbers in 32 bits."""
    return np.asarray(numbers, np.float32)


def as_levels(numbers: ArrayLike) -> NDArray[np.uint8]:
    """Numbers rounded to whole levels, cut to 0 to 255."""
    return np.clip(np.rint(numbers), 0, 255).astype(np.uint8)


def quotients(top: ArrayLike, bottom: Array, otherwise: ArrayLike = np.nan) -> Array:
    """Top / bottom where the bottom is above 0.  otherwise: of the others.

    >>> quotients([1, 1], np.array([4.0, 0.0]), 9).tolist()
    [0.25, 9.0]
    """
    top = doubles(top)
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    return np.divide(top, bottom, out=np.full(shape, otherwise, float), where=bottom > 0)


def sides_of(boxes: Any) -> Any:
    """Width and height, (..., 2), of boxes (..., 4): an array or a tensor."""
    return boxes[..., 2:] - boxes[..., :2]


def slices(count: int, step: int) -> Iterator[slice]:
    """What cuts ``count`` rows into parts of ``step``.

    >>> [list(range(5))[part] for part in slices(5, 2)]
    [[0, 1], [2, 3], [4]]
    """
    return (slice(start, start + step) for start in range(0, count, step))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive items, ``size`` at a time.

    >>> list(batches("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (items[rows] for rows in slices(len(items), size))
