"""Before any audit: a classifier and a few unedited photos, so that a mistake costs no more than these."""

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
from PIL import Image

from gslopes.ask.answers import STOPPED, parse_answer, raise_if_all_failed
from gslopes.ask.cache import AnswerCache, writable_cache
from gslopes.ask.classifiers import new_notes, prepare_classifier, warn_of
from gslopes.ask.classifiers.model_file import SAME
from gslopes.ask.client import Client
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, UsageStats, said
from gslopes.ask.pictures import beside, decoded, fit_pictures, png
from gslopes.ask.questions import PartProgress, Question, digest
from gslopes.ask.scoring.cost import Price
from gslopes.core import (
    Executor,
    JsonObject,
    ModelError,
    Names,
    PhotoError,
    SkipReason,
    UsageError,
    frozen,
    traits_of,
    twins,
)
from gslopes.core.records import Able, Answer, ByteArray, Classifier, Files
from gslopes.photos.decode import in_srgb
from gslopes.photos.folder import PhotoFile, open_srgb, photo_bytes, photo_of

FIRST = 2  # photos that each classifier of an audit is asked about before any is edited
ALIKE = 1e-4  # scores of one picture in two batches; in training mode they differ by 9e-4 at least
_LOOK = 20  # of the first photos, if some cannot be read
_KINDS = (b"\xff\xd8\xff", b"\x89PNG")  # JPEG and PNG: what classifiers are sent
PICTURES = 3  # of a trial
_SHOWN = 512  # pixels, longer side of the thumbnail at most


# -- the first photos of an audit --------------------------------------------------------------------------------------


def ask_first(
    classifiers: Sequence[Classifier],
    files: Sequence[PhotoFile],
    config: ScoreConfig,
    budget: Budget,
    note: Executor,
    prices: Sequence[Price],
) -> None:
    """Ask about the first two photos that can be read; answers of services are kept, as all of them are.

    prices: of all that is to be asked.

    Raises: ClassifierError if a classifier fails on all of them for one reason; as ``compare_alone``; whatever else
        asking raises.
    """
    pictures = first_pictures(files)
    for classifier in classifiers if pictures else ():
        if traits_of(classifier).posts:  # it would take a day
            continue
        part, usage, seconds = _asked(classifier, pictures, config.cache, budget)
        asked, _ = part.rows(classifier.name)
        limits = traits_of(classifier).limits
        if usage.asked and limits.remote:
            due = sum(price.pictures for price in prices if price.name == classifier.name)
            took = said("first.txt.j2", due=due, limits=limits, usage=usage, seconds=seconds)
            note.note(f"score      {classifier.name}: {took}")
        extent = "the first picture" if len(asked) == 1 else f"the first {len(asked)} pictures"
        raise_if_all_failed(asked, extent, STOPPED)
        compare_alone(classifier, pictures)
        warn_of(classifier, note)
        if odd := softmaxed_twice(_scores(answer for _, answer in part.answered())):
            note.note(f"Warning: {odd}")


def first_pictures(files: Sequence[PhotoFile]) -> Files:
    """The first two distinct photos that can be read, JPEG or PNG."""
    pictures: dict[bytes, None] = {}
    for file in files[:_LOOK]:
        with suppress(PhotoError):
            data = photo_bytes(file.path)
            photo = photo_of(data, file.path)
            if not data.startswith(_KINDS):
                data = png(in_srgb(photo.pixels, photo.icc))
            pictures[data] = None
        if len(pictures) == FIRST:
            break
    return list(pictures)


def compare_alone(classifier: Classifier, pictures: Sequence[bytes]) -> None:
    """Ask a model on this machine about the first picture in a batch with the last one, and without it.

    Without it the picture is sent twice: rounding is as in a batch of two, and answers by chance show as such.

    Raises: ModelError if the answers differ: in training mode a model's answers depend on the whole batch.
    """
    if traits_of(classifier).limits.remote or classifier.batch < 2 or len(pictures) < 2:
        return
    one = pictures[0]
    other = pictures[-1]
    try:
        raws = [*classifier.ask([one, other])[:1], *classifier.ask([one, one])]
        together, alone, again = (parse_answer(classifier, raw) for raw in raws)
    except Exception:  # of any kind: asking about these pictures, for their answers, shows it
        return
    off = _difference(together, alone)
    if off > ALIKE >= _difference(alone, again):
        raise ModelError(
            f"{classifier.name} answers about a picture otherwise in a batch than alone, by {off:.1g}.",
            "The model is in training mode: call model.eval() before saving or asking it.",
        )


def _difference(one: Answer, other: Answer) -> float:
    """The largest of the scores of labels that both have, of numbers above 1 a share of them; 1 if they share none."""
    scores = dict(one.labels)
    others = dict(other.labels)
    shared = scores.keys() & others.keys()
    if not shared:
        return float(bool(scores or others))
    return max(
        abs(scores[label] - others[label]) / max(1.0, abs(scores[label])) for label in shared
    )


