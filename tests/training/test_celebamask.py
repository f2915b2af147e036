from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.zoo.parsing import CLASSES
from training.sources import read_celebamask


def test_the_class_names_fit_the_real_masks(unpacked: Callable[[str], Path]) -> None:
    seen: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for _, file in read_celebamask(unpacked("celebamask-mini"))[:100]:
        mask = np.array(Image.open(file).copy())
        for number in np.unique(mask):
            y, x = np.nonzero(mask == number)
            seen[CLASSES[number]].append((x.mean() / 256, y.mean() / 256, len(x) / mask.size))
    place = {name: np.mean(values, 0) for name, values in seen.items()}
    share = {name: len(values) / 100 for name, values in seen.items()}
    brow, eye, nose, mouth, neck = (place[n][1] for n in ("left brow", "left eye", "nose", "upper lip", "neck"))
    assert brow < eye < nose < mouth < neck
    assert place["hair"][1] < eye
    assert place["hair"][2] > 0.1
    assert abs(place["nose"][0] - 0.5) < 0.05
    for pair in ("brow", "eye", "ear"):
        assert abs(place[f"left {pair}"][0] - place[f"right {pair}"][0]) > 0.1
    assert min(share[name] for name in ("skin", "nose", "upper lip", "hair")) > 0.9
    assert max(share.get(name, 0) for name in ("eyeglasses", "hat", "necklace")) < 0.3
