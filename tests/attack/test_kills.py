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
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from PIL import Image, ImageEnhance

import gslopes
from gslopes.slopes import audit as stages
from tests.attack import lights
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
    """An address that answers a photo and a value with a photo, or pictures with scores, and notes what it is asked."""

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
        kind, content = self.service.answer(
            json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        )
        self.send(200, content, kind)


QUICK = {
    "gate": False,
    "placebo": False,
    "device": "cpu",
    "part": 1,
    "fit.permutations": 19,
    "fit.min_varying": 1,
    "yes": True,
}


def of_photos(home: Path, **options: Any) -> Callable[[Path], object]:
    """An audit of four drawn photos."""
    home.mkdir()
    walk.draw(home)
    known = {"landmarks": home / "faces.csv", "masks": home / "masks"}
    return lambda run: gslopes.audit(
        home / "photos", run, **known, **QUICK, cache=f"{run}-cache", **options
    )


@pytest.fixture
def kind(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Kind]:
    monkeypatch.setattr(Figure, "savefig", save_empty)
    monkeypatch.setattr(walk, "PEOPLE", 4)
    with ExitStack() as stack:
        yield getattr(Kinds, request.param)(tmp_path, stack, monkeypatch)


class Kinds:
    """By name."""

    @staticmethod
    def crossed(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        served = stack.enter_context(serving(Brightener(), Handler))
        named = f"http:http://127.0.0.1:{served.port}/,batch=3,concurrency=1,price=1,version=1"
        grid = {"attribute": ["gender", "race"], "cross": True, "grid": (3, 3)}
        return Kind(
            of_photos(home / "in", classifier=named, **grid), lambda: Counter(served.asked), 3
        )

    @staticmethod
    def tasks(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        provider = stack.enter_context(FakeProvider())
        for name, value in provider.environment.items():
            patch.setenv(name, value)

        def begin(run: Path) -> None:
            if not run.exists():
                write_run(run, 3, part=1)
            tasks = ("doctor-or-nurse", "salary")
            stages.score_photos(
                run,
                ["llm:some-model,concurrency=1"],
                tasks=tasks,
                device="cpu",
                cache=f"{run}-cache",
                yes=True,
            )

        def asked() -> Counter[Any]:
            calls = [call for call in provider.log.of("chat") if call.images]
            return Counter((call.images, str(call.parameters["text"])) for call in calls)

        return Kind(begin, asked, 2)

    @staticmethod
    def two(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        model = stack.enter_context(two.choosing(two.brighter, logprobs=True))

        def begin(run: Path) -> None:
            if not run.exists():
                write_run(run, 3, part=1)
            named = f"{model.name},concurrency=1"
            stages.score_photos(
                run, [named], tasks=["whom-to-hire"], device="cpu", cache=f"{run}-cache", yes=True
            )

        return Kind(begin, lambda: Counter(model.asked), 1)

    @staticmethod
    def http_editor(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        served = stack.enter_context(serving(Brightener(), Handler))
        address = f"http:http://127.0.0.1:{served.port}/"
        named = {
            "editor": f"{address},concurrency=1,price=1",
            "classifier": f"{address},batch=2,concurrency=1,price=1,version=1",
        }
        return Kind(of_photos(home / "in", steps=3, **named), lambda: Counter(served.asked), 2)

    @staticmethod
    def python_editor(home: Path, stack: ExitStack, patch: pytest.MonkeyPatch) -> Kind:
        log = home / "asked.txt"
        log.touch()
        patch.setenv(lights.VARIABLE, str(log))
        named = {
            "editor": "python:tests.attack.lights:lamp,version=1",
            "classifier": "python:tests.attack.lights:bright,version=1",
        }
        return Kind(of_photos(home / "in", steps=7, **named), lights.asked, 1)


# -- the kills --------------------------------------------------------------------------------------------------------


def killed_at(kind: Kind, run: Path, asked: int) -> bool:
    """Begin or resume it, and kill it once it has asked something, and so much in all; whether it was at work."""
    before = kind.asked().total()
    child = Child(lambda: kind.begin(run))
    while kind.asked().total() < max(asked, before + 1):
        assert time.monotonic() - child.began < 120
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.02))  # while it is asked, answered, kept, or written down
    child.send(signal.SIGKILL)
    end = child.end()
    assert end.code in (0, -signal.SIGKILL), end.stderr
    begun = (run / "run.json").is_file()
    return end.code != 0 and begun and not (run / "scores.parquet").is_file()


@pytest.mark.parametrize(
    "kind", ["crossed", "tasks", "two", "http_editor", "python_editor"], indirect=True
)
def test_killed_at_ten_moments_under_way_it_ends_as_if_undisturbed_and_asks_nothing_again(
    kind: Kind, tmp_path: Path
):
    run = tmp_path / "run"
    cache = Path(f"{run}-cache")
    begun = kind.asked()
    calm = ended(lambda: kind.begin(run))
    assert calm.code == 0, calm.stderr
    questions = kind.asked() - begun
    tables = made(run)
    assert tables
    assert questions.total() >= 2 * MOMENTS
    shutil.rmtree(run)
    shutil.rmtree(cache, ignore_errors=True)
    begun = kind.asked()
    found = kills = 0
    while found < MOMENTS and kills < 3 * MOMENTS:
        kills += 1
        share = (found + 1) / (MOMENTS + 2)
        found += killed_at(kind, run, begun.total() + int(share * questions.total()))
        asked = kind.asked() - begun
        assert (asked - questions).total() <= kills * kind.in_flight
    assert found == MOMENTS, f"only {found} of {kills} kills found it under way"
    last = ended(lambda: kind.begin(run))
    assert last.code == 0, last.stderr
    assert made(run) == tables
    asked = kind.asked() - begun
    assert set(asked) == set(questions)
    assert (asked - questions).total() <= kills * kind.in_flight
    assert not list(run.rglob("*.tmp"))
