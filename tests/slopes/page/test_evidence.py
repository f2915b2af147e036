"""What a terminal and a notebook show."""

import re
import shutil
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.report import numbers
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions
from gslopes.slopes.page.lead import print_evidence
from gslopes.slopes.page.paper import NO_LABEL
from tests.slopes.page.conftest import placebos_of

VALUES = np.linspace(-2, 2, 5)


@pytest.fixture(scope="module")
def slopes() -> pd.DataFrame:
    """Labels: falling, flat, rare, and one whose means lie crookedly though every photo moves."""
    rng = np.random.default_rng(0)
    rates = np.stack([0.5 - 0.15 * VALUES, np.full(5, 0.5), np.zeros(5), np.zeros(5)])
    present = rng.random((60, 4, 5)) < rates
    present[:3, 2, 2] = True
    present[:, 3, 4] = True
    present[:6, 3, 2] = True
    photo, label, step = np.nonzero(present)
    names, ids = (
        np.array(["Falling", "Flat\x1b[31m", "Rare", "Crooked"]),
        np.array([f"{i:064x}" for i in range(60)]),
    )
    scores = pd.DataFrame(
        {"photo": ids[photo], "attribute": "gender", "step": step, "value": VALUES[step]}
    )
    scores = scores.assign(classifier="c", label=names[label], score=0.5)
    asked = pd.DataFrame(
        {"photo": np.repeat(ids, 5), "attribute": "gender", "step": np.tile(range(5), 60)}
    )
    asked = asked.assign(classifier="c", status="answered", reason="")
    return analyse(scores, asked, options=FitOptions(permutations=2000)).slopes


def row(text: str, label: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith(f" {label} ")).split()


def test_a_row_has_slope_interval_unit_decision_and_photos_within_100_columns(slopes) -> None:
    text = print_evidence(slopes, funnels={("c", "gender"): {"found": 70, "judged": 60}})
    lines = text.splitlines()
    assert lines[0] == "c along perceived gender"
    assert lines[1].endswith(" photos, feminine to masculine.")
    assert lines[2].startswith("Slope +")
    assert "Photos: 70 found → 60 judged" in text
    known = slopes.query("estimator == 'photo-rate' and label == 'Falling'").iloc[0]
    cells = row(text, "Falling")
    assert " ".join(cells[1:4]) == numbers.with_interval(
        known["slope"], known["ci_low"], known["ci_high"]
    )
    assert cells[4:6] == ["points", "open"]  # there are no placebo sweeps to hold it against
    assert cells[-3:] == ["60", "of", "60"]
    assert max(map(len, text.splitlines())) <= 100
    for word in (
        "photo-rate",
        "t over photos",
        "exchangeable",
        "Benjamini and Hochberg",
        "percentage points",
    ):
        assert word in text


def test_slopes_at_an_end_of_the_other_attribute_have_their_sentence_and_no_table(slopes) -> None:
    text = print_evidence(
        pd.concat([slopes, slopes.assign(attribute="gender-x-race=-2")], ignore_index=True)
    )
    main, end = text.split("c along perceived gender on darker-skinned faces\n")
    assert " Falling " in main
    assert end.startswith("“Crooked” rises from 0 to 100 of 100 photos")
    assert not any(line.startswith(" Falling ") for line in end.splitlines())


def test_rare_labels_have_a_line_of_their_own_and_strangers_cannot_colour_it(slopes) -> None:
    text = print_evidence(slopes)
    assert any(line.startswith("  ") and line.endswith(": Rare") for line in text.splitlines())
    assert "\x1b" not in text
    assert "and 2 labels with less evidence" in print_evidence(slopes, limit=1)
    rare = print_evidence(slopes[slopes["label"] == "Rare"])
    assert "No label can be judged with 60 photos." in rare
    assert "interval" not in rare.split("slope: per unit")[0], "no empty table"


