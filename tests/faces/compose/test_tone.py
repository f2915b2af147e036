"""The tone of skin: one offset a face, to the same place among faces at the other end."""

import cv2
import numpy as np
import pytest

from gslopes.core.geometry import OFFSET
from gslopes.core.records import Tone
from gslopes.faces.compose import tone as compose_tone
from gslopes.faces.compose.tone import REACH, offset

ENDS = ((47.6, 16.3, 22.1, 11.8, 0.08, 0.21), (64.6, 14.4, 18.6, 9.5, -0.19, -0.08))
S = 64
SKIN = np.zeros((S, S), np.float32)
SKIN[8:56, 8:56] = 1
SKIN[20:26, 20:30] = 0  # an eye


def colour(levels: np.ndarray) -> np.ndarray:
    return np.median(cv2.cvtColor(levels / 255, cv2.COLOR_RGB2LAB)[SKIN > 0.5], 0)


def face(lab: tuple[float, float, float]) -> np.ndarray:
    light = lab[0] + np.random.default_rng(0).normal(0, 1, (S, S))
    chip = np.stack([light, *(np.full((S, S), value) for value in lab[1:])], -1).astype(np.float32)
    return 255 * cv2.cvtColor(chip, cv2.COLOR_LAB2RGB)


def edited(layers: np.ndarray, chip: np.ndarray) -> np.ndarray:
    return (np.exp(layers[0]) * (chip + OFFSET) - OFFSET).astype(np.float32)


def toned(layers, chip, skin, tone):
    """A copy of the layers with the tone."""
    copy = layers.copy()
    compose_tone.toned(copy, chip, skin, tone)
    return copy


@pytest.mark.parametrize(
    ("lab", "share"), [((36, 10, 14), 1.0), ((66, 12, 16), -1.0), ((66, 12, 16), -0.4)]
)
def test_skin_gets_the_tone_of_the_other_end_whatever_the_network_said_of_it(lab, share) -> None:
    chip = face(lab)
    expected = colour(chip) + REACH * abs(share) * offset(colour(chip), ENDS, share > 0)
    for text in (-0.3, 0.2):
        layers = toned(
            np.full((1, S, S, 3), text, np.float32),
            chip,
            SKIN,
            Tone(np.array([share], np.float32), ENDS),
        )
        np.testing.assert_allclose(colour(edited(layers, chip)), expected, atol=1.5)
        np.testing.assert_array_equal(
            layers[0][SKIN == 0], np.float32(text)
        )  # eyes and what is around the face


def test_tones_of_several_values_are_those_of_each_alone_and_go_with_the_share_of_skin() -> None:
    chip, shares = face((50, 10, 14)), np.array([-1.0, -0.3, 0.8], np.float32)
    layers = np.random.default_rng(2).normal(0, 0.2, (3, S, S, 3)).astype(np.float32)
    together = toned(layers, chip, SKIN, Tone(shares, ENDS))
    for row, share in enumerate(shares):
        alone = toned(layers[row : row + 1], chip, SKIN, Tone(shares[row : row + 1], ENDS))
        np.testing.assert_array_equal(together[row], alone[0])
        assert np.ptp(together[row][SKIN > 0] - layers[row][SKIN > 0]) > 0.01, share
    half = np.where(np.arange(S) < S // 2, SKIN, 0.75 * SKIN).astype(np.float32)
    fainter = toned(layers, chip, half, Tone(shares, ENDS))
    np.testing.assert_allclose(fainter - layers, half[..., None] * (together - layers), atol=1e-6)


def test_form_stays_and_gray_shine_stays_gray() -> None:
    chip = face((36, 10, 14))
    chip[30:34, 30:34] = 200
    form = np.random.default_rng(1).normal(0, 0.05, (1, S, S, 3)).astype(np.float32)
    tone = Tone(np.ones(1, np.float32), ENDS)
    plain, formed = (toned(layers, chip, SKIN, tone) for layers in (np.zeros_like(form), form))
    np.testing.assert_allclose(
        (formed - plain)[0][SKIN == 1],
        (form - form[0][SKIN > 0.5].mean(0))[0][SKIN == 1],
        atol=1e-5,
    )
    shine = edited(plain, chip)[31:33, 31:33]
    assert np.ptp(shine, axis=-1).max() < 3
    assert plain[0, 31, 31].mean() < plain[0, 50, 50].mean() / 2  # it has no pigment to lose


def test_at_the_own_value_and_without_skin_nothing_changes() -> None:
    chip, nothing = face((50, 14, 18)), np.zeros((1, S, S, 3), np.float32)
    np.testing.assert_allclose(
        toned(nothing, chip, SKIN, Tone(np.zeros(1, np.float32), ENDS)), 0, atol=1e-6
    )
    layers = nothing + 0.1
    same = toned(layers, chip, 0 * SKIN, Tone(np.ones(1, np.float32), ENDS))
    np.testing.assert_array_equal(same, layers)
