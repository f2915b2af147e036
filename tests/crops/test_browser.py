"""The crop audit's page in a real browser: nothing wider than the window, no serious fault of accessibility."""

import pytest

from tests.crops.drawn import Brightness, audit, draw_people
from tests.fixtures import assert_one_minute, assert_page_fits

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Of an audit of three groups."""
    home = tmp_path_factory.mktemp("pages")
    table, _ = draw_people(home / "people", {"blue": 5, "green": 5, "red": 5}, {"blue": 10})
    options = {"groups": ("team", "side"), "policies": ("argmax", "sample", "average", "pad")}
    audited = audit(home / "people", table, home / "run", Brightness(), **options)
    return audited.page


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_nothing_is_wider_than_the_window_and_axe_finds_no_serious_fault(chromium, page, size):
    assert_page_fits(chromium, page, *size)


def test_the_first_minute_is_five_screens(chromium, page):
    assert_one_minute(chromium, page)
