"""Counts printed with Yee et al. 2021 (doi 10.1145/3479594) in its published notebooks: facts, for golden tests.

So are the figures of Tables 1 to 4 of Joo and Kärkkäinen 2020 (doi 10.1145/3422841.3423533), in
``golden/gender_slopes.csv``.
"""

from pathlib import Path

import pandas as pd

PERSONS = {"BF": 621, "BM": 1348, "WF": 213, "WM": 606}
PAIRS = [("BF", "BM"), ("BF", "WF"), ("BF", "WM"), ("BM", "WF"), ("BM", "WM"), ("WF", "WM")]


def _table(*rows):
    return dict(zip(PAIRS, rows, strict=True))


COUNTS = {
    "native-10000": _table(
        (5695, 4305), (4336, 5664), (5547, 4453), (3648, 6352), (4767, 5233), (6171, 3829)
    ),
    "height-5000": _table(
        (2966, 2034), (2369, 2631), (2791, 2209), (1865, 3135), (2405, 2595), (3068, 1932)
    ),
    "native-2000": _table(
        (1156, 844), (854, 1146), (1122, 878), (755, 1245), (971, 1029), (1220, 780)
    ),
    "height-2000": _table(
        (1172, 828), (916, 1084), (1141, 859), (688, 1312), (924, 1076), (1229, 771)
    ),
}
OTHER_COUNTS = {  # first group, second group, draws, size: won, lost
    ("black", "white", 10_000, "native"): (4746, 5254),
    ("black", "white", 200, "native"): (86, 114),
    ("black", "white", 500, "native"): (246, 254),
    ("black", "white", 500, "height 256"): (254, 246),
    ("women", "men", 2000, "native"): (1167, 833),
    ("asian", "black", 200, "native"): (130, 70),
    ("asian", "black", 500, "native"): (312, 188),
    ("asian", "black", 500, "height 256"): (325, 175),
    ("asian", "white", 200, "native"): (117, 83),
    ("asian", "white", 500, "native"): (299, 201),
    ("asian", "white", 500, "height 256"): (327, 173),
}
PRINTED = {  # in the text: share of the first group, and half the width of its interval in points
    ("asian", "black", 500, "native"): (0.62, 4),
    ("asian", "white", 500, "native"): (0.60, 4),
}


def gender_slopes(table: int) -> pd.DataFrame:
    """One table of Joo and Kärkkäinen, in the order printed.

    Columns: of (the API; in Table 3 the side, female or male), label (or occupation), number (slope, or share).
    """
    printed = pd.read_csv(Path(__file__).parent / "golden/gender_slopes.csv")
    return printed.loc[printed["table"] == table, ["of", "label", "number"]].reset_index(drop=True)


def in_order(rows: pd.DataFrame) -> list[set[tuple[str, str, float]]]:
    """What comes one after the other; rows of equal numbers are one, as the paper leaves their order open."""
    runs = rows["number"].ne(rows["number"].shift()).cumsum()
    return [set(tied.itertuples(index=False, name=None)) for _, tied in rows.groupby(runs)]


def shares(name: str) -> dict[tuple[str, str], float]:
    return {pair: won / (won + lost) for pair, (won, lost) in COUNTS[name].items()}
