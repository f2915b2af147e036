"""The answers to the paper's questions: from tables whose answers are known."""

from __future__ import annotations

import pandas as pd

from gslopes.contexts.report import answers
from gslopes.contexts.report.charts import TITLES, charts_of
from gslopes.contexts.report.tables import paper_tables

HEAD = {"classifier": "a", "tags": "gross"}
BACKGROUNDS = pd.DataFrame({"context": ["bridal", "garage", "gym"], "rating": [0.0, 9.0, 5.0]})


def table(**columns) -> pd.DataFrame:
    return pd.DataFrame({**HEAD, **columns})


def results(**more: pd.DataFrame) -> dict[str, pd.DataFrame]:
    inferred = table(
        context=["bridal", "bridal", "garage", "gym"],
        gender="all",
        inferred=["woman", "man", "man", "woman"],
        change=[0.2, -0.2, -0.1, 0.4],
        q=[0.01, 0.01, 0.01, 0.01],
    )
    return {"backgrounds": BACKGROUNDS, "inferred": inferred, **more}


def test_rq1_counts_women_in_feminine_and_men_in_masculine_contexts_alone():
    row = answers.table14(results()).iloc[0]
    assert (
        row[answers.COLUMNS[1]] == "women: yes, more in 1 of 1 feminine; men: no, more in 0 of 1 masculine, less in 1"
    )
    quiet = results()
    quiet["inferred"]["q"] = 0.2
    text = answers.table14(quiet).iloc[0][answers.COLUMNS[1]]
    assert text == "women: no, more in 0 of 1 feminine; men: no, more in 0 of 1 masculine"


def test_rq2_names_the_contexts_where_recognition_depends_and_says_where_it_cannot_be_judged():
    rows = table(context=["bridal", "garage"], given="all", q=[0.01, 0.3], share=[0.9, 0.8])
    text = answers.table14(results(recognised=rows)).iloc[0][answers.COLUMNS[2]]
    assert text == "no, it depends in 1 of 2 contexts: bridal"
    rows = rows.assign(q=float("nan"), share=float("nan"))
    text = answers.table14(results(recognised=rows)).iloc[0][answers.COLUMNS[2]]
    assert text == "not judged: no context has tags in its dictionary"


def test_rq4_counts_contexts_in_which_a_group_changes_more_and_what_fits_the_bias():
    tukey = table(
        context=["bridal", "garage", "garage", "garage"], factor=["gender", "gender", "group", "group"],
        one=["man", "man", "black", "black"], other=["woman", "woman", "white", "asian"],
        difference=[-0.1, -0.1, 0.2, 0.1], paper_significant=[True, False, True, True],
    )  # fmt: skip
    changes = table(context=["bridal"] * 3, q=[0.01, 0.02, 0.5], consistent=[True, False, False])
    row = answers.table14(results(tukey=tukey, changes=changes)).iloc[0]
    assert row[answers.COLUMNS[4]] == "women in 1 of 2, black in 1 of 2"
    assert row[answers.COLUMNS[5]] == "1 of 2 differences found (3 tests)"


def test_every_answer_is_a_sentence_too():
    found = answers.sentences(results())
    assert len(found) == 5
    assert found[0].startswith("a. RQ1: infers women more")
    assert all(text.endswith(".") for text in found)


def test_consistent_cells_of_table_11_are_marked_and_others_are_not():
    rows = table(
        context=["bridal", "bridal"], analysis=["within", "between"], super="abstract", women=0.3, men=0.1,
        t=[5.0, 1.0], p=[0.0001, 0.3], consistent=[True, False],
    )  # fmt: skip
    shown = paper_tables({"changes": rows})["table11"].iloc[0]
    assert (shown["Δ t"], shown["t"]) == ("5.00*†", "1.00")


def test_the_trade_off_has_a_point_a_tagger_and_none_without_a_slope():
    inferred = pd.concat(
        table(context="bridal", gender=["woman", "man"], inferred=["woman", "man"], count=[5, 9], n=[10, 10])
        .assign(classifier=name) for name in "ab"
    )  # fmt: skip
    slopes = pd.concat(
        table(measure="correct", gender="all", group="all", estimator="person", slope=[2.0], ci_low=1.0, ci_high=3.0)
        .assign(classifier=name) for name in "ab"
    )  # fmt: skip
    unknown = ("share", "ci_low", "ci_high", "change", "change_low", "change_high")
    inferred = inferred.assign(**dict.fromkeys(unknown, float("nan")))
    drawn = charts_of({"inferred": inferred, "congruence": slopes, "backgrounds": BACKGROUNDS})
    assert drawn["tradeoff"].count("<circle") == 2
    assert drawn["tradeoff"].count("right: 70 %") == 2
    assert "tradeoff" not in charts_of({"inferred": inferred, "congruence": slopes[:0], "backgrounds": BACKGROUNDS})
    assert set(drawn) <= set(TITLES)
