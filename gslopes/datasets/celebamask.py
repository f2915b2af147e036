"""CelebAMask-HQ (Lee et al. 2020): face photos and, for every pixel, one of 19 classes."""

from __future__ import annotations

from pathlib import Path

from gslopes.core.errors import DataMissing
from gslopes.datasets.labelled import need

# The set's own order, in which celebamask-mini.zip is numbered. The list next to that archive, which begins "skin, left
# brow", is of another numbering (that of face-parsing.PyTorch): under it, hair would be the lower lip.
CLASSES = (
    "background", "skin", "nose", "eyeglasses", "left eye", "right eye", "left brow", "right brow", "left ear",
    "right ear", "mouth", "upper lip", "lower lip", "hair", "hat", "earring", "necklace", "neck", "cloth",
)  # fmt: skip

# What is the face's skin, and what the face: neither hair, ears, neck, spectacles nor background.
SKIN = ("skin", "nose")
FACE = (
    "skin", "left eye", "right eye", "left brow", "right brow", "nose", "mouth", "upper lip", "lower lip",
)  # fmt: skip


def read(data: Path) -> list[tuple[Path, Path]]:
    """(photo, mask) files below ``data/celebamask-mini``; a mask is an 8-bit picture of class numbers, as CLASSES.

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
