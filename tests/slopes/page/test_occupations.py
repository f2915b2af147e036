"""Slopes of job titles next to the share of women in the job."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from gslopes.collect.search import women_by_title
from gslopes.core.runfolder import Manifest
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.titles import line
from gslopes.slopes.page import occupations
from gslopes.slopes.page.loading import Finding, RunTables
from gslopes.stats.ols import line_weights
from tests.slopes.page.conftest import page_of

WOMEN = women_by_title()
TITLES = sorted(WOMEN, key=lambda title: (WOMEN[title], title))[::8]


def finding(
    labels: list[str], slopes: list[float], measure: str = "presence", attribute: str = "gender"
) -> Finding:
    """A finding whose labels have these slopes by the paper's estimator, and others by the one that judges."""
    head = {"classifier": "mine", "attribute": attribute, "label": labels, "y_centre": 0.5}
    own = pd.DataFrame(
        {**head, "slope": 0.1, "decision": "finding", "measure": measure, "estimator": "photo-rate"}
    )
    if measure != "presence":
        own["slope"] = slopes
    paper = pd.DataFrame(
        {**head, "slope": slopes, "decision": None, "measure": None, "estimator": "paper"}
    )
    return Finding(
        "f0", "mine", attribute, np.linspace(-2, 2, 7), pd.concat([own, paper]), pd.DataFrame()
    )


def panels(folder: Path, *findings: Finding) -> list[dict[str, object]]:
    values = {one.attribute: one.values for one in findings}
    return occupations.panels(
        folder, RunTables(folder, Manifest(), pd.DataFrame(), values, findings)
    )


@pytest.mark.row("slopes-4.3-gap")
def test_titles_of_jobs_stand_at_their_share_of_women_with_the_paper_s_slope_and_its_rank_correlation(
    tmp_path,
) -> None:
    slopes = [0.3 - 0.5 * WOMEN[title] + 0.2 * (index % 3) for index, title in enumerate(TITLES)]
    labels = [title.title() for title in TITLES]
    (panel,) = panels(
        tmp_path, finding([*labels, "Truck", "Hair", "Person"], [*slopes, 9.0, -9.0, 0.0])
    )
    table = pd.read_csv(tmp_path / "occupations.csv")
    assert table["label"].tolist() == labels
    assert table["slope"].tolist() == pytest.approx(slopes)
    assert table["women"].tolist() == pytest.approx([WOMEN[title] for title in TITLES])
    rank = pd.read_csv(tmp_path / "occupation_ranks.csv").iloc[0]
    assert rank["rho"] == pytest.approx(spearmanr(table["women"], slopes).statistic, abs=1e-5)
    assert rank["rho_low"] < rank["rho"] < rank["rho_high"] < 0
    assert "chance in these photos" in str(panel["sentence"]), (
        "without answers the photos say nothing"
    )
    assert len(panel["scatter"]["dots"]) == len(TITLES)


def test_a_label_that_only_begins_like_a_title_is_none(tmp_path) -> None:
    names = [
        "Truck",
        "Hair",
        "Bus",
        "Police",
        "Flight",
        "Chief",
        "Lawn",
        "Barber pole",
        "Graphic",
        "Real estate",
    ]
    assert occupations.titles_of(finding(names, [0.1] * 10)).empty
    assert panels(tmp_path, finding(names, [0.1] * 10)) == []


def test_too_few_titles_or_another_attribute_have_no_figure_and_leave_no_old_table(
    tmp_path,
) -> None:
    slopes = [0.01 * index for index in range(len(TITLES))]
    assert panels(tmp_path, finding(TITLES, slopes))
    few = occupations.LEAST - 1
    assert panels(tmp_path, finding(TITLES[:few], slopes[:few])) == []
    assert not list(tmp_path.glob("occupation*.csv"))
    assert panels(tmp_path, finding(TITLES, slopes, attribute="race")) == []


def test_titles_that_are_judged_by_their_score_have_its_slope_and_are_not_mixed_with_others(
    tmp_path,
) -> None:
    scored = finding(TITLES, [0.2] * (len(TITLES) - 1) + [0.4], "log-odds")
    slopes = [0.3 - 0.01 * index for index in range(len(TITLES))]
    shown = panels(tmp_path, finding(TITLES, slopes), scored)
    assert [panel["unit"] for panel in shown] == [
        occupations.UNITS["presence"],
        occupations.UNITS["log-odds"],
    ]
    assert "not shown" in str(shown[1]["sentence"])


