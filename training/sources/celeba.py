"""CelebA (Liu et al. 2015): ``img_align_celeba/`` and ``list_attr_celeba.txt`` as published; and wide pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gslopes.core.errors import DataMissing
from gslopes.core.files import read_text
from training.sources.labelled import LabelledPhotos, need

# Where MTCNN finds the five points in the set's aligned pictures, medians over 9,980 of them, in units of the width
# (89 of its 89 x 109 pixels): the set is aligned by the eyes, so these hold for every picture within a pixel or two.
POINTS = np.array([(34.75, 55.93), (54.34, 55.93), (44.5, 68.04), (35.95, 76.47), (53.05, 76.47)], np.float64) / 89


def read(data: Path) -> LabelledPhotos:
    """The set below ``data``: its 40 attributes as 1 and 0, for the pictures that are there.

    Raises: DataMissing if the list or the pictures are not there; TableError if the list is not CelebA's.
    """
    folder = need(data / "img_align_celeba", "CelebA's folder of aligned pictures")
    listed = need(data / "list_attr_celeba.txt", "CelebA's list of attributes")
    lines = read_text(listed, raises=DataMissing).splitlines()
    names = tuple(lines[1].split()) if len(lines) > 1 else ()
    if len(names) != 40:
        raise DataMissing(
            f"{data / 'list_attr_celeba.txt'} is not CelebA's list: its second line names {len(names)}, not 40.",
            "Take the file as CelebA publishes it.",
        )
    paths, rows = [], []
    for line in lines[2:]:
        file, *values = line.split()
        if len(values) != 40:
            what = f"{listed} has {len(values)} values for {file[:40]}, not 40."
            raise DataMissing(what, "Take the file as CelebA publishes it.")
        if (folder / file).is_file():
            paths.append(folder / file)
            rows.append([value == "1" for value in values])
    if not paths:
        raise DataMissing(f"{folder} holds none of the pictures of its list.", "Unpack img_align_celeba there.")
    return LabelledPhotos("celeba", tuple(paths), names, np.array(rows, np.float32))


def read_wide(data: Path) -> LabelledPhotos:
    """Wide pictures of the set, hair to chin, below ``data/celeba-wide``; no label comes with them.

    Raises: DataMissing if the folder is not there or holds no picture.
    """
    folder = need(data / "celeba-wide", "The wide pictures of CelebA")
    paths = tuple(sorted(folder.glob("*.jpg")))
    if not paths:
        raise DataMissing(f"{folder} holds no JPEG picture.", "Unpack celeba-wide.zip there.")
    return LabelledPhotos("celeba-wide", paths, (), np.zeros((len(paths), 0), np.float32))
