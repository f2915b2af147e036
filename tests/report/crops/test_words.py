from __future__ import annotations

import math

import pandas as pd

from gslopes.report.crops.words import LIMITS, interval, main_rows, percent, print_parity, ratio


def test_numbers_and_their_absence():
    assert percent(0.6171) == "61.7 %"
    assert percent(math.nan) == "–"
    assert interval(0.1, 0.25) == "10.0 to 25.0 %"
    assert ratio({"ratio": 0.62, "ratio_low": 0.512, "ratio_high": 0.751}) == "0.62 (0.51 to 0.75)"
    assert ratio({"ratio": math.nan}) == "–"


def test_the_limits_say_what_the_authors_conclude():
    assert any("let them set the crop, or do not crop" in line for line in LIMITS)


def test_the_terminal_shows_pairs_and_the_side():
    joined = {"cropper": "c", "variant": "native", "policy": "argmax", "outcome": "favoured", "column": "gender"}
    joined |= {"group": "female", "other": "male", "p": 0.617, "ci_low": 0.571, "ci_high": 0.661, "persons": 213}
    joined |= {"other_persons": 606, "p_value": 1e-6, "q": 1e-6, "ratio": 0.62, "ratio_low": 0.51, "ratio_high": 0.75}
    alone = {**joined, "variant": "alone, own scale"}
    parity = pd.DataFrame([{**joined, "note": "", "verdict": "shown"}, {**alone, "note": "", "verdict": "open"}])
    side = {"cropper": "c", "left": -0.02, "ci_low": -0.05, "ci_high": 0.01, "ties": 3, "failed": 0, "pictures": 100}
    text = print_parity(parity, pd.DataFrame([side]))
    assert len(main_rows(parity)) == 1
    assert "female over male: 61.7 % (57.1 to 66.1 % over 213 and 606 people)" in text
    assert "lack of parity shown" in text
    assert "the left person wins −2.0 points" in text
