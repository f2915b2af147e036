"""Every interval that the walk computes or writes can be: its ends lie around its number, within what that can be."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _pytest.mark import ParameterSet

from gslopes.core import placebo, tables
from gslopes.slopes.drift import changes_of
from gslopes.slopes.measures.analysis import FitTables, analyse
from gslopes.slopes.measures.answers import Answers, gather
from gslopes.slopes.measures.differences import paired_differences
from gslopes.slopes.measures.kinds import steepest
from gslopes.slopes.measures.options import FitOptions, Study
from tests.bounds import Bound, check, impossible
from tests.slopes.measures.conftest import build

SWEEPS: dict[str, np.ndarray] = {
    "two": np.array([0.0, 1.0]),
    "three": np.array([-1.0, 0.0, 1.0]),
    "seven": np.linspace(-2, 2, 7),
}


def bounds(frames: Mapping[str, pd.DataFrame], most: float) -> dict[str, list[Bound]]:
    """What the numbers of each table of the fit can be.  most: points per unit that a slope of presence can have."""

    def slope(name: str) -> np.ndarray:
        frame = frames[name]
        return np.where(frame["estimator"] == "photo-rate", most, np.inf)

    def shares(name: str, measure: str = "presence") -> np.ndarray:
        return np.where(frames[name]["measure"] == measure, 100, np.inf)

    rate, gap, gated = slope("slopes"), 2 * slope("differences"), slope("gating")
    fake, group = 2 * slope("placebos"), slope("groups")
    apart, drawn = shares("observed"), shares("drawing")
    return {
        "slopes": [
            Bound("slope", "ci", -rate, rate),
            Bound("", "worst", -most, most),  # of all photos, not of those of the slope
        ],
        "groups": [Bound("slope", "ci", -group, group)],
        "differences": [Bound("difference", "ci", -gap, gap), Bound("per_reach", "per_reach")],
        "balance": [
            Bound("refusal_slope", "refusal", -most, most),
            Bound("failed_slope", "failed", -most, most),
        ],
        "placebos": [Bound("difference", "ci", -fake, fake)],
        "reach": [Bound("reach", "reach"), Bound("ratio", "ratio")],
        "gating": [
            Bound("gated", "gated", -gated, gated),
            Bound("ungated", "ungated", -gated, gated),
        ],
        "error_rates": [Bound("rate", "ci", 0, 1)],
        "soundness": [Bound("share", "ci", 0, 1)],
        "error_slopes": [Bound("slope", "ci", -most, most)],
        "observed": [Bound("observed", "ci", -apart, apart), Bound("distance", "distance")],
        "drawing": [Bound("drawing", "ci", -drawn, drawn)],
        "explained": [Bound("adjusted", "adjusted"), Bound("share", "share")],
    }


def steep(rng: np.random.Generator, photos: int, values: np.ndarray) -> np.ndarray:
    """(photos, 5, K): labels of nearly all or no photos, and some that all get or lose along the sweep."""
    at = np.argsort(np.argsort(values)) / (len(values) - 1)
    shares = np.stack([at, 1 - at, np.full(len(at), 0.93), np.full(len(at), 0.06), at > 0.5])
    return rng.random((photos, 5, len(values))) < np.clip(shares, 0.02, 0.98)


def audit(
    seed: int, values: np.ndarray, photos: int, least: int, *, clusters: bool, gated: bool
) -> FitTables:
    """A fit with everything that it can be given, of answers that are as extreme as they can be."""
    rng = np.random.default_rng(seed)
    names = ("gender", *placebo.names("gender"))
    parts = []
    for name in names:
        present = steep(rng, photos, values)
        if name != "gender":
            present = present[..., rng.permutation(len(values))]
        scores, asked = build(present, values, attribute=name)
        asked.loc[(rng.random(len(asked)) < 0.04) & (asked["step"] == 0), "status"] = "refused"
        asked.loc[rng.random(len(asked)) < 0.01, "status"] = "failed"
        key = ["photo", "step"]
        lost = asked[asked["status"] != "answered"].set_index(key).index
        parts.append((scores[~scores.set_index(key).index.isin(lost)], asked))
    scores, asked = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    ids = [f"{index:064x}" for index in range(photos)]
    about = pd.DataFrame(
        {
            "team": ["tiny" if index < 3 else "rest" for index in range(photos)],
            "side": ["left" if index % 2 else "right" for index in range(photos)],
            "person": [f"p{index // 2}" for index in range(photos)],
            "right": [f"label{index % 5}" for index in range(photos)],
            "true": ["yes" if index % 3 else "no" for index in range(photos)],
        },
        index=ids,
    )
    pairs = [(photo, step) for photo in ids for step in range(len(values))]
    moved = pd.DataFrame(pairs, columns=["photo", "step"]).assign(attribute="gender")
    moved = pd.concat(
        moved.assign(reading=name, score=rng.random(len(moved))) for name in ("luminance", "young")
    )
    read = rng.normal(0.5, 1, photos)
    reach = pd.DataFrame(
        {"photo": ids, "attribute": "gender", "reading": "gender", "reach": read, "odds": 3 * read}
    )
    return analyse(
        scores,
        asked,
        Study(
            values=dict.fromkeys(names, values.tolist()),
            about=about,
            groups=["team", "side", "team + side"],
            cluster="person" * clusters,
            truth=["right", "label0=true"],
            reach=reach,
            moved=moved,
            unedited={"c": _unedited(rng, photos)},
            drawn=["gender"],
            gates={"gender": pd.Series(rng.random(photos) < 0.8, index=ids)} if gated else {},
        ),
        options=FitOptions(permutations=99, min_varying=least),
    )


def _unedited(rng: np.random.Generator, photos: int) -> Answers:
    present = rng.random((photos, 5, 1)) < np.array([0.97, 0.03, 0.5, 0.9, 0.1])[:, None]
    return _gathered(present, np.zeros(1), "unedited")


def _gathered(present: np.ndarray, values: np.ndarray, attribute: str = "gender") -> Answers:
    scores, asked = build(present, values, attribute=attribute)
    arrow = tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked)
    (answers,) = gather(*arrow, {attribute: values})
    return answers


def designs() -> list[ParameterSet]:
    """Every combination; one of each sweep is quick, of another size, gate and clusters each time."""
    sizes = [(6, 2), (12, 3), (24, 3), (40, 10)]
    found = []
    for number, (sweep, size) in enumerate(product(SWEEPS, sizes)):
        for kind, (gated, clusters) in enumerate(product((False, True), repeat=2)):
            quick = number % 5 == 0 and kind == (number + number // 4) % 4
            marks = () if quick else (pytest.mark.slow, pytest.mark.evidence)
            found.append(pytest.param(sweep, *size, gated, clusters, marks=marks))
    return found


@pytest.mark.parametrize(("sweep", "photos", "least", "gated", "clusters"), designs())
def test_no_table_of_a_fit_has_an_interval_that_cannot_be(
    sweep: str, photos: int, least: int, gated: bool, clusters: bool
) -> None:
    values = SWEEPS[sweep]
    found = audit(photos + 7 * len(values), values, photos, least, clusters=clusters, gated=gated)
    frames = {table.name: frame for table, frame in found.tables()}
    check(frames, bounds(frames, steepest("rate", values)))
    share = frames["explained"]
    assert not (share["share_high"] - share["share_low"] > 1).any()
    # what q says of 0 the interval says too
    read = frames["slopes"].dropna(subset=["ci_low", "p"])
    read = read[read["estimator"] == "photo-rate"]
    assert ((read["p"] < 0.05) == (read["ci_low"] * read["ci_high"] > 0)).all()


@pytest.mark.parametrize("photos", [4, 12, 40])
def test_two_runs_are_no_further_apart_than_two_slopes_can_be(photos: int) -> None:
    rng = np.random.default_rng(photos)
    most = steepest("rate", SWEEPS["seven"])
    runs = []
    for turn in (1, -1):
        present = steep(rng, photos, SWEEPS["seven"])[..., ::turn]
        runs.append(_gathered(present, SWEEPS["seven"]))
    changes = paired_differences(*runs, min_varying=3, permutations=99)
    assert changes["ci_low"].notna().sum() >= 2
    check({"changes": changes}, {"changes": [Bound("difference", "ci", -2 * most, 2 * most)]})


@pytest.mark.parametrize("photos", [5, 12, 30])
def test_the_drift_of_a_score_lies_between_minus_1_and_1(photos: int) -> None:
    rng = np.random.default_rng(photos)
    before = pd.DataFrame({"a": rng.beta(1, 9, photos), "salary": rng.normal(40, 9, photos)})
    now = pd.DataFrame({"a": rng.beta(9, 0.5, photos), "salary": rng.normal(90, 9, photos)})
    changes = changes_of(before, now, np.arange(photos)).sort_values("label")
    check({"drift": changes}, {"drift": [Bound("difference", "ci", [-1, -np.inf], [1, np.inf])]})
    assert changes["ci_low"].notna().all()


def test_a_group_of_too_few_units_is_not_judged_and_has_no_interval() -> None:
    found = audit(1, SWEEPS["seven"], 40, 10, clusters=False, gated=False)
    for frame, names in ((found.groups, ["group"]), (found.differences, ["group", "other"])):
        few = frame[names].apply(lambda column: column.str.startswith("tiny")).any(axis=1)
        assert few.any()
        assert frame.loc[few, ["ci_low", "p", "q"]].isna().all(axis=None)
        assert (frame.loc[few, "note"] != "").all()
    few = found.observed[["group", "other"]].isin(["tiny"]).any(axis=1)
    assert (
        found.observed.loc[few, ["ci_low", "p", "q", "distance", "distance_low"]]
        .isna()
        .all(axis=None)
    )
    few = found.reach["group"].str.startswith("tiny")
    assert found.reach.loc[few, ["ratio", "ratio_low", "reach_low"]].isna().all(axis=None)


PAGES = sorted((Path(__file__).parents[1] / "golden/walk").glob("*.txt"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_of_the_walk_tells_an_interval_that_cannot_be(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not impossible(text)
    assert len(re.findall(r"\[[+−\d]", text)) > 9, "a page with intervals"
