import numpy as np
import pytest

from training.evaluation.measures import l1, perceptual, psnr


def chips(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 246, (n, 8, 8, 3)).astype(np.uint8)


def plain(batch: np.ndarray) -> list[np.ndarray]:
    """Two stages: the pixels, and their halves."""
    x = batch.transpose(0, 3, 1, 2).astype(np.float32)
    return [x, x[:, :, ::2, ::2]]


def test_equal_chips_are_at_no_distance() -> None:
    a = chips(5)
    assert l1(a, a).value == 0
    assert psnr(a, a).value == 100
    assert perceptual(a, a, plain).value == 0


def test_ten_levels_are_10_255ths_and_28_decibels() -> None:
    a = chips(5)
    b = a + np.uint8(10)
    assert l1(a, b).value == l1(b, a).value == pytest.approx(10 / 255)
    assert psnr(a, b).value == pytest.approx(20 * np.log10(255 / 10))


def test_perceptual_distance_is_that_of_directions_summed_over_stages() -> None:
    a, b = np.zeros((2, 3, 4, 4, 3), np.uint8)
    a[..., 0], b[..., 1] = 100, 7  # red and green: at right angles at every position, 2 in each of two stages
    assert perceptual(a, b, plain).value == pytest.approx(4)
    assert perceptual(a, a // 2, plain).value == pytest.approx(0, abs=1e-12)


def test_batches_do_not_show() -> None:
    a, b = chips(70, 1), chips(70, 2)
    whole = perceptual(a, b, plain).value
    assert whole == pytest.approx(np.mean([perceptual(a[i : i + 1], b[i : i + 1], plain).value for i in range(70)]))
