"""A number is a finding by its q and by its interval, in every audit."""

from gslopes.core import summary
from gslopes.frame.findings import decide
from tests.core.test_summary import ROWS, rows


def test_findings_come_first_and_what_is_none_says_why() -> None:
    found = decide(rows(*ROWS))
    assert set(summary.FINDINGS.columns) <= set(found.columns)
    assert found["label"].tolist() == ["large", "bare", "small", "wide", "open", "few"]
    assert found["decision"].tolist() == ["finding"] * 3 + ["none"] * 2 + ["unjudged"]
    assert found["reason"].tolist() == [
        "",
        "",
        "",
        "q 0.01, but its interval holds 0",
        "q 0.2",
        "too few",
    ]
    assert summary.gated(found)["finding"].sum() == 3
    assert list(decide(rows())) == summary.FINDINGS.columns


def test_what_was_decided_against_placebos_stays() -> None:
    decided = decide(rows(*ROWS)).assign(decision="placebo")
    assert decide(decided)["decision"].eq("placebo").all()
