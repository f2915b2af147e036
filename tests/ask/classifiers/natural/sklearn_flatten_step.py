# gslopes try sklearn_flatten_step.py:model
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

rng = np.random.default_rng(0)
levels = rng.uniform(0, 1, (80, 1, 1, 3))
pictures = np.clip(levels + rng.normal(0, 0.02, (80, 8, 8, 3)), 0, 1)


def flatten(images):
    return np.asarray(images).reshape(len(images), -1)


model = Pipeline([("flat", FunctionTransformer(flatten)), ("near", KNeighborsClassifier(9))])
model.fit(pictures, np.where(levels[:, 0, 0, 0] > 0.45, "red", "not red"))
