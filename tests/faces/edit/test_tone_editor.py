"""The editor of the tone of skin: steps of a scale, nothing but skin, and nothing at all at the photo's own step."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from gslopes.core.errors import UsageError
from gslopes.core.geometry import SCALE, step_of, warp
from gslopes.core.records import Face, Photo
from gslopes.faces import zoo
from gslopes.faces.components import default_components
from gslopes.faces.compose.masks import bust_matrix, mask_is_degenerate
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.skin import ParserMasker, class_probabilities
from gslopes.faces.config import ComposeConfig, EditConfig, values_for
from gslopes.faces.edit.editors import ToneEditor, editor_of
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.faces.gate.sweep_measurer import own_step
from gslopes.slopes.config import RunConfig
from gslopes.slopes.demo import astronaut

VALUES = values_for("tone")
SIZE = 128


def lab(pixels):
    return cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)


class Portrait:
    """A photo through finder, masker and editor."""

    def __init__(self, pixels: np.ndarray, gray: bool = False) -> None:
        self.photo = Photo("0" * 64, Path(), pixels, gray)
        height, width = pixels.shape[:2]
        self.face = choose(MtcnnFinder(32)([self.photo])[0], width, height, 32, SIZE)
        assert isinstance(self.face, Face)
        self.chips = warp(pixels, self.face.matrix, SIZE)[None]
        self.editor = editor_of("tone")
        masker = ParserMasker(zoo.load("face-parser"))
        columns = [self.photo], [self.face], self.chips
        (self.mask,) = masker(*columns, self.editor.border)
        (self.head,) = masker.heads(*columns, self.editor.border)
        bust = warp(pixels, bust_matrix(self.face.matrix, SIZE), len(self.head.mask))
        self.skin = self.head.matted(bust).skin > 0.5

    def at(self, values) -> np.ndarray:
        """(K, H, W, 3)."""
        swept = self.editor.sweep(self.chips, np.asarray(values, np.float32)).of(0)
        composite = compose(
            *(self.photo.pixels, self.photo.gray, swept, self.mask, self.face.matrix, "ratio"),
            self.head,
        )
        self.composite = composite
        return composite.pictures

    @property
    def tint(self) -> np.ndarray:
        return np.median(lab(self.chips[0])[self.skin], 0)

    def classes(self, *names: str) -> np.ndarray:
        """(SIZE, SIZE) where the parser is sure of these classes."""
        parser = zoo.load("face-parser")
        shares = class_probabilities(parser, self.chips, ParserMasker(parser).device)[0].numpy()
        likely = shares[[parser.spec.labels.index(name) for name in names]].sum(0)
        return cv2.resize(likely, (SIZE, SIZE)) > 0.9


@pytest.fixture(scope="module")
def portrait() -> Portrait:
    return Portrait(np.asarray(astronaut()))


@pytest.fixture(scope="module")
def swept(portrait) -> np.ndarray:
    return portrait.at(VALUES)


def test_at_the_photos_own_step_every_pixel_is_as_it_was(portrait) -> None:
    own = step_of(portrait.tint[0])
    assert 1 < own < 10
    (picture, other) = portrait.at([own, own + 2])
    np.testing.assert_array_equal(picture, portrait.photo.pixels)
    assert np.abs(other.astype(int) - portrait.photo.pixels).max() > 20


def test_skin_has_the_lightness_of_each_step_and_darkens_from_step_to_step(portrait, swept) -> None:
    inside = cv2.erode(portrait.skin.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    like_it = inside & (np.abs(lab(portrait.chips[0])[..., 0] - portrait.tint[0]) < 1)
    assert like_it.sum() > 100
    chips = [lab(warp(picture, portrait.face.matrix, SIZE)) for picture in swept]
    light = [np.median(chip[portrait.skin][:, 0]) for chip in chips]
    assert (np.diff(light) < -4).all()
    wanted = np.interp(VALUES, (1, 10), SCALE)
    np.testing.assert_allclose([np.median(chip[like_it][:, 0]) for chip in chips], wanted, atol=1.5)


def test_eyes_hair_and_all_that_is_no_skin_stay(portrait, swept) -> None:
    untouched = np.ones(portrait.photo.pixels.shape[:2], bool)
    x0, y0, x1, y1 = portrait.composite.box
    untouched[y0:y1, x0:x1] = portrait.composite.weight == 0
    for picture in swept[[0, -1]]:
        np.testing.assert_array_equal(picture[untouched], portrait.photo.pixels[untouched])
    skin = cv2.dilate((portrait.head.skin > 0.02).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    chips = [lab(warp(picture, portrait.face.matrix, SIZE)) for picture in swept[[0, -1]]]
    before = lab(portrait.chips[0])
    hair = portrait.classes("hair") & ~skin
    assert hair.sum() > 100
    eyes = cv2.erode(
        portrait.classes("left eye", "right eye").astype(np.uint8), np.ones((3, 3), np.uint8)
    )
    face = portrait.classes("skin")
    for chip in chips:
        assert np.abs(chip - before)[hair, 0].mean() < 0.5
    change = np.abs(chips[-1] - before)[..., 0]
    assert change[eyes > 0].mean() < 0.25 * change[face].mean()


def test_lips_change_half_as_much_as_skin(portrait, swept) -> None:
    lips = portrait.classes("upper lip", "lower lip")
    face = portrait.classes("skin")
    before = lab(portrait.chips[0])
    for picture in swept[[3, -1]]:
        change = np.abs(lab(warp(picture, portrait.face.matrix, SIZE)) - before)[..., 0]
        assert change[lips].mean() < 0.75 * change[face].mean()


def test_pores_and_light_stay(portrait, swept) -> None:
    """What is lighter than its surroundings stays so, and by more than half as much in luminance's logarithm."""
    inside = cv2.erode(portrait.classes("skin").astype(np.uint8), np.ones((7, 7), np.uint8)) > 0
    fine = []
    for picture in (portrait.photo.pixels, *swept):
        light = np.log(lab(warp(picture, portrait.face.matrix, SIZE))[..., 0] + 1)
        fine.append((light - cv2.GaussianBlur(light, (0, 0), 2))[inside])
    for detail in fine[1:]:
        assert np.corrcoef(fine[0], detail)[0, 1] > 0.8
        assert detail.std() > 0.5 * fine[0].std()


