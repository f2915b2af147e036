"""Tiny random models of the real architectures, in local files: what the loaders are tested with."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

LABELS = "a\nb\nc\n"


def torchvision(folder: Path) -> str:
    """SqueezeNet 1.1 with three outputs."""
    import torchvision
    from safetensors.torch import save_file

    module = torchvision.models.get_model("squeezenet1_1", weights=None, num_classes=3)
    save_file(module.state_dict(), folder / "model.safetensors")
    return f"torchvision:squeezenet1_1,weights={folder / 'model.safetensors'},labels={_labels(folder)}"


def timm(folder: Path) -> str:
    """timm's own test network with three outputs."""
    import timm
    import torch

    torch.save(timm.create_model("test_resnet", num_classes=3).state_dict(), folder / "model.pth")
    return f"timm:test_resnet,weights={folder / 'model.pth'},labels={_labels(folder)}"


def transformers(folder: Path) -> str:
    """A vision transformer of one layer, as save_pretrained writes it."""
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor
    from transformers.utils import logging

    logging.disable_progress_bar()
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = ViTConfig(image_size=32, patch_size=8, num_labels=3, id2label=dict(enumerate("xyz")), **shape)
    ViTForImageClassification(config).save_pretrained(folder / "vit")
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder / "vit")
    return f"transformers:{folder / 'vit'}"


def torchscript(folder: Path) -> str:
    """A program that answers the mean of each channel."""
    import torch

    class Means(torch.nn.Module):
        def forward(self, pictures: torch.Tensor) -> torch.Tensor:
            return pictures.mean((2, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Means()).save(str(folder / "means.pt"))
    return f"torchscript:{folder / 'means.pt'},labels={_labels(folder)},size=16"


def python(folder: Path) -> str:
    """The function below."""
    del folder
    return f"python:{__name__}:brightness,version=1"


def brightness(pictures: list) -> list[dict[str, float] | None]:
    """A function as a user would write it."""
    return [{"bright": float(picture.mean() / 255), "any": 1.0} for picture in pictures]


def replay(folder: Path, pictures: list[bytes]) -> str:
    """A recording of answers to some pictures."""
    keys = [sha256(data).hexdigest() for data in pictures]
    lines = [{"picture": key, "labels": {"tag": 0.5, "other": 0.25}} for key in keys]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"replay:{folder / 'answers.jsonl'}"


def _labels(folder: Path) -> Path:
    (folder / "labels.txt").write_text(LABELS)
    return folder / "labels.txt"


MAKERS: dict[str, Callable[[Path], str]] = {
    make.__name__: make for make in (torchvision, timm, transformers, torchscript, python)
}
