from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import UsageError
from gslopes.executors import OneProcess
from gslopes.run import energy
from gslopes.run.bench import PAPER_PHOTOS, Bench, bench, link_photos, write_variants
from gslopes.run.energy import Meter


def test_every_step_is_timed_and_every_variant_of_the_portrait_has_a_face():
    found = bench(None, OneProcess(), count=3, device="cpu")
    assert (found.photos, found.faces) == (3, 3)
    assert list(found.steps) == [
        "read and decode",
        "find",
        "align",
        "mask",
        "edit",
        "compose",
        "encode",
        "write",
    ]
    assert all(seconds > 0 for seconds in found.steps.values())
    assert found.paper_minutes == pytest.approx(PAPER_PHOTOS / found.walk / 60)


def test_photos_without_a_face_are_a_sentence(tmp_path):
    for i in range(2):
        Image.fromarray(np.full((64, 64, 3), 90 + i, np.uint8)).save(tmp_path / f"{i}.png")
    with pytest.raises(UsageError, match="has a face that can be edited"):
        bench(tmp_path, OneProcess(), count=2, device="cpu")


def test_photos_that_come_again_are_other_files_with_the_same_pixels(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    write_variants(tmp_path / "in", 2)
    link_photos(tmp_path / "in", tmp_path / "out", 5)
    files = sorted((tmp_path / "out").iterdir())
    assert len({file.read_bytes() for file in files}) == 5
    first, third = (np.asarray(Image.open(files[i])) for i in (0, 2))
    assert (first == third).all()


def test_a_meter_turns_the_processors_counter_into_watts(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "COUNTER", tmp_path)
    now = iter([10.0, 14.0])
    monkeypatch.setattr(energy.time, "monotonic", lambda: next(now))
    (tmp_path / "energy_uj").write_text("1000000\n")
    with Meter("cpu") as meter:
        (tmp_path / "energy_uj").write_text("101000000\n")
    assert (meter.watts, meter.source) == (25.0, "the processor's first socket")


def test_a_gpus_own_meter_is_asked_while_it_works(tmp_path, monkeypatch):
    tool = tmp_path / "nvidia-smi"
    tool.write_text('#!/bin/sh\n[ "$1" = --id=1 ] && echo 412.5\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with Meter("cuda:1") as meter:
        while not meter._readings:
            pass
    assert meter.watts == 412.5


def test_a_machine_without_a_meter_has_no_watts(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "COUNTER", tmp_path / "nothing")
    monkeypatch.setenv("PATH", str(tmp_path))
    for device in ("cpu", "cuda"):
        with Meter(device) as meter:
            pass
        assert meter.watts is None


STEPS = {
    "read and decode": 1.0,
    "find": 8.0,
    "align": 1.0,
    "mask": 0.5,
    "edit": 1.0,
    "compose": 0.5,
    "encode": 5.0,
    "write": 1.0,
}


@pytest.mark.parametrize(
    ("device", "cores", "rate", "bound"),
    [
        ("cpu", 2, 100 / 9, "the cores, most of all find"),
        ("cuda", 2, 100 / 8, "the cores, most of all find"),
        ("cuda", 16, 100 / 2, "cuda"),
    ],
)
def test_the_plan_says_who_is_busiest(device, cores, rate, bound):
    found = Bench(device, cores, 100, 100, STEPS, 1.0, None)
    assert (found.planned, found.bound) == (pytest.approx(rate), bound)
