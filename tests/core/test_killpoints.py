"""Every named kill point: the process dies there, and the same command again ends as an undisturbed one does."""

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

from gslopes.ask.cache import FILE
from gslopes.collect.config import CollectConfig
from gslopes.collect.photos import collect, plan_collection
from gslopes.core import tables
from gslopes.core.killpoints import KILL_POINTS, VARIABLE
from gslopes.core.records import Answer
from gslopes.core.tables import MANIFEST
from gslopes.core.traits import Limits, Traits
from gslopes.slopes import audit as stages
from tests.collect.server import PhotoServer, aim, serving
from tests.fake_provider.folder import write_run

ROOT = Path(__file__).resolve().parents[2]
PHOTOS, STEPS = 6, 7


class Service:
    """Is cached, answers by the picture, and writes down what it is asked."""

    name, version, batch = "service", "1", 4
    traits = Traits(Limits(price=1.0), cached=True)

    def __init__(self, log: Path) -> None:
        self.log = log

    def ask(self, pictures: list[bytes]) -> list[object]:
        with self.log.open("a") as log:
            log.writelines(f"{sha256(picture).hexdigest()}\n" for picture in pictures)
        return [{"size": len(picture) / 1e6} for picture in pictures]

    def parse(self, raw: dict[str, float]) -> Answer:
        return Answer("answered", tuple(raw.items()), version="m")


def in_a_child(work: Callable[[], object], kill_at: str = "") -> int:
    """Do it in a copy of this process; its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            if kill_at:
                os.environ[VARIABLE] = kill_at
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kept_answers(run: Path) -> int:
    """How many answers the cache, or the run's own journal, holds."""
    count = 0
    for folder in (Path(f"{run}-cache"), *run.rglob("journal")):
        for file in folder.glob(FILE):
            with closing(sqlite3.connect(file)) as database:
                count += database.execute("SELECT count(*) FROM answers").fetchone()[0]
    return count


def test_every_kill_point_is_reached_somewhere_and_known():
    used = {
        name
        for path in (ROOT / "gslopes").rglob("*.py")
        for name in re.findall(r'\bkill_point\("([a-z:]+)"\)', path.read_text())
    }
    assert used == set(KILL_POINTS)


@pytest.mark.slow
@pytest.mark.parametrize("point", [one for one in KILL_POINTS if not one.startswith("collect:")])
@pytest.mark.parametrize("time", [1, 2])
def test_a_kill_while_classifiers_are_asked(point, time, tmp_path):
    def scoring(run: Path, log: Path) -> Callable[[], object]:
        log.touch()
        return lambda: stages.score_photos(run, Service(log), yes=True, cache=str(run) + "-cache")

    calm, killed = (write_run(tmp_path / name, PHOTOS, part=3) for name in ("calm", "killed"))
    assert in_a_child(scoring(calm, tmp_path / "calm.txt")) == 0
    code = in_a_child(scoring(killed, tmp_path / "killed.txt"), f"{point}:{time}")
    assert code in (-9, 0)
    assert code == -9 or time > 1
    before = len((tmp_path / "killed.txt").read_text().splitlines())
    known = kept_answers(killed)
    assert in_a_child(scoring(killed, tmp_path / "killed.txt")) == 0
    for table in (tables.SCORES, tables.ASKED):
        frames = [tables.read(table, folder / f"{table.name}.parquet") for folder in (calm, killed)]
        pd.testing.assert_frame_equal(*frames)
    asked, undisturbed = (
        (tmp_path / f"{name}.txt").read_text().splitlines() for name in ("killed", "calm")
    )
    assert set(asked) == set(undisturbed)
    assert (
        len(asked) - before == len(undisturbed) - known
    )  # of what was kept nothing is asked again
    in_flight = Service.batch if point == "answers:asked" else 0
    assert len(asked) - len(set(asked)) <= in_flight
    assert not list(killed.rglob("*.tmp"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [one for one in KILL_POINTS if one.startswith(("collect:", "file:", "merge:"))]
)
def test_a_kill_while_photos_are_collected(point, tmp_path, monkeypatch, noise_photos):
    def collecting(server: PhotoServer, out: Path) -> Callable[[], object]:
        urls = "\n".join(url for url, _ in server.results("chef")[:6])
        (tmp_path / "list.txt").write_text(urls + "\n")
        config = CollectConfig(source=f"urls:{tmp_path / 'list.txt'}", gap=0.0, min_side=8)
        return lambda: collect(plan_collection(config, out))

    with serving(PhotoServer(noise_photos)) as server:
        aim(server.base, monkeypatch.setattr)
        assert in_a_child(collecting(server, tmp_path / "calm")) == 0
        assert in_a_child(collecting(server, tmp_path / "killed"), point) == -9
        assert in_a_child(collecting(server, tmp_path / "killed")) == 0
    frames = [
        tables.read(MANIFEST, tmp_path / name / "manifest.parquet").drop(columns="retrieved")
        for name in ("calm", "killed")
    ]
    pd.testing.assert_frame_equal(*frames)
    assert set(frames[0]["status"]) == {"kept"}


@pytest.fixture
def noise_photos(tmp_path: Path) -> Path:
    import numpy as np
    from PIL import Image

    (tmp_path / "photos/chef").mkdir(parents=True)
    for number in range(6):
        noise = np.random.default_rng(number).integers(0, 256, (64, 64, 3), np.uint8)
        Image.fromarray(noise).save(tmp_path / f"photos/chef/{number}.jpg")
    return tmp_path / "photos"
