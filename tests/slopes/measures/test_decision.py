import numpy as np
import pandas as pd
import pytest

from gslopes.core import placebo
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.decision import _decide_label, placebo_step, rule
from gslopes.slopes.measures.options import FitOptions

VALUES = np.linspace(-2, 2, 5)
FAST = FitOptions(estimators=("photo-rate", "paper"), permutations=500)
NAMES = ["light only", "real", "still"]


def audit(answers, kinds=placebo.KINDS, photos: int = 300, seed: int = 0):
    """One label driven by light alone, one by the attribute, one by neither; the placebos carry the light."""
    rng = np.random.default_rng(seed)

    def sweep(light: float, attribute: float) -> np.ndarray:
        slopes = np.array([light, attribute, 0.0])
        return rng.random((photos, 3, 5)) < 0.4 + slopes[None, :, None] * VALUES

    parts = [answers(sweep(0.06, 0.06), VALUES, labels=NAMES)]
    for kind in kinds:
        shift = 0.06 if kind == "light" else 0.0
        parts.append(
            answers(sweep(shift, 0.0), VALUES, labels=NAMES, attribute=placebo.name("gender", kind))
        )
    return [pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)]


def decisions(found, estimator: str = "photo-rate") -> pd.DataFrame:
    rows = found.slopes
    return rows[(rows["estimator"] == estimator) & (rows["attribute"] == "gender")].set_index(
        "label"
    )


def test_what_light_does_alone_is_no_finding_and_what_it_does_not_is_one(answers) -> None:
    found = analyse(*audit(answers), options=FAST)
    table = decisions(found)
    assert table["q"]["light only"] < 0.05  # a star before
    assert table["decision"].to_dict() == {
        "light only": "placebo",
        "real": "finding",
        "still": "none",
    }
    assert table["reason"].to_dict() == {"light only": "light", "real": "", "still": "own-test"}
    assert table["detail"]["light only"].startswith("light alone: +")
    assert table["light"]["light only"] > 0.7
    assert table["light"][["real", "still"]].isna().all(), "the range of light alone holds 0"
    assert decisions(found, "paper")["decision"].isna().all()


@pytest.mark.parametrize("share", [0.5, -0.5])
def test_light_s_share_of_a_finding_is_its_slope_over_the_label_s(answers, share) -> None:
    def sweep(slope: float, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).random((600, 1, 5)) < 0.5 + slope * VALUES[None, None]

    parts = [answers(sweep(0.12, 0), VALUES)]
    for seed, kind in enumerate(placebo.KINDS, 1):
        moved = sweep(0.12 * share * (kind == "light"), seed)
        parts.append(answers(moved, VALUES, attribute=placebo.name("gender", kind)))
    found = analyse(
        *(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)), options=FAST
    )
    row = decisions(found).iloc[0]
    light = found.placebos.query("placebo == 'light' and estimator == 'photo-rate'").iloc[0]
    assert row["decision"] == "finding"
    assert row["light"] == pytest.approx(light["placebo_slope"] / row["slope"])
    assert row["light"] == pytest.approx(share, abs=0.1)


@pytest.mark.row("slopes-0-placebos")
def test_without_every_placebo_a_slope_stays_open(answers) -> None:
    rest = "no placebo sweep of light alone or of a random change was run"
    for kinds, why in (((), "no placebo sweep was run"), (("same",), rest)):
        table = decisions(analyse(*audit(answers, kinds), options=FAST))
        assert table["decision"]["real"] == "open"
        assert table["reason"]["real"] == "no-placebo"
        assert table["detail"]["real"] == why


@pytest.mark.parametrize(
    ("low", "high", "decision"), [(1, 9, "finding"), (-1, 9, "open"), (-9, -1, "open")]
)
def test_where_refusals_depend_on_the_value_the_bounds_keep_the_slopes_sign(
    low, high, decision
) -> None:
    for sign in (1, -1):
        ends = dict(
            zip(("worst_low", "worst_high"), sorted((sign * low, sign * high)), strict=True)
        )
        row = {"note": "", "q": 0.01, "se": 1.0, "slope": 5.0 * sign, **ends}
        assert _decide_label(row, 0.01, dict.fromkeys(placebo.KINDS), "failures")[0] == decision


