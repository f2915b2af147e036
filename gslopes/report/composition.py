"""Table 3 of the paper: who is shown at work, as perceived, and how that compares with who does that work."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.core import read_beside
from gslopes.core.tables import records
from gslopes.report import terminal
from gslopes.stats.rounding import exceeds, sort_key

TITLE = "Occupations whose photos are most skewed in perceived gender: most female, most male; ties by name."
NOTE = (
    "Perceived gender: how the face nearest the centre is read, not who a person is. Share: of photos\n"
    "with a readable face, answers of people where there are any, else calibrated probabilities of the\n"
    "reader. In brackets Wilson's 95 % interval, widened by readings that no one answered; no test. Most\n"
    "skewed first. women (BLS): their share of the people employed."
)

_FORM = read_beside(__file__, "composition.toml")
SIDES = ("Occupation", "Female", "Occupation ", "Male")
MOST = 10  # occupations at each end of Table 3


def by_occupation(composition: DataFrame, women: Mapping[str, float]) -> DataFrame:
    """One row an occupation: the shares perceived female and male with their intervals, most skewed first.

    composition: core.tables.COMPOSITION.  women: occupation to the share of women among the people employed.

    Columns: occupation, n, answered, female, female_low, female_high, male, male_low, male_high, other_answers, women.
    """
    rows = composition.query("reading == 'gender' and keyword == 'any' and occupation != ''")
    ends = ["share", "ci_low", "ci_high"]
    frame = rows.query("value == 'female'").set_index("occupation")[["n", "answered"]]
    for value in ("female", "male"):
        part = rows.query("value == @value").set_index("occupation")
        frame[[value, f"{value}_low", f"{value}_high"]] = part[ends]
    others = rows.query("value in ['non-binary', 'unknown']").groupby("occupation")["share"]
    frame["other_answers"] = others.sum().reindex(frame.index, fill_value=0.0)
    frame["women"] = frame.index.map(women)
    frame = frame.reset_index()
    skew = (frame["female"] - frame["male"]).abs().fillna(-1)
    return frame.iloc[np.lexsort([frame["occupation"], -skew])].reset_index(drop=True)


def table3(shares: DataFrame) -> DataFrame:
    """The ten occupations most female next to the ten most male, the largest share first; none is on both sides.

    shares: as of ``by_occupation``.

    Columns: SIDES, shares in [0, 1]; equal shares by name; empty if one side is shorter.

    Source: Joo & Kärkkäinen 2020, Table 3.
    """
    sides = []
    for end, opposite in (("female", "male"), ("male", "female")):
        largest = shares[exceeds(shares[end], shares[opposite])]
        by = largest.sort_values([end, "occupation"], ascending=[False, True], key=sort_key)
        first = by[:MOST]
        sides.append(first[["occupation", end]].reset_index(drop=True))
    return pd.concat(sides, axis=1).set_axis(list(SIDES), axis=1)


def print_shares(shares: DataFrame) -> str:
    """Table 3, then every occupation with its intervals, as text for a terminal.  shares: as of ``by_occupation``."""
    if shares.empty:
        return (
            "No photo has an occupation: name the sub-folders by it, or read a folder of gslopes collect.\n"
            "The readings of all photos together are in composition.csv."
        )
    ends = terminal.listed(_FORM["ends"], records(table3(shares)))
    every = terminal.listed(_FORM["every"], records(shares))
    return f"{TITLE}\n\n{ends}\n\nEvery occupation\n\n{every}\n\n{NOTE}"
