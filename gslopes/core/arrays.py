"""What arrays hold, as annotations name it; their shapes stand in the docstrings; the centre of a sweep's values."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Objects = NDArray[np.object_]


def centre_of(values: Array) -> int:
    """A sweep's centre: the value nearest 0; of several as near the middle one, the upper of two."""
    distance = np.abs(values)
    near = np.flatnonzero(distance <= distance.min() + 1e-6)
    return int(near[len(near) // 2])