def test_the_difference_is_paired_over_the_photos_of_both(answers) -> None:
    scores, asked = audit(answers)
    light = asked["attribute"] == "gender-light"
    fewer = asked[~light | (asked["photo"] < f"{120:064x}")]
    found = analyse(scores, fewer, options=FAST).placebos
    row = found[(found["placebo"] == "light") & (found["label"] == "real")].iloc[0]
    assert row["n"] == 120
    assert row["difference"] == pytest.approx(row["slope"] - row["placebo_slope"])
    assert row["ci_low"] < row["difference"] < row["ci_high"]


def test_the_difference_that_decides_is_against_the_nearer_sign(answers) -> None:
    """A placebo as steep the other way: its sign says nothing, so the paired difference is about 0."""
    rng = np.random.default_rng(4)
    parts = []
    for name, slope in (
        ("gender", 0.06),
        ("gender-same", 0.0),
        ("gender-light", 0.0),
        ("gender-random", -0.06),
    ):
        present = rng.random((300, 1, 5)) < 0.4 + slope * VALUES
        parts.append(answers(present, VALUES, attribute=name))
    found = analyse(
        *[pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)], options=FAST
    )
    row = found.placebos.set_index("placebo").loc["random"]
    assert row["difference"] == pytest.approx(row["slope"] + row["placebo_slope"])
    assert abs(row["difference"]) < row["slope"]
    assert "random change: -" in decisions(found).iloc[0]["detail"]


@pytest.mark.parametrize(
    ("kind", "further"), [("light", 0.12), ("random", 0.12), ("random", -0.12)]
)
def test_a_slope_short_of_its_placebo_is_no_finding(answers, kind, further) -> None:
    """A placebo goes further: a clear difference, of the wrong sign; the sign of a random change means nothing."""
    rng = np.random.default_rng(3)
    parts = []
    for name, slope in {
        "gender": 0.05,
        "gender-same": 0.0,
        "gender-light": 0.0,
        "gender-random": 0.0,
    }.items():
        slope = further if name == f"gender-{kind}" else slope
        present = rng.random((400, 1, 5)) < 0.4 + slope * VALUES
        parts.append(answers(present, VALUES, attribute=name))
    tables = [pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)]
    table = decisions(analyse(*tables, options=FAST)).iloc[0]
    assert (table["decision"], table["reason"]) == ("placebo", kind)


def test_placebos_are_adjusted_over_the_labels_that_hold_the_own_test(answers) -> None:
    """Thirty labels that do not move cost the one that does nothing once its own test holds."""
    rng = np.random.default_rng(5)
    slopes = np.array([0.07, *[0.0] * 30])
    parts = []
    for name in ("gender", *placebo.names("gender")):
        moves = slopes if name == "gender" else 0 * slopes
        parts.append(
            answers(
                rng.random((100, 31, 5)) < 0.4 + moves[:, None] * VALUES, VALUES, attribute=name
            )
        )
    found = analyse(
        *[pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)], options=FAST
    )
    table = decisions(found)
    assert table["decision"]["label0"] == "finding"
    tested = table["q_placebo"].notna()
    assert table.index[tested].tolist() == table.index[table["q"] < 0.05].tolist()


def test_what_was_not_tested_is_not_judged() -> None:
    assert rule(False, float("nan"), 0.01, placebo.KINDS) == ("unjudged", "no-test")


