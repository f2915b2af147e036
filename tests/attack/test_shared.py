"""Several processes on one cache and one budget: nothing is asked twice, and no more is spent than was agreed to."""

import signal
import time
from collections import Counter
from functools import partial
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.records import Answer
from gslopes.core.traits import Limits, Traits
from gslopes.slopes import audit as stages
from tests.attack.children import Child, ended
from tests.fake_provider.folder import write_run

pytestmark = pytest.mark.slow
PHOTOS, PICTURES = 8, 56


class Service:
    """Costs a dollar a picture, takes its time, and writes down who asked what."""

    name, version = "service", "1"

    def __init__(self, log: Path, batch: int, who: str = "", concurrency: int = 1) -> None:
        self.log, self.batch, self.who = log, batch, who
        self.traits = Traits(Limits(price=1000.0, concurrency=concurrency), cached=True)

    def ask(self, pictures: list[bytes]) -> list[object]:
        lines = "".join(f"{self.who} {sha256(picture).hexdigest()}\n" for picture in pictures)
        with self.log.open("a") as log:
            log.write(lines)
        time.sleep(0.01)
        return [{"size": len(picture) / 1e6} for picture in pictures]

    def parse(self, raw: dict[str, float]) -> Answer:
        return Answer("answered", tuple(raw.items()), version="m")


@pytest.mark.parametrize("kill", [False, True], ids=["calm", "one killed"])
@pytest.mark.parametrize(
    ("processes", "batch", "concurrency", "budget"),
    [(2, 1, 1, 99), (2, 4, 2, 20), (3, 4, 1, 19), (4, 1, 4, 10), (2, 16, 1, 30)],
)
def test_nothing_is_asked_twice_and_nobody_spends_more_than_agreed(
    processes, batch, concurrency, budget, kill, tmp_path
):
    log = tmp_path / "asked.txt"
    log.touch()
    runs = [write_run(tmp_path / f"run{number}", PHOTOS, part=2) for number in range(processes)]
    service = partial(Service, log, batch, concurrency=concurrency)

    def scoring(number: int, usd: float):
        options = {"cache": tmp_path / "cache", "budget": usd, "yes": True}
        return lambda: stages.score_photos(runs[number], service(str(number)), **options)

    children = [Child(scoring(number, budget)) for number in range(processes)]
    if kill:
        time.sleep(0.3)
        children[0].send(signal.SIGKILL)
    ends = [child.end() for child in children]
    text = "".join(end.stderr for end in ends)
    assert {end.code for end in ends} <= {0, 1, 2, -signal.SIGKILL}, text
    assert "Traceback" not in text
    questions = [line.split() for line in log.read_text().splitlines()]
    assert max(Counter(who for who, _ in questions).values()) <= budget, text
    in_flight = batch * concurrency if kill else 0
    assert len(questions) - len({picture for _, picture in questions}) <= in_flight
    for number in range(processes):  # and with enough money, each ends with the same answers
        assert ended(scoring(number, PICTURES)).code == 0
    questions = [line.split()[1] for line in log.read_text().splitlines()]
    assert len(set(questions)) == PICTURES
    assert len(questions) <= PICTURES + in_flight
    first, *others = (tables.read(tables.SCORES, run / "scores.parquet") for run in runs)
    for second in others:
        pd.testing.assert_frame_equal(first, second)


def test_two_in_one_run_folder_are_a_sentence(tmp_path):
    run = write_run(tmp_path / "run", PHOTOS, part=2)
    (tmp_path / "log").touch()
    service = Service(tmp_path / "log", 1)
    work = lambda: stages.score_photos(run, service, cache=tmp_path / "cache", yes=True)  # noqa: E731
    first = Child(work)
    time.sleep(0.2)
    second = ended(work)
    assert first.end().code == 0
    assert second.code == 1
    assert second.stderr.startswith("gslopes: Another process is working in ")
    assert len((tmp_path / "log").read_text().splitlines()) == PICTURES
