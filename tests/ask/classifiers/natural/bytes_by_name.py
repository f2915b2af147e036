# gslopes try bytes_by_name.py
import cv2
import numpy as np


def ask(image_bytes):
    pixels = cv2.imdecode(np.frombuffer(image_bytes, np.uint8), 1)
    return [{"label": "red", "score": pixels[:, :, 2].mean() / 255}]
