"""Slopes of job titles next to the share of women in the job."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from gslopes.collect.source import women_by_title
from gslopes.slopes.report import ReportConfig, occupations
from gslopes.slopes.report.loading import Finding, Source
from gslopes.slopes.report.page import Photos, render

WOMEN = women_by_title()
TITLES = sorted(WOMEN, key=lambda title: (WOMEN[title], title))[::8]


def finding(labels: list[str], slopes: list[float], measure: str = "presence", attribute: str = "gender") -> Finding:
    """A finding whose labels have these slopes by the paper's estimator, and others by the one that judges."""
    head = {"classifier": "mine", "attribute": attribute, "label": labels, "y_centre": 0.5}
    own = pd.DataFrame({**head, "slope": 0.1, "decision": "finding", "measure": measure, "estimator": "photo-rate"})
    if measure != "presence":
        own["slope"] = slopes
    paper = pd.DataFrame({**head, "slope": slopes, "decision": None, "measure": None, "estimator": "paper"})
    return Finding("f0", "mine", attribute, np.linspace(-2, 2, 7), pd.concat([own, paper]), pd.DataFrame())


def panels(folder: Path, *findings: Finding) -> list[dict[str, object]]:
    return occupations.panels(folder, Source(folder, {}, pd.DataFrame(), {}, findings))


@pytest.mark.row("slopes-4.3-gap")
def test_titles_of_jobs_stand_at_their_share_of_women_with_the_paper_s_slope_and_its_rank_correlation(tmp_path) -> None:
    slopes = [0.3 - 0.5 * WOMEN[title] + 0.2 * (index % 3) for index, title in enumerate(TITLES)]
    labels = [title.title() for title in TITLES]
    (panel,) = panels(tmp_path, finding([*labels, "Truck", "Hair", "Person"], [*slopes, 9.0, -9.0, 0.0]))
    table = pd.read_csv(tmp_path / "occupations.csv")
    assert table["label"].tolist() == labels
    assert table["slope"].tolist() == pytest.approx(slopes)
    assert table["women"].tolist() == pytest.approx([WOMEN[title] for title in TITLES])
    rank = pd.read_csv(tmp_path / "occupation_ranks.csv").iloc[0]
    assert rank["rho"] == pytest.approx(spearmanr(table["women"], slopes).statistic, abs=1e-5)
    assert rank["rho_low"] < rank["rho"] < rank["rho_high"] < 0
    assert "towards feminine faces" in str(panel["sentence"])
    assert len(panel["scatter"]["dots"]) == len(TITLES)


def test_a_label_that_only_begins_like_a_title_is_none(tmp_path) -> None:
    names = ["Truck", "Hair", "Bus", "Police", "Flight", "Chief", "Lawn", "Barber pole", "Graphic", "Real estate"]
    assert occupations.titles_of(finding(names, [0.1] * 10)).empty
    assert panels(tmp_path, finding(names, [0.1] * 10)) == []


def test_too_few_titles_or_another_attribute_have_no_figure_and_leave_no_old_table(tmp_path) -> None:
    slopes = [0.01 * index for index in range(len(TITLES))]
    assert panels(tmp_path, finding(TITLES, slopes))
    few = occupations.LEAST - 1
    assert panels(tmp_path, finding(TITLES[:few], slopes[:few])) == []
    assert not list(tmp_path.glob("occupation*.csv"))
    assert panels(tmp_path, finding(TITLES, slopes, attribute="race")) == []


def test_titles_that_are_judged_by_their_score_have_its_slope_and_are_not_mixed_with_others(tmp_path) -> None:
    scored = finding(TITLES, [0.2] * (len(TITLES) - 1) + [0.4], "log-odds")
    slopes = [0.3 - 0.01 * index for index in range(len(TITLES))]
    shown = panels(tmp_path, finding(TITLES, slopes), scored)
    assert [panel["unit"] for panel in shown] == [occupations.UNITS["presence"], occupations.UNITS["log-odds"]]
    assert "not shown" in str(shown[1]["sentence"])


def test_names_cover_neither_dots_nor_one_another() -> None:
    rows = finding(TITLES, [0.3 - 0.5 * WOMEN[title] for title in TITLES])
    drawn = occupations.scatter(occupations.titles_of(rows))
    assert drawn["names"]
    lefts = [(x, x + occupations.LETTER * len(name)) for x, _, anchor, name in drawn["names"] if anchor == "start"]
    assert all(left >= 0 and right <= occupations.WIDE for left, right in lefts)


def test_the_page_has_the_figure_and_escapes_every_name(tmp_path) -> None:
    slopes = [0.3 - 0.5 * WOMEN[title] for title in TITLES]
    shown = panels(tmp_path, finding(TITLES, slopes))
    shown[0]["classifier"] = "<b>mine</b>"
    html = render({}, Photos(1, 1, 0, (), ()), options=ReportConfig(), occupations=shown)
    assert html.count("<circle") == len(TITLES)
    assert "<b>mine</b>" not in html
    assert 'href="#occupations"' in html
    assert 'id="occupations"' not in render({}, Photos(1, 1, 0, (), ()), options=ReportConfig())
