from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from gslopes.captions.review import confirmed, corrected, read_answers
from gslopes.core.errors import DataMissing


def test_everything_read_leaves_no_interval_and_a_sample_a_narrower_one():
    assert corrected(0.14, 312, 312) == (0.14, 0.14)
    low, high = corrected(0.14, 200, 312)
    wide = corrected(0.14, 200, 10**9)
    assert wide[0] < low < 0.14 < high < wide[1]


def test_shares_confirmed_with_causes_of_the_rest():
    cases = pd.DataFrame({"case": list("abcd"), "technique": ["S1"] * 3 + ["D1"]})
    answers = [("a", "harm"), ("b", "parser"), ("c", "harm")]
    reviews = pd.DataFrame([(*row, "r", "") for row in answers], columns=["case", "answer", "reviewer", "note"])
    demeaning, stereotyping = confirmed(cases, reviews)
    assert (demeaning["cases"], demeaning["read"]) == (1, 0)
    assert stereotyping["share"] == pytest.approx(2 / 3)
    assert stereotyping["causes"] == {"parser": 1}


def test_answers_of_a_csv(tmp_path: Path):
    file = tmp_path / "review.csv"
    file.write_text("case,answer,reviewer,note\na,harm,me,'=1+1\na,unsure,you,\"\ta tab\"\nb,,me,''=a\n")
    answers = read_answers(file, required=True)
    assert [row["note"] for row in answers] == ["=1+1", "\ta tab", "'=a"]
    cases = pd.DataFrame({"case": ["a", "b"], "technique": "S1"})
    (row,) = confirmed(cases, pd.DataFrame(answers))
    assert row["read"] == 1  # a note alone is no answer
    assert read_answers(tmp_path / "none.csv", required=False) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n", "has no column case"),
        ("case,answer,reviewer,note\na,nonsense,me,\n", "line 2"),
        ("case,answer,reviewer,note\na,harm,me,\na,unsure,me,later\n", "line 3"),
        ('case,answer,reviewer,note\na,harm,me,"\n', "line 2"),
    ],
)
def test_what_is_no_review_or_contradicts_itself_is_an_error_with_its_line(tmp_path: Path, text: str, message: str):
    file = tmp_path / "review.csv"
    file.write_text(text)
    with pytest.raises(DataMissing, match=rf"review\.csv.*{message}"):
        read_answers(file, required=True)
