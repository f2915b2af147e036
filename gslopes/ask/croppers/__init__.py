"""Croppers by name: saliency models, and whatever answers a picture with a rectangle.

A cropper is made by a class with a frozen dataclass ``Options`` and a constructor ``(name, options, setting)``, or by
such a function, see ``names.takes``; it is a ``boxes.Saliency`` or a ``boxes.Cropper``. Its name and options are
written as those of classifiers are (``ask.names``). Our own are in ``catalogue.toml``; other packages add theirs by an
entry point of the group ``gslopes.croppers``.
"""

from dataclasses import dataclass
from typing import cast

from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.classifiers.catalogue import listed, registry_of, resolved
from gslopes.ask.names import NoOptions
from gslopes.core import frozen
from gslopes.core.records import Finder

CATALOGUE = listed("cropper", "croppers")
REGISTRY = registry_of("cropper", CATALOGUE)


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


@dataclass(eq=False)
class Plain:
    """A cropper without options.  name: as given."""

    name: str
    options: NoOptions
    setting: Setting

    def __post_init__(self) -> None:
        """What else it needs."""


_ALONE = Setting()


def load_cropper(text: str, setting: Setting = _ALONE) -> Saliency | Cropper:
    """A cropper ready to be asked; all that can be wrong with it is found here.

    text: NAME[:ARGUMENT][,key=value...], see ``ask.names``, an address, or a file.

    Raises: UnknownName, ConfigError, UsageError (its package is not installed), ModelError (its file).

    >>> load_cropper("centre").name
    'centre'
    """
    _, options, factory = resolved(text, REGISTRY, CATALOGUE)
    return cast("Saliency | Cropper", factory(text, options, setting))


def has_map(cropper: object) -> bool:
    """Whether it gives saliency maps, and not only rectangles."""
    return hasattr(cropper, "maps")
