# gslopes try sklearn_pixels.py:pipeline
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(0)
levels = rng.integers(0, 256, (60, 1, 1, 3))
pictures = np.clip(levels + rng.integers(-9, 10, (60, 16, 16, 3)), 0, 255)
X = pictures.reshape(60, -1)
y = np.where(levels[:, 0, 0, 0] > 127, "red", "not red")
pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)).fit(X, y)
