"""Croppers by name: saliency models, and whatever answers a picture with a rectangle.

A cropper is made by a class with a frozen dataclass ``Options`` and a constructor ``(name, options, setting)``, or by
such a function, see ``names.takes``; it is a ``boxes.Saliency`` or a ``boxes.Cropper``. Its name and options are
written as those of classifiers are (``ask.names``). Other packages add theirs by an entry point of the group
``gslopes.croppers``.
"""

from typing import cast

from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.classifiers.catalogue import resolved
from gslopes.core import frozen
from gslopes.core.records import Finder
from gslopes.core.registry import Registry

_HOME = "gslopes.ask.croppers"
REGISTRY = Registry(
    "cropper",
    {
        "spectral-residual": f"{_HOME}.opencv:SpectralResidual",
        "fine-grained": f"{_HOME}.opencv:FineGrained",
        "fastgaze": f"{_HOME}.vxm:FastGazeModel",
        "onnx": f"{_HOME}.given:MapFile",
        "torchscript": f"{_HOME}.given:MapFile",
        "python": f"{_HOME}.given:python_cropper",
        "faces": f"{_HOME}.simple:Faces",
        "centre": f"{_HOME}.simple:Centre",
        "random": f"{_HOME}.simple:Random",
        "smartcrop": f"{_HOME}.simple:SmartCrop",
        "replay": f"{_HOME}.given:replay_cropper",
        "http": "gslopes.ask.classifiers.http:HttpCropper",
    },
    "gslopes.croppers",
)


@frozen
class Setting:
    """What croppers of one command share.

    finder: finds faces, for ``faces``.  device: as torch names it.  seed: of random crops.
    trust: whether a file that is a program (``torchscript:FILE``) may run.
    """

    finder: Finder | None = None
    device: str = "cpu"
    seed: int = 0
    trust: bool = False


_ALONE = Setting()


def load_cropper(text: str, setting: Setting = _ALONE) -> Saliency | Cropper:
    """A cropper ready to be asked; all that can be wrong with it is found here.

    text: NAME[:ARGUMENT][,key=value...], see ``ask.names``, an address, or a file.

    Raises: UnknownName, ConfigError, UsageError (its package is not installed), ModelError (its file).

    >>> load_cropper("centre").name
    'centre'
    """
    _, options, factory = resolved(text, REGISTRY, {})
    return cast("Saliency | Cropper", factory(text, options, setting))


def has_map(cropper: object) -> bool:
    """Whether it gives saliency maps, and not only rectangles."""
    return hasattr(cropper, "maps")
