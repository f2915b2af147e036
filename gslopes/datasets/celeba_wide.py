"""Wide portraits of CelebA (Liu et al. 2015), hair to chin, ``celeba-wide/NNNNNN.jpg``: photos without labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gslopes.core.errors import DataMissing
from gslopes.datasets.labelled import LabelledPhotos, need


def read(data: Path) -> LabelledPhotos:
    """The set below ``data/celeba-wide``; no label comes with it.

    Raises: DataMissing if the folder is not there or holds no picture.
    """
    folder = need(data / "celeba-wide", "The wide portraits of CelebA")
    paths = tuple(sorted(folder.glob("*.jpg")))
    if not paths:
        raise DataMissing(f"{folder} holds no JPEG picture.", "Unpack celeba-wide.zip there.")
    return LabelledPhotos("celeba-wide", paths, (), np.zeros((len(paths), 0), np.float32))