def test_without_a_label_it_says_why() -> None:
    assert print_evidence(tables.SLOPES.empty()) == NO_LABEL


def test_placebo_sweeps_stand_beside_the_finding_and_decide_about_it(slopes) -> None:
    moved = slopes["label"] == "Falling"
    plain = slopes.assign(
        decision="placebo", detail=np.where(moved, "light alone: −1; paired difference −14", "")
    )
    plain = plain[moved | (plain["label"] == "Flat\x1b[31m")]
    beside = plain.assign(attribute="gender-light")
    fakes = placebos_of(tables.reading(plain), "light", -1.0, 20.0)
    near, far = fakes.assign(low=-21.0, high=19.0), fakes.assign(low=-1.5, high=-0.5)
    text = print_evidence(pd.concat([plain, beside], ignore_index=True), placebos=near)
    assert text.count("along perceived gender") == 1
    cells = " ".join(row(text, "Falling"))
    assert "−21.0 to +19.0" in cells
    assert "like the placebo" in cells
    assert "placebos: how far slopes go" in text
    assert "placebos:" not in print_evidence(slopes)
    assert "like the placebo: “Falling”" not in text
    assert "like the placebo: “Falling”, light alone: −1; paired difference" in print_evidence(
        plain, placebos=far
    )


def test_a_label_has_one_line_however_long_its_name(slopes) -> None:
    long = slopes.assign(
        label=slopes["label"].replace("Falling", "A long label of a stranger " * 9)
    )
    fakes = placebos_of(tables.reading(long), "light", 9.0, 1.0).assign(low=-99.0, high=9.0)
    text = print_evidence(long, placebos=fakes)
    (line,) = [line for line in text.splitlines() if line.startswith(" A long label")]
    assert line.endswith("60 of 60")
    assert "…" in line
    assert max(map(len, text.splitlines())) <= 100


def test_labels_that_name_the_attribute_stand_last_and_are_said_to_be_expected(slopes) -> None:
    text = print_evidence(slopes.assign(expected=slopes["label"] == "Falling"))
    lines = [line for line in text.splitlines() if line.startswith((" Falling ", " Flat"))]
    assert [line.split()[0] for line in lines] == ["Flat\\x1b[31m", "Falling"]
    assert "open, expected" in lines[1]
    assert "  expected, names the attribute: Falling" in text
    assert "expected" not in print_evidence(slopes)


# -- test notebook ----------------------------------------------------------------------------------------------------

SCRIPT = "<script>alert(1)</script>"


def test_a_notebook_shows_the_finding_the_photos_and_nothing_of_strangers_as_html(
    one: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(one, tmp_path / "run")
    found = tables.read(tables.SLOPES, run / "slopes.parquet")
    rates = found.assign(
        estimator="photo-rate", decision="open", slope=100 * found["slope"] * found["y_centre"]
    )
    rates[["ci_low", "ci_high"]] = rates[["slope", "slope"]].to_numpy() + np.array([-1.5, 1.5])
    tables.write(tables.SLOPES, pd.concat([found, rates]), run / "slopes.parquet")
    (run / "report").mkdir(exist_ok=True)  # other tests write a report of the run
    (run / "report" / "index.html").touch()
    audit = gslopes.load(run)
    assert len(repr(audit)) < 1000
    html = audit._repr_html_()
    assert str(audit) in unescape(html)
    cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", html)]
    assert cells[:2] == ["○", "Lipstick"]
    assert re.fullmatch(r"−8\.7 \[−\d+\.\d, −\d+\.\d\]", cells[2])
    assert html.count("<table>") == 1
    assert "“Lipstick” falls, feminine to masculine. Slope −8.7" in " ".join(html.split())
    assert SCRIPT not in html
    assert "&lt;script&gt;" in html
    assert "file://" in html
    (run / "slopes.parquet").unlink()
    assert "edited of" in gslopes.load(run)._repr_html_()
