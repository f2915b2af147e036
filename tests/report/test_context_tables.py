"""The tables of a context audit in their three forms."""

import csv
import doctest
import io

import pandas as pd

from gslopes.report import context_tables


def test_the_examples_of_the_docstrings_hold() -> None:
    assert doctest.testmod(context_tables).failed == 0


def test_signed_numbers_stay_readable_and_no_name_runs_in_a_spreadsheet() -> None:
    frame = pd.DataFrame(
        {
            "context": ["=HYPERLINK(1)", "@kitchen"],
            "women": ["-0.0120", "0.5000"],
            "slope": ["+1.20 points", "-0.40 tags"],
            "n": [3, 4],
        }
    )
    rows = list(csv.reader(io.StringIO(context_tables.forms(frame)["csv"])))
    assert rows[1:] == [
        ["'=HYPERLINK(1)", "-0.012", "1.20 points", "3"],
        ["'@kitchen", "0.5000", "\N{MINUS SIGN}0.40 tags", "4"],
    ]
