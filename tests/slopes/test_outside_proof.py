"""Our own editor behind an address is our own editor; whatever kills a run, nothing is asked for twice."""

import base64
import hashlib
import json
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import BudgetReached
from gslopes.core.records import ByteArray
from gslopes.photos.decode import decode
from gslopes.slopes.audit import audit, synthesise
from tests.core.test_killpoints import in_a_child
from tests.fixtures import Faces
from tests.loopback import QuietHandler, serving

ASTRONAUT = Path("gslopes/slopes/data/astronaut.webp")
pytestmark = pytest.mark.slow


class Service:
    """Answers with what ``draw`` makes of the picture and the value; counts what it is asked for."""

    port = 0

    def __init__(self, draw: Callable[[bytes, Any], bytes]) -> None:
        self.draw = draw
        self.asked: Counter[tuple[str, Any]] = Counter()
        self.lock = threading.Lock()

    @property
    def editor(self) -> str:
        return f"http:http://127.0.0.1:{self.port}/edit,concurrency=4"


class Handler(QuietHandler):
    def do_POST(self) -> None:  # noqa: N802
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = base64.b64decode(sent["picture"])
        with self.service.lock:
            self.service.asked[hashlib.sha256(data).hexdigest(), sent["value"]] += 1
        self.send(200, self.service.draw(data, sent["value"]), "image/png")


def png(pixels: ByteArray) -> bytes:
    return cv2.imencode(".png", pixels[..., ::-1])[1].tobytes()


def lighter(data: bytes, value: float | None) -> bytes:
    pixels, _, _ = decode(data, "photo")
    return png(np.clip(pixels + np.float32(12 * (value or 0)), 0, 255).astype(np.uint8))


def bright(picture: Any) -> dict[str, float]:
    return {"bright": float(np.mean(picture) / 255)}


# -- our own editor ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    pixels, _, _ = decode(ASTRONAUT.read_bytes(), ASTRONAUT)
    variants = {"as-it-is": pixels, "mirrored": pixels[:, ::-1], "darker": pixels // 4 * 3}
    for name, variant in variants.items():
        (folder / f"{name}.png").write_bytes(png(variant))
    return folder


@pytest.mark.evidence
def test_our_editor_behind_an_address_gives_the_same_pictures_and_slopes(
    photos: Path, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"classifier": bright, "format": "png", "cache": tmp_path / "cache"}
    ours = audit(photos, tmp_path / "ours", editor="gender-field", **given)
    values = ours.tables["edits"].query("attribute == 'gender'").groupby("step")["value"].first()

    def drawn(data: bytes, value: float | None) -> bytes:
        step = int((values - (value or 0)).abs().idxmin())
        name = hashlib.sha256(data).hexdigest()[:16]
        return (ours.folder / f"edits/gender/{name}-{step}.png").read_bytes()

    with serving(Service(drawn), Handler) as service:
        theirs = audit(photos, tmp_path / "theirs", editor=service.editor, blend="whole", **given)
    assert {*service.asked.values()} == {1}
    assert len(service.asked) == 3 * (len(values) + 1)
    pictures = sorted(path.name for path in (ours.folder / "edits" / "gender").iterdir())
    assert len(pictures) == 3 * len(values)
    for name in pictures:
        one, other = (
            (walk.folder / "edits" / "gender" / name).read_bytes() for walk in (ours, theirs)
        )
        assert one == other, name
    editing = pd.read_parquet(theirs.folder / "editing.parquet")
    assert {*editing["status"]} == {"answered"}
    assert editing["moved"].max() == 0
    columns = ["label", "estimator", "n", "y_centre", "slope", "intercept", "se", "t", "p"]
    one, other = (
        walk.tables["slopes"].query("attribute == 'gender'")[columns].reset_index(drop=True)
        for walk in (ours, theirs)
    )
    assert len(one)
    pd.testing.assert_frame_equal(one, other, check_exact=True)


# -- kills -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def faces(draw: Callable[..., Faces]) -> Faces:
    return draw(4)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Service(lighter), Handler) as service:
        yield service


def begin(
    service: Service, faces: Faces, run: Path, cache: Path, more: str = "", **options: Any
) -> Any:
    given = {**faces.known, "placebo": True, "gate": False, "steps": 3, "part": 2, **options}
    editor = service.editor + more
    return synthesise(faces.photos, run, editor=editor, cache=cache, yes=True, **given)


