"""Croppers over a network, asked by the one careful client: paced, paid for, kept by content, nothing asked twice."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pandas as pd
from PIL import Image

from gslopes.ask.cache import AnswerCache
from gslopes.ask.classifiers import prepare_classifier
from gslopes.ask.client import Client
from gslopes.ask.config import CostLimits
from gslopes.ask.cost import Budget, UsageStats, estimate
from gslopes.ask.croppers import is_remote, load_cropper
from gslopes.ask.croppers.http import Http, HttpAtRatio
from gslopes.ask.croppers.python import as_cropper
from gslopes.ask.croppers.records import Crop, Cropper, Saliency
from gslopes.ask.croppers.replay import picture_key
from gslopes.ask.questions import PartProgress
from gslopes.ask.retry import RetryPolicy
from gslopes.ask.scoring.cost import confirm_cost
from gslopes.ask.trust import Trust, cache_folder
from gslopes.core import runfolder, tables
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.executor import Executor
from gslopes.core.records import ByteArray, Finder

PART = 16  # pictures that are written, asked about and taken away together
_CROP = "crop"  # the attribute of a joined picture in the tables that the client speaks


class RemoteCropper:
    """A ``records.Cropper`` that asks about many pictures at once, and then gives their answers.

    service: who is asked.  cost_limits: cache, budget, calls.  budget: of all services of one command.
    ratios: height/width.  seed: of the order of the questions.  retry: with a service that fails.
    """

    def __init__(
        self,
        service: Http,
        cost_limits: CostLimits,
        budget: Budget,
        ratios: Sequence[float],
        seed: int = 0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.name, self.version = service.name, service.version
        self.usage = UsageStats()
        self._cost_limits, self._budget, self._seed, self._retry = cost_limits, budget, seed, retry
        self._at: dict[float, HttpAtRatio] = {ratio: service.at(ratio) for ratio in ratios}
        self._answers: dict[tuple[str, float], Crop | AnswerError | Refused] = {}
        self._sizes: dict[str, tuple[int, int]] = {}

    def prepare(self) -> None:
        """Check address and credentials.  Raises: CredentialsError, UsageError."""
        for one in self._at.values():
            prepare_classifier(one)

    def requests(self, pictures: int) -> list[Any]:
        """The most that asking about ``pictures`` pictures takes: an Estimate a ratio."""
        return [
            estimate(one.name, one.limits, one.batch, [pictures] if pictures else [], 0) for one in self._at.values()
        ]

    def ask_about(self, out: Path, pictures: Callable[[], Iterable[ByteArray]], tick: Callable[[int], None]) -> None:
        """Ask about pictures at every ratio; earlier answers are dropped.

        out: the run folder, in which pictures lie while they are asked about.  pictures: gives them, once a ratio.

        Raises: as ``ask.client.Client.ask_parts``.
        """
        self._answers, self._sizes = {}, {}
        with AnswerCache(cache_folder(self._cost_limits.cache)) as cache:
            for place, (ratio, service) in enumerate(self._at.items(), start=1):
                client = Client(
                    service, cache=cache, budget=self._budget, usage=self.usage, seed=self._seed, retry=self._retry
                )
                with RequestFolder(out / "parts" / "asked") as requests:
                    listener = self._listener(service, ratio, requests, tick, last=place == len(self._at))
                    client.ask_parts(self._parts(requests, pictures()), requests.folder, listener)

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """The answer about a picture.  Raises: AnswerError, Refused."""
        found = self._answers.get((picture_key(picture), ratio))
        if found is None:
            raise AnswerError(f"{self.name} was not asked about this picture.")
        if isinstance(found, Exception):
            raise found
        return found

    def _parts(self, requests: RequestFolder, pictures: Iterable[ByteArray]) -> Iterator[tuple[int, pd.DataFrame]]:
        rows: list[dict[str, Any]] = []
        number = 0
        for picture in pictures:
            key = picture_key(picture)
            if any(row["photo"] == key for row in rows):
                continue
            self._sizes[key] = picture.shape[1], picture.shape[0]
            rows.append(requests.put(key, _encoded(picture), number))
            if len(rows) == PART:
                yield number, pd.DataFrame(rows, columns=tables.EDITS.columns)
                rows, number = [], number + 1
        if rows:
            yield number, pd.DataFrame(rows, columns=tables.EDITS.columns)

    def _listener(
        self, service: HttpAtRatio, ratio: float, requests: RequestFolder, tick: Callable[[int], None], last: bool
    ) -> Callable[[int, pd.DataFrame, pd.DataFrame, PartProgress], None]:
        def done(number: int, asked: pd.DataFrame, scores: pd.DataFrame, progress: PartProgress) -> None:
            del progress
            labels: dict[str, dict[str, float]] = {}
            for photo, label, score in scores[["photo", "label", "score"]].itertuples(index=False):
                labels.setdefault(photo, {})[label] = float(score)
            for photo, status, reason, detail in asked[["photo", "status", "reason", "detail"]].itertuples(index=False):
                explanation = detail or reason
                self._answers[photo, ratio] = self._answer(service, photo, status, explanation, labels.get(photo, {}))
            requests.clear(number)
            tick(len(asked) if last else 0)

        return done

    def _answer(
        self, service: HttpAtRatio, photo: str, status: str, reason: str, labels: dict[str, float]
    ) -> Crop | AnswerError | Refused:
        if status == "refused":
            return Refused(reason)
        return AnswerError(reason) if status == "failed" else service.rectangle(labels, *self._sizes[photo])


class RequestFolder:
    """A folder for the pictures that are being asked about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[int, list[Path]] = {}

    def __enter__(self) -> RequestFolder:
        with runfolder.storage(self.folder):
            runfolder.make_folder(self.folder)
            for stale in self.folder.iterdir():  # of a run that was killed
                stale.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for number in list(self._files):
            self.clear(number)
        with suppress(OSError):
            self.folder.rmdir()

    def put(self, key: str, data: bytes, number: int) -> dict[str, Any]:
        """A picture's row of the edits table."""
        path = self.folder / f"{number:06d}-{key}"
        with runfolder.storage(path):
            path.write_bytes(data)
        self._files.setdefault(number, []).append(path)
        edit_row = {"photo": key, "attribute": _CROP, "step": 0, "value": 0.0, "file": path.name, "mask_area": 0.0}
        return edit_row

    def clear(self, number: int) -> None:
        """The pictures of a part have their answers."""
        for path in self._files.pop(number, []):
            path.unlink(missing_ok=True)


