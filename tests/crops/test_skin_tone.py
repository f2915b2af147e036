from __future__ import annotations

import pandas as pd
import pytest

from gslopes.core.errors import UsageError
from gslopes.crops.people import People, tone, with_skin_tone
from tests.crops.drawn import Brightness, audit, draw_people, planned


def test_angles_and_their_names():
    assert [tone(angle) for angle in (90, 55, 41, 28, 10, -30, -90)] == [
        *("very light", "light", "intermediate", "tan", "brown", "dark", "dark")
    ]


def test_the_mean_angle_of_a_persons_photos_decides_and_who_has_none_is_counted():
    seen = pd.DataFrame({"photo": [*"abcd"], "person": ["p", "p", "q", "r"], "status": "used"})
    covariates = pd.DataFrame({"photo": [*"abcd"], "name": "ita", "value": [60.0, 40.0, -40.0, None]})
    people = People((), ("sex",), {"sex": {"f": ("p", "r"), "m": ("q",)}}, {"sex": {"no value": 1}})
    found = with_skin_tone(people, ("skin-tone", "sex"), seen, covariates, 1)
    assert found.groups["skin-tone"] == {"dark": ("q",), "light": ("p",)}
    assert found.cells == {"dark + m": ("q",), "light + f": ("p",)}
    assert found.left_out == {"skin-tone": {"no cheeks in sight": 1}, "sex": {"no value": 1}, "skin-tone + sex": {}}
    with pytest.raises(UsageError, match="Fewer than two groups have 2 persons"):
        with_skin_tone(people, ("skin-tone",), seen, covariates, 2)


def test_an_audit_by_the_tone_of_the_skin(tmp_path):
    table, _ = draw_people(tmp_path / "people", {"blue": 3, "green": 3}, {"blue": 120})
    options = {"groups": ("side", "skin-tone"), "cropper": ("centre",)}
    found = audit(tmp_path / "people", table, tmp_path / "run", Brightness(), **options)
    rows = found.tables["parity"]
    chosen = rows[(rows["column"] == "skin-tone") & (rows["policy"] == "argmax") & (rows["outcome"] == "favoured")]
    pair = chosen[chosen["variant"] == "native"].iloc[0]
    assert (pair["group"], pair["other"], pair["p"]) == ("dark", "very light", 0.0)
    text = found.page.read_text("utf-8")
    assert "dark 3, very light 3; measured in the photos" in text
    assert "Largest score of a photo alone: dark, by side" in text  # the distributions, crossed
    options["groups"] = ("skin-tone",)
    assert audit(tmp_path / "people", table, tmp_path / "alone", Brightness(), **options).page.is_file()
    facts = planned(tmp_path / "people", table, **options)  # groups are known when the photos were looked at
    assert facts["persons"] == 6
    assert "pairs" not in facts
