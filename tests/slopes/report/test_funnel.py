import doctest
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from gslopes.core import tables
from gslopes.slopes.report import funnel, write_report


def test_examples_in_the_docstrings_hold() -> None:
    assert not doctest.testmod(funnel).failed


def test_every_step_loses_the_photos_that_it_lost(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=20)
    (one,) = funnel.funnels(run)
    # six files are no photos; one picture of one photo was refused
    assert one.counts == {"found": 26, "edited": 20, "asked": 20, "answered": 19, "judged": 19}
    ids = tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique()
    plain = {"attribute": "gender", "reason": "", "detail": "", "looked": 2, "found": 2, "tau": 0.9, "shift": 0.5}
    rest = {"off_target": None, "off_target_reading": "", "mask_area": 0.1, "mask_share": None, "change": None}
    kept = [index >= 3 for index in range(len(ids))]
    verdicts = pd.DataFrame({"photo": ids, "kept": kept, **plain, **rest}).reindex(columns=tables.VERDICTS.columns)
    tables.write(tables.VERDICTS, verdicts, run / "verdicts.parquet")
    assert "kept" not in funnel.funnels(run)[0].counts  # judged, but not applied
    manifest = json.loads((run / "run.json").read_text()) | {"gate": {"applied": True}}
    (run / "run.json").write_text(json.dumps(manifest))
    assert funnel.funnels(run)[0].counts["kept"] == 17


def test_the_page_has_the_numbers_of_the_funnel(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=20)
    html = write_report(run, embed="none").read_text("utf-8")
    for step, number in funnel.funnels(run)[0].counts.items():
        assert f"<b>{number}</b> <span>{funnel.STEPS[step]}</span>" in html
