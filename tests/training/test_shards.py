"""Chips in shards: a pool moves on through all of them, the same after a stop, and damage is a sentence."""

import json
from itertools import islice

import numpy as np
import pytest
import torch

from gslopes.core.errors import DataMissing, UsageError
from tests.training.several import SMALL, case
from training.fader import train_fader
from training.sets import TrainingSet
from training.shards import Feed, Shards, Writer, decoded, index_of
from training.watch import Watch

COUNT = 40


@pytest.fixture
def folder(tmp_path):
    """Shards of 40 flat chips whose colour is their number, seven a file, and of three held-out ones."""
    writer = Writer(SMALL, tmp_path / "shards", shard=7)
    number = np.arange(COUNT + 3, dtype=np.uint8)
    pixels = np.broadcast_to((5 * number)[:, None, None, None], (len(number), 32, 32, 3))
    labels = np.where(number % 2, 1, -1).astype(np.float32)[:, None]
    aside = number >= COUNT
    writer.write(TrainingSet(np.ascontiguousarray(pixels), labels, number + 1.0, aside))
    assert writer.close() == COUNT + 3
    return tmp_path / "shards"


def numbers(pixels):
    return [round(float(chip[0, 0, 0]) / 5) for chip in pixels]


def test_a_pass_has_every_chip_once_and_the_next_one_another_order(folder):
    shards = Shards(SMALL, folder)
    passes = [numbers(map(decoded, islice(shards.samples(k * COUNT, 0), COUNT))) for k in (0, 1)]
    assert sorted(passes[0]) == sorted(passes[1]) == list(range(COUNT))
    assert passes[0] != passes[1]
    for first in (1, 13, 39, 41):
        begun = numbers(map(decoded, islice(shards.samples(first, 0), 5)))
        assert begun == (passes[0] + passes[1])[first : first + 5]
    assert sorted(numbers(shards.held_out().pixels)) == [40, 41, 42]


def pool_after(feed, steps):
    first = feed.first()
    pixels = torch.from_numpy(first.pixels.copy())
    weights = torch.from_numpy(first.weights.copy())
    for step in steps:
        for new in feed.renewed(step):
            pixels[new.rows], weights[new.rows] = new.pixels, new.weights
    return numbers(pixels.numpy()), weights


def test_the_pool_moves_on_by_a_batch_a_step_and_is_the_same_after_a_stop(folder):
    shards = Shards(SMALL, folder)
    stream = numbers(map(decoded, islice(shards.samples(0, 0), 100)))
    every, weights = pool_after(Feed(shards, 4, "cpu", pool=10), range(12))
    assert sorted(every) == sorted(stream[44:54])
    again, their_weights = pool_after(Feed(shards, 4, "cpu", pool=10), [11])
    assert again == every
    assert torch.equal(weights, their_weights)
    expected = (
        torch.tensor(every) + 1
    ) / 22.0  # a chip's weight comes with it, in units of the mean
    torch.testing.assert_close(weights, expected.double())


def test_a_set_that_fits_is_never_renewed(folder):
    feed = Feed(Shards(SMALL, folder), 4, "cpu", pool=64)
    assert sorted(numbers(feed.first().pixels)) == list(range(COUNT))
    assert [*feed.renewed(0), *feed.renewed(7)] == []


def test_training_from_a_stream_goes_on_after_a_stop_as_if_it_had_not_stopped(folder, tmp_path):
    shards = Shards(SMALL, folder)

    def train(name, steps):
        feed = Feed(shards, 8, "cpu", pool=16)
        (tmp_path / name).mkdir(exist_ok=True)
        first = feed.first()
        photos = first.pixels, first.labels, first.weights
        options = case("small", 6)[3]
        return train_fader(
            SMALL, *photos, tmp_path / name, watch=Watch(feed), save_every=3, report_every=1,
            **options | steps,
        )  # fmt: skip

    whole = train("whole", {})
    rows = (tmp_path / "whole/log.jsonl").read_text().splitlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.loop.Steps._report", stopping_at(4))
        with pytest.raises(KeyboardInterrupt):
            train("cut", {})
    cut = train("cut", {})
    assert all(torch.equal(whole[name], cut[name]) for name in whole)
    assert len(rows) == 6


def stopping_at(step):
    def report(self, metrics):
        if self.done == step:
            raise KeyboardInterrupt

    return report


def test_shards_that_are_damaged_gone_or_anothers_are_sentences(folder):
    index = index_of(SMALL, folder)
    whole = json.loads(index.read_text())
    shard = folder / whole["learned"][1][0]
    content = shard.read_bytes()
    shard.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataMissing, match=f"{shard.name} is damaged"):
        [*islice(Shards(SMALL, folder).samples(0, 0), COUNT)]
    shard.unlink()
    with pytest.raises(DataMissing, match=f"lacks {shard.name}"):
        Shards(SMALL, folder)
    index.write_text(json.dumps(whole | {"labels": ["race"]}))
    with pytest.raises(DataMissing, match="another small"):
        Shards(SMALL, folder)
    index.write_text("{")
    with pytest.raises(DataMissing, match="is damaged"):
        Shards(SMALL, folder)


def test_a_pool_smaller_than_two_batches_and_a_second_packing_are_refused(folder):
    with pytest.raises(UsageError, match="less than two batches of 8"):
        Feed(Shards(SMALL, folder), 8, "cpu", pool=15)
    with pytest.raises(UsageError, match="already holds chips"):
        Writer(SMALL, folder)


def test_shards_without_held_out_photos_or_of_one_end_are_refused(tmp_path):
    writer = Writer(SMALL, tmp_path)
    chips = np.zeros((4, 32, 32, 3), np.uint8)
    writer.write(TrainingSet(chips, np.ones((4, 1), np.float32), np.ones(4), np.zeros(4, bool)))
    with pytest.raises(DataMissing, match=r"4 chips are to learn from .*0 are held out"):
        writer.close()
    assert not index_of(SMALL, tmp_path).exists()


@pytest.mark.filterwarnings("ignore")  # it leaves files open
def test_webdataset_reads_the_shards(folder):
    webdataset = pytest.importorskip("webdataset")
    files = sorted(map(str, folder.glob("small-0*.tar")))
    read = [*webdataset.WebDataset(files, shardshuffle=False).decode("rgb8")]
    found = [round(float(sample["webp"][0, 0, 0]) / 5) for sample in read]
    assert sorted(found) == list(range(COUNT))
    assert set(read[0]["json"]) == {"labels", "weight"}
