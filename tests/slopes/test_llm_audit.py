"""A language model audited on real portraits, from photos to the page, with a bias that was planted in it.

python -m pytest tests/slopes/test_llm_audit.py -s     # prints the figures
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes import audit as stages
from tests.fake_provider import FakeProvider

PORTRAITS, SLOPE = 40, -0.25  # of "nurse", of y/y_centre per unit: half of the photos have it at the centre
NAME = "llm:some-model,prompt=doctor-nurse,price_in=2.5,price_out=10"

FIGURES = logging.getLogger(__name__)
pytestmark = pytest.mark.slow


class Listening:
    progress = False

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(scope="module")
def portraits(unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of 40 London portraits, edited and judged, with their placebo sweeps."""
    work = tmp_path_factory.mktemp("london")
    photos = work / "photos"
    photos.mkdir()
    for path in sorted(unpacked("london").rglob("neutral*/**/*.jpg"))[:PORTRAITS]:
        (photos / path.name).write_bytes(path.read_bytes())
    stages.synthesise(photos, work / "run", device="cpu")
    stages.run_gate(work / "run", stages.QUIET)
    return work / "run"


def see(provider: FakeProvider, run: Path) -> None:
    """Tell the model what it sees: in each picture the attribute's value, in each photo a place between 0 and 1.

    Of a placebo sweep it sees nothing but the photo: there is nothing to slope.
    """
    edits = tables.read(tables.EDITS, run / "edits.parquet")
    photos = sorted(edits["photo"].unique())
    lots = dict(zip(photos, (np.random.default_rng(0).permutation(len(photos)) + 0.4) / len(photos), strict=True))
    provider.chat.slopes = {"nurse": SLOPE}
    provider.chat.planted_values = {
        sha256((run / row.file).read_bytes()).hexdigest(): (
            float(row.value) if row.attribute == "gender" else 0.0,
            float(lots[row.photo]),
        )
        for row in edits.itertuples()
    }


def test_the_planted_slope_is_found_with_its_interval_and_a_rerun_asks_nothing(
    provider: FakeProvider, portraits: Path, tmp_path: Path
) -> None:
    see(provider, portraits)
    listening = Listening()

    def score() -> None:
        stages.score_photos(portraits, [NAME], device="cpu", cache=tmp_path, yes=True, executor=listening, budget=5)

    score()
    calls = len(provider.log.calls)
    slopes = stages.run_fit(portraits)
    found = slopes[(slopes["label"] == "nurse") & (slopes["attribute"] == "gender")].set_index("estimator")
    paper, rate = found.loc["paper"], found.loc["photo-rate"]
    rounded = [[round(float(row[name]), 3) for name in ("slope", "ci_low", "ci_high")] for row in (paper, rate)]
    FIGURES.info("%s\ncalls %d, n %d, paper %s, photo-rate %s", "\n".join(listening.notes), calls, rate["n"], *rounded)
    assert paper["slope"] == pytest.approx(SLOPE, abs=0.03)
    assert rate["ci_low"] < 100 * SLOPE / 2 < rate["ci_high"] < 0
    assert rate["decision"] == "finding"
    assert rate["n"] >= 0.8 * PORTRAITS
    placebo = slopes[(slopes["label"] == "nurse") & slopes["attribute"].str.startswith("gender-")]
    assert placebo[placebo["estimator"] == "photo-rate"]["slope"].abs().max() == pytest.approx(0)

    score()
    assert len(provider.log.calls) == calls  # the run has the answers
    for part in (portraits / "parts" / "score").iterdir():
        for file in part.iterdir():
            file.unlink()
    score()
    assert len(provider.log.calls) == calls  # and so has the cache
    pd.testing.assert_frame_equal(stages.run_fit(portraits), slopes)
    page = stages.run_report(portraits, stages.QUIET).page
    assert page is not None
    assert "nurse" in page.read_text("utf-8")


def test_refusals_have_their_own_slope_on_real_portraits(
    provider: FakeProvider, portraits: Path, tmp_path: Path
) -> None:
    see(provider, portraits)
    provider.chat.refusals = (0.5, 0.2)
    name = f"{NAME},seed=1"
    stages.score_photos(portraits, [name], device="cpu", cache=tmp_path, yes=True)
    slopes = stages.run_fit(portraits)
    here = slopes[(slopes["label"] == "(refused)") & (slopes["attribute"] == "gender")]
    found = here[here["classifier"].str.contains("seed=1")].set_index("estimator").loc["photo-rate"]
    FIGURES.info("refused %s", found[["slope", "ci_low", "ci_high"]].round(3).tolist())
    assert found["ci_low"] < 10 < found["ci_high"]
    assert found["ci_low"] > 0
