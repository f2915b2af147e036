"""What a classifier of each kind is sent, and three pictures where fewer photos are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.classifiers.in_memory import as_classifier
from gslopes.ask.cost import Limits
from gslopes.ask.scoring.trial import try_classifier, what_is_sent
from gslopes.core.records import Answer


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    ramp = np.linspace(0, 255, 40).astype(np.uint8)
    Image.fromarray(np.stack([np.tile(ramp, (30, 1))] * 3, axis=-1)).save(tmp_path / "ramp.png")
    return tmp_path / "ramp.png"


class Service:
    """Takes JPEG alone, of at most 20 pixels, for 2 USD each."""

    name, version, batch = "paid", "1", 1
    limits = Limits(price=2000.0, network=True, formats=("JPEG",), max_side=20)

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def ask(self, pictures: list[bytes]) -> list[object]:
        self.seen += pictures
        return [[["any", 0.5]] for _ in pictures]

    def parse(self, raw: Any) -> Answer:
        return Answer("answered", tuple((label, score) for label, score in raw))


def test_a_service_is_sent_a_file_within_its_limits_and_paid_once(photo, tmp_path):
    service = Service()
    found = try_classifier(service, [photo], tmp_path / "sent.png", tmp_path / "cache")
    assert found.sent.startswith("the file, 20 x 15,")
    assert "JPEG of quality 95, longer side 20 pixels" in found.sent
    with Image.open(tmp_path / "sent.png") as image:
        assert image.size == (20, 15)
    assert (found.usd, found.price, found.varying, found.failed) == (6.0, 2000.0, (), 0)
    again = try_classifier(service, [photo], tmp_path / "sent.png", tmp_path / "cache")
    assert (again.usd, again.seconds, len(service.seen)) == (0.0, 0.0, 3)


def test_a_torch_module_says_the_range_of_its_input(photo):
    import torch

    module = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Sigmoid())
    made = as_classifier(module, ["a", "b", "c"], size=8, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    words, pixels = what_is_sent(made, photo.read_bytes())
    assert words == "8 x 8 float32, RGB before its preprocessing, channels first, -0.678 to 0.671"
    assert pixels.shape == (8, 8, 3)
    assert (pixels.min(), pixels.max()) == (0, 255)
