"""Crowd answers."""

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.ratings import krippendorff_alpha, read_ratings, summarise_ratings
from gslopes.core.errors import UsageError


def _written(tmp_path, text):
    path = tmp_path / "ratings.csv"
    path.write_text(text, "utf-8")
    return path


def test_agreement_of_four_raters_on_three_contexts():
    table = [(0, 4, 9), (1, 5, 9), (0, 4, 8), (np.nan, 6, 7)]
    rows = [
        {"rater": str(rater), "context": str(context), "rating": float(rating)}
        for rater, ratings in enumerate(table)
        for context, rating in enumerate(ratings)
        if rating == rating
    ]
    assert krippendorff_alpha(pd.DataFrame(rows)) == pytest.approx(0.933333, abs=1e-6)


@pytest.mark.row("contexts-table-2", "contexts-4.2-median", "contexts-4.2-raters")
def test_medians_without_what_was_coded_incorrect(tmp_path):
    lines = ["context,rater,gender,rating,coding"]
    lines += [f"nursery,{n},{'f' if n % 2 else 'male'},{2 + n % 2},correct" for n in range(20)]
    lines += [f"garage,{n},f,9,correct" for n in range(20)] + ["nursery,99,f,10,incorrect"]
    answers, warnings = read_ratings(_written(tmp_path, "\n".join(lines) + "\n"))
    summary = summarise_ratings(answers).set_index("context")
    assert warnings == []
    assert (summary.loc["nursery", "n"], summary.loc["nursery", "dropped"]) == (20, 1)
    assert (summary.loc["nursery", "women"], summary.loc["nursery", "men"]) == (3, 2)
    assert summary["category"].to_dict() == {"nursery": "feminine", "garage": "masculine"}
    assert np.isfinite(summary.loc["nursery", "ci_low"])
    assert np.isnan(summary.loc["garage", "ci_low"])  # all answers are equal


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,1,x,correct", "line 2"),
        ("a,1,11,correct", "from 0 to 10"),
        ("a,1,4,right", "coding"),
        ("a,1,nan,", "nan"),
        (f"a,1,1{'0' * 400},", "line 2: the rating is '1"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        read_ratings(_written(tmp_path, f"context,rater,rating,coding\n{line}\n"))


def test_a_table_with_its_header_alone_is_said_to_have_no_rows(tmp_path):
    with pytest.raises(UsageError, match="has no rows"):
        read_ratings(_written(tmp_path, "context,rater,rating\n"))


def test_of_two_answers_the_last_counts_and_uncoded_ones_are_told(tmp_path):
    answers, warnings = read_ratings(_written(tmp_path, "context,rater,rating\na,1,2\na,1,8\n"))
    assert answers["rating"].tolist() == [8]
    assert len(warnings) == 2


def test_a_category_needs_the_whole_interval_on_one_side(tmp_path):
    rows = [
        f"{name},{rater},{level + rater % 2}"
        for name, level in (("a", 2), ("b", 4.5), ("c", 8))
        for rater in range(20)
    ]
    answers, _ = read_ratings(
        _written(tmp_path, "\n".join(["context,rater,rating", *rows, "d,1,5"]))
    )
    assert summarise_ratings(answers)["category"].tolist() == [
        "feminine",
        "neutral",
        "masculine",
        "neutral",
    ]
