"""The editor for a model of the zoo, whichever network it has."""

from __future__ import annotations

from gslopes.core.errors import ModelError
from gslopes.faces.edit.ends import EndsEditor
from gslopes.faces.edit.sweep import FaderEditor
from gslopes.faces.zoo import LoadedModel, load
from gslopes.faces.zoo.spec import Blend

NETWORKS = ("fader", "edit-ends")  # those that edit

FaceEditor = FaderEditor | EndsEditor


def editor_of(
    model: str | LoadedModel, device: str = "cpu", reader: str | None = "labeller", blend: Blend | None = None
) -> FaceEditor:
    """The editor that a model is.

    model: its name, such as ``gender-field``, or the model itself, loaded on the device.  device: where it runs.
    reader: the model that reads a face's own values; None, for editors of drawn faces, takes them where a Fader
        Network's reconstruction fits best.  blend: how the edit will go into the photo; a Fader Network's pictures
        depend on it, see ``faces.edit.sweep``.

    Raises: UnknownName; ModelError for a model that does not edit, or an edit field without a reader.
    """
    loaded = load(model, device) if isinstance(model, str) else model
    if loaded.spec.network != "edit-ends":
        return FaderEditor(loaded, device, reader, blend)
    if reader is None:
        raise ModelError(
            f"{loaded.spec.name} needs a reader of a face's own value.", "Name one; the walk takes the labeller."
        )
    return EndsEditor(loaded, device, reader)
