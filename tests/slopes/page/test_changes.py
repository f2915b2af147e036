"""The page of two runs compared."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gslopes.frame.conditions import Condition
from gslopes.slopes.measures.differences import COLUMNS
from gslopes.slopes.page.changes import (
    CONDITION,
    changed,
    findings_table,
    headline,
    print_changes,
    write_changes,
)
from tests.fixtures import assert_page_fits

SCRIPT = "<script>alert(1)</script>"


def changes() -> pd.DataFrame:
    row = {
        "classifier": SCRIPT,
        "first_classifier": SCRIPT,
        "attribute": "gender",
        "n": 60,
        "units": 60,
        "share": 0.5,
        "active": 40,
        "se": 1.0,
    }
    row |= {"p": 0.001, "note": ""}
    first = {
        "label": "nurse",
        "slope": -30.04,
        "other_slope": -5.0,
        "difference": 25.04,
        "ci_low": 20,
        "ci_high": 30,
    }
    second = {
        "label": "rare",
        "slope": 0.0,
        "other_slope": 0.0,
        "difference": 0.0,
        "ci_low": -1.0,
        "ci_high": 1.0,
    }
    rows = [{**row, **first, "q": 0.001}, {**row, **second, "q": 0.9}]
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))


def written(tmp_path: Path) -> Path:
    """The page of two changes."""
    return write_changes(tmp_path / "out", changes(), ("before", "after"))


def test_the_page_has_the_surest_change_first_and_no_strangers_html(tmp_path: Path) -> None:
    html = written(tmp_path).read_text("utf-8")
    said = "The slope of “nurse” along perceived gender went from −30.0 to −5.0 points per unit, "
    said += "a change of +25.0 [+20.0, +30.0] (60 photos); 1 of 2 labels changed."
    assert said in html
    assert headline(changes()) == said
    assert html.count(SCRIPT) == 0


def test_a_change_is_a_finding_by_the_rule_of_every_audit(tmp_path: Path) -> None:
    """Of a small q whose interval holds 0 neither headline, page, terminal, gate nor findings say that it changed."""
    held = changes().assign(q=[0.001, 0.02], ci_low=[20.0, -1.0], ci_high=[30.0, 1.0])
    assert headline(held).endswith("; 1 of 2 labels changed.")
    assert changed(held)["changed"].tolist() == [True, False]
    assert findings_table(held).set_index("label")["decision"].to_dict() == {
        "nurse": "finding",
        "rare": "none",
    }
    lines = [
        line.split()
        for line in print_changes(held).splitlines()
        if line.startswith((" nurse", " rare"))
    ]
    assert [line[-1] for line in lines] == ["yes", "no"]
    alone = held[1:]
    assert headline(alone).startswith("“rare” did not change")
    condition = Condition("changed", CONDITION)
    assert (len(condition.rows(changed(held))), len(condition.rows(changed(alone)))) == (1, 0)
    html = write_changes(tmp_path / "out", alone, ("a", "b")).read_text("utf-8")
    assert '"changed": false' in html.replace('":false', '": false')


def test_a_sure_change_that_would_not_matter_is_said_to_be_that(tmp_path: Path) -> None:
    little = changes().assign(measure="log-odds", q=[0.001, 0.9], difference=[0.02, 0.0])
    little = little.assign(ci_low=[0.018, -0.01], ci_high=[0.022, 0.01], se=[0.001, 0.005])
    said = "The slope of “nurse” along perceived gender changed by +2.0 % [+1.8 %, +2.2 %] of the odds per unit, less "
    said += "than would matter (60 photos; 22 % or more would matter); 1 of 2 labels changed, none by more."
    assert headline(little) == said
    assert said in write_changes(tmp_path / "out", little, ("a", "b")).read_text("utf-8")
    assert changed(little)[["changed", "small", "matters"]].to_numpy().tolist() == [
        [False, True, 0.2],
        [False, False, 0.2],
    ]
    assert findings_table(little)[["decision", "reason"]].to_numpy().tolist() == [
        ["none", "less than would matter"],
        ["none", "q 0.9"],
    ]
    line = next(line for line in print_changes(little).splitlines() if line.startswith(" nurse"))
    assert line.endswith("too little")
    unclear = little.assign(ci_low=[0.018, -0.3])
    assert headline(unclear).endswith(
        " Of the others, the change of “rare” is undecided: it has the 95 % interval [−25.9 %, +1.0 %] of the odds "
        "per unit (22 % or more would matter)."
    )
    few = little.assign(units=9)
    assert headline(few).startswith("The slope of “nurse” along perceived gender went from")


def test_nothing_changed_is_said(tmp_path: Path) -> None:
    still = changes().assign(q=0.9, ci_low=-2.0, ci_high=3.0)
    page = write_changes(tmp_path / "out", still, ("a", "b"))
    assert (
        "None of 2 labels changed its slope along perceived gender more than chance"
        in page.read_text("utf-8")
    )
    assert headline(still).endswith(
        "(60 photos; widest: [−2.0, +3.0] points per unit, 5 points or more would matter)."
    )
    several = pd.concat([still, still.assign(classifier="b", first_classifier="b")])
    assert headline(several).count("None of 2 labels changed") == 2
    assert "b: None of 2 labels changed its slope along perceived gender" in headline(several)
    some = headline(still.assign(differing=[3.0, 7.0]))
    assert some.startswith("Answers to a label differ on up to 7 of 60 photos. None of 2 labels")
    assert headline(still.assign(differing=0.0)) == "No answer differs on 60 photos."


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        (
            {"ci_low": -9.0, "ci_high": 30.0},
            "the change of “nurse” has the 95 % interval [−9.0, +30.0] points per unit.",
        ),
        (
            {"ci_low": -2.0, "ci_high": 3.0, "units": 8},
            "Cannot tell with 8 clusters",
        ),
        (
            {"ci_low": float("nan"), "ci_high": float("nan")},
            "the change of “nurse” has no interval.",
        ),
    ],
)
def test_what_cannot_be_told_is_not_called_unchanged(
    tmp_path: Path, lacking: dict[str, float], said: str
) -> None:
    still = changes().assign(q=0.9, **lacking)
    still.loc[1, ["ci_low", "ci_high"]] = (-0.5, 0.5)
    html = write_changes(tmp_path / "out", still, ("a", "b")).read_text("utf-8")
    terminal = " ".join(print_changes(still).split())
    for text in (html, headline(still), terminal):
        assert said.rstrip(".") in text
        assert "more than chance explains" not in text
    assert max(map(len, print_changes(still).splitlines()[:3])) <= 100


def test_slopes_of_log_odds_are_changes_of_the_odds_on_page_and_terminal(tmp_path: Path) -> None:
    row = {
        "slope": -0.2651,
        "other_slope": -0.0151,
        "difference": 0.25,
        "ci_low": 0.2488,
        "ci_high": 0.2507,
    }
    measured = changes()[:1].assign(measure="log-odds", label="nsfw", **row)
    html = write_changes(tmp_path / "out", measured, ("a", "b")).read_text("utf-8")
    assert (
        "went from −23.3 % to −1.5 % of the odds per unit, a change of +28.4 % [+28.2 %, +28.5 %]"
        in html
    )
    (line,) = (line for line in print_changes(measured).splitlines() if line.startswith(" nsfw"))
    for cell in ("−23.3 %", "−1.5 %", "+28.4 %", "[+28.2 %, +28.5 %]"):
        assert cell in line


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", [(390, 844), (1280, 900)])
def test_the_page_fits_the_window_and_axe_finds_no_serious_fault(
    chromium: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    assert_page_fits(chromium, written(tmp_path), *size)
