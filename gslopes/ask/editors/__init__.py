"""Editors that others made, by name: functions, addresses, image models.

An editor is made by a class with a frozen dataclass ``Options`` and a constructor ``(name, options, setting)``; it is
a ``faces.edit.protocol.PictureEditor``. Its name and options are written as those of classifiers are (``ask.names``).
Other packages add theirs by an entry point of the group ``gslopes.editors``.
"""

from typing import Any, cast

from gslopes.ask import names
from gslopes.ask.classifiers.catalogue import full_name
from gslopes.core import frozen
from gslopes.core.errors import UsageError
from gslopes.core.registry import Registry
from gslopes.faces.edit.protocol import PictureEditor

_HOME = "gslopes.ask.editors"
REGISTRY = Registry(
    "editor",
    {
        "python": f"{_HOME}.python:PythonEditor",
        "http": f"{_HOME}.http:HttpEditor",
        "images": f"{_HOME}.images:ImagesEditor",
        "diffusers": f"{_HOME}.diffusers:DiffusersEditor",
    },
    "gslopes.editors",
)


@frozen
class Setting:
    """What editors of one command share.  device: as torch names it.  trust: whether a file that is a program may run."""

    device: str = "cpu"
    trust: bool = False


_ALONE = Setting()


def is_outside(text: str) -> bool:
    """Whether a text names an editor that others made, and not a model of the zoo, or a kind of them.

    >>> is_outside("mine.py:edit"), is_outside("images:m,url=http://localhost"), is_outside("gender-fader")
    (True, True, False)
    """
    base = full_name(text).partition(",")[0].partition(":")[0]
    return any(base == target.name for target in REGISTRY.targets())


def load_editor(text: str, setting: Setting = _ALONE) -> PictureEditor:
    """The editor of this name.

    text: NAME[:ARGUMENT][,key=value...], see ``ask.names``, an address, or a file.

    Raises: UnknownName, ConfigError, UsageError (its package is not installed), ModelError (its file).
    """
    base, items = names.split(full_name(text))
    factory: Any = REGISTRY.find(base).load()
    if not callable(factory):
        raise UsageError(
            f"The editor {base!r} cannot be called.", "Let its entry point name a class."
        )
    options = names.read(getattr(factory, "Options", names.NoOptions), base, items, kind="editor")
    return cast("PictureEditor", factory(text, options, setting))
