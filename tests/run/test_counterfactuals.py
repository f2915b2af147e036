from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import gslopes
from gslopes.core.errors import UsageError
from gslopes.datasets.folder import open_photo

VALUES = (-2.0, -0.5, 1.0, 2.0)


@pytest.fixture
def faces(home, draw, monkeypatch, tmp_path):
    """Six drawn faces, and a cache of this test alone."""
    made = draw(6)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


def sets_of(faces, **options):
    known = {name: value for name, value in faces.known.items() if name != "placebo"}
    names = [path.name for path in sorted(faces.photos.iterdir())]
    labels = {name: index % 2 for index, name in enumerate(names)}
    return gslopes.Counterfactuals(faces.photos, **{"values": VALUES, "labels": labels, **known, **options})


@pytest.mark.parametrize("cached", [True, False])
def test_an_item_is_a_set_in_the_order_of_the_values_with_its_label(faces, cached):
    sets = sets_of(faces, cached=cached, format="png")
    assert len(sets) == 6
    assert sets.values == VALUES
    pictures, label = sets[3]
    assert (label, sets[-1][1]) == (1, 1)
    assert pictures.shape == (4, 3, 96, 96)
    assert pictures.dtype == torch.float32
    assert 0 <= pictures.min() < pictures.max() <= 1
    moved = (pictures != pictures[0]).any(0).any(0)
    assert 0.01 < moved.float().mean() < 0.9, "all else stays"
    photo = torch.from_numpy(open_photo(faces.photos / sets.paths[3]).pixels).permute(2, 0, 1) / 255
    assert torch.equal(pictures[0][:, ~moved], photo[:, ~moved])
    with pytest.raises(IndexError):
        sets[6]


def test_what_is_kept_is_what_is_made_on_the_fly_and_what_a_run_has(faces, tmp_path):
    kept = sets_of(faces, format="png", out=tmp_path / "kept")
    made = sets_of(faces, cached=False)
    assert kept.paths == made.paths
    assert all(torch.equal(kept[index][0], made[index][0]) for index in range(6))
    options = {"format": "png", "steps": 3, **faces.known}
    run = gslopes.synthesise(faces.photos, tmp_path / "run", **options).folder
    three = sets_of(faces, values=(-2, 0, 2), format="png")
    edits = [open_photo(run / file).pixels for file in three._files[three.paths[0]]]
    assert np.array_equal(np.stack(edits), (three[0][0] * 255).round().byte().permute(0, 2, 3, 1).numpy())


def test_a_second_dataset_edits_nothing_again(faces, monkeypatch):
    first = sets_of(faces)
    monkeypatch.setattr("gslopes.run.synthesis.Synthesis.__call__", lambda *_: pytest.fail("it edits again"))
    again = sets_of(faces)
    assert first.run == again.run
    assert torch.equal(first[0][0], again[0][0])


def test_photos_without_a_face_are_left_out(faces):
    (faces.photos / "zz.jpg").write_bytes(b"no photo")
    try:
        for cached in (True, False):
            assert "zz.jpg" not in sets_of(faces, cached=cached, labels=dict.fromkeys(_names(faces), 0)).paths
    finally:
        (faces.photos / "zz.jpg").unlink()


def _names(faces):
    return [path.name for path in faces.photos.iterdir()]


def test_labels_are_folders_or_given_and_none_is_missing(faces, tmp_path):
    with pytest.raises(UsageError, match="in no folder"):
        sets_of(faces, labels=None)
    with pytest.raises(UsageError, match="no label"):
        sets_of(faces, labels={_names(faces)[0]: 1})
    with pytest.raises(UsageError, match="grow"):
        sets_of(faces, values=(1, 1))
    sets = sets_of(faces, cached=False, labels=dict.fromkeys(_names(faces), 2.5))
    assert sets.labels == [2.5] * 6


def test_a_loader_with_workers_gives_batches(faces):
    for cached in (True, False):
        sets = sets_of(faces, cached=cached, transform=lambda pictures: pictures[..., ::2, ::2])
        pictures, labels = next(iter(DataLoader(sets, batch_size=3, num_workers=0)))
        assert pictures.shape == (3, 4, 3, 48, 48)
        assert labels.tolist() == [0, 1, 0]
    sets = sets_of(faces, cached=False)
    copy = pickle.loads(pickle.dumps(sets))
    assert torch.equal(copy[1][0], sets[1][0]), "a worker makes the same"


@pytest.mark.slow  # starts processes
def test_workers_make_the_same(faces):
    sets = sets_of(faces, cached=False)
    there = next(iter(DataLoader(sets, batch_size=6, num_workers=2, multiprocessing_context="spawn")))[0]
    assert torch.equal(there, torch.stack([sets[index][0] for index in range(6)]))


def test_the_penalty_is_the_mean_squared_difference_of_two_pictures_of_a_set():
    logits = torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    plain = torch.stack([(logits[:, a] - logits[:, b]) ** 2 for a, b in pairs]).mean()
    assert torch.isclose(gslopes.pair_penalty(logits), plain)
    gslopes.pair_penalty(logits).backward()
    assert logits.grad is not None
    same = torch.ones(2, 3, 1) * torch.tensor([1.0, 7.0])[:, None, None]
    assert gslopes.pair_penalty(same) == 0
    for shape in ((2, 3), (2, 1, 3)):
        with pytest.raises(ValueError, match="B, K, C"):
            gslopes.pair_penalty(torch.zeros(shape))


def test_a_head_that_is_held_together_answers_a_set_alike():
    """The loop of the docstring, on features: with the penalty the answers to a set lie closer together."""
    lot = torch.Generator().manual_seed(0)
    features = torch.randn(8, 1, 16, generator=lot) + 0.5 * torch.randn(8, 3, 16, generator=lot)  # (B, K, features)
    labels = torch.arange(8) % 2

    def spread(weight: float) -> float:
        torch.manual_seed(0)
        head = torch.nn.Linear(16, 2)
        ways = torch.optim.SGD(head.parameters(), lr=0.1)
        for _ in range(100):
            logits = head(features)  # (B, K, 2)
            loss = torch.nn.functional.cross_entropy(logits.mean(1), labels) + weight * gslopes.pair_penalty(logits)
            ways.zero_grad()
            loss.backward()
            ways.step()
        return gslopes.pair_penalty(head(features)).item()

    assert spread(1.0) < 0.5 * spread(0.0)
