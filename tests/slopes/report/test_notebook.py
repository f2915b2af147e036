from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.core import tables
from gslopes.slopes.report.notebook import audit_html

SCRIPT = "<script>alert(1)</script>"


def test_a_notebook_shows_the_finding_the_photos_and_nothing_of_strangers_as_html(one: Path) -> None:
    found = tables.read(tables.SLOPES, one / "slopes.parquet")
    rates = found.assign(estimator="photo-rate", slope=100 * found["slope"] * found["y_centre"])
    rates[["ci_low", "ci_high"]] = rates[["slope", "slope"]].to_numpy() + np.array([-1.5, 1.5])
    html = audit_html(one, pd.concat([found, rates]), one / "report" / "index.html")
    assert "points more often per step toward" in html
    assert "86 found" in html
    assert SCRIPT not in html
    assert "&lt;script&gt;" in html
    assert "file://" in html


def test_a_run_that_is_not_fitted_says_so(one: Path) -> None:
    assert "not fitted yet" in audit_html(one, None, None)
