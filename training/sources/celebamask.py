"""CelebAMask-HQ (Lee et al. 2020): face photos and, for every pixel, one of 19 classes."""

from __future__ import annotations

from pathlib import Path

from gslopes.core.errors import DataMissing
from training.sources.labelled import need


def read(data: Path) -> list[tuple[Path, Path]]:
    """(photo, mask) files below ``data/celebamask-mini``.

    A mask is an 8-bit picture of class numbers, as ``zoo.parsing.CLASSES``.

    Raises: DataMissing if the folder is not there or no photo has a mask.
    """
    folder = need(data / "celebamask-mini", "CelebAMask-HQ")
    photos = sorted((folder / "images").glob("*.jpg"))
    pairs = [(photo, folder / "masks" / f"{photo.stem}.png") for photo in photos]
    pairs = [(photo, mask) for photo, mask in pairs if mask.is_file()]
    if not pairs:
        raise DataMissing(
            f"{folder} holds no photo with a mask.", "Name the folder in which CelebAMask-HQ was unpacked."
        )
    return pairs
