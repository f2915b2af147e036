"""What the page, the terminal and the summary tell of an editor that is not ours."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gslopes.core import tables
from gslopes.core.tables import Tables
from gslopes.frame.spec import Run
from gslopes.slopes import method
from gslopes.slopes.audit import SLOPES
from gslopes.slopes.config import RunConfig
from gslopes.slopes.measures.options import EDITOR
from gslopes.slopes.outcome import terminal
from gslopes.slopes.page import write_report
from gslopes.slopes.page.folder import WalkPage
from tests.fixtures import assert_page_fits
from tests.slopes.page import outside
from tests.slopes.page.outside import text_of

pytestmark = [pytest.mark.slow, pytest.mark.evidence]

PHOTOS = 120


def lost_of(dark: float, light: float, step: int = 2) -> tuple[np.ndarray, list[str]]:
    """An editor that refuses these shares of the photos at one value, exactly; and the groups."""
    tone = np.arange(PHOTOS) % 3 == 0
    lost = np.zeros((PHOTOS, 3), int)
    for rows, share in ((np.flatnonzero(tone), dark), (np.flatnonzero(~tone), light)):
        lost[rows[: round(share * len(rows))], step] = 1
    return lost, ["dark" if is_dark else "light" for is_dark in tone]


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An editor that refuses 24 of 40 dark faces and 4 of 80 light ones at +2, and whose wordings differ."""
    lost, groups = lost_of(0.6, 0.05)
    run = tmp_path_factory.mktemp("refusing") / "run"
    return outside.make(
        run, lost, groups=groups, rises=(0.22, 0.0), dropped={100: "another person"}
    )


@pytest.fixture(scope="module")
def page(refusing: Path) -> str:
    return text_of(write_report(refusing, embed="none"))


def test_refusals_that_depend_on_the_value_are_told_after_the_label_findings(
    page, refusing
) -> None:
    said = "The editor refused 28 of 120 photos at +2 and 0 of 120 at −2"
    assert said in page
    assert page.index("rises from") < page.index(said) < page.index("How sure?", page.index(said))
    found = re.search(
        r"depend on perceived gender \(\+5\.8 \[\+(\S+), \+(\S+)\] points per unit\)", page
    )
    assert found
    assert float(found[1]) < 5.83 < float(found[2])
    assert "the editor along perceived gender: refusals depend on the value (+5.8" in terminal(
        Tables(refusing)
    )


def test_the_group_that_loses_most_is_told_with_an_interval_of_the_difference(page) -> None:
    said = r"“the editor refused”: 60\.0 % and 5\.0 % of the photos of dark and of light \(tone\), "
    found = re.search(said + r"a difference of \+55\.0 \[\+(\S+), \+(\S+)\] points", page)
    assert found
    assert 30 < float(found[1]) < 55 < float(found[2]) < 75
    assert "another person dark and light (tone)" in page  # what the gate dropped, by group too
    assert "“another person”" not in page  # one photo is no finding


def test_a_slope_that_depends_on_the_wording_is_told_with_both_slopes(page, refusing) -> None:
    assert "depends on the sentence that the editor was told: the slope of “Necktie” is +" in page
    row = tables.read_rows(tables.GROUPS, refusing).query(
        "estimator == 'photo-rate' and column != 'tone' and attribute == 'gender'"
    )
    assert row["group"].tolist() == ["wording 1", "wording 2"]
    first, second = row["slope"]
    assert f"+{first:.1f}" in page
    assert first > 15 > 5 > abs(second)


def test_name_version_models_and_every_sentence_stand_on_the_page_and_in_the_method(
    page, refusing
) -> None:
    text = (refusing / "report" / "method.md").read_text()
    for told in (page, text):
        assert outside.ABOUT["name"] in told
        assert outside.ABOUT["version"] in told
        for sentences in outside.ABOUT["sentences"].values():
            assert all(sentence in told for sentence in sentences)
    assert "700 pictures by mine-1, 20 pictures by mine-2" in page
    assert "More than one model answered" in page
    assert "mine-1 (700), mine-2 (20)" in text
    assert "gender-field" not in text
    assert "not ours" in page
    assert "association under this edit" in page
    assert (
        f"by {outside.ABOUT['name']}" in page.partition("Cite or quote")[2]
    )  # not “an editor that run.json does not name”


