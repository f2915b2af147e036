"""Editors that others made, by name: functions, addresses, image models.

An editor is made by a class with a frozen dataclass ``Options`` and a constructor ``(name, options, setting)``; it is
a ``faces.edit.protocol.PictureEditor``. Its name and options are written as those of classifiers are (``ask.names``).
Other packages add theirs by an entry point of the group ``gslopes.editors``; our own are in ``catalogue.toml``.
"""

import base64
import re
from copy import copy
from typing import Any, Self, cast

from gslopes.ask.classifiers.catalogue import (
    ClassifierEntry,
    Resolved,
    entry_of,
    full_name,
    listed,
    manual,
    registry_of,
    resolved,
)
from gslopes.ask.pictures import in_base64
from gslopes.ask.secrets import PICTURE
from gslopes.core import ConfigError, UsageError, frozen
from gslopes.core.records import Answer
from gslopes.faces.edit.protocol import PictureEditor, Wish
from gslopes.faces.zoo.spec import asset_names, find_asset, find_spec

CATALOGUE = listed("outside", "editors")
REGISTRY = registry_of("editor", CATALOGUE)
GIVEN = "given:"  # before the name of an editor that is an object of Python
_CHIP = 512  # pixels, unless the user says otherwise
_FILE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|RIFF....WEBP", re.DOTALL)
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,")
_URL_SAFE = str.maketrans("-_", "+/")  # to the usual base64


# -- what editors give for a picture: how it is kept, as JSON, and how a picture is told from anything else ------------


def is_picture(data: bytes) -> bool:
    """Whether these are the bytes of a PNG, JPEG or WebP file, by how they begin.

    >>> is_picture(b"<html>"), is_picture(bytes.fromhex("ffd8ffe0"))
    (False, True)
    """
    return bool(_FILE.match(data))


def kept(picture: bytes, version: str = "") -> dict[str, str]:
    """The raw answer with a picture.  picture: the bytes of its file.  version: of the model, if it is told."""
    return {"picture": in_base64(picture), "version": version}


def answer_of(raw: Any) -> Answer:
    """The answer that a raw one holds, as ``kept`` makes it; ``{"refused": reason}`` is a refusal."""
    version = raw.get("version", "")
    if "refused" in raw:
        return Answer("refused", (), str(raw["refused"]), version)
    return Answer("answered", picture=base64.b64decode(raw["picture"]), version=version)


def picture_within(text: str) -> bytes:
    """The file that a text is in base64, also as a ``data:`` address; empty if it is none."""
    plain = "".join(_DATA_URL.sub("", text, count=1).split()).translate(_URL_SAFE).rstrip("=")
    if not PICTURE.fullmatch(plain) or len(plain) % 4 == 1:
        return b""
    data = base64.b64decode(plain + "=" * (-len(plain) % 4))
    return data if is_picture(data) else b""


# -- editors ----------------------------------------------------------------------------------------------------------


@frozen
class Setting:
    """What editors of one command share.

    device: as torch names it.  trust: whether a file that is a program may run.
    """

    device: str = "cpu"
    trust: bool = False


class Wished:
    """An editor that is a ``records.Classifier``, ``at`` a wish.

    seeded: whether what it draws depends on the seed, which then is in the name.
    """

    name: str
    parse = staticmethod(answer_of)
    seeded = False
    _wish = Wish("")

    def _take(self, options: Any) -> None:
        """What it is given: photos, or chips of a size; sentences."""
        self.takes = options.takes
        self.size = side_of(options.takes, options.size)
        self.prompt = options.prompt

    def at(self, wish: Wish) -> Self:
        """Who is asked for it."""
        asked = copy(self)
        asked._wish = wish
        asked.name = self.name + wish.key + f",seed={wish.seed}" * self.seeded
        return asked


def side_of(takes: str, size: int) -> int:
    """Of the chips that an editor takes, pixels; 0 if it takes photos.

    takes: ``photo`` or ``chip``.  size: as the user gives it; 0: 512 of chips.

    Raises: ConfigError if it is given of photos, or out of its range.
    """
    if takes == "chip" and size in (0, *range(64, 2049)):
        return size or _CHIP
    if size:
        raise ConfigError(
            f"A photo keeps its own size, and a chip has 64 to 2048 pixels, not {size}.",
            "Such as takes=chip,size=512.",
        )
    return 0


def is_outside(text: str) -> bool:
    """Whether a text names an editor that others made, and not a model of the zoo, or a kind of them.

    >>> is_outside("mine.py:edit"), is_outside("images:m,url=http://localhost"), is_outside("gender-fader")
    (True, True, False)
    """
    if text.startswith(GIVEN):
        return True
    base = full_name(text).partition(",")[0].partition(":")[0]
    # the default editor has no name: nothing is looked up among installed packages
    return bool(base) and any(base == target.name for target in REGISTRY.targets())


_ALONE = Setting()


def load_editor(text: str, setting: Setting = _ALONE) -> PictureEditor:
    """The editor of this name.

    text: NAME[:ARGUMENT][,key=value...], see ``ask.names``, an address, or a file.

    Raises: UnknownName, ConfigError, UsageError (its package is not installed), ModelError (its file).
    """
    name, options, factory = _resolve(text)
    return cast("PictureEditor", factory(name, options, setting))


def canonical_name(text: str) -> str:
    """The one spelling of an editor's name with its parameters; loads nothing of it.  Raises: as ``load_editor``."""
    if text.startswith(GIVEN):
        return text
    return _resolve(text, asks=False)[0]


def _resolve(text: str, asks: bool = True) -> Resolved:
    if text.startswith(GIVEN):
        raise UsageError(
            f"The editor {text.removeprefix(GIVEN)} is an object of Python.",
            "Give it again: gslopes.audit(PHOTOS, RUN, editor=...).",
        )
    return resolved(text, REGISTRY, CATALOGUE, asks)


def list_editors() -> list[ClassifierEntry]:
    """Every editor, sorted by name: of others, and of the zoo; imports no library, and nothing of other packages.

    Raises: ConfigError if two packages claim one name.
    """
    entries = [entry_of(target, CATALOGUE.get(target.name)) for target in REGISTRY.targets()]
    for name in asset_names("models", "spec.toml"):
        spec = find_spec(name)
        if spec.network in ("fader", "edit-ends", "edit-groups", "tone-scale"):
            there = find_asset("weights", name) is not None
            entries.append(ClassifierEntry(name, spec.summary, "", there, ()))
    return sorted(entries, key=lambda entry: entry.name)


def manual_of(name: str) -> str:
    """How an editor is used, in its module's own words; of one of the zoo where its card is.  Raises: UnknownName."""
    if is_outside(name):
        return manual(REGISTRY.find(name))
    return f"gslopes audit PHOTOS --editor {name}; its card is models/{name}/card.md."
