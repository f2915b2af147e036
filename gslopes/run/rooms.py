"""The rooms of one walk, made ready: every model is loaded and checked before the first photo is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gslopes.core.errors import UsageError
from gslopes.core.records import Editor, Finder, Masker
from gslopes.run.plan import RunConfig


@dataclass(frozen=True, slots=True)
class Rooms:
    """What the walk goes through; tests and the demo bring their own.

    finder, masker: see core.records.  editors: attribute to its editor.
    models: for ``run.json``, name to sha256 and licence; made from the editors if empty.
    named: by a configuration, so that another process can make the same.
    """

    finder: Finder
    masker: Masker
    editors: Mapping[str, Editor]
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    named: bool = False

    def records(self) -> dict[str, dict[str, str]]:
        """What ``run.json`` says about the models."""
        if self.models:
            return self.models
        return {name: {"sha256": editor.sha256, "licence": ""} for name, editor in self.editors.items()}


def default_rooms(config: RunConfig, device: str) -> Rooms:
    """The rooms that a configuration names.

    Raises: UnknownName, ModelError, DataMissing or UsageError if one of them is not there.
    """
    models: dict[str, dict[str, str]] = {}
    editors = {name: _editor(config, name, device, models) for name in config.edit.attributes}
    sizes = {editor.size for editor in editors.values()}
    if len(sizes) > 1:
        hint = "Run them one after the other, each with its own --out."
        raise UsageError(f"The editors of {', '.join(editors)} do not work at one size.", hint)
    masker = _masker(config, sizes.pop(), device, models)
    return Rooms(_finder(config, device), masker, editors, models, named=True)


def drawn_rooms(folder: Path, photos: Path, model: str, device: str) -> Rooms:
    """The rooms for rendered faces: known landmarks, known masks, an editor of the gender cue.

    folder: as ``datasets.rendered.write_folder`` made it.  photos: the folder of photos in it.
    model: the editor's name.

    Raises: UnknownName, ModelError, DataMissing.
    """
    from gslopes.compose.known import KnownMasker
    from gslopes.core.runtime import pick_device
    from gslopes.edit.sweep import FaderEditor
    from gslopes.find.known import KnownFinder

    editor = FaderEditor(model, pick_device(device), reader=None)
    finder = KnownFinder(folder / "faces.csv", photos)
    masker = KnownMasker(folder / "masks", photos, editor.size)
    records = {model: {"sha256": editor.sha256, "licence": editor.spec.licence}}
    return Rooms(finder, masker, {"gender": editor}, records)


def _editor(config: RunConfig, attribute: str, device: str, models: dict[str, dict[str, str]]) -> Editor:
    from gslopes import zoo
    from gslopes.edit.sweep import FaderEditor

    name = config.edit.model or zoo.editor_for(attribute)
    loaded = zoo.load(name)
    if not loaded.spec.labels or loaded.spec.labels[0] != attribute:
        edits = loaded.spec.labels[0] if loaded.spec.network == "fader" and loaded.spec.labels else "nothing"
        raise UsageError(f"The model {name} edits {edits}, not {attribute}.", "gslopes models lists the models.")
    models[name] = {"sha256": loaded.sha256, "licence": loaded.spec.licence}
    # an editor of a single attribute has nothing to hold fixed, hence nothing to read from the photo
    reader = "reader" if len(loaded.spec.labels) > 1 else None
    if reader:
        read = zoo.load(reader)
        models[reader] = {"sha256": read.sha256, "licence": read.spec.licence}
    return FaderEditor(name, device, reader)


def _finder(config: RunConfig, device: str) -> Finder:
    if config.find.landmarks is not None:
        from gslopes.find.known import KnownFinder

        return KnownFinder(config.find.landmarks, config.photos)
    from gslopes.find.detect import MtcnnFinder

    return MtcnnFinder(config.find.min_face, device)


def _masker(config: RunConfig, size: int, device: str, models: dict[str, dict[str, str]]) -> Masker:
    if config.compose.masks is not None:
        from gslopes.compose.known import KnownMasker

        return KnownMasker(config.compose.masks, config.photos, size)
    from gslopes import zoo
    from gslopes.compose.skin import ParserMasker

    own = config.compose.skin_weights
    parser = zoo.load("parser", device) if own is None else zoo.load_parser(own, device)
    models["parser"] = {"sha256": parser.sha256, "licence": parser.spec.licence}
    if own is not None:
        models["parser"]["file"] = parser.spec.name
    return ParserMasker(parser, config.compose.region, size, device)
