"""The components of one walk, made ready: every model is loaded and checked before the first photo is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gslopes.core.errors import UsageError
from gslopes.core.records import Editor, Finder, Masker
from gslopes.faces.config import FacesConfig

if TYPE_CHECKING:
    from gslopes.faces.zoo import ModelSpec


@dataclass(frozen=True, slots=True)
class Components:
    """The components that a walk uses; tests bring their own.

    finder, masker: see core.records.  editors: attribute to its editor.
    models: for ``run.json``, name to sha256 and licence.
    named: by a configuration, so that another process can make the same.
    """

    finder: Finder
    masker: Masker
    editors: Mapping[str, Editor]
    models: dict[str, dict[str, str]]
    named: bool = False


def default_components(config: FacesConfig, device: str) -> Components:
    """The components that a configuration names.

    Raises: UnknownName, ModelError, DataMissing or UsageError if one of them is not there.
    """
    from gslopes.faces import zoo
    from gslopes.faces.compose.masks import KnownMasker
    from gslopes.faces.compose.skin import ParserMasker
    from gslopes.faces.edit.editors import editor_of
    from gslopes.faces.find import KnownFinder, MtcnnFinder
    from gslopes.faces.zoo.checkpoint import load_bisenet

    models = model_records(config)
    find = config.find
    compose = config.compose
    editors: dict[str, Editor] = {}
    for attribute in config.edit.attributes:
        name, spec, _ = _edited_by(config, attribute)
        blend = None if compose.blend == "auto" else compose.blend
        editors[attribute] = editor_of(
            name, device, _reader_of(spec), blend, config.edit.calibrated
        )
    sizes = {editor.size for editor in editors.values()}
    if len(sizes) > 1:
        hint = "Run them one after the other, each with its own --out."
        raise UsageError(
            f"The editors of {', '.join(editors)} work at different sizes of the face.", hint
        )
    # on the CPU: every machine finds the same faces, and a GPU edits meanwhile
    finder: Finder = (
        KnownFinder(find.landmarks, config.photos) if find.landmarks else MtcnnFinder(find.min_face)
    )
    masker: Masker
    if compose.masks is not None:
        masker = KnownMasker(compose.masks, config.photos, sizes.pop())
    else:
        region = "face" if compose.region == "auto" else compose.region
        parser = (
            load_bisenet(compose.parser, device)
            if compose.parser
            else zoo.load("face-parser", device)
        )
        masker = ParserMasker(parser, region, sizes.pop(), device)
    return Components(finder, masker, editors, models, named=True)


def model_records(config: FacesConfig) -> dict[str, dict[str, str]]:
    """What ``run.json`` says about the models that a configuration names.

    It builds none of them and needs no torch, but for a parser of the user's, which has no spec to go by.

    Raises: UnknownName, ModelError; UsageError if a model edits something else, or a file is missing.
    """
    from gslopes.faces import zoo

    records: dict[str, dict[str, str]] = {}
    for attribute in config.edit.attributes:
        name, spec, digest = _edited_by(config, attribute)
        records[name] = {"sha256": digest, "licence": spec.licence}
        for reader in filter(None, (_reader_of(spec), spec.tagger)):
            read, digest = zoo.identify(reader)
            records[reader] = {"sha256": digest, "licence": read.licence}
    if config.compose.parser is not None:
        from gslopes.faces.zoo.checkpoint import load_bisenet

        own = load_bisenet(config.compose.parser)  # a file of another kind must not begin a run
        records["parser"] = {"sha256": own.sha256, "licence": own.spec.licence}
    elif config.compose.masks is None:
        parser, digest = zoo.identify("face-parser")
        records["parser"] = {"sha256": digest, "licence": parser.licence}
    return records


def _edited_by(config: FacesConfig, attribute: str) -> tuple[str, ModelSpec, str]:
    """(name, spec, sha256) of the model that edits an attribute."""
    from gslopes.faces import zoo

    name = zoo.editor_for(attribute, config.edit.model)
    spec, digest = zoo.identify(name)
    if spec.network == "edit-field":
        taught = name.replace("-teacher", "-field")
        raise UsageError(
            f"The model {name} is a teacher: training alone uses it.", f"Name the editor, {taught}."
        )
    if not spec.labels or spec.labels[0] != attribute:
        edits = spec.labels[0] if spec.ends and spec.labels else "nothing"
        raise UsageError(
            f"The model {name} edits {edits}, not {attribute}.",
            "gslopes list models lists the models.",
        )
    return name, spec, digest


def _reader_of(spec: ModelSpec) -> str | None:
    """None, for the best fit, for a Fader Network of drawn faces, which readers do not know, or of one attribute."""
    from gslopes.faces.zoo.spec import DRAWN

    by_fit = DRAWN in spec.data or len(spec.labels) == 1
    if by_fit and spec.network == "fader":
        return None
    return "labeller"
