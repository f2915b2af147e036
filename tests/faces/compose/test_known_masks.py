from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import UsageError
from gslopes.core.geometry import warp
from gslopes.core.records import Face, Photo
from gslopes.faces.compose.masks import KnownMasker, mask_is_degenerate
from gslopes.photos.folder import open_photo

Y, X = np.mgrid[:90, :120]
DISC = (np.hypot(X - 70, Y - 40) < 25).astype(np.uint8) * 255
# The disc's centre comes to the middle of a 64 pixel chip, one to one.
SHIFT = np.array([(1.0, 0.0, -70 + 31.5), (0.0, 1.0, -40 + 31.5)])
FACE = Face(np.zeros(4, np.float32), np.zeros((5, 2), np.float32), 1.0, 1, SHIFT)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    masks, photos = tmp_path / "masks", tmp_path / "photos"
    for folder in (masks / "sub", photos / "sub"):
        folder.mkdir(parents=True)
    Image.fromarray(np.dstack([DISC, 255 - DISC, DISC])).save(photos / "sub" / "a.jpg")
    Image.fromarray(DISC).save(masks / "sub" / "a.png")
    return masks, photos


def chips(photo: Photo, size: int = 64) -> np.ndarray:
    return warp(photo.pixels, FACE.matrix, size)[None]


def test_the_mask_is_carried_into_the_chip_and_softened_inwards(folders: tuple[Path, Path]) -> None:
    masks, photos = folders
    photo = open_photo(photos / "sub" / "a.jpg")
    (mask,) = KnownMasker(masks, photos, 64)([photo], [FACE], chips(photo), 4)
    y, x = np.mgrid[:64, :64]
    radius = np.hypot(x - 31.5, y - 31.5)
    assert mask.dtype == np.float32
    assert mask[radius < 20].min() > 0.97
    assert mask[radius > 26].max() == 0
    assert mask_is_degenerate(mask) is None


def test_bad_folders_and_masks_are_named(folders: tuple[Path, Path], tmp_path: Path) -> None:
    masks, photos = folders
    with pytest.raises(UsageError, match="no folder of masks"):
        KnownMasker(tmp_path / "none", photos, 64)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no mask for any photo in .* Expected .*sub/a\.png"):
        KnownMasker(tmp_path / "empty", photos, 64)
    masker, photo, file = (
        KnownMasker(masks, photos, 64),
        open_photo(photos / "sub" / "a.jpg"),
        masks / "sub" / "a.png",
    )
    for mask, text in (
        (None, r"a\.png cannot be read: unreadable: not a picture"),
        (np.dstack([DISC] * 3), "mode is RGB"),
        (DISC[:50], "120×50 pixels large, its photo 120×90"),
    ):
        file.write_bytes(b"no picture") if mask is None else Image.fromarray(mask).save(file)
        with pytest.raises(UsageError, match=text):
            masker([photo], [FACE], chips(photo))
