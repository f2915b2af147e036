"""More than two people in a picture: shares, their intervals, and what the pairs predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.core.errors import UsageError
from gslopes.crops.config import CropsConfig
from gslopes.crops.strengths import shares
from tests.crops.drawn import Brightness, audit, draw_people
from tests.published import FOUR_AT_ONCE, PERSONS, SMALL_RUNS_OF_FOUR

COUNTS = {"blue": 6, "green": 7, "red": 8, "white": 6}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    home = tmp_path_factory.mktemp("together")
    table, frame = draw_people(home / "portraits", COUNTS, {"white": 30})
    options = {"together": 80, "cropper": ("centre",), "min_group": 6}
    return audit(home / "portraits", table, home / "run", Brightness(), **options), frame, home / "run"


def test_the_brightest_of_four_is_chosen(done):
    found, frame, run = done
    asked = pd.read_parquet(run / "together.parquet")
    asked = asked[asked["cropper"] == "brightness"]
    assert len(asked) == 4 * 80
    level = dict(frame[["id", "level"]].itertuples(index=False))
    people = pd.read_parquet(run / "people.parquet")
    person = dict(people[["photo", "person"]].itertuples(index=False))
    for _, picture in asked.groupby("picture"):
        levels = [level[person[photo]] for photo in picture["photo"]]
        assert picture["share"].tolist() == [float(one == max(levels)) for one in levels]
    assert (
        found.page.read_text("utf-8").count("One person of each group in one picture: whose") == 4
    )  # caption and label


def test_every_group_stands_at_every_place_and_every_person_as_often(done):
    asked = pd.read_parquet(done[2] / "together.parquet")
    asked = asked[asked["cropper"] == "brightness"]
    assert set(asked.groupby(["group", "place"]).size()) == {20}
    for _, one in asked.groupby("group"):
        assert np.ptp(one["photo"].value_counts()) <= 1


def test_shares_have_their_null_interval_and_prediction(done):
    shares = pd.read_parquet(done[2] / "shares.parquet").set_index(["cropper", "group"]).loc["brightness"]
    assert shares["share"].sum() == pytest.approx(1)
    assert shares["predicted"].sum() == pytest.approx(1)
    assert (shares["even"] == 0.25).all()
    assert shares["share"].idxmax() == shares["predicted"].idxmax() == "white"
    assert ((shares["ci_low"] <= shares["share"]) & (shares["share"] <= shares["ci_high"])).all()
    middle = pd.read_parquet(done[2] / "shares.parquet").set_index(["cropper", "group"]).loc["centre"]
    assert middle["share"].sum() == pytest.approx(1)


@pytest.mark.parametrize("counts", [FOUR_AT_ONCE, *SMALL_RUNS_OF_FOUR])
def test_published_counts_of_four_at_once(counts):
    """The published run of 5,000 pictures, and two of 100."""
    rows = []
    order = [group for group, count in counts.items() for _ in range(count)]
    for picture, chosen in enumerate(order):
        for place, (group, people) in enumerate(PERSONS.items()):
            photo = f"{group}{(picture * 7) % people}"
            answered = {
                "picture": picture,
                "place": place,
                "photo": photo,
                "group": group,
                "share": float(group == chosen),
            }
            rows.append(
                {"cropper": "x", "variant": "native", **answered, "kept": None, "status": "answered", "reason": ""}
            )
    frame = pd.DataFrame(rows).astype({"kept": float})
    person = {photo: photo for photo in frame["photo"]}
    found = shares(frame, person, "g", CropsConfig(bootstrap=100), {}).set_index("group")
    assert (found["pictures"] == len(order)).all()
    assert (len(order) * found["share"]).to_dict() == pytest.approx(counts)


def test_two_groups_are_pairs(tmp_path):
    table, _ = draw_people(tmp_path / "p", {"blue": 3, "green": 3})
    with pytest.raises(UsageError, match="needs 3 groups"):
        audit(tmp_path / "p", table, tmp_path / "run", Brightness(), together=10)
    assert not (tmp_path / "run").exists()
