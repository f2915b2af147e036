"""Table 3 of the paper: who is shown at work, as perceived, and how that compares with who does that work."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.report import numbers, terminal, words
from gslopes.stats.rounding import exceeds, sort_key

TITLE = "Occupations whose photos are most skewed in perceived gender: most female, most male; ties by name."
NOTE = (
    "Perceived gender: how the face nearest the centre is read, not who a person is. Share: of photos\n"
    "with a readable face, answers of people where there are any, else calibrated probabilities of the\n"
    "reader. In brackets Wilson's 95 % interval, widened by readings that no one answered; no test. Most\n"
    "skewed first. women (BLS): their share of the people employed."
)


SIDES = ("Occupation", "Female", "Occupation ", "Male")
MOST = 10  # occupations at each end of Table 3


def by_occupation(composition: DataFrame, women: Mapping[str, float]) -> DataFrame:
    """One row an occupation: the shares perceived female and male with their intervals, most skewed first.

    composition: core.tables.COMPOSITION.  women: occupation to the share of women among the people employed.

    Columns: occupation, n, answered, female, female_low, female_high, male, male_low, male_high, other_answers, women.
    """
    of_group = composition[(composition["reading"] == "gender") & (composition["keyword"] == "any")]
    rows = []
    for name, group in of_group[of_group["occupation"] != ""].groupby("occupation"):
        by: dict[Any, dict[Any, Any]] = group.set_index("value").to_dict("index")
        row: dict[str, Any] = {
            "occupation": name,
            "n": by["female"]["n"],
            "answered": by["female"]["answered"],
        }
        for value in ("female", "male"):
            shares = by[value]
            row |= {
                value: shares["share"],
                f"{value}_low": shares["ci_low"],
                f"{value}_high": shares["ci_high"],
            }
        others = sum(by[value]["share"] for value in ("non-binary", "unknown") if value in by)
        rows.append({**row, "other_answers": others, "women": women.get(str(name), np.nan)})
    columns = [
        "occupation",
        "n",
        "answered",
        *(f"{v}{e}" for v in ("female", "male") for e in ("", "_low", "_high")),
    ]
    frame = DataFrame(rows, columns=[*columns, "other_answers", "women"])
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
    skewed = [
        [
            words.shorten(words.printable(cell), 30)
            if isinstance(cell, str)
            else numbers.fraction(cell)
            for cell in row
        ]
        for row in table3(shares).itertuples(index=False)
    ]
    ends = terminal.table(
        [terminal.Column(head.strip().lower(), number=head in SIDES[1::2]) for head in SIDES],
        skewed,
    )
    heads = (
        "occupation",
        "photos",
        "answered",
        "perceived female",
        "perceived male",
        "women (BLS)",
    )
    columns = [
        terminal.Column(head, number=column in (1, 2, 5)) for column, head in enumerate(heads)
    ]
    rows = [
        [
            words.shorten(words.printable(row["occupation"]), 22),
            f"{row['n']:,}",
            f"{row['answered']:,}",
            *(_cell(row, value) for value in ("female", "male")),
            numbers.share(row["women"]),
        ]
        for _, row in shares.iterrows()
    ]
    return f"{TITLE}\n\n{ends}\n\nEvery occupation\n\n{terminal.table(columns, rows)}\n\n{NOTE}"


def _cell(row: pd.Series, value: str) -> str:
    if pd.isna(row[value]):
        return numbers.NONE
    low, high = (numbers.share(row[f"{value}_{end}"]).removesuffix(" %") for end in ("low", "high"))
    return f"{numbers.share(row[value])} [{low}, {high}]"
