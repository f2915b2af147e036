"""Before any audit: an editor and one photo, so that a mistake costs no more than a few pictures."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from gslopes.ask.editors import Setting, is_outside, load_editor
from gslopes.ask.pictures import png
from gslopes.core import frozen, tables
from gslopes.core.errors import PhotoError
from gslopes.core.reasons import explained
from gslopes.core.runfolder import write_changed
from gslopes.core.tables import read_rows
from gslopes.core.traits import Limits, traits_of
from gslopes.faces.edit.protocol import Wish
from gslopes.photos.folder import open_srgb, photo_bytes
from gslopes.slopes.audit import synthesise

_STEPS = 3  # of a sweep: its ends and its centre
_SIDE = 512  # pixels, of each picture on the sheet at most


@frozen
class EditorTrial:
    """editor: its name.  sheet: the file with the photo and, beside it, its pictures by value; empty without any.

    size: of the photo, pixels.  pictures: sweep, value, status and reason of each; ``moved`` and ``background`` as in
        core.tables.EDITING, of an editor of others.
    seconds: in all.  price: USD per 1,000 pictures, None if it depends on the plan.
    """

    editor: str
    sheet: str
    size: tuple[int, int]
    pictures: tuple[dict[str, Any], ...]
    seconds: float
    price: float | None

    @property
    def failed(self) -> int:
        """Of the pictures."""
        return sum(picture["status"] != "answered" for picture in self.pictures)


def try_editor(
    editor: str, photo: Path, attribute: str, sheet: Path, device: str = "auto"
) -> EditorTrial:
    """Edit one photo along one attribute, as an audit does, at both ends and the centre, or at all named ends.

    Raises: PhotoError for a photo that cannot be read, or has no usable face; as ``slopes.audit.synthesise``.
    """
    limits = Limits()
    if is_outside(editor):
        limits = traits_of(load_editor(editor, Setting(device)).at(Wish(attribute))).limits
    own = open_srgb(photo)
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        photos.mkdir()
        (photos / photo.name).write_bytes(photo_bytes(photo))
        options: dict[str, Any] = {"steps": _STEPS, "placebo": False, "device": device}
        run = synthesise(photos, f"{folder}/run", attribute=attribute, editor=editor, **options)
        seconds = time.monotonic() - begun
        edits = read_rows(tables.EDITS, run.folder)
        rows = edits.assign(status="answered", reason="", detail="", moved=0.0, background=0.0)
        if is_outside(editor):
            rows = read_rows(tables.EDITING, run.folder)
        if rows.empty:
            (skipped,) = read_rows(tables.PHOTOS, run.folder).to_dict("records")
            raise PhotoError(photo, explained(skipped["reason"], skipped["detail"]))
        seen = [own, *(open_srgb(run.folder / file) for file in edits["file"])]
    if len(seen) > 1:
        write_changed(sheet, png(np.hstack(list(map(_small, seen)))))
    columns = ["attribute", "value", "status", "reason", "detail", "moved", "background"]
    return EditorTrial(
        editor,
        str(sheet) if len(seen) > 1 else "",
        (own.shape[1], own.shape[0]),
        tuple({str(name): row[name] for name in columns} for row in rows.to_dict("records")),
        seconds,
        limits.price,
    )


def _small(pixels: Any) -> Any:
    image = Image.fromarray(pixels)
    image.thumbnail((_SIDE, _SIDE))
    return np.asarray(image)
