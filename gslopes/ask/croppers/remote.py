"""Croppers over a network, asked by the one careful client: paced, paid for, kept by content, nothing asked twice."""

import io
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from gslopes.ask.answers import PartProgress
from gslopes.ask.boxes import Cropper, Saliency
from gslopes.ask.cache import AnswerCache, cache_folder
from gslopes.ask.classifiers import prepare_classifier
from gslopes.ask.classifiers.http import HttpCropper
from gslopes.ask.client import Client
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.given import as_cropper, picture_key
from gslopes.ask.scoring.cost import Price, estimate
from gslopes.core import runfolder, tables
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.reasons import SkipReason
from gslopes.core.records import Answer, ByteArray, Crop, Finder

PART = 16  # pictures that are written, asked about and taken away together


class RemoteCropper:
    """A ``boxes.Cropper`` that asks about many pictures at once, and then gives their answers.

    service: who is asked.  cost_limits: cache and budget.  budget: of all services of one command.
    ratios: height/width.  seed: of the order of the questions.
    """

    def __init__(
        self,
        service: HttpCropper,
        cost_limits: CostLimits,
        budget: Budget,
        ratios: Sequence[float],
        seed: int = 0,
    ) -> None:
        self.name = service.name
        self.version = service.version
        self.usage = UsageStats()
        self._cost_limits = cost_limits
        self._budget = budget
        self._seed = seed
        self._at = {ratio: service.at(ratio) for ratio in ratios}
        self._answers: dict[tuple[str, float], Answer] = {}
        for classifier in self._at.values():
            prepare_classifier(classifier)

    def requests(self, pictures: int) -> list[Price]:
        """The most that asking about ``pictures`` pictures takes, for each ratio."""
        return [estimate(service, [pictures] if pictures else []) for service in self._at.values()]

    def ask_about(
        self, out: Path, pictures: Callable[[], Iterable[ByteArray]], tick: Callable[[int], None]
    ) -> None:
        """Ask about pictures at every ratio; earlier answers are dropped.

        out: the run folder, in which pictures lie while they are asked about.  pictures: gives them, once a ratio.
        tick: called with how many have all their answers.

        Raises: as ``ask.client.Client.ask_parts``.
        """
        self._answers = {}
        folder = out / "parts" / "asked"
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
        with AnswerCache(cache_folder(self._cost_limits.cache)) as cache:
            try:
                runfolder.make_folder(folder)
                for ratio, service in self._at.items():
                    last = ratio == list(self._at)[-1]

                    def done(_: int, *asked: Any, ratio: float = ratio, last: bool = last) -> None:
                        progress: PartProgress = asked[-1]
                        for question, answer in zip(
                            progress.questions, progress.in_order(), strict=True
                        ):
                            self._answers[question.photo, ratio] = answer
                            (folder / question.file).unlink(missing_ok=True)
                        if last:
                            tick(len(progress.questions))

                    client = Client(
                        service, cache=cache, budget=self._budget, usage=self.usage, seed=self._seed
                    )
                    client.ask_parts(_parts(pictures(), folder), folder, done)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """The answer about a picture.  Raises: AnswerError, Refused."""
        answer = self._answers.get((picture_key(picture), ratio))
        if answer is None:
            raise AnswerError(f"{self.name} was not asked about this picture.")
        if answer.box is not None:
            return answer.box
        why = SkipReason.of(answer.reason, answer.status)
        raise (
            Refused(why.detail or why.reason)
            if answer.status == "refused"
            else AnswerError(why.detail or why.reason)
        )


def _parts(pictures: Iterable[ByteArray], folder: Path) -> Iterator[tuple[int, pd.DataFrame]]:
    """Distinct pictures as rows of the edits table, which the client reads, their files in the folder."""
    rows: dict[str, tuple[object, ...]] = {}
    number = 0
    for picture in pictures:
        key = picture_key(picture)
        if key not in rows:
            path = folder / f"{number:06d}-{key}"
            buffer = io.BytesIO()
            Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
            with runfolder.storage(path):
                path.write_bytes(buffer.getvalue())
            rows[key] = (key, "crop", 0, 0.0, path.name, 0.0)
        if len(rows) == PART:
            yield number, tables.frame_of(tables.EDITS, list(rows.values()))
            rows = {}
            number += 1
    if rows:
        yield number, tables.frame_of(tables.EDITS, list(rows.values()))


def ready_croppers(
    names: Sequence[str],
    given: Sequence[Saliency | Cropper | Callable[..., Any]],
    cost_limits: CostLimits,
    ratios: Sequence[float],
    *,
    finder: Finder | None = None,
    device: str = "cpu",
    seed: int = 0,
    trust: bool = False,
) -> list[Saliency | Cropper]:
    """Croppers by name and those given, functions among them; those over a network with credentials checked.

    finder: of faces; MTCNN if a cropper needs one and none is given.

    Raises: as ``ask.croppers.load_cropper``; CredentialsError, UsageError.
    """
    if finder is None and any(name.startswith("faces") for name in names):
        finder = mtcnn()
    named = [
        load_cropper(name, finder=finder, device=device, seed=seed, trust=trust) for name in names
    ]
    budget = Budget(cost_limits.budget)
    return [
        RemoteCropper(model, cost_limits, budget, ratios, seed)
        if isinstance(model, HttpCropper)
        else model
        for model in map(as_cropper, [*named, *given])
    ]


def mtcnn() -> Finder:
    """The default finder of faces: those of 32 pixels or more, on the CPU, so that no device has other photos."""
    from gslopes.faces.find import MtcnnFinder

    return MtcnnFinder(32)
