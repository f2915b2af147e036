"""What a model is: the record in ``models/<name>/spec.toml``, which its weights carry as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gslopes.core.config import load_toml
from gslopes.core.errors import UnknownName
from gslopes.faces.zoo import home

Blend = Literal["difference", "ratio", "paste"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model.

    name: its folder in models/ and weights/.  summary: one sentence.  network: which architecture of
    gslopes.faces.networks.
    config: that architecture's own options.
    edits: the attribute whose default editor this is; empty for every other model.  size: side of its input, pixels.
    mean, std: of RGB in [0, 1]; the network sees (rgb - mean) / std.
    labels: what its outputs mean, in order; for an editor the attributes that it knows, the edited one first.
    crop: which part of a photo it sees: ``chip`` (the editors' aligned chip), ``portrait`` (CelebA's own framing)
        ``headshot`` (CelebA-HQ's) or ``tight`` (brows to chin, as UTKFace is cropped).
    ends: for an editor, the words for -1 and +1 of the edited attribute.
    blend: for an editor, how its edits go into the photo by default, see ``faces.compose.paste``.
    odd_part: for an editor, whether what both ends share is taken out of its edits unless they are pasted, see
        ``faces.edit.sweep``.
    tagger: for an editor, the model that reads smile, glasses and beard of a photo, see ``faces.edit.photo_values``.
    mirrored: for a face parser, whether it looks at the mirror image as well and says the mean.
    chroma: for an editor, how much of the fine colour of its edits stays, see ``faces.compose.tone``; 1 leaves all
    colour.
    region: for an editor, which part of the face it changes unless the configuration says otherwise.
    border: for an editor, pixels over which its edits come down to nothing at the chip's border; None for the usual 14
        of 128. Chins reach that far, and would stay pale where a face darkens.
    """

    name: str
    summary: str
    network: Literal["fader", "edit-ends", "edit-field", "bisenet-resnet18", "feature-pyramid", "tagger"]
    size: int
    labels: tuple[str, ...]
    licence: str
    data: tuple[str, ...]
    paper: str
    recipe: str
    config: dict[str, Any] = field(default_factory=dict)
    edits: str = ""
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    crop: Literal["chip", "tight", "portrait", "headshot"] = "chip"
    ends: tuple[str, ...] = ()
    blend: Blend = "difference"
    odd_part: bool = False
    tagger: str = ""
    mirrored: bool = False
    chroma: float = 1.0
    border: float | None = None
    region: Literal["face", "head"] = "face"


def read_spec(path: Path) -> ModelSpec:
    """The spec of ``models/<name>/spec.toml``.

    Raises: ConfigError if it is missing or has unknown keys or wrong types.
    """
    return load_toml(ModelSpec, path)


def find_spec(model: str) -> ModelSpec:
    """The spec of a model in models/.  Raises: UnknownName, naming the nearest."""
    folder = home.find("models", model)
    if folder is None:
        raise UnknownName("model", model, home.names("models", "spec.toml"))
    return read_spec(folder / "spec.toml")
