"""R2: where captions along a sweep change from one gender's words to the other's, beside the placebos."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import runfolder, tables
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.page import write_report
from gslopes.slopes.page.switches import kinds
from gslopes.words.labels import caption_labels

VALUES = np.linspace(-2, 2, 5)
NAME = "captioner-python:a:b"


def draw(run: Path, kind: str = "mention") -> Path:
    """Twelve photos that a captioner calls woman below some value of each and man above it; a still placebo."""
    said = {word: caption_labels().labels(f"A {word} on a bench.") for word in ("man", "woman")}
    asked, scores, steps = [], [], np.linspace(-2, 2, 7)
    for photo in range(12):
        for sweep, edge in (("gender", 0.1 + 0.1 * (photo - 6)), ("gender-same", photo - 6)):
            for step, value in enumerate(steps):
                key = (f"{photo:064x}", sweep, step)
                asked.append((*key, NAME, "answered", "", ""))
                labels = said["man" if (0 if sweep == "gender-same" else value) > edge else "woman"]
                names = dict.fromkeys(label.replace("mention", kind) for label in labels)
                scores += [(*key, value, NAME, label, 1.0) for label in names]
    asked[3] = (*asked[3][:4], "refused", "", "")
    scores = [row for row in scores if row[:3] != asked[3][:3]]
    frames = [
        pd.DataFrame(rows, columns=t.columns)
        for rows, t in ((asked, tables.ASKED), (scores, tables.SCORES))
    ]
    slopes = analyse(frames[1], frames[0], options=FitOptions(permutations=99)).slopes
    run.mkdir()
    for table, frame in (
        (tables.ASKED, frames[0]),
        (tables.SCORES, frames[1]),
        (tables.SLOPES, slopes),
    ):
        runfolder.write_table(table, frame, run / f"{table.name}.parquet")
    values = {"gender": steps.tolist(), "gender-same": steps.tolist()}
    runfolder.write_json(run / runfolder.MANIFEST, {"config": {}, "values": values})
    return run


@pytest.mark.row("captions-supplement")
def test_a_captioner_switches_near_the_centre_and_along_a_placebo_never(tmp_path: Path):
    page = write_report(draw(tmp_path / "run"), embed="none").read_text("utf-8")
    rows = pd.read_csv(tmp_path / "run/report/switches.csv").set_index("attribute")
    assert rows.loc["gender", ["photos", "switch", "mixed"]].tolist() == [
        11,
        11,
        0,
    ]  # one photo was refused once
    assert rows.loc["gender-same", ["photos", "switch", "woman", "man"]].tolist() == [12, 0, 6, 6]
    own = rows.loc["gender"]
    # photos 1 to 11 change half-way between the two of seven values that their edge lies between
    steps, edges = np.linspace(-2, 2, 7), 0.1 + 0.1 * (np.arange(1, 12) - 6)
    truth = np.mean(
        [(steps[steps <= edge].max() + steps[steps > edge].min()) / 2 for edge in edges]
    )
    assert own["value"] == pytest.approx(truth)
    assert own["value_low"] < own["value"] < own["value_high"]
    said = f"change from one gender's words to the other's on 11 of 11 photos, at +{truth:.3f} ["
    assert f"Along perceived gender, captions by {NAME} {said}" in page.replace("&#39;", "'")
    assert "<td>the same picture</td><td>12</td><td>0</td><td>6</td><td>6</td>" in page


def test_other_classifiers_have_no_such_table_and_an_earlier_one_goes(tmp_path: Path):
    run = draw(tmp_path / "run", kind="word")
    (run / "report").mkdir()
    (run / "report/switches.csv").write_text("of captions", "utf-8")
    assert 'id="switches"' not in write_report(run, embed="none").read_text("utf-8")
    assert not (run / "report/switches.csv").exists()


@pytest.mark.parametrize(
    ("genders", "kind", "value"),
    [
        ("w w m m m", "switch", -0.5),
        ("w - - - m", "switch", 0.0),
        ("m w w w w", "switch", -1.5),
        ("w m w m m", "mixed", np.nan),
        ("w wm m m m", "mixed", np.nan),
        ("- - m - -", "man", np.nan),
        ("w - - w w", "woman", np.nan),
        ("- - - - -", "none", np.nan),
    ],
)
def test_a_photo_switches_half_way_between_the_words(genders: str, kind: str, value: float):
    words = [[letter in one for one in genders.split()] for letter in "wm"]
    found, at = kinds(np.array(words[:1]), np.array(words[1:]), VALUES)
    assert found[0] == kind
    assert at[0] == pytest.approx(value, nan_ok=True)
