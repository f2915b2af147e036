"""What travels between rooms: arrays by what they hold, and records of them and of plain values, frozen dataclasses.

Frames. *Photo frame*: pixels of the photo after EXIF orientation, x to the right, y down, the centre of the top left
pixel at (0, 0). *Chip frame*: the same, in the aligned square chip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gslopes.core import RequestUsage, frozen, frozen_identity

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Objects = NDArray[np.object_]
ByteArray = NDArray[np.uint8]
FloatArray = NDArray[np.float32]
Int8Array = NDArray[np.int8]
Int32Array = NDArray[np.int32]
Numbers = NDArray[np.floating]  # of any precision
AnyIntegers = NDArray[np.integer]
AnyArray = NDArray[Any]
Interval = tuple[float, float]  # its ends, low and high
T = TypeVar("T")


def centre_of(values: Array) -> int:
    """A sweep's centre: the value nearest 0; of several as near the middle one, the upper of two."""
    distance = np.abs(values)
    near = np.flatnonzero(distance <= distance.min() + 1e-6)
    return int(near[len(near) // 2])


def doubles(numbers: ArrayLike) -> Array:
    """Numbers in 64 bits."""
    return np.asarray(numbers, np.float64)


def floats(numbers: ArrayLike) -> FloatArray:
    """Numbers in 32 bits."""
    return np.asarray(numbers, np.float32)


def as_levels(numbers: ArrayLike) -> NDArray[np.uint8]:
    """Numbers rounded to whole levels, cut to 0 to 255."""
    return np.clip(np.rint(numbers), 0, 255).astype(np.uint8)


def quotients(top: ArrayLike, bottom: Array, otherwise: ArrayLike = np.nan) -> Array:
    """Top / bottom where the bottom is above 0.  otherwise: of the others.

    >>> quotients([1, 1], np.array([4.0, 0.0]), 9).tolist()
    [0.25, 9.0]
    """
    top = doubles(top)
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    return np.divide(top, bottom, out=np.full(shape, otherwise, float), where=bottom > 0)


def sides_of(boxes: Any) -> Any:
    """Width and height, (..., 2), of boxes (..., 4): an array or a tensor."""
    return boxes[..., 2:] - boxes[..., :2]


def slices(count: int, step: int) -> Iterator[slice]:
    """What cuts ``count`` rows into parts of ``step``.

    >>> [list(range(5))[part] for part in slices(5, 2)]
    [[0, 1], [2, 3], [4]]
    """
    return (slice(start, start + step) for start in range(0, count, step))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive items, ``size`` at a time.

    >>> list(batches("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (items[rows] for rows in slices(len(items), size))


# Label with the share of replies that give no answer, of a language model's task to which no picture shows one.
ABSTAINS = "(abstains)"
ABSTENTIONS = (
    "counts=abstentions"  # after the classifier's name: it is the one label of these answers
)
Files = list[bytes]  # encoded pictures
Raws = list[object]  # what came for each picture, as JSON can hold it, or an error
Function = Callable[..., Any]  # of the user's own


@frozen_identity
class Photo:
    """One decoded photo.

    id: sha256 of the file's bytes, 64 hex digits.  path: of its file.
    pixels: (H, W, 3) uint8, RGB order, EXIF orientation applied; a gray photo has three equal channels.
    gray: whether the file held a grayscale picture (its counterfactuals are then gray as well).
    icc: the embedded ICC profile of ``pixels``' colour space, or None.
    """

    id: str
    path: Path
    pixels: ByteArray
    gray: bool = False
    icc: bytes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Height and width."""
        return self.pixels.shape[:2]


# Columns of a face in a table: its box, and its landmarks as the viewer sees them.
BOX = ("x0", "y0", "x1", "y1")
POINTS = tuple(
    f"{name}_{axis}"
    for name in ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
    for axis in "xy"
)


@frozen_identity
class Detections:
    """All faces found in one photo, in the photo frame.

    boxes: (n, 4) float32, x0 y0 x1 y1.  scores: (n,) float32 in [0, 1], the detector's own confidence.
    points: (n, 5, 2) float32, x y of left eye, right eye, nose tip, left and right mouth corner, as the viewer sees
        them.
    upright: (n,) bool, whether a face is less than about 45 degrees from upright; None if not known.
    problem: why the faces cannot be used, as the end of a sentence; empty if they can.
    """

    boxes: FloatArray
    points: FloatArray
    scores: FloatArray
    upright: Flags | None = None
    problem: str = ""


@frozen_identity
class Face:
    """The one face of a photo that is edited, in the photo frame.

    box: (4,) float32, x0 y0 x1 y1.  points: (5, 2) float32.  score: the detector's confidence in [0, 1].
    faces: how many faces the photo has.  matrix: (2, 3) float64, the similarity that maps photo frame to chip frame.
    """

    box: FloatArray
    points: FloatArray
    score: float
    faces: int
    matrix: Array


@frozen
class Crop:
    """What a cropper keeps of a picture: int pixels; point: the focal point x, y if it has one."""

    left: int
    top: int
    width: int
    height: int
    point: tuple[int, int] | None = None


@frozen_identity
class SaliencyMap:
    """Where a model expects people to look in a picture.

    scores: (rows, columns) float32, any range; the largest is the most salient.
    x: (columns,) float32, y: (rows,) float32, the cells' centres, pixels of the picture, increasing.
    """

    scores: FloatArray
    x: FloatArray
    y: FloatArray


@frozen
class Answer:
    """A model's answer about one picture: labels, a box, a map or another picture.

    status: ``answered``, ``refused`` (it will not judge this picture) or ``failed``.
    labels: (label, score) pairs, score in [0, 1]; only the labels that were returned; of a refusal ``ABSTAINS`` alone.
    box: what a cropper keeps.  map: of a saliency model.  picture: the file that an editor gives.
    reason: why it was refused or failed, empty when answered.
    version: of the model that answered, as the service names it with each answer; empty if it does not.
    orders: (label, its score if it was asked earlier, and later), if options were asked in an order and its reverse.
    """

    status: str
    labels: tuple[tuple[str, float], ...] = ()
    reason: str = ""
    version: str = ""
    box: Crop | None = None
    map: SaliencyMap | None = None
    picture: bytes = b""
    orders: tuple[tuple[str, float, float], ...] = ()


class Finder(Protocol):
    """Finds every face of a batch of photos; the result for a photo does not depend on its batch."""

    def __call__(self, photos: list[Photo]) -> list[Detections]: ...


class Masker(Protocol):
    """Soft masks of the editable region, (B, size, size) float32 in [0, 1], chip frame, of aligned chips.

    chips: (B, size, size, 3) uint8 RGB, each one aligned from the photo of the same index with that face's matrix.
    border: pixels over which masks come down to zero at the chip's border; None for the usual 14 of 128.
    """

    def __call__(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> FloatArray: ...


@frozen_identity
class Motion:
    """How the parts of faces move with an attribute: lips, eyes and brows to their places at each value.

    field: (S, S, 2) float32, x y in pixels of the chip for a unit: at a distance of t units pixel p of the chip shows
        what lay at p - t field(p); or (B, S, S, 2) of B faces. With named ends each of the K values has a field of its
        own: (K, S, S, 2), or (B, K, S, S, 2).
    distances: (K,) or (B, K) float32, units from the photo's own value to each wanted one.
    """

    field: FloatArray
    distances: FloatArray

    def of(self, row: int) -> Motion:
        """That of one face of a batch."""
        return Motion(self.field[row], self.distances[row])

    @property
    def fields(self) -> FloatArray:
        """Of each value, (K, S, S, 2), of one face."""
        return np.broadcast_to(self.field, (len(self.distances), *self.field.shape[-3:]))


@frozen_identity
class Tone:
    """How far the colour of skin goes towards the faces' at an end of the attribute, see ``faces.compose.tone``.

    shares: (K,) or (B, K) float32 of the way from one end to the other, below 0 towards the first.
    ends: of skin among faces at the first end, and at the second: medians of L*, a*, b*, half the range of L* between
        the 16th and the 84th percentile, and by how much a* and b* rise with L*. With named ends of each value, (K, 2,
        6) or (B, K, 2, 6). Or L*, a*, b* at ten steps of a scale: then shares are wanted steps.
    """

    shares: FloatArray
    ends: Any

    @property
    def scale(self) -> bool:
        """Whether there are steps of a scale, and nothing but the tone is edited."""
        return np.ndim(self.ends) == 2 and len(self.ends) > 2

    def of(self, row: int) -> Tone:
        """That of one face of a batch."""
        named = isinstance(self.ends, np.ndarray)
        return Tone(self.shares[row], self.ends[row] if named else self.ends)

    @property
    def steps(self) -> list[tuple[float, Any]]:
        """Share, and both ends or the scale, of each value, of one face."""
        shares = self.shares.tolist()
        ends = self.ends if np.ndim(self.ends) == 3 else [self.ends] * len(shares)
        return list(zip(shares, ends, strict=True))


@frozen_identity
class Ends:
    """A face at K values as shares of the way to its ends: the chip times exp(shares[k] * ratios[towards[k]]).

    ratios: (2, S, S, 3) float32, logarithms of ratios, see ``faces.compose.paste``; or of as many ends as have names.
    towards: (K,), which of the ends, from 0.  shares: (K,) float32, not below 0.
    """

    ratios: FloatArray
    towards: Integers
    shares: FloatArray


@frozen_identity
class EditedChip:
    """One chip at K values.

    edited: (K, S, S, 3) float32 RGB in levels, or the ``Ends`` that its pictures are on the way to.
    neutral: (S, S, 3) float32 RGB in levels, the chip at the photo's own value.
    motion, tone: as of ``EditedChips``.
    """

    edited: Any
    neutral: FloatArray
    motion: Motion | None = None
    tone: Tone | None = None


@frozen_identity
class EditedChips(EditedChip):
    """B edited chips at K values.

    edited: (B, K, S, S, 3) float32 RGB in levels, 0 to 255 or, with the odd part, a little beyond; or B ``Ends``.
    neutral: (B, S, S, 3) float32, the chips at the photos' own values, which the ``difference`` blend subtracts.
    motion, tone: how parts of the faces move, and what becomes of their skin's colour, which the pictures do not show;
        None for none.
    """

    def of(self, row: int) -> EditedChip:
        """One face of the batch."""
        motion = None if self.motion is None else self.motion.of(row)
        tone = None if self.tone is None else self.tone.of(row)
        return EditedChip(self.edited[row], self.neutral[row], motion, tone)


class Editor(Protocol):
    """Edits aligned chips.

    size: side of the chips in pixels.  sha256: of the weights.
    blend: how its edits go into a photo unless the configuration differs, see ``faces.compose.paste``.
    border: of the masks that it wants, see ``Masker``.  region: what it may change by default.
    sweep: chips (B, size, size, 3) uint8 RGB and values (K,) to these chips at every value.
    """

    size: int
    sha256: str
    blend: Literal["difference", "ratio", "paste"]
    border: float | None
    region: Literal["face", "skin", "head"]

    def sweep(self, chips: ByteArray, values: FloatArray) -> EditedChips: ...


class Classifier(Protocol):
    """A classifier under audit.  ``ask.client`` is the only caller.

    name: as given on the command line, with its parameters, such as ``celeba-tagger:threshold=0.3``.
    version: what identifies the model behind the name (a sha256, a service's model version), empty if unknown.
    batch: the largest number of pictures in one call of ``ask``.
    ask: encoded pictures (the files' bytes: JPEG or PNG) to one raw answer each, JSON-able; an entry may also be a
        ClassifierError (Refused, Throttled, Unavailable) about that one picture.
    parse: one raw answer to an Answer.

    Optional: ``traits``, a ``core.traits.Traits``: all else that it declares about itself.
    """

    name: str
    version: str
    batch: int

    def ask(self, pictures: list[bytes]) -> list[object]: ...

    def parse(self, raw: object) -> Answer: ...


class Able(Classifier, Protocol):
    """A classifier with all that its traits may promise.

    notes: if it ``warns``, sentences that a user sees once.
    """

    notes: list[str]

    def prepare(self) -> None:
        """If it ``prepares``: called once before the first ``ask``; raises what would meet every picture."""

    def about(self, photo: str, pictures: Sequence[bytes]) -> None:
        """If it ``groups``: called with a photo and its encoded pictures before they are asked."""

    def resume(self, picture: bytes, begun: object, keep: Callable[[object], None]) -> None:
        """If it ``resumes``: called before a picture is asked.

        begun: what an earlier process kept of the picture, None if nothing.
        keep: keeps what the requests about it have brought so far.
        """

    def wait(self, halt: Event) -> None:
        """If it ``posts``: called when all pictures were asked about, and those are left whose reply has not come.

        ``ask`` raises ``ask.retry.Stopped`` for these.  halt: set to wait no longer.
        """

    def usage(self, raw: Any) -> RequestUsage:
        """If it ``counts``: what the last request behind a raw answer took."""
        raise NotImplementedError

    def sent(self, picture: bytes) -> tuple[str, ByteArray]:
        """If it ``shows``: what its model sees of an encoded picture, in words, and as (H, W, 3) uint8 RGB."""
        raise NotImplementedError
