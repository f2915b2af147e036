"""Croppers over a network: nothing is asked twice, whatever they answer and whenever the audit was stopped."""

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.config import CostLimits
from gslopes.core.errors import BudgetReached, ServiceError, UsageError
from gslopes.crops.audit import CROPS
from gslopes.frame.ask import outline_of_prices
from gslopes.frame.plan import plan
from tests.crops.cropping_server import serve
from tests.crops.drawn import Lighter, audit, draw_people, planned, row, truth

COUNTS = {"blue": 4, "green": 5}
SAID = ("p", "kept", "other_kept", "both", "neither")


@pytest.fixture
def service():
    with serve() as found:
        yield found


@pytest.fixture(scope="module")
def portraits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remote") / "portraits"
    return folder, *draw_people(folder, COUNTS, {"blue": 22}, textured=True)


def run(portraits, out, name, *models, tmp=None, **terms):
    folder, table, _ = portraits
    cache = (tmp or out.parent) / "cache"
    return audit(
        folder, table, out, *models, cropper=(name,), cost_limits=CostLimits(cache=cache, **terms)
    )


def said(found, cropper):
    rows = found.tables["parity"][found.tables["parity"]["cropper"] == cropper].sort_values(
        "outcome"
    )
    return rows[["outcome", *SAID]].reset_index(drop=True)


@pytest.mark.slow
def test_json_and_in_process_answers_give_the_same_tables(service, portraits, tmp_path):
    as_json = run(portraits, tmp_path / "json", service.url, Lighter())
    names = [
        name for name in as_json.tables["parity"]["cropper"].unique() if name.startswith("http:")
    ]
    assert names == [f"http:{service.url}"]
    inside, outside = said(as_json, "lighter"), said(as_json, names[0])
    pd.testing.assert_frame_equal(inside, outside)
    result = row(as_json, names[0], outcome="favoured")
    assert result["p"] == pytest.approx(truth(portraits[2], "blue", "green"))
    assert len(service.asked) == 80  # 40 pictures at 2 ratios
    assert set(service.asked.values()) == {1}
    assert not list((tmp_path / "json").rglob("asked"))


@pytest.mark.slow
def test_a_run_stopped_by_its_budget_or_an_outage_goes_on_where_it_was(
    service, portraits, tmp_path
):
    with pytest.raises(BudgetReached, match="is used up"):
        run(portraits, tmp_path / "run", f"{service.url},price=1000", budget=30.0, yes=True)
    assert sum(service.asked.values()) == 30
    service.down = True
    with pytest.raises(ServiceError, match="does not answer"):
        run(portraits, tmp_path / "run", service.url)
    service.down = False
    before = len(service.asked)
    found = run(portraits, tmp_path / "run", service.url)
    assert before >= 30
    assert len(service.asked) == 80
    assert row(found, f"http:{service.url}", outcome="favoured")["pairs"] == 20


@pytest.mark.slow
def test_refused_pictures_are_rows_that_say_so(service, portraits, tmp_path):
    """No 15: what a cropper rejects is a row that says so; no other pair is drawn in its place."""
    bright = sorted(portraits[2].loc[portraits[2]["team"] == "blue", "level"])[-2:]
    service.refuse = lambda picture: np.isin(picture[32, [32, 96], 0], bright).any()
    found = run(portraits, tmp_path / "run", service.url)
    pairs = pd.read_parquet(tmp_path / "run/pairs.parquet")
    asked = pairs[pairs["cropper"] == f"http:{service.url}"]
    assert len(asked) == 2 * 4 * 5
    assert asked["status"].value_counts().to_dict() == {"answered": 20, "refused": 20}
    refused = asked[asked["status"] == "refused"]
    assert {*zip(refused["reason"], refused["detail"], strict=True)} == {("refused", "policy")}
    assert asked.loc[asked["status"] == "refused", "won"].isna().all()
    parity = row(found, f"http:{service.url}", outcome="favoured")
    assert (parity["persons"], parity["pairs"]) == (2, 10)


@pytest.mark.slow
def test_every_change_that_asks_anew_is_confirmed_anew(service, portraits, tmp_path):
    def asks(above, **options):
        limits = CostLimits(cache=tmp_path / "cache", confirm_above=above)
        cropper = (f"{service.url},price=1000",)
        audit(*portraits[:2], tmp_path / "run", cropper=cropper, cost_limits=limits, **options)

    with pytest.raises(UsageError, match="cost up to 16"):
        asks(15, pairs=4)
    assert not (tmp_path / "run").exists()
    asks(16, pairs=4)
    before = sum(service.asked.values())
    for changed in ({"pairs": 20}, {"pairs": 4, "seed": 1}, {"pairs": 4, "ratios": (0.7,)}):
        with pytest.raises(UsageError, match="will cost"):
            asks(7, **changed)
    assert sum(service.asked.values()) == before


def test_a_plan_of_a_run_tells_what_is_left_to_pay(service, portraits, tmp_path):
    folder, table, _ = portraits
    options = {"groups": ("team",), "cropper": (f"{service.url},price=1000",), "min_group": 2}
    limits = CostLimits(cache=tmp_path / "cache", yes=True)
    audit(folder, table, tmp_path / "run", cost_limits=limits, pairs=4, **options)

    def left(pairs):
        about = {**options, "people": table, "pairs": pairs, "ratios": (0.5, 1.0)}
        return outline_of_prices(plan(CROPS, folder, tmp_path / "run", about))[1]

    assert left(4)["prices"] == []
    assert (left(20)["calls"], left(20)["usd"]) == (left(20)["usd"], 80.0)  # a change asks anew


def test_a_dry_run_counts_requests_and_asks_nobody(service, portraits, tmp_path):
    folder, table, _ = portraits
    options = {
        "groups": ("team",),
        "cropper": (f"{service.url},price=2",),
        "min_group": 2,
        "ratios": (0.5, 1.0),
    }
    facts = planned(folder, table, **options)
    assert facts["pictures"] == 40
    assert [price["name"][-4:] for price in facts["prices"]] == ["@0.5", "op@1"]
    assert "40 calls, 0.08 USD" in facts["prices"][0]["text"]
    assert (facts["calls"], facts["usd"]) == (80, 0.16)
    assert not service.asked
