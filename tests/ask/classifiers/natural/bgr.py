# gslopes try bgr.py
import numpy as np


def frame_score(frame_bgr: np.ndarray):
    blue, green, red = np.moveaxis(frame_bgr, -1, 0)
    return {"red": red.mean() / 255, "blue": blue.mean() / 255}
