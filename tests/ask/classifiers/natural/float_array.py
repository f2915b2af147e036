# gslopes try float_array.py
import numpy as np
from numpy.typing import NDArray


def score(image: NDArray[np.float32]) -> dict[str, float]:
    return {"red": float(image[..., 0].mean()), "blue": float(image[..., 2].mean())}
