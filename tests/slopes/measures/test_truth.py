"""Error rates by value: planted errors come back, nothing is found where there is none, wrong tables are refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from gslopes.core.errors import ConfigError
from gslopes.slopes.measures.analysis import FitTables, analyse
from gslopes.slopes.measures.options import FitOptions, Study
from tests.skewed import corrected_parts

VALUES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
OPTIONS = FitOptions(permutations=0, estimators=("photo-rate",))
JOBS = ("chef", "judge")


def world(photos: int, chance: np.ndarray, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores in which a photo's other job wins with a chance of each value; the table of photos."""
    generator = np.random.default_rng(seed)
    rows, about = [], []
    for place in range(photos):
        job = JOBS[place % 2]
        for step, value in enumerate(VALUES):
            wrong = generator.random() < chance[step]
            high, low = (JOBS[1 - place % 2], job) if wrong else (job, JOBS[1 - place % 2])
            head = {
                "photo": f"p{place:04d}",
                "attribute": "gender",
                "step": step,
                "value": value,
                "classifier": "c",
            }
            rows += [{**head, "label": high, "score": 0.9}, {**head, "label": low, "score": 0.1}]
        about.append(
            {
                "job": job.upper(),
                "is_chef": "yes" if job == "chef" else "no",
                "person": f"p{place // 3}",
            }
        )
    scores = pd.DataFrame(rows).astype({"step": "int16", "value": "float32", "score": "float32"})
    return scores, pd.DataFrame(about, index=[f"p{place:04d}" for place in range(photos)])


def fitted(
    scores: pd.DataFrame,
    about: pd.DataFrame,
    *truth: str,
    whole: object = None,
    options: FitOptions = OPTIONS,
    **more: object,
) -> FitTables:
    """whole: scores of all pictures that were asked about, if some of them have no label."""
    questions = asked(scores if whole is None else whole)
    return analyse(scores, questions, Study(about=about, truth=truth, **more), options=options)


def asked(scores: pd.DataFrame) -> pd.DataFrame:
    rows = scores[["photo", "attribute", "step", "classifier"]].drop_duplicates()
    return rows.assign(status="answered", reason="", detail="")


def row(frame: pd.DataFrame, **facts: object) -> pd.Series:
    for name, value in facts.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_planted_errors_come_back_by_value_and_by_class() -> None:
    chance = 0.3 + 0.1 * VALUES
    found = fitted(*world(400, chance), "job")
    rates = found.error_rates[found.error_rates["label"] == "all labels"].set_index("step")
    assert (rates["ci_low"] < chance).all()
    assert (rates["ci_high"] > chance).all()
    slope = row(found.error_slopes, label="all labels")
    assert slope["ci_low"] < 10 < slope["ci_high"]
    assert slope["q"] < 1e-6
    both = found.error_slopes[found.error_slopes["measure"] == "miss"]
    assert both["label"].tolist() == ["CHEF", "JUDGE"]
    assert both["n"].tolist() == [200, 200]
    assert slope["centre"] == pytest.approx(both["centre"].mean())


@pytest.mark.parametrize(
    ("kinds", "slope", "decision"),
    [
        (("same", "light", "random"), 0.0, "finding"),
        (("same", "light", "random"), 0.1, "placebo"),  # moves the errors as far
        (("same", "light", "random"), -0.1, "placebo"),  # of a random change the sign means nothing
        (("same",), 0.0, "open"),
        ((), 0.0, "open"),
    ],
)
def test_a_finding_goes_further_than_every_placebo(
    kinds: tuple[str, ...], slope: float, decision: str
) -> None:
    scores, about = world(300, 0.3 + 0.1 * VALUES)
    more = []
    for seed, kind in enumerate(kinds, 1):
        moved = slope if kind == "random" else 0.0
        more.append(
            world(300, 0.3 + moved * VALUES, seed=seed)[0].assign(attribute=f"gender-{kind}")
        )
    slopes = fitted(pd.concat([scores, *more]), about, "job").error_slopes
    found = row(slopes, label="all labels", attribute="gender")
    reasons = {"finding": "", "open": "no-placebo", "placebo": "placebo"}
    assert (found["decision"], found["reason"]) == (decision, reasons[decision])
    fakes = slopes[slopes["attribute"] != "gender"]
    assert len(fakes) == 3 * len(kinds)
    assert fakes["decision"].isna().all()
    if not slope:
        chefs = [
            frame[frame["photo"].isin(about.index[::2])] for frame in more
        ]  # a sample without a judge
        one_class = fitted(pd.concat([scores, *chefs]), about, "job").error_slopes
        assert row(one_class, label="JUDGE", attribute="gender")["decision"] == (
            "placebo" if "light" in kinds else "open"
        )


