"""The list of deviations from the paper."""

from __future__ import annotations

from gslopes.report.method import choices, print_method, to_markdown
from gslopes.run.config import PUBLISHED, configure

PUBLISHED_CONFIG = {
    "compose": {"region": "skin", "blend": "paste", "placebo": False},
    "gate": {"on": False},
    "fit": {"estimators": ("paper",), "presence": "vendor"},
}


def test_the_defaults_differ_and_every_difference_has_its_reason():
    found = {one.what: one for one in choices({})}
    assert (found["region"].here, found["blend"].here) == ("face", "difference")
    assert all(one.reason for one in found.values() if not one.same)
    for name in ("region", "blend", "gate", "placebo sweeps", "estimator"):
        assert not found[name].same
        assert found[name].option


def test_as_published_only_what_cannot_be_set_differs():
    differs = [one for one in choices(PUBLISHED_CONFIG) if not one.same]
    assert {one.what for one in differs} == {"smallest face", "photos", "training data, size, loss", "test"}
    assert not any(one.option for one in differs)


def test_what_as_published_sets_is_what_the_list_calls_the_same():
    config = configure("photos", {"as_published": True})
    for (section, key), value in PUBLISHED.items():
        assert getattr(getattr(config, section), key) == value
        assert PUBLISHED_CONFIG[section][key] == value


def test_values_of_the_run_are_told():
    found = {one.what: one for one in choices({"edit": {"attributes": ["gender", "race"], "steps": 5}})}
    assert found["values of gender"].here == "5 from -2 to 2"
    assert found["values of race"].same


def test_the_cuts_of_presence_are_told():
    told = {"presence": "0.6", "cuts": {"google": "score at least 0.6"}}
    found = {one.what: one for one in choices({}, told)}
    assert found["presence"].here == "google: score at least 0.6"


def test_both_forms_name_every_choice():
    found = choices({})
    assert all(one.what in print_method(found) and f"| {one.what} |" in to_markdown(found) for one in found)
