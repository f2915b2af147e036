"""The crop audit's pages in a real browser: nothing wider than the window, no serious fault of accessibility."""

import pytest

from tests.crops.drawn import Brightness, audit, draw_people, draw_sweep
from tests.fixtures import assert_one_minute, assert_page_fits
from tests.sweeps import sweep_crops

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page of an audit of three groups, and that of a sweep."""
    home = tmp_path_factory.mktemp("pages")
    table, _ = draw_people(home / "people", {"blue": 5, "green": 5, "red": 5}, {"blue": 10})
    options = {"groups": ("team", "side"), "policies": ("argmax", "sample", "average", "pad")}
    audited = audit(home / "people", table, home / "run", Brightness(), **options)
    sweep = draw_sweep(home / "synthesised")
    swept = sweep_crops(sweep, home / "sweep", croppers=[Brightness()], cropper=("centre",), others=4)
    return {"audit": audited.page, "sweep": swept.page}


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
@pytest.mark.parametrize("name", ["audit", "sweep"])
def test_nothing_is_wider_than_the_window_and_axe_finds_no_serious_fault(chromium, pages, name, size):
    assert_page_fits(chromium, pages[name], *size)


@pytest.mark.parametrize("name", ["audit", "sweep"])
def test_the_first_minute_is_five_screens(chromium, pages, name):
    assert_one_minute(chromium, pages[name])
