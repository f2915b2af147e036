from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gslopes.captions.cli import captions
from gslopes.captions.sweep import is_audit, measure_sweep
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.fit import FitOptions, analyse
from gslopes.language.labels import labeller


def audited(run: Path, classifier: str, labels: Callable[[float], Iterable[str]]) -> Path:
    """The tables of an audit of twelve photos."""
    asked, scores = [], []
    for photo in range(12):
        for step, value in enumerate(np.linspace(-2, 2, 7)):
            key = (f"{photo:064x}", "gender", step)
            asked.append((*key, classifier, "answered", "", ""))
            scores += [(*key, value, classifier, label, 1.0) for label in labels(value)]
    frames = [pd.DataFrame(rows, columns=t.columns) for rows, t in ((asked, tables.ASKED), (scores, tables.SCORES))]
    found = analyse(frames[1], frames[0], options=FitOptions(bootstrap=0, permutations=99)).slopes
    run.mkdir()
    for table, frame in ((tables.ASKED, frames[0]), (tables.SCORES, frames[1]), (tables.SLOPES, found)):
        runfolder.write_table(table, frame, run / f"{table.name}.parquet")
    runfolder.write_json(run / runfolder.MANIFEST, {"config": {}})
    return run


def test_r2_of_a_captioner_that_switches_at_the_centre(tmp_path: Path):
    labels = {side: labeller().labels(f"A {word} on a bench.") for side, word in ((True, "man"), (False, "woman"))}
    run = audited(tmp_path / "run", "captioner-python:a:b", lambda value: labels[bool(value > 0.1)])
    assert is_audit(run)
    found = measure_sweep(run).set_index("concept")
    assert found.loc["mention:man", "value"] == -found.loc["mention:woman", "value"] > 20
    assert found.loc["switches", "value"] == 1
    assert found.loc["value of the switch", "value"] == pytest.approx(1 / 3)
    assert set(found["technique"]) == {"R2", "S1"}
    done = CliRunner().invoke(captions, [str(run)], standalone_mode=False, catch_exceptions=False)
    assert "value of the switch" in done.output
    assert "captioner-python:a:b" in done.output


def test_a_run_without_a_captioner_is_a_usage_error(tmp_path: Path):
    run = audited(tmp_path / "run", "celeba-tagger", lambda value: ("Male",) if value > 0 else ("Young",))
    with pytest.raises(UsageError, match="captioner"):
        measure_sweep(run)
