"""Whether a service still answers as it did: asked again past the cache, compared picture by picture."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from click.testing import CliRunner

from gslopes.ask.config import ScoreConfig
from gslopes.cli import main
from gslopes.core import tables
from gslopes.core.errors import BudgetReached, UsageError
from gslopes.frame.executors import OneProcess
from gslopes.slopes import audit as stages
from gslopes.slopes.drift import (
    COLUMNS,
    FEWEST,
    FLIPS,
    Drift,
    _compared,
    _sampled,
    changes_of,
    check_drift,
    print_drift,
)
from gslopes.stats.multiplicity import benjamini_hochberg
from tests.fake_provider import FakeProvider
from tests.fake_provider.folder import write_run
from tests.skewed import corrected_ends

NAME = "llm:some-model,prompt=doctor-nurse"


@pytest.fixture
def run(provider: FakeProvider, tmp_path):
    provider.chat.slopes = {"nurse": -0.25}
    folder = write_run(tmp_path / "run", 12, part=4)
    stages.score_photos(folder, [NAME], device="cpu", cache=tmp_path / "cache", yes=True)
    return folder


def check(run, **others):
    return check_drift(run, NAME, OneProcess(), cost_limits=ScoreConfig(yes=True), **others)


def test_a_model_that_answers_as_before_has_not_changed_and_the_questions_are_new(
    provider: FakeProvider, run
):
    before, scores = len(provider.log.of("chat")), (run / "scores.parquet").read_bytes()
    found = check(run, sample=20)
    assert len(provider.log.of("chat")) == before + 20
    assert (found.pictures, found.answered, found.same, found.changed) == (20, 20, 1.0, False)
    assert found.labels["difference"].abs().max() == pytest.approx(0, abs=1e-6)
    assert found.models == (("chat-1.0",), ("chat-1.0",))
    assert (run / "scores.parquet").read_bytes() == scores
    assert "No label's mean changed" in print_drift(found)
    assert max(map(len, print_drift(found).splitlines()[1:])) <= 100


def test_another_answer_is_a_change_with_its_labels(provider: FakeProvider, run):
    provider.chat.slopes = {"doctor": 0.1}
    found = check(run, sample=30)
    assert found.changed
    assert "2 of 3 labels changed." in " ".join(print_drift(found).split())
    rows = found.labels.set_index("label")
    assert rows.loc["nurse", "difference"] < 0 < rows.loc["doctor", "difference"]
    low, high = rows.loc["nurse", ["ci_low", "ci_high"]]
    assert low < rows.loc["nurse", "difference"] < high < 0
    assert found.same < 1
    (file,) = run.glob("drift-*.json")
    assert json.loads(file.read_text())["changed"] is True


@pytest.mark.slow
def test_another_version_is_a_change_even_if_it_answers_alike(provider: FakeProvider, run):
    provider.change_version("chat", "chat-2.0")
    found = check(run, sample=5)
    assert found.models == (("chat-1.0",), ("chat-2.0",))
    assert found.changed
    assert "Another model answers: chat-2.0 instead of chat-1.0." in print_drift(found)


@pytest.mark.slow
def test_the_sample_is_of_answered_pictures_and_depends_on_the_seed_alone(
    provider: FakeProvider, run
):
    asked = tables.read(tables.ASKED, run / "asked.parquet")
    whole = check(run, sample=1000)
    assert whole.pictures == len(asked)
    one, same, other = (check(run, sample=4, seed=seed).labels for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_the_budget_is_a_hard_stop(provider: FakeProvider, run):
    before = len(provider.log.calls)
    with pytest.raises(BudgetReached):
        check_drift(
            run,
            f"{NAME},price=5",
            OneProcess(),
            sample=20,
            cost_limits=ScoreConfig(yes=True, budget=0.006),
        )
    assert len(provider.log.calls) == before + 6


@pytest.mark.slow
def test_what_cannot_be_compared_is_said_before_anything_is_asked(provider: FakeProvider, run):
    before = len(provider.log.calls)
    with pytest.raises(UsageError, match="no answers of llm:other"):
        check_drift(run, "llm:other", OneProcess())
    with pytest.raises(UsageError, match="two pictures"):
        check(run, sample=1)
    assert len(provider.log.calls) == before


@pytest.mark.slow
def test_the_verb_says_what_came_of_it(provider: FakeProvider, run):
    command = ["compare", str(run), "--drift", NAME, "--yes"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert "pictures asked again" in done.output
    provider.change_version("chat", "chat-2.0")
    changed = CliRunner().invoke(main, [*command, "--json"])
    assert changed.exit_code == 3
    assert json.loads(changed.stdout)["models"]["now"] == ["chat-2.0"]


def moved(change: np.ndarray, photos: np.ndarray) -> pd.DataFrame:
    """Rows of labels l0, l1 ... by these changes, (n, L)."""
    names = [f"l{index}" for index in range(change.shape[1])]
    before = pd.DataFrame(np.full(change.shape, 0.5), columns=names)
    return changes_of(before, before + change, photos).set_index("label").loc[names]


def test_a_change_is_that_of_statsmodels_and_its_p_that_of_all_changes_of_signs() -> None:
    rng = np.random.default_rng(3)
    photos = np.repeat(np.arange(8), rng.integers(1, 7, 8))
    change = (
        0.03
        + 0.1 * rng.standard_normal((8, 4))[photos]
        + 0.05 * rng.standard_normal((len(photos), 4))
    )
    change[:, 3] = 0.0
    found = moved(change, photos)
    signs = np.array(list(product((-1, 1), repeat=8)))
    for name, each in zip(found.index[:3], change.T, strict=False):
        model = sm.OLS(each, np.ones(len(each))).fit(
            cov_type="cluster", cov_kwds={"groups": photos}, use_t=True
        )
        assert found.loc[name, "difference"] == pytest.approx(model.params[0], abs=1e-6)
        gaps = np.bincount(photos, each - each.mean())
        skew = float((gaps**3).sum() / (gaps @ gaps) ** 1.5)
        ends = corrected_ends(float(model.params[0]), float(model.bse[0]), 7, skew)
        assert found.loc[name, ["ci_low", "ci_high"]].to_list() == pytest.approx(ends, abs=1e-6)
        totals = np.abs(signs @ np.bincount(photos, each))
        exact = float((totals >= abs(each.sum()) - 1e-6).mean())
        assert found.loc[name, "p"] == pytest.approx(exact, abs=4 * np.sqrt(exact / FLIPS))
    assert found.loc["l3", ["p", "q"]].to_list() == [1, 1]
    assert found["q"].to_list()[:3] == pytest.approx(benjamini_hochberg(found["p"].to_numpy()[:3]))


@pytest.mark.parametrize("photos", [1, 5, 6, 12])
def test_equal_changes_of_one_photo_are_one_and_show_what_so_many_photos_can(photos) -> None:
    row = moved(np.full((4 * photos, 1), 0.25), np.repeat(np.arange(photos), 4)).iloc[0]
    assert row["difference"] == 0.25
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    assert 2.0 ** (1 - photos) <= row["p"] < 2.0 ** (2 - photos)
    assert (row["q"] < 0.05) == (photos >= FEWEST)
    still = moved(np.zeros((photos, 1)), np.arange(photos)).reset_index()
    found = Drift(NAME, photos, photos, photos, 1.0, ((), ()), still)
    assert ("it takes answers about 6 photos" in print_drift(found)) == (photos < FEWEST)


def test_a_sample_is_of_as_many_photos_as_can_be(run) -> None:
    assert _sampled(run, NAME, 12, 0)["photo"].nunique() == 12
    assert set(_sampled(run, NAME, 30, 1)["photo"].value_counts()) == {2, 3}


def test_a_picture_without_a_label_has_no_highest_one(tmp_path) -> None:
    scores = pd.DataFrame(
        [("p0", "gender", 0, 0.0, NAME, "nurse", 0.5)], columns=tables.SCORES.columns
    )
    tables.write(tables.SCORES, scores, tmp_path / "scores.parquet")
    asked = pd.DataFrame(
        {"photo": ["p0", "p1", "p2"], "attribute": "gender", "step": 0, "status": "answered"}
    )
    # p0 lost its label, p1 has one, p2 never had one
    now = asked, scores.assign(photo="p1")
    assert _compared(tmp_path, NAME, asked, now, ((), ())).same == pytest.approx(1 / 3)


def noisy(photos: int, mean: float, noise: float, start: float = 0.4) -> Drift:
    """A check of one label whose score changes by this much, give or take the noise."""
    change = noise * np.random.default_rng(4).standard_normal((photos, 1))
    before = pd.DataFrame(np.full((photos, 1), start), columns=["doctor"])
    changes = changes_of(before, before + mean + change - change.mean(), np.arange(photos))
    return Drift(NAME, photos, photos, photos, 1.0, ((), ()), changes)


@pytest.mark.parametrize(
    ("found", "changed", "said"),
    [
        (
            noisy(50, 0.005, 0.0),
            False,
            "The mean of “doctor” changed by +0.005 on every photo, less than would matter (50 photos;",
        ),
        (
            noisy(50, 0.005, 0.005),
            False,
            "The mean of “doctor” changed by +0.005 [+0.004, +0.007], less than would matter (50 photos;",
        ),
        (noisy(50, 0.2, 0.1), True, "The mean of “doctor” changed by +0.200 [+0.171, +0.230] (50"),
        (noisy(50, 0.045, 0.05), True, "The mean of “doctor” changed by +0.045 [+0.030, +0.060]"),
        (noisy(8, 0.005, 0.001), True, "The mean of “doctor” changed by +0.005 [+0.004, +0.006] ("),
        (noisy(50, 0.0, 0.05), False, "No label's mean changed beyond chance."),
    ],
)
def test_it_is_said_how_far_a_mean_changed_and_whether_that_would_matter(
    found: Drift, changed: bool, said: str
) -> None:
    assert said in " ".join(print_drift(found).split())
    assert found.changed is changed
    assert found.as_dict()["labels"][0]["changed"] is changed


def test_what_matters_of_a_share_and_of_a_number_is_by_its_own_size() -> None:
    rng = np.random.default_rng(0)
    before = pd.DataFrame({"rare": np.nan, "score": 0.5, "years": rng.normal(40, 10, 200)})
    before.loc[:3, "rare"] = 1.0
    rows = changes_of(before, before, np.arange(200)).set_index("label")
    assert rows.loc["rare", "matters"] == pytest.approx(0.2 * 0.02 * 0.98)
    assert rows.loc["score", "matters"] == 0.05
    assert rows.loc["years", "matters"] == pytest.approx(0.2 * before["years"].std())


def test_of_small_changes_it_is_said_what_is_not_known_of_the_others() -> None:
    rng = np.random.default_rng(1)
    changes = np.c_[0.005 + 0.002 * rng.standard_normal(40), 0.4 * rng.standard_normal(40)]
    before = pd.DataFrame(np.full((40, 2), 0.5), columns=["little", "noisy"])
    labels = changes_of(before, before + changes, np.arange(40))
    found = Drift(NAME, 40, 40, 40, 1.0, ((), ()), labels)
    assert not found.changed
    said = " ".join(print_drift(found).split())
    assert "Of the others, the change of “noisy” is undecided: it has the 95 % interval" in said


def test_a_label_has_changed_by_the_rule_of_a_finding() -> None:
    row = dict.fromkeys(COLUMNS, 0.0) | {"label": "doctor", "n": 80, "q": 0.01, "matters": 0.05}
    for low, high, said in (
        (0.01, 0.03, "less than would matter"),
        (0.01, 0.06, "changed by +0.020 [+0.010, +0.060] (80 photos; 0.05 or more would matter)."),
        (-0.01, 0.03, "No label's mean changed beyond chance."),
    ):
        labels = pd.DataFrame(
            [
                row
                | {
                    "difference": 0.02,
                    "ci_low": low,
                    "ci_high": high,
                    "changed": high > 0.05,
                    "small": 0 < low < high < 0.05,
                }
            ]
        )
        found = Drift(NAME, 80, 80, 80, 1.0, ((), ()), labels)
        assert said in " ".join(print_drift(found).split())
        assert found.changed is (high > 0.05)


@pytest.mark.parametrize(
    ("photos", "low", "high", "said"),
    [
        (8, -0.001, 0.002, "Cannot tell with 8 photos whether any label's mean changed"),
        (
            80,
            -0.031,
            0.082,
            "the change of “doctor” has the 95 % interval [-0.031, +0.082] (0.05 or more would matter).",
        ),
        (80, -0.001, 0.002, "No label's mean changed beyond chance."),
        (80, float("nan"), float("nan"), "No label's mean changed beyond chance."),
    ],
)
def test_few_photos_or_a_wide_interval_do_not_say_that_nothing_moved(
    photos, low, high, said
) -> None:
    row = dict.fromkeys(COLUMNS, 0.0) | {"label": "doctor", "n": photos, "q": 0.9, "matters": 0.05}
    labels = pd.DataFrame(
        [row | {"ci_low": low, "ci_high": high, "changed": False, "small": False}]
    )
    found = Drift(NAME, photos, photos, photos, 1.0, ((), ()), labels)
    lines = print_drift(found).splitlines()
    assert said in " ".join(lines[1:4])
    assert max(map(len, lines)) <= 100