def test_a_label_has_misses_and_false_alarms() -> None:
    scores, about = world(40, np.zeros(5))
    said = scores[(scores["score"] > 0.5) & (scores["label"] == "chef")]  # a tagger of one label
    missed = said["photo"].eq("p0000") & said["value"].gt(0)
    more = scores[(scores["photo"] == "p0001") & (scores["label"] == "judge")].assign(label="chef")
    found = fitted(pd.concat([said[~missed], more]), about, "Chef=is_chef", whole=scores)
    by = found.error_rates.set_index(["measure", "step"])
    assert by["n"].loc[["error", "miss", "false alarm"]].groupby("measure").first().to_dict() == {
        "error": 40,
        "miss": 20,
        "false alarm": 20,
    }
    assert by.loc[("miss", 4), "wrong"] == 1
    assert by.loc[("miss", 0), "wrong"] == 0
    assert by.loc["false alarm"]["wrong"].tolist() == [1] * 5
    assert by.loc[("error", 4), "wrong"] == 2
    slopes = found.error_slopes.set_index("measure")
    assert slopes.loc["miss", "note"] == "its errors change on 1 of 20 photos; 10 are needed"
    assert slopes.loc["miss", ["p", "ci_low", "ci_high"]].isna().all()
    assert np.isnan(slopes.loc["false alarm", "ci_low"])  # no photo changes


def test_rates_and_slopes_are_those_of_a_regression_with_robust_errors_over_people() -> None:
    """90 photos of 30 people: statsmodels' GEE, whose sandwich lacks only the factor U / (U - 1)."""
    scores, about = world(90, 0.3 + 0.1 * VALUES)
    found = fitted(scores, about, "job", cluster="person")
    best = scores.sort_values("score").drop_duplicates(["photo", "step"], keep="last")
    best = best.assign(wrong=best["label"] != best["photo"].map(about["job"]).str.lower())
    best = best.assign(person=best["photo"].map(about["person"]))
    rates = found.error_rates.set_index(["label", "step"])
    for label, rows in (
        ("all labels", best),
        *((job, best[best["photo"].map(about["job"]) == job]) for job in ("CHEF",)),
    ):
        assert rates.loc[label, "rate"].tolist() == pytest.approx(
            rows.groupby("step")["wrong"].mean().tolist()
        )
        design = np.column_stack([np.ones(len(rows)), rows["value"]])
        codes = rows["person"].astype("category").cat.codes.to_numpy()
        fit = sm.GEE(100 * rows["wrong"].to_numpy(float), design, groups=codes).fit()
        units, slope = rows["person"].nunique(), row(found.error_slopes, label=label)
        assert slope["slope"] == pytest.approx(fit.params[1])
        assert slope["se"] == pytest.approx(fit.bse[1] * np.sqrt(units / (units - 1)))
        by_photo = rows.sort_values("value").groupby("photo")["wrong"]
        own = by_photo.agg(lambda wrong: 100 * np.polyfit(VALUES, wrong.astype(float), 1)[0])
        gaps = (own - own.mean()).groupby(about["person"]).sum().to_numpy()
        skew = (gaps**3).sum() / (gaps**2).sum() ** 1.5
        theirs = corrected_parts(slope["slope"], slope["se"], units - 1, skew)
        assert (slope["ci_low"], slope["ci_high"], slope["p"]) == pytest.approx(theirs)


def test_errors_that_are_alike_on_every_photo_are_decided_by_permutation() -> None:
    """Wrong at the two upper values of every photo: t has no standard error, and no answer."""
    scores, about = world(40, (VALUES > 0).astype(float))
    more = [
        world(40, np.zeros(5))[0].assign(attribute=f"gender-{kind}")
        for kind in ("same", "light", "random")
    ]
    options = FitOptions(permutations=999, estimators=("photo-rate",))
    found = row(
        fitted(pd.concat([scores, *more]), about, "job", options=options).error_slopes,
        label="all labels",
        attribute="gender",
    )
    assert (found["slope"], found["se"], found["decision"]) == (pytest.approx(30), 0, "finding")
    assert found["p_test"] == found["q"] == 0.001
    assert np.isnan(found["p"])
    untested = row(fitted(scores, about, "job").error_slopes, label="all labels")
    assert (untested["decision"], "permutations" in untested["note"]) == ("unjudged", True)
    middle = row(
        fitted(*world(40, (VALUES == 0).astype(float)), "job", options=options).error_slopes,
        label="all labels",
    )
    assert (middle["p_test"], middle["decision"]) == (1.0, "none")


