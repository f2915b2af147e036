"""The observed difference between real groups next to the slope: recovers what was planted, at its level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.observed import observed_rows
from gslopes.slopes.fit.options import FitOptions

VALUES = np.linspace(-2.0, 2.0, 5)
OPTIONS = FitOptions(permutations=0)


def answers(presence: np.ndarray, score: np.ndarray | None = None, measure: str = "") -> Answers:
    """Of one label.  presence: (n, K)."""
    n, steps = presence.shape
    names = np.array([f"p{place:04d}" for place in range(n)], dtype=object)
    values = VALUES if steps == len(VALUES) else np.zeros(1)
    scores = (presence if score is None else score).astype(np.float32)
    head = ("c", "gender" if steps > 1 else "unedited", values, np.array(["a"], dtype=object), names, {})
    index = np.arange(n, dtype=np.int32)
    found = Answers(*head, index, np.zeros(n, dtype=np.int32), presence.astype(bool), scores, 0.0)
    return replace(found, measures={"a": measure} if measure else {})


def people(n: int) -> pd.Series:
    return pd.Series(["man"] * (n // 2) + ["woman"] * (n - n // 2), index=[f"p{i:04d}" for i in range(n)])


def numbers(
    n: int, gap: float, slope: float, distance: float, reach: float, seed: int = 0
) -> tuple[Answers, Answers, pd.DataFrame]:
    """A label with a number of its own: men have ``gap`` more of it, edits move it by ``slope`` a unit."""
    draw = np.random.default_rng(seed)
    man = (people(n) == "man").to_numpy().astype(float)
    own = gap * man + draw.normal(0, 1, n)
    along = own[:, None] + (slope + draw.normal(0, 0.3, n))[:, None] * VALUES
    odds = distance * (man - 0.5) + draw.normal(0, 1, n)
    read = pd.DataFrame({"odds": odds, "reach": reach + draw.normal(0, 0.3, n)}, index=people(n).index)
    everywhere = np.ones_like(along)
    return answers(everywhere, along, "value"), answers(everywhere[:, :1], own[:, None], "value"), read


def row(sweep: Answers, unedited: Answers, read: pd.DataFrame | None, decision: str = "finding") -> pd.Series:
    found = observed_rows(sweep, unedited, people(len(sweep.photos)), read, {"a": decision}, OPTIONS)
    assert len(found) == 1
    return found.iloc[0]


def test_what_was_planted_is_found() -> None:
    found = row(*numbers(2000, gap=2.0, slope=0.5, distance=4.0, reach=2.0))
    assert (found["group"], found["other"], found["measure"]) == ("man", "woman", "value")
    assert found["observed"] == pytest.approx(2.0, abs=0.15)
    assert found["distance"] == pytest.approx(4.0, abs=0.15)
    assert found["explained"] == pytest.approx(1.0, abs=0.08)  # 0.5 / 2 x 4
    assert found["share_low"] < 0.5 < found["share_high"]
    assert found["agreement"] == "same sign"


def test_the_group_nearer_the_positive_end_stands_first_and_signs_follow() -> None:
    sweep, unedited, read = numbers(600, gap=2.0, slope=0.5, distance=-4.0, reach=2.0)
    found = row(sweep, unedited, read)
    assert (found["group"], found["other"]) == ("woman", "man")
    assert found["observed"] < 0 < found["explained"]
    assert found["share"] < 0
    assert found["agreement"] == "opposite signs"


@pytest.mark.parametrize(
    ("gap", "decision", "agreement"),
    [(2.0, "none", "observed only"), (0.0, "finding", "edit only"), (0.0, "none", "neither")],
)
def test_one_is_shown_and_the_other_is_not(gap: float, decision: str, agreement: str) -> None:
    found = row(*numbers(600, gap, 0.5, 4.0, 2.0, seed=3), decision)
    assert found["agreement"] == agreement
    if not gap:
        assert np.isnan(found["share"])  # no share of a difference that may be 0


def test_groups_that_the_reader_does_not_tell_apart_are_not_compared() -> None:
    found = row(*numbers(600, 2.0, 0.5, 0.0, 2.0, seed=1))
    assert found["agreement"] == ""
    assert np.isnan(found["share"])
    sweep, unedited, _ = numbers(600, 2.0, 0.5, 4.0, 2.0)
    unread = row(sweep, unedited, None)
    assert unread["observed"] == pytest.approx(2.0, abs=0.3)
    assert np.isnan(unread["explained"])
    assert unread["agreement"] == ""


def test_presence_is_a_difference_of_shares_in_points() -> None:
    said = np.zeros((100, 5), dtype=bool)
    said[:30] = said[50:60] = True
    read = numbers(100, 0, 0, 4.0, 2.0)[2]
    found = row(answers(said), answers(said[:, :1]), read, "none")
    assert (found["mean"], found["mean_other"], found["observed"]) == (60.0, 20.0, pytest.approx(40.0))
    assert (found["ci_low"], found["ci_high"]) == (pytest.approx(21.0, abs=0.05), pytest.approx(54.97, abs=0.3))
    assert found["agreement"] == "observed only"


def test_intervals_hold_at_their_level() -> None:
    """Of 400 sets 95 % of the intervals hold the truth, of the observed, the explained and the share."""
    rows = [row(*numbers(80, 2.0, 0.5, 4.0, 2.0, seed)) for seed in range(400)]
    frame = pd.DataFrame(rows)
    for name, truth in (("ci", 2.0), ("distance", 4.0), ("explained", 1.0), ("share", 0.5)):
        held = ((frame[f"{name}_low"] <= truth) & (frame[f"{name}_high"] >= truth)).mean()
        assert 0.915 < held < 0.983, (name, held)  # 95 % within three standard errors of 400 draws


def test_photos_of_a_person_count_once() -> None:
    sweep, unedited, read = numbers(60, 2.0, 0.5, 4.0, 2.0)
    index = np.repeat(np.arange(60), 4)

    def four(one: Answers) -> Answers:
        names = np.array([f"{one.photos[place]}-{copy}" for copy, place in enumerate(index)], dtype=object)
        order = np.argsort(names.astype(str))
        place = np.arange(240, dtype=np.int32)
        facts = {"photos": names[order], "photo": place, "label": np.zeros(240, dtype=np.int32)}
        return replace(one, **facts, present=one.present[index][order], score=one.score[index][order])

    many, bare = four(sweep), four(unedited)
    own = [str(name).split("-")[0] for name in many.photos]
    who = pd.Series(people(60)[own].to_numpy(), index=many.photos)
    codes = {photo: int(name[1:]) for photo, name in zip(many.photos, own, strict=True)}
    known = pd.DataFrame(read.loc[own].to_numpy(), index=many.photos, columns=read.columns)
    whole = observed_rows(many, bare, who, known, {"a": "finding"}, OPTIONS, codes).iloc[0]
    once = row(sweep, unedited, read)
    for name in ("observed", "ci_low", "ci_high", "explained_low", "share_high"):
        assert whole[name] == pytest.approx(once[name], rel=1e-6), name
