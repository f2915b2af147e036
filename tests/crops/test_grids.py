"""."""

from __future__ import annotations

import pandas as pd

from gslopes.crops.grids import refused_people, selected


def pairs(refused):
    rows = [
        {"left": left, "right": right, "status": "refused" if {left, right} & refused else "answered"}
        for a in range(10)
        for b in range(12)
        for left, right in ((f"a{a}", f"b{b}"), (f"b{b}", f"a{a}"))
    ]
    return pd.DataFrame(rows)


PERSON = {f"{group}{index}": f"{group}{index}" for group, count in (("a", 10), ("b", 12)) for index in range(count)}
GROUP = {name: name[0] for name in PERSON}


def test_refusals_of_one_group_are_flagged():
    """No 15: a cropper that rejects the pictures of one group selects whom it is compared on."""
    frame = pairs({f"a{index}" for index in range(7)})
    out = refused_people(frame, PERSON)
    assert sum(out[name] for name in out if GROUP[name] == "a") == 7
    (warning,) = selected(frame, PERSON, GROUP)
    assert "7 of 10 a and 0 of 12 b" in warning


def test_refusals_alike_are_not():
    assert selected(pairs(set()), PERSON, GROUP) == []
    assert selected(pairs({"a1", "b1"}), PERSON, GROUP) == []
