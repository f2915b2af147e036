"""R2: where captions change from one gender's words to the other's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gslopes.captions.cli import captions
from gslopes.captions.config import AuditOptions
from gslopes.captions.sweep import (
    is_audit,
    measure_sweep,
    new_concept_rows,
    slope_rows,
    states,
    switch,
    switch_rows,
)
from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.words.labels import caption_labels


def audited(
    run: Path,
    classifier: str,
    labels: Callable[[float], Iterable[str]],
    share: Callable[[int, float], float] = lambda photo, value: 1.0,
) -> Path:
    """The tables of an audit of twelve photos.  share: of a photo's captions at a value that have its labels."""
    asked, scores = [], []
    for photo in range(12):
        for step, value in enumerate(np.linspace(-2, 2, 7)):
            key = (f"{photo:064x}", "gender", step)
            asked.append((*key, classifier, "answered", "", ""))
            scores += [(*key, value, classifier, label, share(photo, value)) for label in labels(value)]
    frames = [pd.DataFrame(rows, columns=t.columns) for rows, t in ((asked, tables.ASKED), (scores, tables.SCORES))]
    found = analyse(frames[1], frames[0], options=FitOptions(bootstrap=0, permutations=99)).slopes
    run.mkdir()
    for table, frame in ((tables.ASKED, frames[0]), (tables.SCORES, frames[1]), (tables.SLOPES, found)):
        runfolder.write_table(table, frame, run / f"{table.name}.parquet")
    runfolder.write_json(run / runfolder.MANIFEST, {"config": {}})
    return run


def test_r2_of_a_captioner_that_switches_at_the_centre(tmp_path: Path):
    labels = {
        side: caption_labels().labels(f"A {word} on a bench.") for side, word in ((True, "man"), (False, "woman"))
    }
    run = audited(tmp_path / "run", "captioner-python:a:b", lambda value: labels[bool(value > 0.1)])
    assert is_audit(run)
    found = measure_sweep(run).set_index("concept")
    assert found.loc["mention:man", "value"] == -found.loc["mention:woman", "value"] > 20
    assert found.loc["switches", "value"] == 1
    assert found.loc["value of the switch", "value"] == pytest.approx(1 / 3)
    assert set(found["technique"]) == {"R2", "S1"}
    done = CliRunner().invoke(captions, ["sweep", str(run)], standalone_mode=False, catch_exceptions=False)
    assert "value of the switch" in done.output
    assert "captioner-python:a:b" in done.output


def test_a_run_without_a_captioner_is_a_usage_error(tmp_path: Path):
    run = audited(tmp_path / "run", "celeba-tagger", lambda value: ("Male",) if value > 0 else ("Young",))
    with pytest.raises(UsageError, match="captioner"):
        measure_sweep(run)


VALUES = {0: -2.0, 1: -1.0, 2: 0.0, 3: 1.0, 4: 2.0}


def said(*genders: str) -> pd.Series:
    return pd.Series(dict(zip(VALUES.values(), genders, strict=True)))


@pytest.mark.parametrize(
    ("genders", "kind", "value"),
    [
        (("woman", "woman", "man", "man", "man"), "switches", -0.5),
        (("woman", "none", "none", "none", "man"), "switches", 0.0),
        (("man", "woman", "woman", "woman", "woman"), "switches", -1.5),
        (("woman", "man", "woman", "man", "man"), "mixed", np.nan),
        (("woman", "both", "man", "man", "man"), "mixed", np.nan),
        (("none", "none", "man", "none", "none"), "man", np.nan),
        (("none",) * 5, "none", np.nan),
    ],
)
def test_a_photo_switches_half_way_between_the_words(genders: tuple[str, ...], kind: str, value: float):
    found = switch(said(*genders))
    assert found[0] == kind
    assert found[1] == pytest.approx(value, nan_ok=True)


def sweep(photos: int) -> dict[tuple[str, int], set[str]]:
    """Every second photo says woman below 0 and man from there on, the others person; a necktie at the last value."""
    labels = {}
    for photo in range(photos):
        for step, value in VALUES.items():
            word = ("woman" if value < 0 else "man") if photo % 2 else "person"
            tie = {"synset:necktie.n.01"} if step == 4 else set()
            labels[str(photo), step] = {f"mention:{word}", "synset:person.n.01", *tie}
    return labels


def test_shares_and_the_mean_value_of_the_switch():
    table = states(sweep(20), VALUES)
    assert table.shape == (20, 5)
    rows = {row["concept"]: row for row in switch_rows(table, "gender", AuditOptions(bootstrap=200))}
    assert (rows["switches"]["value"], rows["no gender word"]["value"]) == (0.5, 0.5)
    at = rows["value of the switch"]
    assert (at["value"], at["active"], at["boot_low"], at["boot_high"]) == (-0.5, 10, -0.5, -0.5)


def test_what_the_caption_at_the_centre_does_not_name():
    rows = {row["concept"]: row["value"] for row in new_concept_rows(sweep(10), VALUES, "gender")}
    expected = {f"new concept at {value:+.2f}": float(value == 2) for value in VALUES.values() if value}
    assert rows == expected


def test_slopes_are_as_they_were_fitted_with_their_placebos():
    slopes = {"attribute": "gender", "estimator": "photo-rate", "label": "mention:man", "n": 30, "active": 20}
    slopes |= {"slope": 12.5, "ci_low": 9.0, "ci_high": 16.0, "p_perm": 0.001, "q": 0.002}
    placebos = pd.DataFrame([{"label": "mention:man", "estimator": "photo-rate", "placebo_slope": s} for s in (-1, 2)])
    (row,) = slope_rows(pd.DataFrame([slopes]), placebos, "gender")
    assert (row["value"], row["unit"], row["technique"]) == (12.5, "pp per unit", "R2")
    assert row["note"] == "placebos -1.0 to +2.0"


def test_a_word_in_practically_all_captions_is_judged_by_its_share_of_them(tmp_path: Path):
    """With several captions a picture: its presence never varies, the log-odds of its share do."""
    rng = np.random.default_rng(0)
    lift = rng.normal(0, 0.2, 12)

    def share(photo: int, value: float) -> float:
        return float(1 / (1 + np.exp(-(0.3 * value + lift[photo] * value))))

    run = audited(tmp_path / "run", "captioner-python:a:b", lambda value: ["mention:man"], share)
    (row,) = slope_rows(tables.read(tables.SLOPES, run / "slopes.parquet"), tables.PLACEBOS.empty(), "gender")
    assert row["unit"] == "log-odds per unit"
    assert row["estimator"] == "mean of each photo's slope of log-odds"
    assert row["value"] == pytest.approx(0.3 + lift.mean(), abs=1e-3)
    assert row["ci_low"] < row["value"] < row["ci_high"]
    done = CliRunner().invoke(captions, ["sweep", str(run)], standalone_mode=False, catch_exceptions=False)
    (line,) = [one for one in done.output.splitlines() if "mention:man" in one]
    assert "log-odds per unit" in line
    assert "q –" not in line
