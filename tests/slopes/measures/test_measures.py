import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import special

from gslopes.core.errors import TableError
from gslopes.core.tables import MEASURED, reading
from gslopes.slopes.measures.answers import Answers, gather
from gslopes.slopes.measures.differences import paired_differences
from gslopes.slopes.measures.frames import fit_slopes
from gslopes.stats.multiplicity import benjamini_hochberg
from tests.skewed import corrected

OPTIONS = {"permutations": 0}
VALUES = (-2, -1, 0, 1, 2)


def rows_of(photos: int = 40, seed: int = 0, **more: str) -> pd.DataFrame:
    """A classifier with two complementary scores, an age, a tag of some pictures, one of all, one of a single photo."""
    generator = np.random.default_rng(seed)
    rows = []
    for photo in range(photos):
        base = generator.normal(-1, 1)
        for value in VALUES:
            score = special.expit(base + 0.3 * value + generator.normal(0, 0.3))
            age = 35 + 5 * base + 0.8 * value + generator.normal()
            found = {"hire": score, "reject": 1 - score, "age": age, "face": 1.0}
            found |= {"hat": 0.9} if generator.random() < 0.3 + 0.1 * value else {}
            found |= {"dog": 0.8} if photo == 3 else {}
            rows += [(f"p{photo:02d}", value, label, number) for label, number in found.items()]
    return pd.DataFrame(rows, columns=["photo", "value", "label", "score"]).assign(**more)


def answers_of(frame: pd.DataFrame) -> Answers:
    scores = frame.assign(classifier="c", attribute="gender", step=frame["value"] + 2)
    asked = pd.MultiIndex.from_product(
        [frame["photo"].unique(), range(5)], names=["photo", "step"]
    ).to_frame(index=False)
    asked = asked.assign(classifier="c", attribute="gender", status="answered")
    (found,) = gather(
        *map(pa.Table.from_pandas, (scores, asked)), {"gender": np.array(VALUES, float)}
    )
    return found


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return rows_of()


@pytest.fixture(scope="module")
def slopes(frame) -> pd.DataFrame:
    return fit_slopes(frame, options={"permutations": 199})


def test_the_levels_at_both_ends_are_means_over_the_photos_in_the_unit_of_the_row(frame, slopes):
    gaps = frame.drop(
        frame.index[(frame["label"] == "hire") & (frame["photo"] == "p03") & (frame["value"] == 2)]
    )
    for rows, found in ((frame, slopes), (gaps, fit_slopes(gaps, options=OPTIONS))):
        table = rows.pivot_table(index=["label", "photo"], columns="value", values="score")[[-2, 2]]
        shares, read = table.notna().groupby("label").sum() / 40, reading(found).set_index("label")
        means = (
            table.fillna(rows["score"].min()).groupby("label").mean()
        )  # the smallest score where there is none
        ends = ["y_first", "y_last"]
        assert read.loc[["hat", "dog", "face"], ends].to_numpy() == pytest.approx(
            shares.loc[["hat", "dog", "face"]]
        )
        assert read.loc[["hire", "reject"], ends].to_numpy() == pytest.approx(
            means.loc[["hire", "reject"]], abs=1e-6
        )
        assert read.loc["age", ends].to_list() == pytest.approx(means.loc["age"].to_list())
        by_rate = found[found["estimator"] == "photo-rate"].set_index("label").loc["hire", ends]
        assert by_rate.to_list() == pytest.approx(shares.loc["hire"].to_list())


def test_each_label_is_read_by_the_measure_that_fits_it(slopes):
    read = reading(slopes).set_index("label")
    assert read["measure"].to_dict() == {
        "age": "value",
        "dog": "presence",
        "face": "presence",
        "hat": "presence",
        "hire": "log-odds",
        "reject": "log-odds",
    }
    assert set(read.index[read["estimator"] == MEASURED]) == {"age", "hire", "reject"}
    assert set(slopes.loc[slopes["estimator"] == MEASURED, "label"]) == {"age", "hire", "reject"}


def test_a_slope_of_log_odds_or_of_a_number_is_the_mean_of_the_photos_own_lines(frame, slopes):
    read = reading(slopes).set_index("label")
    for label, number in (("age", lambda score: score), ("hire", special.logit)):
        rows = frame[frame["label"] == label]
        own = [
            np.polyfit(part["value"], number(part["score"]), 1)[0]
            for _, part in rows.groupby("photo")
        ]
        row = read.loc[label]
        assert row["slope"] == pytest.approx(np.mean(own), abs=2e-5)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            corrected(np.array(own))[:2], abs=1e-4
        )
        centre = number(rows.loc[rows["value"] == 0, "score"]).std(ddof=1)
        assert row["sd"] == pytest.approx(centre, rel=1e-4)


def test_labels_of_all_measures_are_one_family(slopes):
    read = reading(slopes)
    assert read["q"].to_numpy() == pytest.approx(
        benjamini_hochberg(read["p_test"].to_numpy()), nan_ok=True
    )
    assert set(read.set_index("label")["decision"]) == {"open", "unjudged"}


def test_only_rare_labels_are_called_rare(slopes):
    notes = reading(slopes).set_index("label")["note"]
    assert (
        notes["dog"]
        == "too few photos change their answer (1 of 40 have the label; 10 must change)"
    )
    assert notes["face"] == "its answer is the same at every value of all 40 photos"
    rate = slopes[slopes["estimator"] == "photo-rate"].set_index("label")["note"]
    assert (
        rate["hire"]
        == "on practically every picture: read photo-measure, which goes by its log-odds"
    )


def test_a_photo_without_its_number_is_left_out(frame):
    lost = frame[~((frame["photo"] == "p00") & (frame["value"] == 1) & (frame["label"] == "age"))]
    read = reading(fit_slopes(lost, options=OPTIONS)).set_index("label")
    assert read.loc["age", "n"] == 39
    with pytest.raises(TableError, match="finite"):
        fit_slopes(frame.assign(score=np.inf), options=OPTIONS)


def test_a_change_between_runs_is_of_the_same_measure(frame):
    first = answers_of(frame)
    moved = frame.assign(
        score=frame["score"] + np.where(frame["label"] == "age", 0.5 * frame["value"], 0)
    )
    found = paired_differences(first, answers_of(moved), permutations=0).set_index("label")
    assert found.loc["age", "difference"] == pytest.approx(0.5, abs=1e-4)
    assert found.loc["age", "measure"] == "value"
    assert found.loc["hire", "measure"] == "log-odds"
    assert found.loc["hire", "difference"] == pytest.approx(0, abs=1e-6)
    lost = moved[~((moved["photo"] == "p00") & (moved["value"] == 1) & (moved["label"] == "age"))]
    for pair in ((first, answers_of(lost)), (answers_of(lost), first)):
        age = paired_differences(*pair, permutations=0).set_index("label").loc["age"]
        assert (age["n"], abs(age["difference"])) == (
            39,
            pytest.approx(0.5, abs=1e-4),
        )  # as the fit, no 0 for it
    found = paired_differences(
        first, answers_of(frame[frame["label"] != "age"]), permutations=0
    ).set_index("label")
    assert np.isnan(found.loc["age", "difference"])
    assert found["note"]["age"] == "one run never gave its number"
    assert found["n"].eq(40).all()
