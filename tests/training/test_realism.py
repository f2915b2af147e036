import numpy as np
import pytest

from training.evaluation import realism
from training.evaluation.realism import two_sample_auc


def faces(n: int, size: int = 32, seed: int = 0) -> np.ndarray:
    """Blots of skin colour on grey, one a photo, with noise: photos enough for a test."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] / size - 0.5
    out = np.full((n, size, size, 3), 120.0)
    for row in range(n):
        radius = random.uniform(0.3, 0.45)
        out[row][x**2 + y**2 < radius**2] = random.uniform(0.6, 1.1) * np.array([220, 170, 140])
    return (out + random.normal(0, 6, out.shape)).clip(0, 255).astype(np.uint8)


@pytest.mark.slow
def test_equal_pictures_cannot_be_told_apart() -> None:
    photos = faces(120)
    found = two_sample_auc(photos, photos, np.arange(120), draws=1)
    assert found.low < 0.5 < found.high


def test_a_seam_around_the_face_is_seen() -> None:
    photos = faces(100)
    seamed = photos.copy()
    seamed[:, 8:24, [8, 9, 22, 23]] //= 2
    found = two_sample_auc(photos, seamed, np.arange(100), draws=1)
    assert found.low > 0.8


@pytest.mark.slow
def test_people_are_known_by_their_looks_but_do_not_help() -> None:
    people = np.repeat(np.arange(20), 6)
    photos = faces(20, seed=1)[people]
    found = two_sample_auc(photos, photos, people, draws=1)
    assert found.low < 0.6


def test_a_draw_holds_no_more_people_than_asked_and_all_of_a_persons_photos(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def by_brightness(chips, fake, train, test, seed):
        seen.append((train, test))
        return -chips[test].mean((1, 2, 3))

    monkeypatch.setattr(realism, "_train_and_score", by_brightness)
    people = np.repeat(np.arange(50), 2)
    photos = np.full((100, 32, 32, 3), 200, np.uint8)
    found = two_sample_auc(photos, photos - 9, people, most=20, draws=3)
    assert found.value == 1  # faces outside of a draw are not judged
    assert len(seen) == 6
    for train, test in seen:
        assert not (train & test).any()
        assert (train | test).sum() == 40
        assert len(set(people[train])) == len(set(people[test])) == 10
    drawn = [frozenset(people[train | test]) for train, test in seen]
    assert len(set(drawn)) == 3


def test_the_matched_test_does_not_count_what_a_reading_alone_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Composites are photos of the same kind, moved to one end: unmatched, their brightness gives them away."""
    random, n, seen = np.random.default_rng(0), 400, []
    read, moved = (random.random(n) < share for share in (0.4, 0.8))

    def by_brightness(chips, fake, train, test, seed):
        seen.append((fake, train, test))
        return chips[test].mean((1, 2, 3))

    monkeypatch.setattr(realism, "_train_and_score", by_brightness)
    bright = [np.where(of, 200, 50).astype(np.uint8)[:, None, None, None] for of in (read, moved)]
    photos, composites = (np.broadcast_to(of, (n, 32, 32, 3)) for of in bright)
    readings = read * 0.9 + 0.05, moved * 0.9 + 0.05
    assert two_sample_auc(photos, composites, np.arange(n), draws=2).low > 0.6
    seen.clear()
    matched = two_sample_auc(photos, composites, np.arange(n), draws=2, readings=readings)
    assert matched.value == pytest.approx(0.5, abs=0.02)
    for fake, train, test in seen:  # the two people of a pair are read alike, and no one is in both classes
        assert not (train & test).any()
        assert fake[train].sum() == (~fake[train]).sum() > 20
        of = np.where(fake, moved, read)
        assert of[train & fake].sum() == of[train & ~fake].sum()
