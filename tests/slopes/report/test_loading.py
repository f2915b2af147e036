import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import placebo, tables
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.slopes.report.loading import ReportOptions, load


def test_every_pair_of_classifier_and_attribute_is_a_finding_with_a_key_of_its_own(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    source = load(make(tmp_path / "run", [("a", "gender"), ("b", "gender"), ("a", "race")], photos=12))
    assert [(one.classifier, one.attribute) for one in source.findings] == [
        ("a", "gender"),
        ("a", "race"),
        ("b", "gender"),
    ]
    assert len({one.key for one in source.findings}) == len({one.suffix for one in source.findings}) == 3
    assert source.findings[0].statuses["refused"] == 1


def test_placebo_sweeps_are_no_findings_but_stand_beside_theirs(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("a", "gender")], photos=12)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet").assign(estimator="photo-rate")
    floor = slopes.assign(attribute=placebo.name("gender", "light"))
    tables.write(tables.SLOPES, pd.concat([slopes, floor]), run / "slopes.parquet")
    source = load(run)
    (finding,) = source.findings
    assert len(finding.placebo) == len(floor)
    assert len(source.real) == len(slopes)


def test_a_run_is_gated_only_if_its_manifest_says_so(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("a", "gender")], photos=12)
    assert not load(run).gated
    manifest = json.loads((run / "run.json").read_text()) | {"gate": {"applied": True}}
    (run / "run.json").write_text(json.dumps(manifest))
    assert load(run).gated


@pytest.mark.parametrize("options", [ReportOptions(p=0), ReportOptions(slope=-1), ReportOptions(slope=float("nan"))])
def test_thresholds_out_of_range_are_refused(options: ReportOptions) -> None:
    with pytest.raises(ConfigError):
        options.check()
    with pytest.raises(UnknownName):
        ReportOptions(embed="all").check()  # type: ignore[arg-type]