def answers(scores: np.ndarray, labels: list[str], threshold: float = 0.0) -> Answers:
    """Of n photos: scores (n, L, K)."""
    n, many, steps = scores.shape
    photo, label = (index.ravel().astype(np.int32) for index in np.indices((n, many)))
    names, photos = (
        np.array(labels, object),
        np.array([f"{index:03}" for index in range(n)], object),
    )
    flat = scores.reshape(-1, steps).astype(np.float32)
    values = np.linspace(-2, 2, steps)
    return Answers(
        "mine",
        "gender",
        values,
        names,
        photos,
        photo,
        label,
        flat >= threshold,
        flat,
        threshold,
    )


def shared(rng: np.random.Generator, photos: int, effect: float) -> np.ndarray:
    """Scores of TITLES whose log-odds move, on each photo by chance, all by the share of women."""
    shares = np.array([WOMEN[title] for title in TITLES]) - 0.5
    way = effect + rng.normal(0, 0.5, (photos, 1))
    odds = (way * shares)[..., None] * np.linspace(-2, 2, 7) + rng.normal(
        0, 0.3, (photos, len(TITLES), 1)
    )
    return 1 / (1 + np.exp(-odds))


def ranked(folder: Path, scores: np.ndarray) -> tuple[str, pd.Series]:
    """What a page says of a run with these scores: the sentence, and the row of occupation_ranks.csv."""
    found = answers(scores, TITLES)
    odds = np.log(scores / (1 - scores)) @ line_weights(found.values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occupations.matrix, "read", lambda *_: found)
        (panel,) = panels(folder, finding(TITLES, odds.mean(0).tolist(), "log-odds"))
    return str(panel["sentence"]), pd.read_csv(folder / "occupation_ranks.csv").iloc[0]


@pytest.mark.row("slopes-4.3-gap")
def test_titles_that_move_together_by_chance_are_no_order_and_those_that_move_on_every_photo_are(
    tmp_path,
) -> None:
    rng = np.random.default_rng(1)
    sentence, rank = ranked(tmp_path, shared(rng, 30, 0.0))
    assert max(abs(rank["rho_low"]), abs(rank["rho_high"])) > 0.8, (
        "titles alone would call it an order"
    )
    assert rank["line_low"] < 0 < rank["line_high"]
    assert "chance in these photos" in sentence
    sentence, rank = ranked(tmp_path, shared(rng, 30, -1.0))
    assert rank["rho_high"] < 0
    assert rank["line_high"] < 0
    assert rank["line"] == pytest.approx(-1.0, abs=0.3)
    assert "towards feminine faces" in sentence


def test_the_line_is_that_of_least_squares_through_the_slopes_of_the_table() -> None:
    scores = shared(np.random.default_rng(2), 20, -0.6)
    found = answers(scores, TITLES, threshold=0.5)
    shares = found.counts() / len(found.photos)
    slopes = (shares / shares[:, [3]]) @ line_weights(found.values)  # the paper's
    part = occupations.titles_of(finding(TITLES, slopes.tolist()))
    expected = np.polyfit(part["women"], part["slope"], 1)[0]
    own = dict(zip(part["label"], part["women"], strict=True))
    steep = line(found, own, "presence")
    assert steep.value == pytest.approx(expected)
    drawn = [np.random.default_rng(seed).integers(0, 20, 20) for seed in range(300)]
    apart = np.split(found.present, 20)
    again = [
        line(
            replace(found, present=np.concatenate([apart[photo] for photo in rows])),
            own,
            "presence",
        )
        for rows in drawn
    ]
    assert steep.se == pytest.approx(np.std([one.value for one in again]), rel=0.2)
    assert line(found, own, "presence", 4.0).se == pytest.approx(2 * steep.se)


def test_names_cover_neither_dots_nor_one_another() -> None:
    rows = finding(TITLES, [0.3 - 0.5 * WOMEN[title] for title in TITLES])
    drawn = occupations.scatter(occupations.titles_of(rows))
    assert drawn["names"]
    lefts = [
        (x, x + occupations.LETTER * len(name))
        for x, _, anchor, name in drawn["names"]
        if anchor == "start"
    ]
    assert all(left >= 0 and right <= occupations.WIDE for left, right in lefts)


def test_the_page_has_the_figure_and_escapes_every_name(tmp_path) -> None:
    slopes = [0.3 - 0.5 * WOMEN[title] for title in TITLES]
    shown = panels(tmp_path, finding(TITLES, slopes))
    shown[0]["classifier"] = "<b>mine</b>"
    html = page_of(tmp_path, {}, occupations=shown)
    assert html.count("<circle") == len(TITLES)
    assert "<b>mine</b>" not in html
    assert 'href="#occupations"' in html
    assert 'id="occupations"' not in page_of(tmp_path, {})
