"""What arrays hold, as annotations name it; their shapes stand in the docstrings."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Objects = NDArray[np.object_]
