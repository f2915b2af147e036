"""A number is a finding by its q and by its interval, in every audit."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gslopes
from gslopes.core import summary
from gslopes.core.errors import Refused
from gslopes.frame.findings import decide
from tests.contexts.drawn import Tagger
from tests.core.test_summary import ROWS, rows
from tests.frame.audits import AUDITS


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


class Refusing(Tagger):
    """A classifier that refuses every picture."""

    def ask(self, pictures):
        return [Refused("policy") for _ in pictures]


CASES: dict[str, list[dict[str, Any]]] = {
    "audit": [
        {},
        {"classifier": Refusing()},
        {"classifier": lambda pictures: [{"bright": 0.5} for _ in pictures]},
        {"limit": 1},
    ],
    "contexts": [{}, {"classifier": Refusing()}, {"classifier": []}],
    "crops": [{}, {"min_group": 99}],
    "captions": [{}, {"groups": None}, {"limit": 1}],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_findings_have_the_same_columns_and_types_whatever_became_of_a_run(
    name: str, tmp_path: Path, home: Path
) -> None:
    small = AUDITS[name]
    source = small.prepare(tmp_path / "inputs")
    for number, options in enumerate(CASES[name]):
        result = small.begin(source, tmp_path / str(number), **options)
        form = result.audit.form
        assert result.findings.dtypes.equals(form.empty().dtypes), options
        assert gslopes.load(result.folder).findings.equals(result.findings)
        assert list(pd.read_csv(result.folder / "report/findings.csv")) == form.columns
        kept = json.loads((result.folder / "summary.json").read_text("utf-8"))["rows"]
        told = result.facts["findings"]
        assert len(told) == len(result.findings)
        assert [row["label"] for row in kept] == [
            row["label"] for row in told if row["decision"] != summary.UNJUDGED
        ]
