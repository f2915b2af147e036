"""The crop audit's pages in a real browser: nothing wider than the window, no serious fault of accessibility."""

from __future__ import annotations

import pytest

from tests.crops.drawn import Brightness, a_face, audit, draw_people
from tests.crops.test_sweep import Brightness as SweptBrightness
from tests.crops.test_sweep import draw_sweep
from tests.fixtures import assert_page_fits

pytestmark = pytest.mark.browser
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page of an audit of three groups, that of where croppers look, the review, and a sweep."""
    from gslopes.crops.regions import regions_crops
    from gslopes.crops.sweep import sweep_crops

    home = tmp_path_factory.mktemp("pages")
    table, _ = draw_people(home / "people", {"blue": 5, "green": 5, "red": 5}, {"blue": 10})
    options = {"together": 9, "stability": 3, "policies": ("argmax", "sample", "average", "pad")}
    found = audit(home / "people", table, home / "run", Brightness(), **options)
    how = {
        "people": table,
        "groups": ("team",),
        "cropper": ("centre", "spectral-residual"),
        "finder": a_face,
        "tall": 1.0,
    }
    regions_run = regions_crops(home / "people", home / "regions", **how)
    other = regions_crops(home / "people", home / "other", **how)
    sweep = draw_sweep(home / "synthesised")
    quick = {"cropper": ("centre",), "ratios": (1.0,), "bootstrap": 100, "others": 4}
    swept = sweep_crops(sweep, home / "sweep", croppers=[SweptBrightness()], **quick)
    return {
        "audit": found.page,
        "regions": regions_run.page,
        "review": regions_run.review,
        "other": other.review,
        "sweep": swept.page,
    }


@pytest.mark.slow
@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["audit", "regions", "review", "sweep"])
def test_nothing_is_wider_than_the_window_and_axe_finds_no_serious_fault(chromium, pages, name, size):
    assert_page_fits(chromium, pages[name], *SIZES[size])


def test_a_review_is_saved_as_the_table_that_the_command_reads(chromium, pages, tmp_path):
    from playwright.sync_api import expect

    from gslopes.crops.review import read_marks

    page = chromium.new_page(accept_downloads=True)
    page.goto(pages["review"].as_uri())
    page.fill("#reviewer", "AB")
    page.locator("select").first.select_option("clothing")
    assert page.locator("#counts").inner_text().startswith("1 of ")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "review.csv")
    (row,) = read_marks(tmp_path / "review.csv", wanted=True)
    assert (row["cropper"], row["kind"], row["by"]) == ("spectral-residual", "clothing", "AB")
    page.reload()
    first, second = (page.locator("select").nth(place) for place in (0, 1))
    expect(first).to_have_value("clothing")  # as soon as the page has read it

    first.select_option("")
    page.reload()
    expect(first).to_have_value("")  # taken back, for good
    page.set_input_files("#load", tmp_path / "review.csv")
    expect(first).to_have_value("clothing")
    second.select_option("skin")
    page.locator("h1").click()
    page.keyboard.press("Z")
    expect(second).to_have_value("")
    expect(first).to_have_value("clothing")
    page.goto(pages["other"].as_uri())
    expect(first).to_have_value("")  # marks of another run folder stay there
    assert page.locator("#counts").inner_text().startswith("0 of ")
    page.close()
