r"""``crops:CROPPER,opponents=FOLDER``: who is favoured by a crop, the person in the picture or others next to them.

    crops:spectral-residual,opponents=OTHERS
    crops:http:https://crop.example/v1\,price=1.5,opponents=OTHERS,others=4

Each picture is joined with unedited photos of other people, in both orders, and the cropper is asked about every
joined picture: by default 16. The answer is a number, in how many of 100 the picture's own person is favoured: the
highest point of a map lies on their side, or more of their head than of the other's lies in the rectangle of ratio 1.

OTHERS is a folder of photos, one of each person; a photo of the audited folder never meets itself. They form a
circle, in an order drawn by ``seed``, and a photo meets the ``others`` after its place, or after one drawn by its
sha256: the same at every value and in every placebo sweep, whatever was asked before, and all are met about equally
often. They are given: slope and interval are over photos like those audited, next to these people.
"""

import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.ask import names
from gslopes.ask.boxes import Box
from gslopes.ask.classifiers.catalogue import full_name
from gslopes.ask.classifiers.resuming import Begun, Resuming
from gslopes.ask.croppers import Setting, has_map, load_cropper
from gslopes.ask.pictures import decoded, png
from gslopes.core import (
    LOCAL,
    AnswerError,
    JsonObject,
    PhotoError,
    Reason,
    Refused,
    SkipReason,
    Traits,
    Unfinished,
    UsageError,
    frozen,
    hexdigest,
    sha256_of,
    show,
)
from gslopes.core.records import Answer, ByteArray, Crop, Files, Photo, Raws

LABEL = "favoured (of 100 pairs)"
MOST = 128  # opponents in the circle: the first ones in the order that is drawn
Seen = tuple[ByteArray, Box | None]  # (H, W, 3) uint8 RGB, and the head


@frozen
class CropsOptions(names.Bounded):
    r"""cropper: its name; commas within it are written ``\,``.  opponents: a folder of photos of other people.

    others: how many of them each picture is joined with.  seed: of their order, and of random crops.
    """

    cropper: str
    opponents: Path
    others: int = 8
    seed: int = 0


