"""SIGKILL at ten moments that found the work under way: grids, tasks, questions about two, editors of others."""

import base64
import io
import json
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image, ImageEnhance

import gslopes
from gslopes.slopes import audit as stages
from tests.attack.children import Child, ended, made
from tests.fake_provider import FakeProvider, two
from tests.fake_provider.folder import write_run
from tests.fixtures import save_empty
from tests.golden import walk
from tests.loopback import QuietHandler, serving

pytestmark = pytest.mark.slow
MOMENTS = 10


@dataclass
class Kind:
    """One kind of run.

    begin: starts or resumes it in a folder.  asked: what was asked so far, by picture and wish, whoever asked.
    in_flight: pictures that are asked at once, and so may be asked again after a kill.
    """

    begin: Callable[[Path], object]
    asked: Callable[[], Counter[Any]]
    in_flight: int


@dataclass
class Brightener:
    """An address that answers a photo and a value with a photo, or pictures with scores; it writes down what it is asked."""

    port: int = 0
    asked: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def answer(self, body: dict[str, Any]) -> tuple[str, bytes]:
        """Type and content of a reply."""
        if "picture" in body:
            picture = base64.b64decode(body["picture"])
            value = body["value"]
            self.asked[sha256(picture).hexdigest(), str(body["attribute"]), str(value)] += 1
            return "image/png", _lighter(picture, 1 + (value or 0) / 10)
        pictures = [base64.b64decode(one) for one in body["pictures"]]
        self.asked.update((sha256(one).hexdigest(),) for one in pictures)
        time.sleep(0.01)
        answers = [{"labels": {"nurse": sha256(one).digest()[0] / 255}} for one in pictures]
        return "application/json", json.dumps({"answers": answers}).encode()


def _lighter(picture: bytes, by: float) -> bytes:
    buffer = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    ImageEnhance.Brightness(image).enhance(by).save(buffer, "PNG")
    return buffer.getvalue()


class Handler(QuietHandler):
    service: Brightener

    def do_POST(self) -> None:  # noqa: N802
        kind, content = self.service.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send(200, content, kind)


class Lamp:
    """An editor of this process that costs money, and notes what it is asked for in a file."""

    def __init__(self, log: Path) -> None:
        self.log = log
        log.touch()

    def __call__(self, image: np.ndarray, value: float | None) -> np.ndarray:
        with self.log.open("a") as log:
            log.write(f"{sha256(image.tobytes()).hexdigest()} {value}\n")
        time.sleep(0.01)
        return np.clip(np.asarray(image, np.float32) + 12 * (value or 0), 0, 255).astype(np.uint8)

    def asked(self) -> Counter[str]:
        return Counter(self.log.read_text().splitlines())


QUICK = {"gate": False, "placebo": False, "device": "cpu", "part": 1, "fit.permutations": 19, "fit.min_varying": 1, "yes": True}


def of_photos(home: Path, **options: Any) -> Callable[[Path], object]:
    """An audit of four drawn photos."""
    home.mkdir()
    walk.draw(home)
    known = {"landmarks": home / "faces.csv", "masks": home / "masks"}
    return lambda run: gslopes.audit(home / "photos", run, **known, **QUICK, cache=f"{run}-cache", **options)


@pytest.fixture
def kind(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kind]:
    monkeypatch.setattr(Figure, "savefig", save_empty)
    monkeypatch.setattr(walk, "PEOPLE", 4)
    with ExitStack() as stack:
        yield getattr(Kinds, request.param)(tmp_path, stack, monkeypatch)


class Kinds:
    """By name."""

    @staticmethod
    def crossed(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        served = stack.enter_context(serving(Brightener(), Handler))
        named = f"http:http://127.0.0.1:{served.port}/,batch=3,concurrency=1,version=1"
        grid = {"attribute": ["gender", "race"], "cross": True, "grid": (3, 3), "editor": "drawn-fader"}
        return Kind(of_photos(home / "in", classifier=named, **grid), lambda: served.asked, 3)

    @staticmethod
    def tasks(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        provider = stack.enter_context(FakeProvider())
        for name, value in provider.environment.items():
            patch.setenv(name, value)

        def begin(run: Path) -> None:
            if not run.exists():
                write_run(run, 3, part=1)
            tasks = ("doctor-or-nurse", "salary")
            stages.score_photos(run, ["llm:some-model,concurrency=1"], tasks=tasks, device="cpu", cache=f"{run}-cache", yes=True)

        def asked() -> Counter[Any]:
            return Counter((call.images, str(call.parameters["text"])) for call in provider.log.of("chat"))

        return Kind(begin, asked, 2)

    @staticmethod
    def two(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        model = stack.enter_context(two.choosing(two.brighter, logprobs=True))

        def begin(run: Path) -> None:
            if not run.exists():
                write_run(run, 3, part=1)
            named = f"{model.name},concurrency=1"
            stages.score_photos(run, [named], tasks=["whom-to-hire"], device="cpu", cache=f"{run}-cache", yes=True)

        return Kind(begin, lambda: Counter(model.asked), 1)

    @staticmethod
    def http_editor(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        served = stack.enter_context(serving(Brightener(), Handler))
        address = f"http:http://127.0.0.1:{served.port}/"
        named = {"editor": f"{address},concurrency=1,price=1", "classifier": f"{address},batch=2,concurrency=1,version=1"}
        return Kind(of_photos(home / "in", steps=3, **named), lambda: served.asked, 2)

    @staticmethod
    def python_editor(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        lamp = Lamp(home / "asked.txt")
        module = home / "lamps.py"
        module.write_text(
            "from pathlib import Path\nfrom tests.attack.test_kills import Lamp\n\n\ndef lamp(image, value):\n"
            f"    return Lamp(Path({str(lamp.log)!r}))(image, value)\n"
        )
        patch.syspath_prepend(str(home))
        begin = of_photos(home / "in", steps=3, editor="python:lamps:lamp,version=1", classifier="python:tests.attack.lights:bright,version=1")
        return Kind(begin, lamp.asked, 1)
