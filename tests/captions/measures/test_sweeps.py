"""R2: where captions go over from one gender's words to the other's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.captions.measures.sweeps import new_concept_rows, slope_rows, states, switch, switch_rows
from gslopes.captions.options import AuditOptions

VALUES = {0: -2.0, 1: -1.0, 2: 0.0, 3: 1.0, 4: 2.0}


def said(*genders: str) -> pd.Series:
    return pd.Series(dict(zip(VALUES.values(), genders, strict=True)))


@pytest.mark.parametrize(
    ("genders", "kind", "value"),
    [
        (("woman", "woman", "man", "man", "man"), "switches", -0.5),
        (("woman", "none", "none", "none", "man"), "switches", 0.0),
        (("man", "woman", "woman", "woman", "woman"), "switches", -1.5),
        (("woman", "man", "woman", "man", "man"), "mixed", np.nan),
        (("woman", "both", "man", "man", "man"), "mixed", np.nan),
        (("none", "none", "man", "none", "none"), "man", np.nan),
        (("none",) * 5, "none", np.nan),
    ],
)
def test_a_photo_switches_half_way_between_the_words(genders: tuple[str, ...], kind: str, value: float):
    found = switch(said(*genders))
    assert found[0] == kind
    assert found[1] == pytest.approx(value, nan_ok=True)


def sweep(photos: int) -> dict[tuple[str, int], set[str]]:
    """Every second photo says woman below 0 and man from there on, the others person; a necktie at the last value."""
    labels = {}
    for photo in range(photos):
        for step, value in VALUES.items():
            word = ("woman" if value < 0 else "man") if photo % 2 else "person"
            tie = {"synset:necktie.n.01"} if step == 4 else set()
            labels[str(photo), step] = {f"mention:{word}", "synset:person.n.01", *tie}
    return labels


def test_shares_and_the_mean_value_of_the_switch():
    table = states(sweep(20), VALUES)
    assert table.shape == (20, 5)
    rows = {row["concept"]: row for row in switch_rows(table, "gender", AuditOptions(bootstrap=200))}
    assert (rows["switches"]["value"], rows["no gender word"]["value"]) == (0.5, 0.5)
    at = rows["value of the switch"]
    assert (at["value"], at["active"], at["boot_low"], at["boot_high"]) == (-0.5, 10, -0.5, -0.5)


def test_what_the_caption_at_the_centre_does_not_name():
    rows = {row["concept"]: row["value"] for row in new_concept_rows(sweep(10), VALUES, "gender")}
    expected = {f"new concept at {value:+.2f}": float(value == 2) for value in VALUES.values() if value}
    assert rows == expected


def test_slopes_are_as_they_were_fitted_with_their_placebos():
    slopes = {"attribute": "gender", "estimator": "photo-rate", "label": "mention:man", "n": 30, "active": 20}
    slopes |= {"slope": 12.5, "ci_low": 9.0, "ci_high": 16.0, "p_perm": 0.001, "q": 0.002}
    placebos = pd.DataFrame([{"label": "mention:man", "estimator": "photo-rate", "placebo_slope": s} for s in (-1, 2)])
    (row,) = slope_rows(pd.DataFrame([slopes]), placebos, "gender")
    assert (row["value"], row["unit"], row["technique"]) == (12.5, "pp per unit", "R2")
    assert row["note"] == "placebos -1.0 to +2.0"
