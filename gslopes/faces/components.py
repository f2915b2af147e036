"""The components of one walk, made ready: every model is loaded and checked before the first photo is touched."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from gslopes.core import Names, UsageError, frozen, serving, traits_of
from gslopes.core.placebo import attribute_of
from gslopes.core.records import Editor, Finder, Masker
from gslopes.faces import zoo
from gslopes.faces.config import FacesConfig
from gslopes.faces.edit.protocol import PictureEditor
from gslopes.faces.zoo.spec import DRAWN, ModelSpec

CHIP = 128  # side of the chip in which the face is masked, if the editor takes photos


@frozen
class Components:
    """The components that a walk uses; tests bring others.

    finder, masker: see core.records.  editors: attribute to its editor.
    models: for ``run.json``, name to sha256 and licence.
    named: by a configuration, so that another process can make the same.
    """

    finder: Finder
    masker: Masker
    editors: Mapping[str, Editor]
    models: dict[str, dict[str, str]]
    named: bool = False


@frozen
class Place:
    """Where an editor that others made may change a photo, in place of a ``records.Editor``.  size: of the chip."""

    size: int
    border: float | None = None
    region: str = "face"


def default_components(
    config: FacesConfig,
    device: str,
    outside: PictureEditor | None = None,
    named: Mapping[str, Names] | None = None,
) -> Components:
    """The components that a configuration names.

    outside: the editor, if others made it.  named: sweep of named ends to their names, in the order of its values.

    Raises: UnknownName, ModelError, DataMissing or UsageError if one of them is not there.
    """
    from gslopes.faces.compose.masks import KnownMasker
    from gslopes.faces.compose.skin import ParserMasker
    from gslopes.faces.edit.editors import asked, editor_of
    from gslopes.faces.find import KnownFinder, MtcnnFinder
    from gslopes.faces.zoo.checkpoint import load_bisenet

    models = model_records(config, outside)
    compose = config.compose
    editors = {}
    for attribute in config.edit.attributes:
        if outside is not None:
            editors[attribute] = cast("Any", Place(outside.size or CHIP))
            continue
        name, spec, _ = _edited_by(config, attribute)
        reader = _reader_of(spec)
        calibrated = config.edit.calibrated
        own = {
            sweep: ends for sweep, ends in (named or {}).items() if attribute_of(sweep) == attribute
        }
        for sweep, ends in (own or {attribute: ()}).items():
            about = reader, calibrated, ends
            editors[sweep] = editor_of(name, device, *about)
            if serving.line:
                editors[sweep].sweep_ends = partial(asked, (name, *about))
    size, *others = {editor.size for editor in editors.values()}
    if others:
        raise UsageError(
            f"The editors of {', '.join(editors)} work at different sizes of the face.",
            "Run them one after the other, each with another --out.",
        )
    finder: Finder
    if config.find.landmarks:
        finder = KnownFinder(config.find.landmarks, config.photos)
    else:
        finder = MtcnnFinder(config.find.min_face)
    masker: Masker
    if compose.masks is not None:
        masker = KnownMasker(compose.masks, config.photos, size)
    else:
        if compose.parser:
            parser = load_bisenet(compose.parser, device)
        else:
            parser = zoo.load("face-parser", device)
        region = compose.region
        if region == "auto":
            skin = all(editor.region == "skin" for editor in editors.values())
            region = "skin" if skin else "face"
        masker = ParserMasker(parser, region, size, device, compose.parser)
    return Components(finder, masker, editors, models, named=True)


def model_records(
    config: FacesConfig, outside: PictureEditor | None = None
) -> dict[str, dict[str, str]]:
    """The record in ``run.json`` of the models that a configuration names.  outside: as of ``default_components``.

    It builds none of them and needs no torch, but for a parser of the user's, which has no spec to go by.

    Raises: UnknownName, ModelError; UsageError if a model edits something else, or a file is missing; ConfigError for
    a blend that it cannot do.
    """
    if outside is None:
        config.compose.blend_of_ours()
    models = {}
    for attribute in config.edit.attributes if outside is None else ():
        name, spec, digest = _edited_by(config, attribute)
        models[name] = (spec, digest)
        for reader in filter(None, (_reader_of(spec), spec.tagger)):
            models[reader] = zoo.identify(reader)
    if config.compose.parser is not None:
        from gslopes.faces.zoo.checkpoint import load_bisenet

        loaded = load_bisenet(config.compose.parser)  # a file of another kind must not begin a run
        models["parser"] = (loaded.spec, loaded.sha256)
    elif config.compose.masks is None:
        models["parser"] = zoo.identify("face-parser")
    records = {
        name: {"sha256": digest, "licence": spec.licence} for name, (spec, digest) in models.items()
    }
    if outside is not None:
        known = not traits_of(cast("Any", outside)).unknown
        records[outside.name] = {"version": outside.version * known}
    return records


def _edited_by(config: FacesConfig, attribute: str) -> tuple[str, ModelSpec, str]:
    """(name, spec, sha256) of the model that edits an attribute."""
    name = zoo.editor_for(attribute, config.edit.model, bool(config.edit.ends))
    spec, digest = zoo.identify(name)
    if spec.network == "edit-field":
        taught = name.replace("-teacher", "-field")
        raise UsageError(
            f"The model {name} is a teacher: only training uses it.", f"Name the editor, {taught}."
        )
    compose = config.compose
    if spec.network == "tone-scale" and (
        compose.masks
        or compose.region not in ("auto", "head")
        or compose.blend not in ("auto", "ratio")
    ):
        raise UsageError(
            "The tone of skin is changed from brow to chest, as a ratio.",
            "Leave out --region, and the settings blend and masks.",
        )
    if not spec.labels or spec.labels[0] != attribute:
        edits = spec.labels[0] if spec.ends and spec.labels else "nothing"
        raise UsageError(
            f"The model {name} edits {edits}, not {attribute}.",
            "gslopes list models lists the models.",
        )
    return name, spec, digest


def _reader_of(spec: ModelSpec) -> str | None:
    """None for a scale of tones; and for the best fit: of a Fader Network of drawn faces, or of one attribute.

    Readers do not know drawn faces.
    """
    if spec.network == "tone-scale":
        return None
    if spec.network == "fader" and (DRAWN in spec.data or len(spec.labels) == 1):
        return None
    return "labeller"
