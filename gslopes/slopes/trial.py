"""Before any audit: an editor and one photo, so that a mistake costs no more than a few pictures."""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from gslopes.ask.editors import Setting, is_outside, load_editor
from gslopes.ask.pictures import png
from gslopes.core import JsonObject, PhotoError, explained, frozen, traits_of
from gslopes.core.geometry import TONE
from gslopes.core.records import doubles
from gslopes.core.runfolder import write_changed
from gslopes.core.tables import EDITING, EDITS, PHOTOS, read_rows
from gslopes.faces.edit.protocol import Wish
from gslopes.faces.gate.sweep_measurer import own_step
from gslopes.faces.zoo import editor_for
from gslopes.frame.commands import rows as as_json
from gslopes.photos.folder import open_srgb
from gslopes.slopes.audit import synthesise

_STEPS = 3  # of a sweep: its ends and its centre
_SHOWN = ["attribute", "value", "status", "reason", "detail", "moved", "background"]
_SIDE = 512  # pixels, of each picture on the sheet at most


@frozen
class EditorTrial:
    """editor: its name.  sheet: the file with the photo and, beside it, its pictures by value; empty without any.

    size: of the photo, pixels.  pictures: sweep, value, status and reason of each; ``moved`` and ``background`` as in
        core.tables.EDITING, of an editor of others.
    own: the photo's own step, along the tone of skin.
    seconds: in all.  price: USD per 1,000 pictures, None if it depends on the plan.
    """

    editor: str
    sheet: str
    size: tuple[int, int]
    pictures: tuple[JsonObject, ...]
    seconds: float
    price: float | None
    own: float | None = None

    @property
    def failed(self) -> int:
        """Of the pictures, that did not come or do not fit; refused ones as well."""
        return sum(picture["status"] != "answered" for picture in self.pictures)


def try_editor(
    editor: str,
    photo: Path,
    attribute: str,
    sheet: Path,
    device: str,
    ends: Sequence[str],
    yes: bool,
) -> EditorTrial:
    """Edit one photo along one attribute, as an audit does, at both ends and the centre, or at named ends.

    editor: empty for the one of named ends that ships.  ends: which of those, all by default.
    yes: the price is agreed to, whatever it is.

    Raises: PhotoError for a photo that cannot be read, or has no usable face; as ``slopes.audit.synthesise``.
    """
    own = open_srgb(photo)
    editor = editor or editor_for(attribute, named=True)
    price: float | None = 0.0
    if is_outside(editor):
        price = traits_of(load_editor(editor, Setting(device)).at(Wish(attribute))).limits.price
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        run = synthesise(
            photo,
            f"{folder}/run",
            attribute=attribute,
            editor=editor,
            ends=ends,
            device=device,
            steps=_STEPS,
            placebo=False,
            format="png",
            yes=yes,
        ).folder
        seconds = time.monotonic() - begun
        edits = read_rows(EDITS, run)
        rows = read_rows(EDITING, run)
        if rows.empty:  # one of the zoo, which moves nothing
            rows = edits.assign(status="answered", reason="", detail="", moved=0.0, background=0.0)
        if rows.empty:
            (skipped,) = read_rows(PHOTOS, run).to_dict("records")
            raise PhotoError(photo, explained(skipped["reason"], skipped["detail"]))
        step = None
        if attribute == TONE:
            (points,) = read_rows(PHOTOS, run)["points"]
            step = own_step(own, doubles(points).reshape(-1, 2))
        seen = [own, *(open_srgb(run / file) for file in edits["file"])]
    written = ""
    if len(seen) > 1:
        image = Image.fromarray(np.hstack(seen))
        image.thumbnail((_SIDE * len(seen), _SIDE))
        write_changed(sheet, png(np.asarray(image)))
        written = str(sheet)
    size = own.shape[1], own.shape[0]
    pictures = tuple(as_json(rows[_SHOWN]))
    return EditorTrial(editor, written, size, pictures, seconds, price, step)
