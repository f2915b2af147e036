"""Kills at random moments, and Ctrl-C twice: the same command again ends as an undisturbed one; it ends at once."""

import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from gslopes.export import export
from tests.attack.children import ended, made
from tests.fixtures import save_empty
from tests.frame.audits import AUDITS, in_small_parts

pytestmark = pytest.mark.slow
Work = Callable[[Path], Callable[[], object]]  # a folder to what is done in it


def training(folder: Path) -> Work:
    """A small tagger that saves often."""
    from gslopes.faces import zoo
    from training.drawn import sample
    from training.sets import drawn_chips
    from training.tagger import train_tagger

    faces = sample(64, seed=5)
    spec = zoo.ModelSpec(
        name="small", network="tagger", summary="", licence="", data=(), paper="", recipe="",
        labels=("masculine", "light"), size=32, config={"widths": [8, 8, 16]},
    )  # fmt: skip
    pixels, labels = (
        drawn_chips(faces, 32),
        np.stack([faces.gender > 0, faces.tone > 0], 1).astype(np.float32),
    )

    def train(out: Path) -> None:
        out.mkdir(exist_ok=True)
        weights = train_tagger(
            spec, pixels, labels, np.ones(64), out, steps=60, batch=8, report_every=1, save_every=4
        )
        (out / "weights.safetensors").write_bytes(
            b"".join(weights[key].numpy().tobytes() for key in sorted(weights))
        )

    return lambda out: lambda: train(out)


@pytest.fixture
def work_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Work]:
    """What is to be stopped, by name."""
    monkeypatch.setattr(Figure, "savefig", save_empty)

    def work(name: str) -> Work:
        if name == "training":
            return training(tmp_path)
        if name.startswith("export"):
            source, run = AUDITS["audit"].prepare(tmp_path / "inputs"), tmp_path / "exported"
            AUDITS["audit"].begin(source, run)
            return lambda out: lambda: export(run, name.split()[1], out)
        in_small_parts(monkeypatch, name, AUDITS[name].part)
        source = AUDITS[name].prepare(tmp_path / "inputs")
        return lambda out: lambda: AUDITS[name].begin(source, out)

    return work


NAMES = (
    "captions",
    "contexts",
    "crops",
    "export parquet",
    "export webdataset",
    "export imagefolder",
    "training",
)


@pytest.mark.parametrize("name", NAMES)
def test_killed_ten_times_it_ends_as_if_undisturbed_and_ctrl_c_twice_ends_it_at_once(
    name, work_of, tmp_path
):
    lot = random.Random(name)
    work = work_of(name)
    calm, run = tmp_path / "calm", tmp_path / "run"
    undisturbed = ended(work(calm))
    assert undisturbed.code == 0, undisturbed.stderr
    shortest, turn, attempts = undisturbed.seconds, 0, 0
    while turn < 10:  # stops that found it at work
        attempts += 1
        assert attempts < 60, f"only {turn} of {attempts} attempts were stopped before they ended"
        fresh, moment = not run.exists(), lot.uniform(0.0, 0.9 * shortest)
        twice = [(moment, signal.SIGINT), (lot.uniform(0.01, 0.5), signal.SIGINT)]
        end = ended(work(run), [(moment, signal.SIGKILL)] if turn % 2 else twice)
        assert "Traceback" not in end.stderr
        if end.code == 0:  # it was faster: another one is begun
            shortest = min(shortest, end.seconds) if fresh else shortest
            shutil.rmtree(run)
            continue
        # the kernel ends it by the second Ctrl-C while no other code of Python runs
        assert end.code in ((-signal.SIGKILL,) if turn % 2 else (130, -signal.SIGINT)), end.stderr
        assert end.after < 2
        turn += 1
    last = ended(work(run))
    assert last.code == 0, last.stderr
    assert made(run) == made(calm)
    assert made(run)
    assert not list(run.rglob("*.tmp"))
