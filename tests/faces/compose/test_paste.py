from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gslopes.core.errors import ModelError
from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import Ends
from gslopes.faces.compose.masks import border_ramp
from gslopes.faces.compose.paste import Blend
from tests.faces.compose.conftest import compose

S = 32
BLENDS: tuple[Blend, ...] = ("difference", "paste")


def matrix(scale: float, angle: float, x: float, y: float, size: int = S) -> np.ndarray:
    """Photo to chip: the photo's point (x, y) comes to the chip's middle; ``scale`` chip pixels per photo pixel."""
    a = scale * np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    return np.column_stack([a, (size - 1) / 2 - a @ (x, y)])


@st.composite
def scenes(draw: st.DrawFn) -> dict:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    height, width, steps = (
        draw(st.integers(1, 70)),
        draw(st.integers(1, 70)),
        draw(st.integers(1, 3)),
    )
    gray = draw(st.booleans())
    pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
    if gray:
        pixels = np.repeat(pixels[..., :1], 3, 2)
    blob = rng.random((S, S), np.float32) ** draw(st.sampled_from([0.3, 1, 8]))
    mask = blob * border_ramp(S, draw(st.sampled_from([1, 4, 12])))
    mask[rng.random((S, S)) < draw(st.sampled_from([0, 0.5, 0.98]))] = 0
    where = matrix(
        draw(st.floats(0.2, 6)),
        draw(st.floats(-3.2, 3.2)),
        draw(st.floats(-40, 110)),
        draw(st.floats(-40, 110)),
    )
    return {
        "pixels": pixels,
        "gray": gray,
        "edited": rng.uniform(0, 255, (steps, S, S, 3)).astype(np.float32),
        "neutral": rng.uniform(0, 255, (S, S, 3)).astype(np.float32),
        "mask": mask.astype(np.float32),
        "matrix": where,
        "blend": draw(st.sampled_from(get_args(Blend))),
    }


def far_from_mask(scene: dict) -> np.ndarray:
    """(H, W) bool: photo pixels whose place in the chip is well away from everything above 0 in the mask."""
    scale = np.sqrt(abs(np.linalg.det(scene["matrix"][:, :2])))
    reach = 2 + 4 * 0.5 * np.sqrt(max(scale**2 - 1, 0))
    rows, columns = np.nonzero(scene["mask"])
    height, width = scene["pixels"].shape[:2]
    y, x = np.mgrid[:height, :width]
    u, v = np.einsum(
        "ij,jhw->ihw", scene["matrix"], np.stack([x, y, np.ones_like(x)]).astype(float)
    )
    if len(rows) == 0:
        return np.ones((height, width), bool)
    return (
        (u < columns.min() - reach)
        | (u > columns.max() + reach)
        | (v < rows.min() - reach)
        | (v > rows.max() + reach)
    )


@pytest.mark.row("slopes-3.3-outside")
@settings(deadline=None, max_examples=150)
@given(scenes())
def test_pixels_outside_the_mask_are_the_photos_own_bit_for_bit(scene: dict) -> None:
    photo = scene["pixels"].copy()
    full = compose(**scene)
    x0, y0, x1, y1 = full.box
    weight = full.weight
    assert weight.shape == (y1 - y0, x1 - x0)
    if weight.size:  # the box is tight, and weights are shares
        assert all(edge.any() for edge in (weight[0], weight[-1], weight[:, 0], weight[:, -1]))
        assert np.float32(1 / 255) <= weight[weight > 0].min() <= weight.max() <= 1
    inside = np.zeros(photo.shape[:2], bool)
    inside[y0:y1, x0:x1] = weight > 0
    pictures = full.pictures
    assert pictures.shape == (len(scene["edited"]), *photo.shape)
    assert pictures.dtype == np.uint8
    assert (pictures[:, ~inside] == photo[~inside]).all()
    assert not (inside & far_from_mask(scene)).any()
    assert full.mask_area == pytest.approx(inside.mean())
    np.testing.assert_array_equal(scene["pixels"], photo)
    if scene["gray"]:
        assert (pictures == pictures[..., :1]).all()
    same = compose(**scene | {"blend": "difference", "neutral": scene["edited"][0]})
    np.testing.assert_array_equal(same.picture(0), photo)  # a difference of nothing


def identity_scene(**changes: object) -> dict:
    rng = np.random.default_rng(3)
    scene = {
        "pixels": rng.integers(0, 256, (S, S, 3), np.uint8),
        "gray": False,
        "edited": rng.uniform(0, 255, (2, S, S, 3)).astype(np.float32),
        "neutral": rng.uniform(0, 255, (S, S, 3)).astype(np.float32),
        "mask": border_ramp(S, 8),
        "matrix": np.eye(2, 3),
    }
    return scene | changes


