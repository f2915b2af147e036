"""One classifier and a few photos, before any audit: what it is sent, what it answers, whether its answers vary."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gslopes.ask.answers import is_cached
from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import new_notes, prepare_classifier
from gslopes.ask.classifiers.model_file import SAME
from gslopes.ask.client import Client
from gslopes.ask.cost import UsageStats, limits_of
from gslopes.ask.pictures import decoded, fit_pictures
from gslopes.ask.scoring.first_pictures import row_of
from gslopes.ask.trust import writable_cache
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.core.reasons import explained
from gslopes.core.records import ByteArray, Classifier
from gslopes.photos.folder import open_photo

PICTURES = 3
_SHOWN = 512  # pixels, longer side of the thumbnail at most


@dataclass(frozen=True, slots=True)
class Trial:
    """classifier: its name.  sent: what it was sent for the first picture, in words.  thumbnail: that as a picture.

    pictures: name, status, reason, and label to score, of each.  varying: labels whose answers differ between them.
    seconds: a picture, 0 if all were answered before.  usd: spent.  price: USD per 1,000 pictures, None if it depends
        on the plan.  notes: what a user should know.
    """

    classifier: str
    sent: str
    thumbnail: str
    pictures: tuple[dict[str, Any], ...]
    varying: tuple[str, ...]
    seconds: float
    usd: float
    price: float | None
    notes: tuple[str, ...]

    @property
    def failed(self) -> int:
        """Of the pictures."""
        return sum(one["status"] == "failed" for one in self.pictures)


def try_classifier(classifier: Classifier, photos: Sequence[Path], thumbnail: Path, cache: Path | None = None) -> Trial:
    """Ask about three pictures: the first photos, or, of fewer, also the first one mirrored and half as bright.

    thumbnail: where a picture of what is sent is written, PNG.

    Raises: UsageError without a photo; PhotoError for one that cannot be read; as ``Client.ask_parts``.
    """
    if not photos:
        raise UsageError("No photo is given.", "Name one to three photos.")
    prepare_classifier(classifier)
    named = _pictures(photos)
    encoded = {name: _png(pixels) for name, pixels in named.items()}
    sent, seen = what_is_sent(classifier, next(iter(encoded.values())))
    thumbnail.write_bytes(_png(_small(seen)))
    usage, begun = UsageStats(), time.monotonic()
    with TemporaryDirectory() as name, ExitStack() as stack:
        rows = [row_of(data, Path(name)) for data in encoded.values()]
        kept = stack.enter_context(AnswerCache(writable_cache(cache))) if is_cached(classifier) else None
        found: list[Any] = []
        client = Client(classifier, cache=kept, usage=usage)
        edits = tables.frame_of(tables.EDITS, list(dict.fromkeys(rows)))
        client.ask_parts([(0, edits)], Path(name), lambda _, asked, scores, __: found.extend((asked, scores)))
    seconds = (time.monotonic() - begun) / usage.asked if usage.asked else 0.0
    asked, scores = (frame.set_index("photo") for frame in found)
    answers = []
    for shown, row in zip(named, rows, strict=True):
        one, of_photo = asked.loc[row[0]], scores[scores.index == row[0]]
        labels = dict(zip(of_photo["label"], of_photo["score"].astype(float), strict=True))
        why = explained(one["reason"], one["detail"])
        answers.append({"picture": shown, "status": one["status"], "reason": why, "labels": labels})
    varying = tuple(sorted(_varying([one["labels"] for one in answers if one["status"] == "answered"])))
    price, notes = limits_of(classifier).price, tuple(new_notes(classifier))
    return Trial(classifier.name, sent, str(thumbnail), tuple(answers), varying, seconds, usage.spent, price, notes)


def what_is_sent(classifier: Classifier, data: bytes) -> tuple[str, ByteArray]:
    """In words, and as a picture: the network's input where the classifier tells it, else the file."""
    described = getattr(classifier, "sent", None)
    if described is not None:
        words, pixels = described(data)
        return str(words), np.asarray(pixels, np.uint8)
    (fitted,), how = fit_pictures([data], limits_of(classifier))
    (pixels,) = decoded([fitted])
    height, width = pixels.shape[:2]
    if not limits_of(classifier).remote:
        return f"the whole picture, {width} x {height}, RGB, 0 to 255", pixels
    return f"the file, {width} x {height}, {len(fitted):,} bytes" + (f" ({how})" if how else ""), pixels


def _pictures(photos: Sequence[Path]) -> dict[str, ByteArray]:
    named = {str(path): open_photo(path).pixels for path in photos[:PICTURES]}
    name, first = next(iter(named.items()))
    more = {f"{name}, mirrored": first[:, ::-1], f"{name}, half as bright": first // 2}
    return dict(list({**named, **more}.items())[:PICTURES])


def _varying(answers: Sequence[dict[str, float]]) -> set[str]:
    labels = {label for one in answers for label in one}
    return {
        label
        for label in labels
        if len({label in one for one in answers}) > 1 or np.ptp([one[label] for one in answers]) > SAME
    }


def _png(pixels: ByteArray) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "PNG")
    return buffer.getvalue()


def _small(pixels: ByteArray) -> ByteArray:
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.thumbnail((_SHOWN, _SHOWN))
    return np.asarray(image)
