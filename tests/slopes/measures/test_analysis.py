import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.stats.multitest import multipletests

from gslopes.core import tables
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import RARE, FitOptions, Study
from tests.fixtures import paper_slopes
from tests.slopes.measures.conftest import drifting

BY_PRESENCE = {"paper", "photo-rate"}
VALUES = np.linspace(-2, 2, 5)
FAST = FitOptions(permutations=99)


@pytest.fixture(scope="module")
def found(answers):
    return analyse(*answers(drifting(), VALUES), options=FAST)


def rows(slopes: pd.DataFrame, estimator: str) -> pd.DataFrame:
    return slopes[slopes["estimator"] == estimator].set_index("label")


@pytest.mark.row("slopes-4.3-test")
def test_the_papers_rows_are_those_of_fit_slopes_with_a_permutation_p(answers, found) -> None:
    alone = paper_slopes(*answers(drifting(), VALUES)).set_index("label")
    chosen = rows(found.slopes, "paper")
    columns = [
        "n",
        "active",
        "y_centre",
        "slope",
        "intercept",
        "se",
        "t",
        "p",
        "ci_low",
        "ci_high",
        "q",
    ]
    pd.testing.assert_frame_equal(chosen[columns], alone[columns])
    assert chosen["p_perm"].notna().tolist() == [True, True, True, False, False]
    rate = rows(found.slopes, "photo-rate")[:4]
    np.testing.assert_allclose(rate["q"], multipletests(rate["p_test"], method="fdr_bh")[1])
    assert ((rate["ci_low"] <= rate["slope"]) & (rate["slope"] <= rate["ci_high"])).all()


def test_what_too_few_photos_change_has_no_interval(answers) -> None:
    present = np.zeros((30, 1, 5))
    present[:9, 0, 3:] = 1  # nine photos of thirty get the label
    parts = answers(present, VALUES)
    groups = pd.DataFrame({"side": np.resize(["a", "b"], 30)}, index=pd.unique(parts[1]["photo"]))
    found = analyse(
        *parts,
        Study(values={"gender": VALUES.tolist()}, about=groups, groups=["side"]),
        options=FAST,
    )
    for frame in (rows(found.slopes, "photo-rate"), found.groups, found.differences):
        assert frame["note"].str.startswith(RARE).all()
        assert frame["p"].isna().all()
        assert frame[["ci_low", "ci_high"]].isna().all(axis=None)


def test_every_table_has_its_schema_and_is_the_same_once_read(found, tmp_path) -> None:
    names = []
    for table, frame in found.tables():
        tables.write(table, frame, tmp_path / f"{table.name}.parquet")
        pd.testing.assert_frame_equal(tables.read(table, tmp_path / f"{table.name}.parquet"), frame)
        names.append(table.name)
    assert names == [
        *("slopes", "groups", "differences", "balance", "placebos"),
        *("reach", "gating", "error_rates", "error_slopes", "observed", "drawing", "explained"),
        "soundness",
    ]
    assert set(found.slopes["estimator"]) == BY_PRESENCE


def test_rare_labels_are_listed_and_not_judged(found) -> None:
    row = rows(found.slopes, "photo-rate").loc["label4"]
    assert (
        row["note"]
        == "too few photos change their answer (2 of 60 have the label; 10 must change; about 300 like these would do)"
    )
    assert row[["p", "p_perm", "q"]].isna().all()
    assert row["active"] == 2
    assert np.isfinite(row["slope"])
    assert rows(found.slopes, "paper").loc["label3", "note"] == "never there at the centre"


def test_the_papers_p_and_the_permutations_may_disagree(answers) -> None:
    # seven means on a bent line: p of the paper is large, though every photo moves
    present = np.tile(np.array([0, 0, 0, 0, 1], bool), (40, 1, 1))
    present[:, :, 2] |= np.arange(40)[:, None] < 5
    options = FitOptions(permutations=2000)
    chosen = rows(
        analyse(
            *answers(present, VALUES), Study(values={"gender": VALUES.tolist()}), options=options
        ).slopes,
        "paper",
    )
    assert chosen.loc["label0", "p"] > 0.05
    assert chosen.loc["label0", "p_perm"] < 0.001