def ready_croppers(
    names: Sequence[str],
    given: Sequence[Saliency | Cropper | Callable[..., Any]],
    cost_limits: CostLimits,
    ratios: Sequence[float],
    *,
    finder: Finder | None = None,
    device: str = "cpu",
    seed: int = 0,
    trust: Trust | None = None,
) -> list[Saliency | Cropper]:
    """Croppers by name and those given, functions among them; those over a network with credentials checked.

    finder: of faces; MTCNN if a cropper needs one and none is given.

    Raises: as ``ask.croppers.load_cropper``; CredentialsError, UsageError.
    """
    if finder is None and any(name.startswith("faces") for name in names):
        finder = mtcnn()
    named = [load_cropper(name, finder=finder, device=device, seed=seed, trust=trust) for name in names]
    budget = Budget(cost_limits.budget, cost_limits.max_calls)
    ready: list[Saliency | Cropper] = []
    for model in map(as_cropper, [*named, *given]):
        if is_remote(model):
            remote = RemoteCropper(cast("Http", model), cost_limits, budget, ratios, seed)
            remote.prepare()
            ready.append(remote)
        else:
            ready.append(model)
    return ready


def mtcnn() -> Finder:
    """The default finder of faces: those of 32 pixels or more, on the CPU, so that no device has other photos."""
    from gslopes.faces.find.detect import MtcnnFinder

    return MtcnnFinder(32)


def confirm(
    models: Sequence[Saliency | Cropper], pictures: Sequence[int], cost_limits: CostLimits, executor: Executor
) -> None:
    """Report what asking services costs, and have it confirmed above ``cost_limits.confirm_above``.

    pictures: for each model, how many it is still to be asked about.

    Raises: ConfigError, UsageError as ``ask.scoring.cost.confirm_cost``.
    """
    asked = [(model, count) for model, count in zip(models, pictures, strict=True) if isinstance(model, RemoteCropper)]
    if estimates := [one for model, count in asked for one in model.requests(count)]:
        confirm_cost(estimates, cost_limits, executor)


def _encoded(picture: ByteArray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