def content(run: Path) -> dict[str, Any]:
    named = {
        table.name: run / f"{table.name}.parquet"
        for table in (tables.EDITS, tables.EDITING, tables.PHOTOS)
    }
    pictures = {
        path.relative_to(run).as_posix(): path.read_bytes() for path in run.glob("edits/*/*")
    }
    return pictures | {name: path.read_bytes() for name, path in named.items()}


@pytest.mark.evidence
def test_killed_at_ten_moments_nothing_is_asked_for_twice(
    service: Service, faces: Faces, tmp_path: Path
) -> None:
    undisturbed = begin(service, faces, tmp_path / "undisturbed", tmp_path / "other-cache")
    assert len(service.asked) == 16
    service.asked.clear()
    run = tmp_path / "run"
    moments = ["answers:kept:1", "answers:kept:3", "file:temporary:2", "answers:kept:2"]
    moments += [
        "file:placed:5",
        "part:whole:1",
        "table:temporary:1",
        "answers:kept:1",
        "answers:kept:4",
    ]
    moments += ["part:whole:1", "merge:half:1", "table:placed:4", "merge:written:1"]
    codes = []
    for moment in moments:
        codes.append(in_a_child(lambda: begin(service, faces, run, tmp_path / "cache"), moment))
        if codes[-1] == 0:  # finished before that moment: the next kill meets a new folder
            shutil.rmtree(run)
    assert codes.count(-signal.SIGKILL) >= 10, codes
    begin(service, faces, run, tmp_path / "cache")
    assert len(service.asked) == 16
    # with four in flight, an answer may be on its way at the moment of the kill
    assert sum(service.asked.values()) <= 16 + 3 * sum("answers" in moment for moment in moments)
    assert content(run) == content(undisturbed.folder)


@pytest.mark.evidence
def test_one_at_a_time_killed_after_every_answer_nothing_is_asked_for_twice(
    service: Service, faces: Faces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Service,
        "editor",
        property(lambda self: f"http:http://127.0.0.1:{self.port}/edit,concurrency=1"),
    )
    kills = 0
    while in_a_child(
        lambda: begin(service, faces, tmp_path / "run", tmp_path / "cache"), "answers:kept:1"
    ):
        kills += 1
        assert kills < 30
    assert kills == 16
    assert {*service.asked.values()} == {1}
    assert len(service.asked) == 16


@pytest.mark.evidence
def test_two_processes_ask_for_each_wish_once(
    service: Service, faces: Faces, tmp_path: Path
) -> None:
    children = []
    for name in ("one", "two"):
        child = os.fork()
        if child == 0:
            try:
                begin(service, faces, tmp_path / name, tmp_path / "cache")
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert len(service.asked) == 16
    assert {*service.asked.values()} == {1}
    assert content(tmp_path / "one") == content(tmp_path / "two")
    shutil.rmtree(tmp_path / "one")


# -- a budget, and Ctrl-C ----------------------------------------------------------------------------------------------


@pytest.mark.evidence
def test_a_budget_is_never_passed_and_a_larger_one_goes_on_from_there(
    service: Service, faces: Faces, tmp_path: Path
) -> None:
    places = tmp_path / "run", tmp_path / "cache"
    priced = ",price=100"  # 10 cents a picture
    for budget, paid in ((0.35, 3), (0.5, 8)):  # of each command
        with pytest.raises(BudgetReached, match="the same command with a larger --budget goes on"):
            begin(service, faces, *places, priced, budget=budget)
        assert len(service.asked) == paid
    begin(service, faces, *places, priced, budget=2.0)
    assert len(service.asked) == 16
    assert {*service.asked.values()} == {1}
    undisturbed = begin(service, faces, tmp_path / "undisturbed", tmp_path / "other-cache")
    assert content(tmp_path / "run") == content(undisturbed.folder)


@pytest.mark.evidence
def test_after_control_c_what_was_on_its_way_is_kept(faces: Faces, tmp_path: Path) -> None:
    def slowly(data: bytes, value: float | None) -> bytes:
        time.sleep(0.3)
        return lighter(data, value)

    places = tmp_path / "run", tmp_path / "cache"
    with serving(Service(slowly), Handler) as service:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                begin(service, faces, *places)
            except KeyboardInterrupt:
                code = 130
            finally:
                os._exit(code)
        while sum(service.asked.values()) < 5:
            time.sleep(0.01)
        os.kill(child, signal.SIGINT)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
        assert 5 <= len(service.asked) < 12
        begin(service, faces, *places)
    assert len(service.asked) == 16
    assert {*service.asked.values()} == {1}
