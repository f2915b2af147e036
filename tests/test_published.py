"""Numbers that others published, fed through the front door: counts, and what other programs make of the same data.

A published pair is a sweep of two values, 0 and 1: its centre is value 0, its slope the difference, and each drawn
pair, person or patient is a photo.
"""

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

import gslopes
from gslopes.slopes.page import paper
from tests.contexts.conftest import CONTEXTS, TAGGERS, golden
from tests.published import COUNTS, OTHER_COUNTS, PRINTED, gender_slopes, in_order
from tests.skewed import corrected_ends

pytestmark = pytest.mark.evidence
QUICK = {"permutations": 50}
GEE = json.loads((Path(__file__).parent / "golden/gee_geepack.json").read_text("utf-8"))["cases"]


def of(table: pd.DataFrame, estimator: str) -> pd.DataFrame:
    return table[table["estimator"] == estimator]


# -- Joo & Kärkkäinen 2020, Tables 1, 2 and 4: labels past both thresholds, in the order printed ----------------------


@pytest.mark.row("slopes-table-1", "slopes-table-2", "slopes-table-4", "slopes-table-numbers")
def test_the_printed_slopes_give_tables_1_2_and_4_in_the_printed_order(tmp_path: Path):
    printed = {table: gender_slopes(table) for table in (1, 2, 4)}
    left_out = [
        ("Face", -0.2, 1e-6),
        ("Red color", 0.2, 1e-6),
        ("Rare", 0.2, 1e-3),
        ("Flat", -0.03, 1e-6),
    ]
    others = pd.DataFrame(left_out, columns=["label", "number", "p"]).assign(of="Google")
    kinds = [
        rows.assign(attribute="race" if table == 4 else "gender", p=9e-4)
        for table, rows in printed.items()
    ]
    kinds += [others.assign(attribute=attribute) for attribute in ("gender", "race")]
    slopes = (
        pd.concat(kinds)
        .rename(columns={"of": "classifier", "number": "slope"})
        .sample(frac=1, random_state=1)
    )
    paper.write(tmp_path, tmp_path, slopes, slopes.assign(decision="finding"), p=0.001, slope=0.03)
    for table, rows in printed.items():
        file = pd.read_csv(tmp_path / f"tables/table{table}.csv").to_numpy()
        sides = [
            pd.DataFrame(side, columns=rows.columns).dropna()
            for side in np.split(file, file.shape[1] // 3, 1)
        ]
        assert in_order(pd.concat(sides)) == in_order(rows)


# -- Yee et al. 2021: whom a crop favours -----------------------------------------------------------------------------


def runs() -> dict[str, tuple[int, int]]:
    """Every run of pairs in the published notebooks: won by the first group, by the second."""
    tables = {
        f"{name} {a}-{b}": won for name, table in COUNTS.items() for (a, b), won in table.items()
    }
    return tables | {
        f"{a}-{b} {draws} {size}": won for (a, b, draws, size), won in OTHER_COUNTS.items()
    }


@pytest.fixture(scope="module")
def favoured() -> pd.DataFrame:
    """photo-rate of each run: a drawn pair has the label at 0 if the first group won it, at 1 if the second did."""
    rows = [
        pd.DataFrame(
            {"photo": np.arange(sum(won)), "value": np.repeat([0, 1], won), "classifier": name}
        )
        for name, won in runs().items()
    ]
    draws = pd.concat(rows).assign(label="favoured")
    table = pd.concat([rows.assign(value=value) for rows in rows_of(draws) for value in (0, 1)])
    slopes = gslopes.fit_slopes(draws, table, options=QUICK | {"estimators": ("photo-rate",)})
    return of(slopes, "photo-rate").set_index("classifier")


def rows_of(draws: pd.DataFrame) -> Iterable[pd.DataFrame]:
    return (rows[["photo", "classifier"]] for _, rows in draws.groupby("classifier"))


@pytest.mark.slow
@pytest.mark.row("crops-fig-2", "crops-fig-3", "crops-3.6-asian")
def test_every_published_run_of_pairs_has_its_count(favoured: pd.DataFrame):
    assert len(favoured) == 35
    for name, (won, lost) in runs().items():
        row, draws = favoured.loc[name], won + lost
        assert row["n"] == draws
        assert draws * row["y_centre"] == pytest.approx(won, abs=1e-6)
        assert draws * row["slope"] / 100 == pytest.approx(lost - won, abs=1e-6)


@pytest.mark.slow
def test_the_published_interval_is_twice_the_error_of_draws(favoured: pd.DataFrame):
    half = (favoured["ci_high"] - favoured["ci_low"]) / 4  # points of a share
    for name, (won, lost) in runs().items():
        draws = won + lost
        published = 200 * math.sqrt(won * lost / draws**3)
        lines = np.repeat([100.0, -100.0], [lost, won])
        skew = stats.skew(lines) / math.sqrt(
            draws
        )  # of the mean, for which the interval is corrected
        error = published * math.sqrt(draws / (draws - 1))
        ends = corrected_ends(200 * lost / draws - 100, error, draws - 1, skew)
        assert favoured.loc[name, ["ci_low", "ci_high"]].tolist() == pytest.approx(ends)
    for (a, b, draws, size), (share, printed) in PRINTED.items():
        name = f"{a}-{b} {draws} {size}"
        assert round(0.5 - favoured.loc[name, "slope"] / 200, 2) == share
        assert round(half[name]) == printed
    assert [round(half[f"{table} BM-WM"], 1) for table in ("native-10000", "height-5000")] == [
        1.0,
        1.4,
    ]  # as printed


# -- Barlas et al. 2020, table 7: labels by gender, before the canvas and before a room -------------------------------

SAID = ("woman", "man", "neutral")


@pytest.fixture(scope="module")
def inferred() -> pd.DataFrame:
    """photo-rate by tagger, context and word: 597 people at 0, the canvas, and at 1, the room."""
    table = golden("table7.csv").set_index("context")
    rows = []
    for tagger in TAGGERS:
        for context in CONTEXTS:
            for value, position in enumerate(("B", context)):
                counts = [int(part) for part in str(table.loc[position, tagger]).split("-")]
                words = np.repeat(SAID, counts)
                about = {"classifier": tagger, "attribute": context, "value": value, "label": words}
                rows.append(pd.DataFrame({"photo": np.arange(597), **about}))
    return of(
        gslopes.fit_slopes(pd.concat(rows), options=QUICK | {"estimators": ("photo-rate",)}),
        "photo-rate",
    )


@pytest.mark.slow
def test_the_shares_inferred_woman_and_man_are_those_of_table_7(inferred: pd.DataFrame):
    table = golden("table7.csv").set_index("context")
    result = inferred.set_index(["classifier", "attribute", "label"])
    for tagger in TAGGERS:
        before = [int(part) for part in str(table.loc["B", tagger]).split("-")]
        for context in CONTEXTS:
            after = [int(part) for part in str(table.loc[context, tagger]).split("-")]
            for word, old, new in zip(SAID, before, after, strict=True):
                if not old and not new:
                    assert (tagger, context, word) not in result.index
                    continue
                row = result.loc[tagger, context, word]
                assert 597 * row["y_centre"] == pytest.approx(old)
                assert 5.97 * row["slope"] == pytest.approx(new - old, abs=1e-6)


# -- Agresti 1990, p. 350: approval ratings of 1,600 people in two surveys ---------------------------------------------


def test_a_published_pair_of_surveys_gives_mcnemars_test():
    table = np.array(
        [[794, 150], [86, 570]]
    )  # rows: first survey, columns: second; approve, disapprove
    first, second = (np.repeat(answers, table.ravel()) for answers in ([1, 1, 0, 0], [1, 0, 1, 0]))
    rows = pd.DataFrame({"photo": np.tile(np.arange(1600), 2), "value": np.repeat([0, 1], 1600)})
    rows["label"] = np.where(np.concatenate([first, second]), "approve", None)
    result = gslopes.fit_slopes(rows, options=QUICK).set_index("estimator")
    rate, n = result.loc["photo-rate"], 1600
    assert rate["slope"] == pytest.approx(-4)
    assert rate[["ci_low", "ci_high"]].tolist() == pytest.approx([-5.9, -2.1], abs=0.05)
    under_null = (
        n * rate["t"] ** 2 / (n - 1 + rate["t"] ** 2)
    )  # McNemar's variance is the one without a difference
    assert under_null == pytest.approx(mcnemar(table, exact=False, correction=False).statistic)
    corrected = (n * abs(rate["slope"]) / 100 - 1) ** 2 / (150 + 86)
    assert corrected == pytest.approx(16.818, abs=5e-4)  # as printed in R's help of mcnemar.test
    assert result.loc["paper", ["se", "t", "p"]].isna().all()


# -- generalised estimating equations by R's geepack ------------------------------------------------------------------


def agrees(table: pd.DataFrame, case: dict, patients: int) -> None:
    """photo-rate is the model with the identity link; standard errors with n - 1 for geepack's n."""
    row = table.set_index("estimator").loc["photo-rate"]
    assert row["n"] == patients
    assert row["slope"] == pytest.approx(100 * case["identity"]["slope"], abs=1e-7)
    correction = math.sqrt(patients / (patients - 1))
    assert row["se"] == pytest.approx(100 * case["identity"]["se"] * correction, rel=1e-7)


@pytest.mark.parametrize("arm", ["A", "P"])
@pytest.mark.parametrize("visits", [(0, 1, 2, 3, 4), (0, 4)])
def test_respiratory_illness_over_visits(arm: str, visits: tuple[int, ...]):
    """Stokes, Davis & Koch: good or poor at baseline and four visits; all of them, or the first and the last."""
    expected = GEE[f"respiratory {arm}"]
    patterns = [pattern for pattern, count in expected["patterns"].items() for _ in range(count)]
    rows = [
        (f"p{index}", visit, "good" if item[visit] == "1" else None)
        for index, item in enumerate(patterns)
        for visit in visits
    ]
    case = expected if len(visits) == 5 else expected["two visits"]
    assert [sum(item[visit] == "1" for item in patterns) for visit in visits] == case["present"]
    slopes = gslopes.fit_slopes(
        pd.DataFrame(rows, columns=["photo", "value", "label"]), options=QUICK
    )
    agrees(slopes, case, expected["patients"])


def test_onycholysis_over_visits_where_the_table_is():
    """De Backer et al. 1998, as R's HSAUR3 has it: whoever missed a visit is left out."""
    named = os.environ.get("GSLOPES_TOENAIL", "")
    if not Path(named).is_file():
        pytest.skip(
            "No table of toenails: name the CSV that tests/golden/gee_geepack.R writes in GSLOPES_TOENAIL."
        )
    table = pd.read_csv(named).rename(columns={"patientID": "photo", "visit": "value"})
    table["label"] = np.where(table["outcome"] == "moderate or severe", "severe", None)
    for arm, rows in table.groupby("treatment"):
        expected = GEE[f"toenail {arm}"]
        slopes = gslopes.fit_slopes(rows, rows[["photo", "value"]], options=QUICK)
        agrees(slopes, expected, expected["patients"])
