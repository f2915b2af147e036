"""The paper's tables as files and as text."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables, tables as schemas
from gslopes.core.tables import COMPOSITION
from gslopes.report.layouts import latex, to_latex
from gslopes.slopes.page import paper, write_report
from gslopes.slopes.page.paper import pulled


@pytest.mark.row("slopes-table-1", "slopes-table-2", "slopes-table-4")
def test_tables_1_2_and_4_come_in_three_forms_in_the_order_that_the_paper_prints(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(
        tmp_path / "run",
        [("a_b", "gender"), ("c", "gender"), ("a_b", "race"), ("c", "race")],
        photos=60,
    )
    write_report(run, embed="none")
    folder = run / "report" / "tables"
    assert {path.name for path in folder.iterdir()} == {
        f"table{number}.{form}" for number in (1, 2, 4) for form in ("csv", "md", "tex")
    }
    first, second, fourth = (pd.read_csv(folder / f"table{number}.csv") for number in (1, 2, 4))
    assert (first["Slope"] < -0.03).all()
    assert (second["Slope"] > 0.03).all()
    for frame in (first, second):
        assert frame.columns.tolist() == ["API", "Label", "Slope"]
        assert frame["API"].is_monotonic_increasing  # one API after the other
        assert all(rows["Slope"].is_monotonic_increasing for _, rows in frame.groupby("API"))
    assert fourth.columns.tolist() == ["API", "Black", "Slope", "API ", "White", "Slope "]
    slopes = pd.read_parquet(run / "slopes.parquet").query(
        "estimator == 'paper' and attribute == 'race'"
    )
    own = {
        (row.classifier, paper.words.printable(row.label)): row.slope for row in slopes.itertuples()
    }
    for columns, sign in ((["API", "Black", "Slope"], -1), (["API ", "White", "Slope "], 1)):
        side = fourth[columns].dropna()
        assert len(side)
        assert (sign * side[columns[2]] > 0.03).all()
        assert side[columns[2]].abs().is_monotonic_decreasing
        for api, label, slope in side.itertuples(
            index=False
        ):  # each API's own slope, never another's
            assert slope == pytest.approx(own[api, label.lstrip("'")], abs=1e-5)
    tex, text = (folder / "table1.tex").read_text(), (folder / "table1.md").read_text()
    assert tex.count("\\midrule") == 2  # below the heading, and between two classifiers
    assert "a\\_b" in tex
    assert "\\textless{}script\\textgreater{}" in tex
    assert "\\<script\\>" in text
    assert "<script>" not in tex + text


@pytest.mark.row("slopes-table-3")
def test_table_3_of_a_census_in_the_run_folder_comes_in_three_forms(
    one: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(one, run, ignore=shutil.ignore_patterns("report", "edits"))
    rows = [
        (name, keyword, "gender", value, n, 4, share, max(share - 0.1, 0), min(share + 0.1, 1))
        for keyword, n in (("any", 40), ("female", 10))
        for name, female in (("judge", 0.5), ("=R&D_chef", 0.25), ("nurse", 0.95), ("", 0.6))
        for value, share in (("female", female), ("male", 1 - female))
    ]
    nobody = [
        ("poet", "any", "gender", value, 0, 0, None, None, None) for value in ("female", "male")
    ]
    frame = pd.DataFrame([*rows, *nobody], columns=COMPOSITION.columns)
    tables.write(COMPOSITION, frame, run / "composition.parquet")
    page = write_report(run, embed="none").read_text(encoding="utf-8")
    for form in ("csv", "md", "tex"):
        assert f'href="tables/table3.{form}"' in page

    folder = run / "report" / "tables"
    table = pd.read_csv(folder / "table3.csv")
    assert table.columns.tolist() == ["Occupation", "Female", "Occupation ", "Male"]
    assert table["Occupation"].dropna().tolist() == ["nurse"]  # judge: as often one as the other
    assert table["Occupation "].dropna().tolist() == ["'=R&D_chef"]
    assert table.loc[0, ["Female", "Male"]].tolist() == pytest.approx([0.95, 0.75])
    text, tex = (folder / "table3.md").read_text(), (folder / "table3.tex").read_text()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert lines[:2] == [
        "| Occupation | Female | Occupation | Male |",
        "| --- | ---: | --- | ---: |",
    ]
    assert lines[2:] == ["| nurse | .950 | =R\\&D\\_chef | .750 |"]
    assert "\\label{tab:table3}" in tex
    assert "nurse & .950 & =R\\&D\\_chef & .750" in tex
    assert tex.count("\\midrule") == 1


def test_what_the_page_does_not_call_a_finding_is_marked_and_its_interval_is_named(
    tmp_path: Path,
) -> None:
    slopes = pd.DataFrame(
        {"classifier": "a", "attribute": "gender", "label": ["sure", "open"], "slope": [-0.5, -0.4]}
    )
    found = slopes.assign(decision=["finding", "unjudged"])
    paper.write(tmp_path, tmp_path, slopes.assign(p=0.0001), found, p=0.001, slope=0.03)
    text, tex = ((tmp_path / f"tables/table1.{form}").read_text("utf-8") for form in ("md", "tex"))
    assert "| a | sure | −0.500 |" in text
    assert "| a | open † | −0.400 |" in text
    assert "findings.tex has what is judged, with intervals" in text
    assert "open \\dag{}" in tex
    assert pd.read_csv(tmp_path / "tables/table1.csv")["Label"].tolist() == ["sure", "open"]


@pytest.mark.row("slopes-4.3-plain")
def test_plain_concepts_are_left_out_by_our_list_or_the_runs_own(tmp_path: Path) -> None:
    slopes = pd.DataFrame(
        {"label": ["Man", "nurse", "FACE", "Red color"], "slope": [-0.5, -0.4, -0.3, -0.2]}
    )
    slopes = slopes.assign(classifier="a", attribute="gender", p=0.0001)
    for own, left in ((None, ["nurse"]), ("# ours\nnurse\n* color\n", ["Man", "FACE"])):
        if own:
            (tmp_path / paper.PLAIN).write_text(own)
        paper.write(
            tmp_path, tmp_path, slopes, slopes.assign(decision="finding"), p=0.001, slope=0.03
        )
        assert pd.read_csv(tmp_path / "tables/table1.csv")["Label"].tolist() == left
    ours = paper.plain_concepts(tmp_path / "nowhere")
    assert paper.is_plain("coal black Color", ours)
    assert not any(
        paper.is_plain(word, ours) for word in ("black", "white", "Brown", "Red color guard")
    )


def test_two_apis_with_one_label_have_a_row_each_in_table_4(tmp_path: Path) -> None:
    rows = [("ibm", "worker", -0.131), ("clarifai", "worker", -0.05), ("google", "beauty", -0.09)]
    black = pd.DataFrame(rows, columns=["classifier", "label", "slope"])
    frame = paper._races(black, black[:0])
    assert frame.iloc[:, :3].to_numpy().tolist() == [list(rows[0]), list(rows[2]), list(rows[1])]
    assert to_latex(paper.as_text(frame), "c", "table4").count("\\midrule") == 1


def test_services_come_as_the_paper_prints_them_then_others_by_name_and_ties_by_name(
    tmp_path: Path,
) -> None:
    names = [
        "Clarifai",
        "google:max_results=10",
        "azure",
        "IBM Watson",
        "rekognition",
        "googlenet",
        "Amazon",
    ]
    printed = [
        "Amazon",
        "rekognition",
        "google:max_results=10",
        "IBM Watson",
        "Clarifai",
        "azure",
        "googlenet",
    ]
    rows = [
        (name, along, label, -0.5, 0.0)
        for name in names
        for along in ("gender", "race")
        for label in ("b", "a")
    ]
    slopes = pd.DataFrame(rows, columns=["classifier", "attribute", "label", "slope", "p"])
    paper.write(tmp_path, tmp_path, slopes, slopes.assign(decision="finding"), p=0.001, slope=0.03)
    first, fourth = (pd.read_csv(tmp_path / f"tables/table{number}.csv") for number in (1, 4))
    assert first[["API", "Label"]].to_numpy().tolist() == [
        [name, label] for name in printed for label in "ab"
    ]
    assert fourth[["API", "Black"]].to_numpy().tolist() == [
        [name, label] for label in "ab" for name in printed
    ]
    assert all(
        "ties by name" in (tmp_path / f"tables/table{number}.md").read_text("utf-8")
        for number in (1, 2, 4)
    )


# -- test tables ------------------------------------------------------------------------------------------------------


EXAMPLE = [
    ("steep down", -0.5, 1e-5),
    ("down", -0.1, 1e-4),
    ("unsure", -0.9, 0.2),
    ("tiny", 0.01, 1e-6),
    ("up", 0.2, 9e-4),
    ("at the limit of p", 0.2, 1e-3),
    ("at the limit of slope", 0.03, 1e-5),
    ("never", np.nan, np.nan),
]


@pytest.mark.parametrize("text", ["50 % of R&D_x", "a\\b~c^d{e}#$<|>"])
def test_latex_leaves_no_special_character_bare(text: str) -> None:
    plain = latex(text)
    for char in "%&_#$":
        assert plain.count(char) == plain.count(f"\\{char}")
    assert not set("~<") & set(plain)


@pytest.mark.row("slopes-table-thresholds")
def test_labels_past_both_thresholds_are_pulled_the_steepest_first() -> None:
    slopes = pd.DataFrame(EXAMPLE, columns=["label", "slope", "p"]).assign(
        classifier="c", attribute="gender"
    )
    slopes = slopes.reindex(columns=schemas.SLOPES.columns)
    negative, positive = pulled(slopes, p=0.001, slope=0.03)
    assert negative["label"].tolist() == ["steep down", "down"]
    assert positive["label"].tolist() == ["up"]
    assert list(negative.columns) == schemas.SLOPES.columns
    negative, positive = pulled(slopes, p=0.5, slope=0.15)
    assert negative["label"].tolist() == ["unsure", "steep down"]
    assert set(positive["label"]) == {"up", "at the limit of p"}
    assert [len(side) for side in pulled(schemas.SLOPES.empty(), p=0.001, slope=0.03)] == [0, 0]