@pytest.mark.parametrize(
    ("truth", "rows"), [("job", [("CHEF", 20), ("all labels", 20)]), ("judge=is_judge", [])]
)
def test_a_label_that_a_classifier_never_returns_has_no_rate(
    truth: str, rows: list[tuple[str, int]]
) -> None:
    scores, about = world(40, np.full(5, 0.5))
    about = about.assign(is_judge=about["is_chef"].map({"yes": "no", "no": "yes"}))
    other = scores[scores["label"] == "chef"].assign(classifier="chefs")
    found = fitted(
        pd.concat([scores[scores["score"] > 0.5], other]),
        about,
        truth,
        whole=pd.concat([scores, other]),
    )
    slopes = found.error_slopes[found.error_slopes["classifier"] == "chefs"].set_index("label")
    rates = found.error_rates[found.error_rates["classifier"] == "chefs"]
    assert list(rates.groupby("label")["n"].first().items()) == rows
    never = slopes.loc["JUDGE" if truth == "job" else "judge"]
    assert never["note"] == f"chefs never returns “{never.name}”"
    assert never[["slope", "ci_low", "p", "q"]].isna().all()
    assert never["decision"] == "unjudged"
    assert "never" not in "".join(
        found.error_slopes.loc[found.error_slopes["classifier"] == "c", "note"]
    )


@pytest.mark.parametrize("words", [("True", "FALSE"), (" 1 ", "-1")])
def test_yes_and_no_as_tables_write_them(words: tuple[str, str]) -> None:
    scores, about = world(40, np.zeros(5))
    cells = about["is_chef"].map({"yes": words[0], "no": words[1]})
    found = fitted(
        scores[scores["score"] > 0.5], about.assign(is_chef=cells), "chef=is_chef", whole=scores
    )
    assert set(found.error_rates["rate"]) == {0.0}
    assert set(found.error_rates["n"]) == {20, 40}


def test_photos_of_one_person_are_one_unit() -> None:
    """Three copies of every photo say no more than one, if they are said to be of one person."""
    scores, about = world(60, np.full(5, 0.3))
    base = fitted(scores, about, "job")
    copies = pd.concat([scores.assign(photo=scores["photo"] + tail) for tail in "abc"])
    people = pd.concat(
        [about.assign(person=about.index).set_axis(about.index + tail) for tail in "abc"]
    )
    whole, each = (fitted(copies, people, "job", cluster=cluster) for cluster in ("person", ""))
    slopes = [row(one.error_slopes, label="all labels") for one in (base, whole, each)]
    assert slopes[1]["se"] == pytest.approx(slopes[0]["se"])
    assert slopes[2]["se"] < 0.65 * slopes[0]["se"]
    widths = [
        one.error_rates["ci_high"].sub(one.error_rates["ci_low"]).mean()
        for one in (base, whole, each)
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.7 * widths[0]


def test_unknown_truth_is_left_out_and_equal_scores_are_the_highest_together() -> None:
    scores, about = world(40, np.full(5, 1.0))
    about.loc[["p0000", "p0001"], "job"] = ""
    found = fitted(scores.assign(score=np.float32(0.5)), about, "job")
    rates = found.error_rates[found.error_rates["label"] == "all labels"]
    assert set(rates["n"]) == {38}
    assert set(rates["wrong"]) == {0}


def test_a_label_that_every_picture_has_is_not_judged() -> None:
    slopes = fitted(*world(40, np.full(5, 0.2)), "chef=is_chef").error_slopes
    assert set(slopes["note"]) == {
        "given for every picture: say from which score it counts (--set fit.presence=0.5)"
    }
    assert slopes["p"].isna().all()


@pytest.mark.parametrize(
    ("truth", "change", "why"),
    [
        ("work", {}, "no column 'work'"),
        ("job", {"job": "pilot"}, "is not a label that was returned"),
        ("job", {"job": ""}, "is empty"),
        ("pilot=is_chef", {}, "No classifier returned"),
        ("chef=job", {}, "neither yes nor no"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused_with_the_next_step(
    truth: str, change: dict, why: str
) -> None:
    scores, about = world(4, np.zeros(5))
    with pytest.raises(ConfigError, match=why) as error:
        fitted(scores, about.assign(**change), truth)
    assert error.value.hint or "it has" in str(error.value)