def test_a_gray_photo_stays_gray(portrait) -> None:
    gray = np.repeat(cv2.cvtColor(portrait.photo.pixels, cv2.COLOR_RGB2GRAY)[..., None], 3, -1)
    pictures = Portrait(gray, gray=True).at([1, 4, 8])
    assert (pictures == pictures[..., :1]).all()
    assert (np.diff(pictures.mean((1, 2, 3))) < -1).all()


def test_without_skin_nothing_changes(portrait) -> None:
    head = replace(portrait.head, skin=np.zeros_like(portrait.head.skin))
    swept = portrait.editor.sweep(portrait.chips, VALUES).of(0)
    columns = (portrait.photo.pixels, False, swept, portrait.mask, portrait.face.matrix, "ratio")
    for picture in compose(*columns, head).pictures:
        np.testing.assert_array_equal(picture, portrait.photo.pixels)
    assert mask_is_degenerate(0 * portrait.mask) is not None


def test_the_own_step_follows_exposure_and_not_the_casts_of_light(portrait) -> None:
    pixels = portrait.photo.pixels
    own = own_step(pixels, portrait.face.points)
    assert own == pytest.approx(step_of(portrait.tint[0]), abs=1.5)
    for stops, low, high in ((-0.5, 0.5, 2.5), (0.5, -2.5, -0.5)):
        linear = (pixels / 255.0) ** 2.2 * 2**stops
        other = np.rint(255 * np.clip(linear, 0, 1) ** (1 / 2.2)).astype(np.uint8)
        assert low < own_step(other, portrait.face.points) - own < high
    cast = np.clip(pixels * [1.06, 1, 0.88], 0, 255).astype(np.uint8)
    assert own_step(cast, portrait.face.points) == pytest.approx(own, abs=0.3)
    assert own_step(pixels, np.zeros((5, 2))) is None


def test_values_are_steps_and_others_are_refused_before_any_work() -> None:
    assert values_for("tone").tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert values_for("tone", 5, (1, 10)).tolist() == [1, 3.25, 5.5, 7.75, 10]
    for extent in ((0, 8), (2, 11), (-2, 2)):
        with pytest.raises(UsageError, match="steps 1 to 10"):
            values_for("tone", None, extent)


@pytest.mark.parametrize(
    "compose_config",
    [
        ComposeConfig(region="face"),
        ComposeConfig(blend="paste"),
        ComposeConfig(masks=Path("masks")),
    ],
)
def test_what_cannot_change_tone_alone_is_refused(compose_config, tmp_path) -> None:
    config = RunConfig(tmp_path, edit=EditConfig(("tone",)), compose=compose_config)
    with pytest.raises(UsageError, match="brow to chest"):
        default_components(config, "cpu")


def test_the_table_runs_evenly_from_light_to_dark_and_has_most_colour_in_its_middle() -> None:
    editor = editor_of("tone")
    assert isinstance(editor, ToneEditor)
    light, red, yellow = editor.places.numpy().T
    np.testing.assert_allclose(light, np.linspace(*SCALE, 10), atol=0.05)
    for column in (red, yellow):
        assert 3 <= column.argmax() <= 6
        assert column.min() > 2


# -- slow: London, where ethnicity is known ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.evidence
def test_londons_people_lie_along_the_scale_by_what_they_say_of_themselves(unpacked) -> None:
    """On people of whom the table knows nothing; one lamp, so that their steps are their own."""
    from training.sets import TrainingSet
    from training.sources import RACES, read_london
    from training.tone_scale import london, measured

    root = next(unpacked("london").rglob("people.csv")).parent
    model = zoo.load("tone")
    everyone = london(model.spec, [read_london(root)], "cpu")
    data: TrainingSet = everyone.part(everyone.held_out)
    steps = measured(model.module, data, "cpu")["step"]
    means = [steps[name].value for name in ("white", "east_asian", "west_asian", "black")]
    assert means == sorted(means)
    assert set(steps) == set(RACES)
    assert means[0] == pytest.approx(4.1, abs=0.3)
    assert means[-1] == pytest.approx(8.6, abs=0.5)