@settings(deadline=None, max_examples=5)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(answers, found, lot) -> None:
    scores, asked = answers(drifting(), VALUES)
    order = list(range(len(scores)))
    lot.shuffle(order)
    again = analyse(scores.iloc[order], asked.iloc[::-1], options=FAST)
    for (_, one), (_, other) in zip(found.tables(), again.tables(), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_unbalanced_photos_drop_out_whole_and_are_counted(answers, found) -> None:
    scores, asked = answers(drifting(), VALUES)
    asked.loc[[0, 5], "status"] = ["refused", "failed"]
    part = analyse(scores, asked.drop(index=10), options=FAST)
    assert part.balance.iloc[0].tolist()[:7] == ["c", "gender", 57, 57, 1, 1, 1]
    assert set(part.slopes["n"]) == {57}
    kept = sorted(set(asked["photo"]))[3:]
    cut = analyse(scores, asked, Study(photos=kept), options=FAST)
    lost = ["worst_low", "worst_high"]  # what the answers that never came could be
    pd.testing.assert_frame_equal(cut.slopes.drop(columns=lost), part.slopes.drop(columns=lost))


def test_photos_of_one_person_count_as_one(answers) -> None:
    present = drifting(30)
    scores, asked = answers(np.repeat(present, 4, axis=0), VALUES)
    ids = sorted(set(asked["photo"]))
    about = pd.DataFrame({"person": [str(index // 4) for index in range(120)]}, index=ids)
    several = analyse(scores, asked, Study(about=about, cluster="person"), options=FAST)
    single = analyse(*answers(present, VALUES), options=FAST)
    assert several.balance["units"].tolist() == [30]
    one, other = (rows(each.slopes, "photo-rate")[:3] for each in (several, single))
    np.testing.assert_allclose(one[["slope", "se", "p"]], other[["slope", "se", "p"]], rtol=1e-6)
    np.testing.assert_allclose(one["p_perm"], other["p_perm"])
    few = rows(
        analyse(
            scores[scores["photo"] < ids[36]],
            asked[asked["photo"] < ids[36]],
            Study(about=about, cluster="person"),
            options=FAST,
        ).slopes,
        "photo-rate",
    )
    assert (
        few["note"].iloc[0]
        == "too few clusters of photos change their answer (9 of 9 do; 10 must; about 10 like these would do)"
    )


def test_two_classifiers_and_a_placebo_are_other_rows_of_the_same_call(answers) -> None:
    parts = [answers(drifting(), VALUES), answers(drifting(seed=4), VALUES, classifier="d")]
    parts.append(answers(drifting(seed=5), VALUES, attribute="placebo"))
    scores, asked = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    several = analyse(scores, asked, options=FAST)
    pairs = set(zip(several.slopes["classifier"], several.slopes["attribute"], strict=True))
    assert pairs == {("c", "gender"), ("c", "placebo"), ("d", "gender")}
    alone = analyse(*parts[1], options=FAST).slopes
    chosen = several.slopes.query("classifier == 'd'").reset_index(drop=True)
    pd.testing.assert_frame_equal(chosen, alone)


def test_unknown_names_and_columns_are_named(answers) -> None:
    for bad in ({"permutations": -1}, {"min_varying": -1}):
        with pytest.raises(ConfigError):
            FitOptions(**bad)
    scores, asked = answers(np.ones((2, 1, 5), bool), VALUES)
    with pytest.raises(UnknownName, match="photo-rat"):
        analyse(scores, asked, options=FitOptions(estimators=("photo-rat",)))
    with pytest.raises(ConfigError, match="no column 'age'"):
        analyse(scores, asked, Study(about=pd.DataFrame({"sex": []}), groups=["age"]))
    with pytest.raises(ConfigError, match="none is given"):
        analyse(scores, asked, Study(cluster="person"))


# -- hardly any answers -----------------------------------------------------------------------------------------------


def _few(answers, name: str):
    """Scores and asked tables of an attribute and its placebo, with hardly any answers."""
    present = np.random.default_rng(0).random((30, 3, 5)) < 0.5
    picture = np.arange(150).reshape(30, 5)
    lost = {"all refused": picture >= 0, "a third refused": picture % 3 == 0}
    refused = lost.get(name, np.zeros((30, 5), bool))
    parts = []
    for attribute in ("gender", "gender-light"):
        scores, asked = answers(present & ~refused[:, None, :], VALUES, attribute=attribute)
        asked = asked.assign(status=np.where(refused.ravel(), "refused", "answered"))
        some = {"no photo": 0, "one photo": 1}.get(name)
        if some is not None:
            keep = asked["photo"].unique()[:some]
            scores, asked = scores[scores["photo"].isin(keep)], asked[asked["photo"].isin(keep)]
        parts.append((scores.iloc[: {"no label": 0, "one row": 1}.get(name)], asked))
    return tuple(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))


@pytest.mark.parametrize(("cluster", "gated"), [("", False), ("person", True)])
@pytest.mark.parametrize(
    "name", ["all refused", "a third refused", "no label", "one row", "no photo", "one photo"]
)
def test_hardly_any_answers_give_tables_and_no_error(
    answers, name: str, cluster: str, gated: bool
) -> None:
    scores, asked = _few(answers, name)
    ids = [f"{index:064x}" for index in range(30)]
    about = pd.DataFrame({"person": [f"p{index % 4}" for index in range(30)]}, index=ids)
    gate = pd.Series(True, index=ids)
    found = analyse(
        scores,
        asked,
        Study(
            values={"gender": VALUES.tolist(), "gender-light": VALUES.tolist()},
            about=about,
            groups=("person",),
            cluster=cluster,
            gates={"gender": gate} if gated else {},
            reach=pd.DataFrame(
                {"photo": ids, "attribute": "gender", "reading": "own", "reach": 1.0}
            ),
            tones=pd.Series("dark", index=ids),
        ),
        options=FitOptions(permutations=19),
    )
    judged = found.slopes[found.slopes["estimator"] != "paper"]
    assert judged["p"].isna().all()
    assert judged["ci_low"].isna().all() or not (judged["ci_low"] == judged["ci_high"]).any()
    if name == "a third refused" and not gated:
        assert found.balance["refused"].tolist() == [30, 30]