def test_a_slope_whose_interval_holds_0_is_no_finding_however_small_its_q() -> None:
    found = rule(False, 0.01, 0.01, placebo.KINDS, (1.0, 3.0))
    assert (found, rule(False, 0.01, 0.01, placebo.KINDS, (-1.0, 3.0))) == (
        ("finding", ""),
        ("none", "own-test"),
    )
    row = {"note": "", "q": 0.01, "se": 1.0, "slope": 1.0, "ci_low": -1.0, "ci_high": 3.0}
    assert _decide_label(row, 0.01, {}, "") == (
        "none",
        "own-test",
        "q 0.01, but its interval holds 0",
    )


def step(
    q: list[float], **placebos: tuple[list[float], list[float], list[float]]
) -> tuple[list[float], pd.DataFrame]:
    """q_placebo of labels of slope 10, p_test a tenth of q; by kind: difference, its two-sided p, p of the placebo."""
    slopes = np.full(len(q), 10.0)
    rows = pd.DataFrame({"slope": slopes, "q": q, "p_test": np.array(q) / 10})
    rows = rows.assign(ci_low=5.0, ci_high=15.0)
    differences = {}
    for kind, (difference, p, own) in placebos.items():
        part = pd.DataFrame({"difference": difference, "p": p, "placebo_p": own, "p_perm": np.nan})
        differences[kind] = part.assign(placebo_slope=slopes - difference)
    found = placebo_step(rows, differences, FitOptions(permutations=0), trusted=True)
    return found["q_placebo"].round(6).tolist(), found


def test_the_step_is_one_sided_and_at_its_level() -> None:
    """A two-sided p of .06 is .03 on the slope's side, below 3.5 %; on the other side it is 1."""
    assert step([0.001], light=([5.0], [0.06], [0.5]))[0] == [round(0.03 * 0.05 / 0.035, 6)]
    assert step([0.001], light=([5.0], [0.08], [0.5]))[0][0] > 0.05
    assert step([0.001], light=([-5.0], [0.01], [0.5]))[0] == [1.0]


def test_a_placebo_that_is_drawn_anew_counts_only_if_it_moves_the_label() -> None:
    light = ([9.0, 9.0], [1e-4, 1e-4], [0.5, 0.5])
    short = [1.0, 1.0], [0.8, 0.8]
    q, found = step([0.001, 0.001], light=light, random=(*short, [0.3, 0.4]))
    assert max(q) < 0.05
    assert found["random"].tolist() == [0.0, 0.0]
    q, _ = step([0.001, 0.001], light=light, random=(*short, [0.3, 0.009]))
    assert max(q) > 0.05, "its q is .018: it moves one label, and counts for both"
    labels = [0.001, *[0.9] * 9]
    calm = ([9.0] * 10, [1e-4] * 10, [0.5] * 10)
    moved = ([1.0] * 10, [0.8] * 10, [0.009, *[0.5] * 9])
    assert step(labels, light=calm, random=moved)[0][0] > 0.05, "for the label itself"
    moved = ([1.0] * 10, [0.8] * 10, [0.5, 0.009, *[0.5] * 8])
    assert step(labels, light=calm, random=moved)[0][0] < 0.05, "not for another"


def test_labels_that_light_moves_are_adjusted_with_the_others() -> None:
    """A label that does not hold its own test counts if light moves it in the direction of its slope."""
    found = {}
    for own in (0.5, 0.09):
        light = ([5.0, 5.0], [0.05, 0.5], [0.5, own])
        found[own] = step([0.001, 0.9], light=light)[0][0]
    assert found[0.09] == pytest.approx(2 * found[0.5], abs=1e-5)


def test_a_label_that_light_explains_lends_nothing_to_the_others() -> None:
    """Nineteen of twenty labels hold their own test by light; the last holds it only in their company."""
    q = [0.001] * 19 + [0.04]
    light = ([1.0] * 19 + [9.0], [0.8] * 19 + [1e-6], [0.5] * 20)
    assert step(q, light=light)[0][-1] == pytest.approx(0.08)
    assert step(q[-1:], light=tuple(part[-1:] for part in light))[0][-1] < 0.05
