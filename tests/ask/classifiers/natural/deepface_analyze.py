# gslopes try deepface_analyze.py:analyze
import cv2
import numpy as np


def analyze(img_path, actions=("emotion", "age", "gender", "race"), enforce_detection=True):
    blue, green, red = (float(np.float32(c.mean())) for c in cv2.split(cv2.imread(img_path)))
    share = 100 * red / 255
    return [
        {
            "emotion": {
                "angry": np.float32(share),
                "sad": 60 - 0.6 * share,
                "fear": 40 - 0.4 * share,
            },
            "dominant_emotion": "angry",
            "region": {"x": 3, "y": 5, "w": 20, "h": 20, "left_eye": (4, 6), "right_eye": None},
            "face_confidence": np.float64(0.92),
            "age": 20 + int(red),
            "gender": {"Woman": np.float32(100 - share), "Man": np.float32(share)},
            "dominant_gender": "Man",
            "race": {"asian": share / 2, "white": share / 2, "black": 100 - share},
            "dominant_race": "white",
        }
    ]
