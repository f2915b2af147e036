# gslopes try sklearn_features.py:clf
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer


def colours(images):
    return np.array([image.reshape(-1, 3).mean(0) / 255 for image in images])


rng = np.random.default_rng(0)
photos = [np.full((9, 7 + k % 3, 3), rng.integers(0, 256, 3), np.uint8) for k in range(60)]
y = [bool(photo[0, 0, 0] > 120) for photo in photos]
clf = make_pipeline(FunctionTransformer(colours), LogisticRegression()).fit(
    photos, np.where(y, "red", "no")
)
