# gslopes try labels_and_scores.py
import numpy as np


def classify(image):
    scores = image.reshape(-1, 3).mean(0) / 255
    order = np.argsort(-scores)
    return np.array(["red", "green", "blue"])[order], scores[order]
