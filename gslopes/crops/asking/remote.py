"""Croppers over a network, asked by the one careful client: paced, paid for, kept by content, nothing asked twice."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pandas as pd
from PIL import Image

from gslopes.core import runfolder, tables
from gslopes.core.errors import AnswerError, Refused
from gslopes.core.records import ByteArray
from gslopes.core.trust import cache_folder
from gslopes.crops.croppers import is_remote
from gslopes.crops.croppers.http import Http, HttpAtRatio
from gslopes.crops.croppers.python import as_cropper
from gslopes.crops.records import Crop, Cropper, Saliency
from gslopes.executors import Executor
from gslopes.run.config import ScoreConfig
from gslopes.run.scoring.cost import confirm_cost
from gslopes.score.cache import AnswerCache
from gslopes.score.classifiers import prepare_classifier
from gslopes.score.client import Client
from gslopes.score.cost import Budget, UsageStats, estimate
from gslopes.score.questions import PartProgress
from gslopes.score.retry import RetryPolicy

PART = 16  # pictures that are written, asked about and taken away together
_CROP = "crop"  # the attribute of a joined picture in the tables that the client speaks


class Remote:
    """A ``records.Cropper`` that asks about many pictures at once, and then answers from what it heard.

    service: who is asked.  terms: cache, budget, calls.  budget: of all services of one command.  ratios: height/width.
    seed: of the order of the questions.  retry: with a service that fails.
    """

    def __init__(
        self,
        service: Http,
        terms: ScoreConfig,
        budget: Budget,
        ratios: Sequence[float],
        seed: int = 0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.name, self.version = service.name, service.version
        self.usage = UsageStats()
        self._terms, self._budget, self._seed, self._retry = terms, budget, seed, retry
        self._at: dict[float, HttpAtRatio] = {ratio: service.at(ratio) for ratio in ratios}
        self._format = service.options.format
        self._heard: dict[tuple[str, float], Crop | AnswerError | Refused] = {}
        self._sizes: dict[str, tuple[int, int]] = {}

    def prepare(self) -> None:
        """Check address and credentials.  Raises: CredentialsError, UsageError."""
        for one in self._at.values():
            prepare_classifier(one)

    def requests(self, pictures: int) -> list[Any]:
        """What asking about so many pictures takes at most: an Estimate a ratio."""
        return [
            estimate(one.name, one.limits, one.batch, [pictures] if pictures else [], 0) for one in self._at.values()
        ]

    def ask_about(self, out: Path, pictures: Callable[[], Iterable[ByteArray]], tick: Callable[[int], None]) -> None:
        """Ask about pictures at every ratio; what was heard before is forgotten.

        out: the run folder, in which pictures lie while they are asked about.  pictures: gives them, once a ratio.

        Raises: as ``score.client.Client.ask_parts``.
        """
        self._heard, self._sizes = {}, {}
        with AnswerCache(cache_folder(self._terms.cache)) as cache:
            for place, (ratio, service) in enumerate(self._at.items()):
                client = Client(
                    service, cache=cache, budget=self._budget, usage=self.usage, seed=self._seed, retry=self._retry
                )
                last = place + 1 == len(self._at)
                with _Desk(out / "parts" / "asked") as desk:
                    client.ask_parts(
                        self._parts(desk, pictures()), desk.folder, self._listener(service, ratio, desk, tick, last)
                    )

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """What was heard about a picture.  Raises: AnswerError, Refused."""
        found = self._heard.get((_key(picture), ratio))
        if found is None:
            raise AnswerError(f"{self.name} was not asked about this picture.")
        if isinstance(found, Exception):
            raise found
        return found

    def _parts(self, desk: _Desk, pictures: Iterable[ByteArray]) -> Iterator[tuple[int, pd.DataFrame]]:
        rows: list[dict[str, Any]] = []
        number = 0
        for picture in pictures:
            key = _key(picture)
            if any(row["photo"] == key for row in rows):
                continue
            self._sizes[key] = picture.shape[1], picture.shape[0]
            rows.append(desk.put(key, _encoded(picture, self._format), number))
            if len(rows) == PART:
                yield number, pd.DataFrame(rows, columns=tables.EDITS.columns)
                rows, number = [], number + 1
        if rows:
            yield number, pd.DataFrame(rows, columns=tables.EDITS.columns)

    def _listener(
        self, service: HttpAtRatio, ratio: float, desk: _Desk, tick: Callable[[int], None], last: bool
    ) -> Callable[[int, pd.DataFrame, pd.DataFrame, PartProgress], None]:
        def done(number: int, asked: pd.DataFrame, scores: pd.DataFrame, progress: PartProgress) -> None:
            del progress
            labels: dict[str, dict[str, float]] = {}
            for photo, label, score in scores[["photo", "label", "score"]].itertuples(index=False):
                labels.setdefault(photo, {})[label] = float(score)
            for photo, status, reason, detail in asked[["photo", "status", "reason", "detail"]].itertuples(index=False):
                explanation = detail or reason
                self._heard[photo, ratio] = self._answer(service, photo, status, explanation, labels.get(photo, {}))
            desk.clear(number)
            tick(len(asked) if last else 0)

        return done

    def _answer(
        self, service: HttpAtRatio, photo: str, status: str, reason: str, labels: dict[str, float]
    ) -> Crop | AnswerError | Refused:
        if status == "refused":
            return Refused(reason)
        return AnswerError(reason) if status == "failed" else service.rectangle(labels, *self._sizes[photo])


class _Desk:
    """A folder for the pictures that are being asked about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[int, list[Path]] = {}

    def __enter__(self) -> _Desk:
        with runfolder.storage(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
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


def opened(
    models: Sequence[Saliency | Cropper | Callable[..., Any]], terms: ScoreConfig, ratios: Sequence[float], seed: int
) -> list[Saliency | Cropper]:
    """The models, functions among them as croppers, those over a network ready to be asked with credentials checked.

    Raises: CredentialsError, UsageError.
    """
    budget = Budget(terms.budget, terms.max_calls)
    ready: list[Saliency | Cropper] = []
    for model in map(as_cropper, models):
        if is_remote(model):
            remote = Remote(cast("Http", model), terms, budget, ratios, seed)
            remote.prepare()
            ready.append(remote)
        else:
            ready.append(model)
    return ready


def confirm(
    models: Sequence[Saliency | Cropper], pictures: Sequence[int], terms: ScoreConfig, executor: Executor
) -> None:
    """Tell what asking services takes, and have it confirmed above ``terms.confirm_above``.

    pictures: for each model, how many it is still to be asked about.

    Raises: ConfigError, UsageError as ``run.scoring.cost.confirm_cost``.
    """
    found = [
        one
        for model, count in zip(models, pictures, strict=True)
        if isinstance(model, Remote)
        for one in model.requests(count)
    ]
    if found:
        confirm_cost(found, terms, executor)


def _encoded(picture: ByteArray, kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "png":
        Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
    else:
        Image.fromarray(picture).save(buffer, "JPEG", quality=95, subsampling=0)
    return buffer.getvalue()


def _key(picture: ByteArray) -> str:
    return hashlib.sha256(f"{picture.shape}".encode() + picture.tobytes()).hexdigest()