def _asked(
    classifier: Classifier,
    pictures: Sequence[bytes],
    cache: Path | None,
    budget: Budget | None = None,
) -> tuple[PartProgress, UsageStats, float]:
    """The answers to distinct pictures, whose photo is their digest; what asking cost, and its seconds.

    If questions are about two, each is shown beside the next one, the last beside the first.
    """
    usage = UsageStats()
    begun = time.monotonic()
    with ExitStack() as stack:
        answers = None
        if traits_of(classifier).kept:
            answers = stack.enter_context(AnswerCache(writable_cache(cache)))
        shown = pictures
        if traits_of(classifier).pairs:
            shown = [*map(beside, pictures, [*pictures[1:], pictures[0]])]
        questions = [
            Question(digest(data).hex(), partial(bytes, seen))
            for data, seen in zip(pictures, shown, strict=True)
        ]
        parts: list[PartProgress] = []
        client = Client(classifier, cache=answers, budget=budget, usage=usage)
        client.ask_parts([(0, questions)], parts.append)
    return parts[0], usage, time.monotonic() - begun


# -- trying one --------------------------------------------------------------------------------------------------------


@frozen
class Trial:
    """classifier: its name.  sent: what it was sent for the first picture, in words.  thumbnail: that as a picture.

    pictures: name, status, reason, and label to score, of each.  varying: labels whose answers differ between them.
    seconds: a picture, 0 if all were answered before.  usd: spent.  price: USD per 1,000 pictures, None if it depends
        on the plan.  notes: what a user should know.
    """

    classifier: str
    sent: str
    thumbnail: str
    pictures: tuple[JsonObject, ...]
    varying: Names
    seconds: float
    usd: float
    price: float | None
    notes: Names

    @property
    def failed(self) -> int:
        """Of the pictures."""
        return sum(picture["status"] == "failed" for picture in self.pictures)


def try_classifier(
    classifier: Classifier, photos: Sequence[Path], thumbnail: Path, cache: Path | None = None
) -> Trial:
    """Ask about three pictures: the first photos, or, of fewer, also the first one mirrored and half as bright.

    thumbnail: the file for a picture of what is sent, PNG.

    Raises: UsageError without a photo; PhotoError for one that cannot be read; as ``Client.ask_parts``,
        ``compare_alone``.
    """
    if not photos:
        raise UsageError("No photo is given.", "Name one to three photos.")
    prepare_classifier(classifier)
    named = {str(path): open_srgb(path) for path in photos[:PICTURES]}
    name, first = next(iter(named.items()))
    named |= {f"{name}, mirrored": first[:, ::-1], f"{name}, half as bright": first // 2}
    encoded = {name: png(pixels) for name, pixels in list(named.items())[:PICTURES]}
    pictures = list(encoded.values())
    part, usage, seconds = _asked(classifier, pictures, cache, Budget.of(ScoreConfig(cache)))
    sent, seen = what_is_sent(classifier, part.questions[0].read())
    image = Image.fromarray(seen)
    image.thumbnail((_SHOWN, _SHOWN))
    thumbnail.write_bytes(png(np.asarray(image)))
    by_picture = {question.photo: answer for question, answer in part.answered()}
    answers = {name: by_picture[digest(data).hex()] for name, data in encoded.items()}
    known = _scores(answers.values())
    if len(known):
        compare_alone(classifier, pictures)
    varying = known.columns[known.isna().any() | (known.max() - known.min() > SAME)]
    notes = [*new_notes(classifier), twins([*traits_of(classifier).labels, *known.columns])]
    notes.append(softmaxed_twice(known))
    return Trial(
        classifier.name,
        sent,
        str(thumbnail),
        tuple(
            {
                "picture": name,
                "status": answer.status,
                "reason": str(SkipReason.of(answer.reason, answer.status)),
                "labels": dict(answer.labels),
            }
            for name, answer in answers.items()
        ),
        tuple(sorted(varying)),
        seconds / usage.asked if usage.asked else 0.0,
        usage.spent,
        traits_of(classifier).limits.price,
        tuple(filter(None, notes)),
    )


def _scores(answers: Iterable[Answer]) -> pd.DataFrame:
    """A row of those that are answers, a column a label."""
    return pd.DataFrame([dict(one.labels) for one in answers if one.status == "answered"])


def softmaxed_twice(scores: pd.DataFrame) -> str:
    """A sentence if the scores of every picture are what a softmax makes of shares; else empty.

    Logarithms of these differ as the shares do, which add up to 1: from the lowest by 1 in all, at most. Few models
    are so undecided about every picture, if there are labels enough; with fewer than five, all are nearly undecided, or
    as sure as can be.

    scores: a row a picture, a column a label.
    """
    shares = scores.to_numpy(float)
    if min(shares.shape) < 2 or not shares.all() or not (abs(shares.sum(axis=1) - 1) < 1e-3).all():
        return ""
    above = np.log(shares / shares.min(axis=1, keepdims=True)).sum(axis=1)
    few = shares.shape[1] < 5
    if above.max() > 1.01 or (few and above.max() > 0.15 and above.min() < 0.95):
        return ""
    return (
        f"The scores of every picture add up to 1 and lie between {shares.min():.3f} and {shares.max():.3f}, as if a "
        "softmax was applied twice: leave one out if so."
    )


def what_is_sent(classifier: Classifier, data: bytes) -> tuple[str, ByteArray]:
    """In words, and as a picture: the network's input if the classifier tells it, else the file."""
    traits = traits_of(classifier)
    if traits.shows:
        return cast("Able", classifier).sent(data)
    (fitted,), how = fit_pictures([data], traits.limits)
    (pixels,) = decoded([fitted])
    height, width = pixels.shape[:2]
    if not traits.limits.remote:
        return f"the whole picture, {width} x {height}, RGB, 0 to 255", pixels
    words = f"the file, {width} x {height}, {len(fitted):,} bytes"
    return words + f" ({how})" * bool(how), pixels
