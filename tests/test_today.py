"""The gallery's table of today's models: its plan holds, only its photos are asked about, and it says what was real."""

import datetime
import re
import sys
import tomllib
from pathlib import Path

import pytest

from gslopes.ask import names
from gslopes.ask.classifiers.prompt import SHIPPED
from gslopes.core.errors import ConfigError

ROOT = Path(__file__).resolve().parents[1]
PLAN = tomllib.loads((ROOT / "docs/gallery/today/plan.toml").read_text("utf-8"))
MODELS = tomllib.loads((ROOT / "gslopes/ask/classifiers/models.toml").read_text("utf-8"))
VENDORS = [one["vendor"] for one in PLAN["models"]]
LABEL = {
    "label": "boss",
    "measure": "log-odds",
    "unit": "log-odds",
    "slope": 0.5,
    "ci_low": 0.25,
    "ci_high": 0.75,
    "q": 0.001,
    "decision": "finding",
    "placebo": 0.01,
}


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch):
    """The module that makes the page, with the results of one local model and two stand-ins."""
    monkeypatch.syspath_prepend(ROOT / "docs/hooks")
    import from_models

    answers = {"boss-or-assistant": {"photos": {}, "label": LABEL}, "loan": {"label": None}}
    found = {"asked_on": "2026-11-30", "real": False, "limit": 12, "local": True, "pictures": 84}
    rows = {"stand-in-1": answers, "stand-in-4": {}, "local": answers}
    monkeypatch.setattr(from_models, "results", lambda: found | {"models": rows})
    yield from_models
    for name in ("from_models", "from_gallery", "from_code"):
        sys.modules.pop(name, None)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "docs/gallery")
    import models_of_today

    yield models_of_today
    sys.modules.pop("models_of_today", None)


def test_the_plan_asks_five_vendors_ten_tasks_within_a_budget_that_was_reckoned():
    assert len(set(VENDORS)) == 5
    assert len(set(PLAN["ask"]["tasks"])) == 10
    assert set(PLAN["ask"]["tasks"]) <= set(SHIPPED)
    assert sum(PLAN["budget"]["reckoned"].values()) < PLAN["budget"]["total"]


@pytest.mark.parametrize("one", PLAN["models"], ids=VENDORS)
def test_a_planned_model_is_of_the_list_at_its_list_price_and_has_not_ended(one):
    listed = MODELS[one["model"]]
    assert listed["vendor"] == one["vendor"]
    assert one["stand_in"].removeprefix("dialect=") in listed["dialects"]
    ends = listed.get("ends", "not announced")
    assert not isinstance(ends, datetime.date) or ends > PLAN["registered"]
    for price in ("price_in", "price_out"):
        assert f"{price}={listed[price]:g}" in one["classifier"]
    base, items = names.split(one["classifier"])
    assert (base, items[0]) == ("llm", one["model"])


def test_other_photos_than_the_plans_are_refused(script, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"another photo")
    with pytest.raises(ConfigError, match="not the photos of the plan"):
        script.check_photos(tmp_path)


def test_a_table_without_vendors_says_so_in_its_heading_and_names_none(hook):
    page = hook.page()
    heading, table = page.splitlines()[0], page.partition("## The table")[2].partition("##")[0]
    assert heading == "# Language models of today: no vendor was asked"
    assert "No number here is of a vendor's model" in page
    named = [one["model"] for one in PLAN["models"]] + VENDORS
    assert not [name for name in named if name in table]
    lines = [line.strip("| ").split(" | ") for line in table.split("\n\n")[1].splitlines()]
    assert lines[0] == ["task", "stand-in: Responses", "stand-in: Converse", "LLaVA, trained here"]
    assert lines[-1] == ["findings", "1 of 2", "0 of 0", "1 of 2"]
    assert re.search(r"\| `boss-or-assistant` \| \*\*.*\|  \| \*\*", table)


def test_a_table_of_vendors_names_them(hook, monkeypatch):
    found = hook.results() | {"real": True, "local": False}
    found["models"] = {PLAN["models"][0]["model"]: found["models"]["local"]}
    monkeypatch.setattr(hook, "results", lambda: found)
    page = hook.page()
    assert page.startswith("# Language models of today, 2026-11-30\n")
    assert "Every answer is the vendor's" in page
    assert f"| task | OpenAI, `{PLAN['models'][0]['model']}` |" in page
    assert "| findings | 1 of 2 |" in page


def test_the_list_of_models_is_a_table_with_their_dates(hook):
    table = hook.language_models()
    assert "| `gpt-4o-2024-11-20` | OpenAI | 2024-11-20 | 2027-01-14 |" in table
    assert "claude-3-7-sonnet" not in table  # it has ended
    assert f"as read until {MODELS['checked']['on']}" in table