def test_the_summary_counts_pictures_by_value_and_status(refusing) -> None:
    page = WalkPage(Run(SLOPES, refusing, RunConfig(refusing)))
    page.tables = Tables(refusing)
    rows = page.summary["more"]["editing"]
    assert rows[rows["contrast"] == "gender"].drop(columns="contrast").to_numpy().tolist() == [
        [-2, "answered", 120],
        [0, "answered", 120],
        [2, "answered", 92],
        [2, "refused", 28],
    ]


def test_an_editor_that_refuses_everywhere_alike_is_no_finding(tmp_path) -> None:
    lost = np.zeros((60, 3), int)
    for step in range(3):
        lost[10 * step : 10 * step + 8, step] = 1
    page = text_of(write_report(outside.make(tmp_path / "run", lost, wordings=0), embed="none"))
    assert "The editor refused" not in page
    assert "36 photos of 60 got all of them" in page
    assert "Wording" not in page.partition("How sure?")[0]


def test_what_the_mask_cut_off_is_told_and_is_no_caution(page) -> None:
    assert "What lies outside of the mask stayed the photo's own, bit for bit." in page
    before = "before only what lies within the mask was kept, the background had changed by"
    assert re.search(before + r" (3\.\d|2\.9) \[", page)
    assert "may come from the background" not in page


def test_a_background_that_changes_is_a_caution_where_all_of_the_picture_stays(tmp_path) -> None:
    run = outside.make(tmp_path / "run", np.zeros((40, 3), int), background=14, blend="whole")
    page = text_of(write_report(run, embed="none"))
    sure = page[page.index("How sure?", 1000) :]
    found = re.search(r"The background changed by (1[34]\.\d) \[", sure)
    assert found
    further = r"no change was asked for by (3\.0|2\.9) \[\S+, \S+\]: 1[01]\.\d \[\S+, \S+\] more than that"
    assert re.search(
        further + r"\. A slope along perceived gender may come from the background", sure
    )
    assert "may come from the clothes" not in sure
    assert (
        "bit for bit"
        not in page.partition("What did the editor do?")[2].partition("Are the pictures fair")[0]
    )


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_section_fits_a_desk_and_a_phone(chromium, refusing, width: int, height: int) -> None:
    assert_page_fits(chromium, write_report(refusing, embed="none"), width, height)


def test_our_own_editors_have_no_such_section(one) -> None:
    page = text_of(write_report(one, embed="none"))
    assert "What did the editor do?" not in page
    assert EDITOR not in set(tables.read_rows(tables.BALANCE, one)["classifier"])


def test_a_photo_is_lost_where_the_gate_dropped_it_and_where_the_editor_did(refusing) -> None:
    rows = (
        tables.read_rows(tables.OBSERVED, refusing)
        .query("classifier == @EDITOR")
        .set_index("label")
    )
    assert rows.loc[
        "the editor refused", ["mean", "mean_other", "observed"]
    ].tolist() == pytest.approx([60, 5, 55])
    assert rows.loc["", ["mean", "mean_other"]].tolist() == pytest.approx([40, 100 * 75 / 80])
    assert rows.loc["the editor refused", "q"] < 1e-5


def test_without_pictures_no_file_of_the_machine_is_named(tmp_path) -> None:
    run = outside.make(tmp_path / "run", np.zeros((20, 3), int))
    manifest = json.loads((run / "run.json").read_text())
    manifest["editor"]["gender"]["prompt"] = "/home/me/secret.toml"
    (run / "run.json").write_text(json.dumps(manifest))
    assert "secret" not in write_report(run, embed="none").read_text()
    assert method.of_run(run)
