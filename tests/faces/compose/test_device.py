"""Photos composed on the device of the networks: the same as by OpenCV, but for rounding."""

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import ModelError
from gslopes.core.geometry import warp
from gslopes.core.records import EditedChip
from gslopes.faces import zoo
from gslopes.faces.compose import device
from gslopes.faces.compose.composite import Footprint
from gslopes.faces.compose.masks import heads_of
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.photos.folder import open_photo
from gslopes.slopes.demo import astronaut

VALUES = np.array([-2, 0, 1.5], np.float32)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Photos of four sizes, one of them gray, with their chips, masks and heads."""
    photos = []
    for number, side in enumerate((140, 400, 161, 224)):
        file = tmp_path_factory.mktemp("photos") / "a.png"
        picture = Image.fromarray(astronaut()[:400, 40 + number : 440 + number]).resize(
            (side, side + 7 * number)
        )
        picture.convert("L" if number == 2 else "RGB").save(file)
        photos.append(open_photo(file))
    faces = [
        choose(recorded, *photo.pixels.shape[1::-1], 20)
        for recorded, photo in zip(MtcnnFinder(20)(photos), photos, strict=True)
    ]
    chips = np.stack(
        [warp(photo.pixels, face.matrix, 128) for photo, face in zip(photos, faces, strict=True)]
    )
    masker = ParserMasker(zoo.load("face-parser"))
    masks = masker(photos, faces, chips)
    masks[3] = 0  # nothing of it may change
    return photos, faces, chips, masks, heads_of(masker, photos, faces, chips)


def drawn(photo, chip, mask, face, blend, head):
    """A photo composed by the device's arithmetic, on the CPU."""
    head = None if blend == "paste" else head
    footprint = Footprint((photo.pixels, photo.gray), chip.motion, mask, face.matrix, head)
    return footprint.composite(device.patches(footprint, chip, blend, head, "cpu"))


@pytest.mark.parametrize(
    ("name", "blend"),
    [("race-field", "ratio"), ("gender-field", "ratio"), ("gender-field", "paste")],
)
def test_the_device_gives_the_same_as_opencv_but_for_rounding(given, name, blend):
    photos, faces, chips, masks, heads = given
    heads = heads if name == "race-field" else [None] * len(photos)
    editor = editor_of(name)
    swept, present = editor.sweep(chips, VALUES), editor.sweep_there(chips, VALUES)
    assert (swept.tone is not None) is (name == "race-field")
    for row, (photo, face) in enumerate(zip(photos, faces, strict=True)):
        result = drawn(photo, present.of(row), masks[row], face, blend, heads[row])
        item = compose(
            photo.pixels, photo.gray, swept.of(row), masks[row], face.matrix, blend, heads[row],
        )  # fmt: skip
        assert result.box == item.box
        assert result.mask_area == item.mask_area
        np.testing.assert_array_equal(result.weight, item.weight)
        apart = np.abs(result.patches.astype(int) - item.patches)
        assert apart.max(initial=0) <= 2
        assert (apart > 0).mean() < 0.002 if apart.size else row == 3 and heads[row] is None
        assert apart[:, item.weight == 0].max(initial=0) == 0
        if photo.gray:
            assert (result.patches == result.patches[..., :1]).all()
        assert (result.motion is None) is (item.motion is None)
        if item.motion is not None:
            np.testing.assert_array_equal(result.motion.field, item.motion.field)


def test_a_chip_that_holds_no_numbers_is_an_error(given):
    photos, faces, chips, masks, heads = given
    chip = EditedChip(np.full((1, 128, 128, 3), np.nan, np.float32), chips[0].astype(np.float32))
    with pytest.raises(ModelError, match="finite"):
        drawn(photos[0], chip, masks[0], faces[0], "paste", heads[0])
