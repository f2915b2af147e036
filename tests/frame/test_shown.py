"""What a terminal and a chart show of findings."""

import pandas as pd

from gslopes.frame.findings import decide
from gslopes.frame.shown import MOST, charted, printed
from gslopes.frame.spec import Headline
from tests.core.test_summary import ROWS, rows


def test_a_terminal_shows_fifteen_lines_at_most_findings_first_with_interval_and_unit() -> None:
    text = printed(Headline("A headline."), decide(rows(*ROWS)))
    lines = text.splitlines()
    assert (lines[0], lines[4].split()[0], " ".join(lines[-2:])) == (
        "A headline.",
        "●",
        "● finding. 3 of 5 numbers that can be judged are findings; 1 more cannot, mostly because of this: too few.",
    )
    many = pd.concat([decide(rows(*ROWS))] * 20, ignore_index=True)
    assert len(printed(Headline("A headline. " * 12), many).splitlines()) <= 15
    few = printed(Headline("One.", "open"), decide(rows(*ROWS))).splitlines()
    assert "q 0.2" not in few
    assert [line.split()[0] for line in few if line[:1] == " "][2:] == [
        "○",
        "●",
        "●",
        "●",
    ]  # its own row, then findings
    assert printed(Headline("A headline."), decide(rows())) == "A headline."


def test_a_chart_has_a_panel_a_unit_and_an_interval_that_is_missing_has_no_length() -> None:
    found = decide(rows(*ROWS))
    panels = charted(pd.concat([found, found.assign(unit="tags")], ignore_index=True))
    assert sum(len(panel["rows"]) for panel in panels) == MOST
    marks = {mark.name: (mark, place) for mark, place in panels[0]["rows"]}
    bare, place = next(one for name, one in marks.items() if "bare" in name)
    assert (bare.colour, place["low"], place["high"]) == ("pos", place["at"], place["at"])
