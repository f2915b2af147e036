import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.collection import COMPOSITION
from gslopes.report import paper, write_report


def test_paper_tables_come_in_three_forms_with_the_same_labels(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("a_b", "gender"), ("c", "gender"), ("c", "race")], photos=60)
    write_report(run, embed="none")
    folder = run / "report" / "tables"
    assert {path.name for path in folder.iterdir()} == {
        f"table{number}.{form}" for number in (1, 2, 4) for form in ("csv", "md", "tex")
    }
    first = pd.read_csv(folder / "table1.csv")
    assert first.columns.tolist() == ["API", "Label", "Slope", "p", "q", "n", "Share at centre"]
    assert (first["Slope"] < -0.03).all()
    assert (pd.read_csv(folder / "table2.csv")["Slope"] > 0.03).all()
    assert pd.read_csv(folder / "table4.csv")["Slope"].between(-0.03, 0.03).sum() == 0
    tex, text = (folder / "table1.tex").read_text(), (folder / "table1.md").read_text()
    assert tex.count("\\midrule") == 2  # below the heading, and between two classifiers
    assert "a\\_b" in tex
    assert "\\textless{}script\\textgreater{}" in tex
    assert "\\<script\\>" in text
    assert "<script>" not in tex + text


def test_table_3_of_a_census_in_the_run_folder_comes_in_three_forms(one: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(one, run, ignore=shutil.ignore_patterns("report", "edits"))
    rows = [
        (name, keyword, "gender", value, n, 4, share, max(share - 0.1, 0), min(share + 0.1, 1))
        for keyword, n in (("any", 40), ("female", 10))
        for name, female in (("judge", 0.5), ("=R&D_chef", 0.25), ("nurse", 0.95), ("", 0.6))
        for value, share in (("female", female), ("male", 1 - female))
    ]
    nobody = [("poet", "any", "gender", value, 0, 0, None, None, None) for value in ("female", "male")]
    frame = pd.DataFrame([*rows, *nobody], columns=COMPOSITION.columns)
    tables.write(COMPOSITION, frame, run / "composition.parquet")
    page = write_report(run, embed="none").read_text(encoding="utf-8")
    for form in ("csv", "md", "tex"):
        assert f'href="tables/table3.{form}"' in page

    folder = run / "report" / "tables"
    table = pd.read_csv(folder / "table3.csv")
    assert table["occupation"].tolist() == ["nurse", "'=R&D_chef", "judge", "poet"]  # most skewed first, nobody last
    assert table["female"].tolist()[:3] == pytest.approx([0.95, 0.25, 0.5])
    assert table.loc[0, ["n", "answered", "male", "female_low", "female_high"]].tolist() == pytest.approx(
        [40, 4, 0.05, 0.85, 1]
    )
    assert "women" not in table
    text, tex = (folder / "table3.md").read_text(), (folder / "table3.tex").read_text()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 4
    assert lines[1].startswith("| --- | ---: |")
    assert "| nurse | 40 | 4 | 95.0%" in text
    assert "| poet | 0 | 0 | – |" in text
    assert "=R\\&D\\_chef" in text
    assert "Perceived gender of the photos by occupation, with Wilson's 95 % intervals." in text
    assert "\\label{tab:table3}" in tex
    assert "\\begin{tabular}{lr" in tex
    assert "=R\\&D\\_chef & 40 & 4 & 25.0\\% &" in tex
    assert tex.count("\\midrule") == 1


@pytest.mark.parametrize("text", ["50 % of R&D_x", "a\\b~c^d{e}#$", "<|>"])
def test_latex_leaves_no_special_character_bare(text: str) -> None:
    plain = paper.latex(text)
    for char in "%&_#$":
        assert plain.count(char) == plain.count(f"\\{char}")
    assert "~" not in plain
    assert "<" not in plain