class CropsClassifier(Resuming):
    """A ``records.Classifier`` over a cropper.

    Raises: UsageError if the folder has too few photos; as ``ask.croppers.load_cropper``.
    """

    Options = CropsOptions

    def __init__(
        self, name: str, options: CropsOptions, device: str = "cpu", trust: bool = False
    ) -> None:
        from gslopes.faces.find import MtcnnFinder

        self._finder = MtcnnFinder()
        setting = Setting(self._finder, device, options.seed, trust)
        model: Any = load_cropper(options.cropper, setting)
        self.name = name
        self._options = options
        self._service: Any = model.at(1.0) if hasattr(model, "at") else None
        self._model = self if self._service else model
        self._paths = _circle(options)
        self._place = {photo: place for place, photo in enumerate(self._paths)}
        self.version = f"{model.version} opponents {hexdigest(''.join(self._paths))[:16]}"
        asked = 2 * options.others
        limits = LOCAL
        self.batch = 8
        if self._service:
            limits = self._service.traits.limits
            self.batch = 1
            price = limits.price and limits.price * asked
            limits = replace(limits, price=price, requests_per_picture=asked, formats=())
        opponents = f"{options.others} of {len(self._paths)} people given; the unit is the photo"
        self.traits = Traits(
            limits=limits,
            numbers=True,
            cached=names.split(full_name(options.cropper))[0] != "python",
            facts={"opponents": opponents},
            prepares=True,
            groups=True,
            resumes=True,
            shows=True,
        )
        self._begun = defaultdict(Begun)
        self._known: Any = None
        self._lock = threading.Lock()
        self._opponent: Any = lru_cache(4 * options.others)(self._read)

    def prepare(self) -> None:
        """Of a service its credentials.  Raises: CredentialsError."""
        if self._service:
            self._service.prepare()

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to the shares of their joined pictures, Unfinished while a service is to be asked again."""
        answers: Raws = []
        for data, pixels in zip(pictures, decoded(pictures), strict=True):
            key = hexdigest(data)
            try:
                answers.append(self._asked(key, pixels))
            except (AnswerError, Refused) as error:
                del self._begun[key]
                answers.append(error)
        return answers

    def parse(self, raw: Any) -> Answer:
        """The mean of the shares, of 100."""
        return Answer("answered", ((LABEL, 100 * float(np.mean(raw))),))

    def sent(self, data: bytes) -> tuple[str, ByteArray]:
        """What the cropper sees first, in words and as a picture."""
        from gslopes.ask.croppers.joining import join

        near = self._next_to(hexdigest(data))
        joined = join([*decoded([data]), self._opponent(near[0])[0]])[0]
        return (
            f"the picture next to {len(near)} of {len(self._paths)} others, in both orders",
            joined,
        )

    # -- joined pictures ----------------------------------------------------------------------------------------------

    def _asked(self, key: str, pixels: ByteArray) -> object:
        begun = self._begun[key]
        near = self._next_to(begun.photo or key)
        own = len(self._paths)
        pairs = [pair for other in near for pair in ((own, other), (other, own))]
        begun.seen = begun.seen or self._seen(pixels)
        if begun.seen is None:
            raise Refused(Reason.NO_FACE)
        shares = begun.results
        done = len(shares)
        step = 1 if self._service else len(pairs)
        shares += self._favoured(pairs[done : done + step], own, begun.seen)
        if len(shares) < len(pairs):
            begun.keep(list(shares))
            return Unfinished("More pairs are wanted.")
        del self._begun[key]
        return shares

    def _favoured(self, pairs: Sequence[tuple[int, int]], own: int, this: Seen) -> list[float]:
        """The share of each joined picture in which the picture's person is favoured.

        pairs: places of opponents, and ``own``, the place of ``this``.

        Raises: AnswerError, Refused; what asking a service raises.
        """
        from gslopes.ask.croppers.asker import Asker

        opponents = {*chain.from_iterable(pairs)} - {own}
        seen = {own: this} | {opponent: self._opponent(opponent) for opponent in opponents}
        about: JsonObject = {
            "photo": lambda number: seen[number][0],
            "sizes": {number: pixels.shape[1::-1] for number, (pixels, _) in seen.items()},
            "heads": {number: head for number, (_, head) in seen.items() if head is not None},
        }
        asker = replace(self._known, **about) if self._known else Asker(self._model, **about)
        shares = [0.0] * len(pairs)
        for joined in asker.answers(np.array(pairs)):
            if joined.main is None:
                kind = Refused if joined.answer.status == "refused" else AnswerError
                raise kind(joined.answer.reason)
            shares[joined.row] = float(joined.main.shares[pairs[joined.row].index(own)])
        for shrunk in [shrunk for shrunk in asker.halves if shrunk[0] == own]:
            del asker.halves[shrunk]
        self._known = None if self._service else asker
        return shares

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """The service's rectangle of ratio 1, by one request.  Raises: AnswerError, Refused; as the service."""
        (raw,) = self._service.ask([png(picture)])
        if isinstance(raw, Exception):
            raise raw
        crop: Crop = self._service.parse(raw).box
        return crop

    # -- opponents ----------------------------------------------------------------------------------------------------

    def _next_to(self, photo: str) -> list[int]:
        """Places of a photo's opponents in the circle: the next ones that can be read, and have a head if need be.

        photo: its sha256, hex.  Raises: UsageError if they are too few.
        """
        count = len(self._paths)
        near: list[int] = []
        place = self._place.get(photo)
        start = int(hexdigest(photo), 16) if place is None else place + 1
        for other in ((start + more) % count for more in range(count)):
            if other != place and self._opponent(other):
                near.append(other)
            if len(near) == self._options.others:
                return near
        raise _too_few(self._options, len(near) + 1)

    def _read(self, position: int) -> Seen | None:
        """An opponent."""
        from gslopes.photos.folder import open_srgb

        with suppress(PhotoError):
            return self._seen(open_srgb([*self._paths.values()][position]))
        return None

    def _seen(self, pixels: ByteArray) -> Seen | None:
        """A photo, of a cropper without maps with the head of the face nearest the centre; None without a face."""
        if has_map(self._model):
            return pixels, None
        from gslopes.ask.croppers.joining import head_box
        from gslopes.faces.find import choose

        height, width = pixels.shape[:2]
        with self._lock:
            faces = self._finder([Photo("", Path(), pixels)])[0]
        face = choose(faces, width, height, min_face=32)
        if isinstance(face, SkipReason):
            return None
        return (pixels, head_box(face.box.tolist(), width, height))


def _circle(options: CropsOptions) -> dict[str, Path]:
    """sha256 to path of the opponents, in their order.  Raises: UsageError if they are too few."""
    from gslopes.photos.folder import list_photos

    files = list_photos(options.opponents)
    circle: dict[str, Path] = {}
    for index in np.random.default_rng([options.seed, 6]).permutation(len(files)).tolist():
        with suppress(OSError):
            circle.setdefault(sha256_of(files[index].path), files[index].path)
        if len(circle) == MOST:
            break
    if len(circle) <= options.others:
        raise _too_few(options, len(circle))
    return circle


def _too_few(options: CropsOptions, count: int) -> UsageError:
    need = f"photos that can be used, and a picture meets {options.others} others."
    hint = f"Add photos of other people, or give others={max(1, count - 1)}."
    return UsageError(f"{show(options.opponents)} holds {count} {need}", hint)