@pytest.mark.row("slopes-4.2-paste")
@pytest.mark.parametrize("blend", BLENDS)
def test_in_the_chips_own_frame_the_blend_is_the_formula(blend: Blend) -> None:
    scene = identity_scene(blend=blend)
    m = np.where(scene["mask"] >= np.float32(1 / 255), scene["mask"], 0)[..., None].astype(
        np.float64
    )
    photo, edited, neutral = (scene[name].astype(float) for name in ("pixels", "edited", "neutral"))
    expected = m * edited + (1 - m) * photo if blend == "paste" else photo + m * (edited - neutral)
    expected = np.clip(expected, 0, 255)
    assert np.abs(compose(**scene).pictures - expected).max() <= 0.501


def test_a_gray_photo_takes_the_luminance_of_the_edit() -> None:
    photo = np.full((S, S, 3), 100, np.uint8)
    scene = identity_scene(pixels=photo, gray=True, mask=np.ones((S, S), np.float32), blend="paste")
    expected = scene["edited"] @ LUMA
    assert np.abs(compose(**scene).pictures[..., 1] - expected).max() <= 0.501


def test_a_mask_that_misses_the_photo_changes_nothing() -> None:
    for changes in ({"matrix": matrix(1, 0, 500, 500)}, {"mask": np.zeros((S, S), np.float32)}):
        scene = identity_scene(**changes)
        full = compose(**scene)
        assert full.box == (0, 0, 0, 0)
        assert full.mask_area == 0
        assert len(full) == 2
        assert (full.pictures == scene["pixels"]).all()


@pytest.mark.parametrize("scale", [0.05, 0.25, 0.9])
def test_a_large_face_gets_a_smooth_edit_that_stays_in_the_chips_range(scale: float) -> None:
    edited = np.full((1, S, S, 3), 60, np.float32)
    edited[:, :, S // 2 :] = 180
    side = int(S / scale)
    scene = identity_scene(
        pixels=np.full((side, side, 3), 100, np.uint8), edited=edited, mask=border_ramp(S, 2), blend="paste",
        matrix=matrix(scale, 0, (side - 1) / 2, (side - 1) / 2),
    )  # fmt: skip
    picture = compose(**scene).picture(0).astype(int)
    assert picture.min() >= 60
    assert picture.max() <= 180
    row = picture[side // 2, :, 0]
    assert np.abs(np.diff(row)).max() <= 120 * 1.6 * scale + 2


def test_a_small_face_does_not_alias() -> None:
    checker = (np.indices((S, S)).sum(0) % 2 * 200 + 20).astype(np.float32)
    edited = np.repeat(checker[None, ..., None], 3, 3)
    side = 12
    scene = identity_scene(
        pixels=np.full((side, side, 3), 120, np.uint8), edited=edited, mask=np.ones((S, S), np.float32), blend="paste",
        matrix=matrix(4, 0.1, (side - 1) / 2, (side - 1) / 2),
    )  # fmt: skip
    assert np.abs(compose(**scene).picture(0).astype(int) - 120).max() <= 3


def test_values_that_are_no_numbers_are_errors() -> None:
    scene = identity_scene()
    scene["edited"][0, 3, 3, 0] = np.nan
    with pytest.raises(ModelError, match="finite"):
        compose(**scene)


def test_a_ratio_multiplies_skin_and_keeps_its_texture() -> None:
    texture = np.random.default_rng(0).integers(40, 200, (S, S, 3), np.uint8)
    neutral = np.full((S, S, 3), 120, np.float32)
    edited = ((neutral + OFFSET) * 0.6 - OFFSET)[None]
    scene = identity_scene(
        pixels=texture,
        edited=edited,
        neutral=neutral,
        blend="ratio",
        mask=np.ones((S, S), np.float32),
    )
    picture = compose(**scene).picture(0)
    np.testing.assert_allclose(picture, (texture + OFFSET) * 0.6 - OFFSET, atol=0.51)


@given(scenes(), st.floats(0.1, 3))
@settings(max_examples=30)
def test_values_on_the_way_to_two_ends_are_carried_as_two_layers_and_come_out_the_same(
    scene, strength
):
    """As dark as a value may get, too: with a large ``strength`` most pixels would be darker."""
    rng = np.random.default_rng(3)
    neutral, scene["blend"] = np.rint(scene["neutral"]), "ratio"
    ends = Ends(
        rng.uniform(-strength, strength, (2, S, S, 3)).astype(np.float32),
        np.array([0, 0, 0, 1, 1]),
        np.array([1.5, 1, 0.3, 0, 1], np.float32),
    )
    logs = np.log(neutral + OFFSET) + ends.shares[:, None, None, None] * ends.ratios[ends.towards]
    present = scene | {"neutral": neutral, "edited": (np.exp(logs) - OFFSET).astype(np.float32)}
    pictures, lean = compose(**present), compose(**present | {"edited": ends})
    assert lean.box == pictures.box
    apart = np.abs(lean.patches.astype(int) - pictures.patches)
    assert apart.max(initial=0) <= 1
    assert apart.sum() <= 0.001 * apart.size + 2
