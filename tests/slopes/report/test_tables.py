from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import tables as schemas
from gslopes.report import words
from gslopes.slopes.report.tables import NO_LABEL, print_table, pulled, why_no_slope


def slopes_table(rows: list[tuple]) -> pd.DataFrame:
    """Rows of (label, slope, p), all else plausible."""
    frame = pd.DataFrame(rows, columns=["label", "slope", "p"])
    frame = frame.assign(classifier="c", attribute="gender", n=50, active=20, y_centre=0.2, intercept=1.0, se=0.01)
    frame = frame.assign(t=frame["slope"] / 0.01, ci_low=frame["slope"] - 0.02, ci_high=frame["slope"] + 0.02)
    frame = frame.assign(p_perm=np.nan, q=frame["p"], estimator="paper")
    frame.loc[frame["slope"].isna(), "y_centre"] = 0.0
    return frame.reindex(columns=schemas.SLOPES.columns)


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


def test_labels_past_both_thresholds_are_pulled_the_steepest_first() -> None:
    negative, positive = pulled(slopes_table(EXAMPLE))
    assert negative["label"].tolist() == ["steep down", "down"]
    assert positive["label"].tolist() == ["up"]
    assert list(negative.columns) == schemas.SLOPES.columns


def test_thresholds_can_be_set() -> None:
    negative, positive = pulled(slopes_table(EXAMPLE), p=0.5, slope=0.15)
    assert negative["label"].tolist() == ["unsure", "steep down"]
    assert set(positive["label"]) == {"up", "at the limit of p"}


def test_no_label_gives_two_empty_tables() -> None:
    assert [len(side) for side in pulled(schemas.SLOPES.empty())] == [0, 0]


def test_every_number_stands_beside_its_interval_null_and_estimator() -> None:
    text = print_table(slopes_table(EXAMPLE))
    row = next(line for line in text.splitlines() if line.startswith("  steep down"))
    assert row.split()[2:] == ["−0.500", "[−0.520,", "−0.480]", "1e−05", "1e−05", "50", "20", "20.0", "%", "*"]
    for word in ("Estimator: paper", "Interval: 95 %", "null hypothesis: the slope is 0", "Benjamini"):
        assert word in text
    assert "p < 0.001 and |slope| > 0.03" in text


def test_labels_go_from_the_negative_to_the_positive_end_and_only_findings_have_stars() -> None:
    lines = print_table(slopes_table(EXAMPLE)).splitlines()[2:9]
    assert [line.split("  ")[1] for line in lines] == [
        "unsure",
        "steep down",
        "down",
        "tiny",
        "at the limit of slope",
        "at the limit of p",
        "up",
    ]
    assert [line.endswith("*") for line in lines] == [False, True, True, False, False, False, True]


def test_label_without_slope_says_why() -> None:
    table = slopes_table(EXAMPLE)
    assert "no slope, never active at the centre: never" in print_table(table)
    assert why_no_slope(table.iloc[7]) == "never active at the centre"
    assert why_no_slope(table.iloc[0]) == ""
    assert why_no_slope(table.assign(n=0).iloc[7]) == "no photo was answered at every value"


def test_columns_are_aligned_also_with_wide_letters() -> None:
    text = print_table(slopes_table([("口紅", -0.5, 1e-5), ("a longer label", 0.25, 0.5)]))
    first, second = text.splitlines()[2:4]
    assert words.width(first[: first.index("[")]) == words.width(second[: second.index("[")])


def test_long_tables_keep_the_findings_and_tell_how_many_they_leave_out() -> None:
    many = [(f"plain {index}", 2.0 + index, 0.5) for index in range(100)]
    text = print_table(slopes_table([*many, ("finding", -0.04, 1e-5)]), limit=10)
    assert "  finding" in text
    assert "and 91 less steep labels" in text
    assert len(text.splitlines()) < 20


def test_control_characters_of_strangers_do_not_reach_the_terminal() -> None:
    text = print_table(slopes_table([("\x1b[2Jgone\r\n", 0.5, 1e-5), ("\x1b]0;x\x07", np.nan, np.nan)]))
    assert all(line.isprintable() for line in text.splitlines())


def test_no_slopes_say_so() -> None:
    assert print_table(schemas.SLOPES.empty()) == NO_LABEL


def test_classifiers_and_attributes_have_blocks_of_their_own(one: Path) -> None:
    slopes = schemas.read(schemas.SLOPES, one / "slopes.parquet")
    text = print_table(pd.concat([slopes, slopes.assign(attribute="race", classifier="other")]))
    assert "celeba-tagger: slope of each label along perceived gender, from feminine (negative)" in text
    assert "other: slope of each label along perceived race, from Black (negative) to White (positive)" in text
