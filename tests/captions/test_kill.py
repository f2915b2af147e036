"""Killed at any named place, an audit with a captioner goes on and asks about the batch in flight again, at most."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.sweep import TABLE, measure_sweep
from gslopes.core.killpoints import KILL_POINTS
from gslopes.slopes import audit as stages
from gslopes.slopes.audit import run_fit
from gslopes.slopes.config import FitConfig
from gslopes.words.labels import caption_labels
from tests.core.test_killpoints import in_a_child, kept_answers
from tests.fake_provider.folder import write_run

BATCH = 4
CAPTIONER = f"captioner-python:logged_captions:say,batch={BATCH}"
SOURCE = """
import os
from hashlib import sha256

def say(pictures):
    with open(os.environ["CAPTIONS_LOG"], "a") as log:
        log.writelines(sha256(picture.tobytes()).hexdigest() + "\\n" for picture in pictures)
    return [f"A {'woman' if picture.mean() < 100 else 'man'} on a {'sofa' if picture[0, 0, 0] % 2 else 'couch'}."
            for picture in pictures]
"""
ASKED_AGAIN = ("asked", "scores", "slopes", TABLE.removesuffix(".parquet"))


def counterfactual_captions(run: Path, classifier: str) -> None:
    """The captioner is asked, slopes are fitted, and R2 is read from them."""
    os.environ["CAPTIONS_LOG"] = f"{run}.txt"
    stages.score_photos(run, classifier, yes=True, cache=f"{run}-cache")
    run_fit(run, FitConfig(permutations=20, bootstrap=20))
    measure_sweep(run, AuditOptions(bootstrap=50))


def questions(run: Path) -> list[str]:
    """sha256 of each picture that the captioner was asked about, in order."""
    log = Path(f"{run}.txt")
    return log.read_text().splitlines() if log.exists() else []


@pytest.fixture(scope="module")
def captioned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the function, with an undisturbed run of it for each way of keeping answers."""
    caption_labels()  # read once, here: children are copies of this process
    folder = tmp_path_factory.mktemp("captioned")
    (folder / "logged_captions.py").write_text(SOURCE)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, more in (("cache", ",version=1"), ("journal", "")):
            run = write_run(folder / name, 6, part=3)
            assert in_a_child(lambda run=run, more=more: counterfactual_captions(run, CAPTIONER + more)) == 0
    finally:
        os.chdir(before)
    return folder


KILLS = [(point, time, "cache") for point in KILL_POINTS if not point.startswith("collect:") for time in (1, 4)]
KILLS += [(point, 2, "journal") for point in KILL_POINTS if point.startswith(("answers:", "part:"))]


@pytest.mark.slow
@pytest.mark.parametrize(("point", "time", "kept"), KILLS)
def test_a_captioner_is_asked_again_about_one_batch_at_most_and_the_tables_are_equal(
    captioned: Path, point: str, time: int, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(captioned)
    classifier = CAPTIONER + (",version=1" if kept == "cache" else "")
    run = write_run(tmp_path / "run", 6, part=3)
    code = in_a_child(lambda: counterfactual_captions(run, classifier), f"{point}:{time}")
    assert code == -signal.SIGKILL or (code == 0 and time > 1)
    before = len(questions(run))
    known = kept_answers(run) if code else before
    assert in_a_child(lambda: counterfactual_captions(run, classifier)) == 0
    for name in ASKED_AGAIN:
        assert (run / f"{name}.parquet").read_bytes() == (captioned / kept / f"{name}.parquet").read_bytes(), name
    asked, calm = (Counter(questions(folder)) for folder in (run, captioned / kept))
    assert asked.keys() == calm.keys()
    assert len(calm) == 6 * 7 == calm.total()
    assert asked.total() - before == len(calm) - known  # of what was kept nothing is asked again
    assert asked.total() - len(asked) == before - known
    # while a part is written the next batch may be in flight, and a kill loses that
    assert before - known == BATCH if point == "answers:asked" and code else 0 <= before - known <= BATCH
    assert not list(run.rglob("*.tmp"))
