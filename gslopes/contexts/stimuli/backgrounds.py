"""The backgrounds of a run: the drawn rooms that ship, and the user's folders, each with its contexts.toml."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from gslopes.contexts import HOME
from gslopes.contexts.stimuli.canvas import cover
from gslopes.core import (
    Names,
    PhotoError,
    Reason,
    SkipReason,
    UsageError,
    config,
    frozen,
    frozen_identity,
)
from gslopes.core.records import ByteArray, Finder
from gslopes.photos.decode import in_srgb
from gslopes.photos.folder import list_files, open_photo

ROOMS = HOME / "data/rooms"  # drawn by training/rooms.py
SMALLEST = 200
USED = SkipReason()


@frozen
class Context:
    """What is known of a context.

    title: for people; the key if empty.  label: the literature's stereotype, never used in a test.
    rating: 0 feminine, 5 neutral, 10 masculine; None if it is not known.  tags: that name it, normalised on use.
    licence, creator, source: of the pictures, shown wherever they are.
    """

    title: str = ""
    label: Literal["feminine", "masculine", "none"] = "none"
    rating: float | None = field(default=None, metadata={"least": 0, "most": 10})
    tags: Names = ()
    licence: str = ""
    creator: str = ""
    source: str = ""


@frozen_identity
class BackgroundPicture:
    """One background, read.

    key: ``<context>.<n>``, n from 1 in the order of the names.  photo: sha256 of its bytes.  path: for people.
    pixels: (H, W, 3) sRGB at the canvas' size; None if it was skipped, which ``why`` explains.
    """

    key: str
    context: str
    path: str
    record: Context
    photo: str = ""
    pixels: ByteArray | None = None
    why: SkipReason = USED

    @property
    def used(self) -> bool:
        """Whether people are put in front of it."""
        return self.pixels is not None


def read_backgrounds(
    names: Names,
    canvas: tuple[int, int],
    finder: Callable[[], Finder],
    one_each: bool = False,
) -> list[BackgroundPicture]:
    """All backgrounds, those skipped too, in the order in which they were named.

    finder: makes the detector that looks for faces in photographs.  one_each: a single picture of each drawn room.

    Raises: UsageError if a folder is not there, none is usable, or one picture is in two contexts; ConfigError.
    """
    pictures = []
    for name in names:
        if name == "rendered":
            pictures += [
                picture
                for picture in _folder(ROOMS, canvas)
                if not one_each or picture.key.endswith(".1")
            ]
        else:
            pictures += _folder(Path(name), canvas, finder)
    first: dict[tuple[str, str], BackgroundPicture] = {}
    for background in pictures:
        for what, name in (("name", background.key), ("picture", background.photo)):
            earlier = first.setdefault((what, name), background)
            if earlier is not background and name:
                raise UsageError(
                    f"The {what} of {earlier.path} is also that of {background.path}.",
                    "Each background has one place.",
                )
    if not any(background.used for background in pictures):
        raise UsageError(
            f"No background can be used: {pictures[0].why}.",
            "Name rendered, or a folder of pictures.",
        )
    return pictures


def _folder(
    folder: Path, canvas: tuple[int, int], finder: Callable[[], Finder] | None = None
) -> list[BackgroundPicture]:
    files = list_files(folder)
    if not files:
        raise UsageError(
            f"There are no pictures in {folder}.",
            "Name a folder of backgrounds: <context>/<picture>.",
        )
    known = folder / "contexts.toml"
    records = read_contexts(known) if known.is_file() else {}
    pictures = []
    detector = finder and finder()
    for head in name_backgrounds([(file.relative, file.path) for file in files], records):
        try:
            photo = open_photo(Path(head.path))
        except PhotoError as error:
            pictures.append(replace(head, why=SkipReason.of(error.reason)))
            continue
        pixels = in_srgb(photo.pixels, photo.icc)
        faces = detector and len(detector([replace(photo, pixels=pixels)])[0].scores)
        why = SkipReason(Reason.FACE_IN_BACKGROUND) if faces else USED
        if (side := min(pixels.shape[:2])) < SMALLEST:
            why = SkipReason(Reason.SHORTER_SIDE, f"{side} px, at least {SMALLEST}")
        pictures.append(
            replace(head, photo=photo.id, pixels=None if why else cover(pixels, *canvas), why=why)
        )
    return pictures


def read_contexts(path: Path) -> dict[str, Context]:
    """The records of a contexts.toml, by key.

    Raises: ConfigError for an unknown key or label, or a rating out of range; UsageError if two names become one.
    """
    entries = config.read_toml(path)
    keys = context_keys(entries, str(path))
    return {
        keys[name]: config.from_dict(Context, entry, where=f"{path}: {name}")
        for name, entry in entries.items()
    }


def name_backgrounds(
    files: Sequence[tuple[str, Path]], records: dict[str, Context]
) -> list[BackgroundPicture]:
    """The pictures below a folder with their keys and records, not yet read.

    files: (name below the folder, path), in order: ``<context>/<picture>`` or ``<context>.<ending>``.
    records: as from ``read_contexts``.

    Raises: UsageError if two contexts' names become one, or a known context has no picture.
    """
    names = [
        relative.partition("/")[0] if "/" in relative else relative.rpartition(".")[0]
        for relative, _ in files
    ]
    keys = context_keys(names, "the folder")
    counts: Counter[str] = Counter()
    pictures = []
    for name, (_, path) in zip(names, files, strict=True):
        key = keys[name]
        counts[key] += 1
        record = records.get(key, Context(key))
        pictures.append(BackgroundPicture(f"{key}.{counts[key]}", key, str(path), record))
    if missing := sorted(records.keys() - counts.keys()):
        raise UsageError(
            f"contexts.toml names {missing[0]!r}, which has no picture.", "Add one, or take it out."
        )
    return pictures


def context_keys(names: Iterable[str], where: str) -> dict[str, str]:
    """Contexts' names to what they are in tables: lower case, all but letters and digits a hyphen.

    Raises: UsageError if nothing is left of one, or two become one.

    >>> context_keys(["Baby Nursery (2)"], "the folder")
    {'Baby Nursery (2)': 'baby-nursery-2'}
    """
    keys = {name: re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") for name in names}
    first: dict[str, str] = {}
    for name, key in keys.items():
        if not key:
            raise UsageError(
                f"The context name {name!r} in {where} has no letter and no digit.", "Rename it."
            )
        if first.setdefault(key, name) != name:
            raise UsageError(
                f"The contexts {first[key]!r} and {name!r} of {where} both become {key!r}.",
                "Rename one.",
            )
    return keys
