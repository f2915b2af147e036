"""What a model is: the record in ``models/<name>/spec.toml``, which its weights carry as well."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from safetensors import SafetensorError, safe_open

from gslopes.core import (
    ConfigError,
    Facts,
    JsonObject,
    ModelError,
    Names,
    UnknownName,
    UsageError,
    from_dict,
    frozen,
    sha256_of,
)
from gslopes.core.config import load_toml

# --- Where models/, training/ and weights/ are: a folder of the user's, the checkout, or inside the installed package

PACKAGE = Path(__file__).resolve().parents[2]
HOME_VARIABLE = "GSLOPES_HOME"


def homes() -> list[Path]:
    """Every folder that may hold models/, training/ and weights/, first come first served."""
    folders = [PACKAGE / "_assets"]
    checkout = PACKAGE.parent  # of an installed package site-packages, which holds others' folders
    if (checkout / "pyproject.toml").is_file():
        folders.insert(0, checkout)
    if home := os.environ.get(HOME_VARIABLE):
        folders.insert(0, Path(home))
    return folders


def find_asset(folder: str, name: str) -> Path | None:
    """``<home>/<folder>/<name>`` in the first home that has it."""
    assets = (home / folder / name for home in homes())
    return next(filter(Path.exists, assets), None)


def asset_names(folder: str, inside: str = "") -> list[str]:
    """Names in a folder of all homes, sorted; ``inside`` keeps only folders that hold a file of that name."""
    assets = (asset for home in homes() for asset in (home / folder).glob("*"))
    return sorted({asset.name for asset in assets if not inside or (asset / inside).is_file()})


# --- What a model is -----

Blend = Literal["difference", "ratio", "paste"]
Colour = tuple[float, float, float]


@frozen
class ModelSpec:
    """One model.

    name: its folder in models/ and weights/.  network: which architecture of ``faces.networks``, with its options
        in ``config``.
    size: side of its input, pixels.  mean, std: of RGB in [0, 1]; the network sees (rgb - mean) / std.
    labels: what its outputs mean, in order; for an editor the attributes that it knows, the edited one first.
    crop: which part of a photo it sees, see ``faces.zoo.framing``.
    mirrored: for a face parser, whether it looks at the mirror image as well and gives the mean.

    Only for an editor:
    edits: the attribute whose default editor this is.  ends: the words for -1 and +1 of the edited attribute; of
        ``edit-groups`` the names of its ends, two or more.
    region: which part of the face it changes unless the configuration names another.
    blend: how its edits go into the photo by default, see ``faces.compose.paste``.
    tagger: the model that reads smile, glasses and beard of a photo; see ``faces.edit.editors``.
    steps: the edited attribute at seven values from -2 to 2, in the unit of the photos' own values; none
        if values are in that unit; see ``faces.edit.editors.stands_at``.
    own_zero: whether 0 is where each face's own reading is neutral, see ``faces.edit.editors``; ``steps`` come first.
    border: pixels over which its edits come down to nothing at the chip's border; None for the usual 14 of 128. Chins
        reach that far, and would stay pale if a face darkens.
    """

    name: str
    summary: str
    network: Literal[
        "fader",
        "edit-ends",
        "edit-groups",
        "edit-field",
        "tone-scale",
        "feature-pyramid",
        "tagger",
        "bisenet",
    ]
    size: int
    labels: Names
    licence: str
    data: Names
    paper: str
    recipe: str
    config: JsonObject = field(default_factory=dict)
    edits: str = ""
    mean: Colour = (0.5, 0.5, 0.5)
    std: Colour = (0.5, 0.5, 0.5)
    crop: Literal["chip", "tight", "portrait", "celeba-hq"] = "chip"
    ends: Names = ()
    blend: Blend = "difference"
    tagger: str = ""
    mirrored: bool = False
    steps: tuple[float, ...] = ()
    own_zero: bool = False
    border: float | None = None
    region: Literal["face", "skin", "head"] = "face"

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in pairwise(self.steps))
        if self.steps and (len(self.steps) != 7 or not rising):
            raise ConfigError(
                f"steps of {self.name} must be seven rising numbers, not {list(self.steps)}.",
                "Correct it, or leave it out; python -m training steps finds it.",
            )

    @property
    def names(self) -> list[str]:
        """Of ``edit-groups`` its ends as sweeps and pages have them: East Asian of ``east-asian``; else none."""
        if self.network != "edit-groups":
            return []
        return [end.replace("-", " ").title() for end in self.ends]


def read_spec(path: Path) -> ModelSpec:
    """The spec of a ``spec.toml``.  Raises: ConfigError if it is missing or has unknown keys or wrong types."""
    return load_toml(ModelSpec, path)


def find_spec(model: str) -> ModelSpec:
    """The spec of a model in models/.  Raises: UnknownName, naming the nearest."""
    folder = find_asset("models", model)
    if folder is None:
        raise UnknownName("model", model, asset_names("models", "spec.toml"))
    return read_spec(folder / "spec.toml")


# --- What a model is without building it: its spec and the sha256 of its weights, checked. Nothing here needs torch


FILE = "model.safetensors"
DIGEST = "sha256"
DRAWN = "gslopes.photos.drawn"  # as ``data`` of a spec


def identify(name: str) -> tuple[ModelSpec, str]:
    """A model's spec, as its weights carry it, and their sha256, by its name.

    Raises: UnknownName if no home has weights of that name; ModelError if they are damaged.
    """
    return read(folder_of(name))


def folder_of(name: str) -> Path:
    """weights/<name>.  Raises: UnknownName if it is not there."""
    folder = find_asset("weights", name)
    if folder is None:
        raise UnknownName("model", name, asset_names("weights", FILE))
    return folder


def read(folder: Path) -> tuple[ModelSpec, str]:
    """(spec, sha256) of weights/<name>.

    Raises: ModelError if a file is missing or damaged, or the sha256 is not the recorded one.
    """
    path = folder / FILE
    digest = folder / DIGEST
    if not path.is_file() or not digest.is_file():
        raise ModelError(
            f"{folder} lacks {FILE} or {DIGEST}.",
            "Train the model, or restore its folder from a release.",
        )
    actual = sha256_of(path)
    recorded = (digest.read_text(encoding="ascii").split() or [""])[0]
    if actual != recorded:
        raise ModelError(
            f"{path} is damaged: its sha256 is {actual[:12]}…, not {recorded[:12]}….",
            "Restore the file from a release.",
        )
    try:
        with safe_open(path, framework="np") as file:
            content = json.loads((file.metadata() or {})["spec"])
        for gone in ("chroma", "odd_part"):  # of weights that were written before
            content.pop(gone, None)
        return from_dict(ModelSpec, content), actual
    except (SafetensorError, ConfigError, KeyError, ValueError) as error:
        raise ModelError(
            f"{path} is not a gslopes checkpoint: {error}.",
            "Name a folder of weights that gslopes train wrote.",
        ) from error


def editor_for(attribute: str, model: str = "", named: bool = False) -> str:
    """The name of the model that edits an attribute.

    model: its name, or a kind of editor: ``fader`` is ``<attribute>-fader``. Empty for the attribute's default editor,
        the model whose spec has ``edits = "<attribute>"``.
    named: whether one of named ends comes before others; else it comes last.

    Raises: UnknownName, naming the attributes that can be edited; UsageError for an editor that no longer ships.
    """
    if model and find_asset("weights", model) is None:
        of_kind = f"{attribute}-{model}"
        if find_asset("weights", of_kind):
            return of_kind
        if "race-fader" in (model, of_kind):
            raise UsageError(
                "No Fader Network of race ships: the one that did changed the hue of faces, hardly "
                "their lightness, and smeared noses and beards.",
                "Take --editor race-field, the default, without --as-published; or train one: "
                "training/race/training/race-fader.toml says how.",
            )
        if model == "fader":
            raise UsageError(
                f"No Fader Network of {attribute} ships.",
                "Leave out --as-published and --editor fader, or name gender.",
            )
    if model:
        return model
    editors = {}
    for name in asset_names("weights", FILE):
        folder = find_asset("models", name)
        with suppress(ConfigError, ModelError):  # damaged weights edit nothing by default
            spec = read_spec(folder / "spec.toml") if folder else identify(name)[0]
            if spec.edits not in editors or (spec.network == "edit-groups") == named:
                editors[spec.edits] = name
    editors.pop("", None)
    if attribute not in editors:
        raise UnknownName("editable attribute", attribute, editors)
    return editors[attribute]


def regions(models: Facts) -> dict[str, str]:
    """Attribute to the part of the face that its editor changes by default.

    models: as ``run.json`` records them, name to sha256. Editors that are no longer there, or have other weights now,
        are of older versions, which changed the face.
    """
    by_attribute = {}
    for name, record in models.items():
        try:
            spec, digest = identify(name)
        except (UnknownName, ModelError):
            continue
        if spec.ends:
            same = isinstance(record, Mapping) and record.get("sha256") == digest
            by_attribute[spec.labels[0]] = str(spec.region) if same else "face"
    return by_attribute


# -- as a list ---------------------------------------------------------------------------------------------------------


@frozen
class ModelEntry:
    """One line of ``gslopes list models``; sha256 is empty and bytes 0 without weights.  ends: of an editor."""

    name: str
    network: str
    summary: str
    path: str
    licence: str
    sha256: str
    bytes: int
    ends: Names = ()


def list_models() -> list[ModelEntry]:
    """Every model that has a spec, with the recorded sha256 of its weights (not checked here)."""
    entries = []
    for name in asset_names("models", "spec.toml"):
        spec = find_spec(name)
        folder = find_asset("weights", name)
        digest = ""
        size = 0
        if folder and (folder / FILE).is_file():
            digest = (folder / DIGEST).read_text(encoding="ascii").split()[0]
            size = (folder / FILE).stat().st_size
        entries.append(
            ModelEntry(
                name,
                spec.network,
                spec.summary,
                str(folder or ""),
                spec.licence,
                digest,
                size,
                spec.ends,
            )
        )
    return entries
