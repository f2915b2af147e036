from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

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


@pytest.mark.parametrize("text", ["50 % of R&D_x", "a\\b~c^d{e}#$", "<|>"])
def test_latex_leaves_no_special_character_bare(text: str) -> None:
    plain = paper.latex(text)
    for char in "%&_#$":
        assert plain.count(char) == plain.count(f"\\{char}")
    assert "~" not in plain
    assert "<" not in plain
